#!/bin/sh
# Every error has a man page, and the page is true: its text and number are the header's, the functions that it lists document the error,
# the messages that it quotes are in the library, and no message of the error is left out.
#
# In a page, a quoted message stands between \(lq and \(rq, and \fI...\fR stands for what is filled in.
set -eu
cd "$(dirname "$0")/../.."
exec python3 - <<'PYTHON'
import glob
import os
import re
import sys

failures = []


def fail(text):
    failures.append(text)
    print("FAIL: " + text)


def read(path):
    with open(path) as file:
        return file.read()


def section(page, name):
    found = re.search(r"^\.SH %s\n(.*?)(?=^\.SH |\Z)" % name, page, re.S | re.M)
    return found[1] if found else ""


def plain(roff):
    return re.sub(r"\\f[BIRP]", "", roff).replace("\\-", "-").replace("\\e", "\\").replace("\\&", "").replace("\\(dq", '"')


# ---- what there is: the errors, the pages, the functions

ERRORS = {name: (value, text) for name, value, text in
          re.findall(r'X\((REX_E\w+), (-\d+), "([^"]*)"\)', read("include/rex/offload.h"))}
PAGES = {os.path.basename(path)[:-2]: read(path) for path in sorted(glob.glob("librex/man/*.3"))}
FUNCTION_PAGES = {name: page for name, page in PAGES.items() if not name.startswith("REX_E") and name != "rex_last_error"}
MANY = {"REX_EINVAL", "REX_ENOMEM"}  # so many sites that their pages quote the usual ones alone

page_of = {}
for page, text in FUNCTION_PAGES.items():
    for name in re.sub(r"\\-.*", "", section(text, "NAME"), flags=re.S).replace(",", " ").split():
        page_of[name] = page


def documented():
    """(function, errors that its comment in the header names)"""
    for header in sorted(glob.glob("include/*.h") + glob.glob("include/rex/*.h")):
        for comment, function in re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s*[^;{/#]*?\b(\w+)\s*\(", read(header), re.S):
            # A comment whose function is declared elsewhere than below it names another.
            own = re.match(r"[\s*]*(\w+)\(\)", comment)
            if own and own[1] == function:
                yield function, set(re.findall(r"\bREX_E[A-Z]+\b", comment)) & set(ERRORS)


STRING = r'"(?:[^"\\]|\\.)*"'
MACROS = {"PRI" + kind: '"l%s"' % kind[0] for kind in ("d64", "u64", "x64", "dPTR", "uPTR", "xPTR")}
# and those of messages that several files share
sources = {path: read(path).replace("\\\n", " ") for path in sorted(glob.glob("librex/*/*.[ch]"))}
for text in sources.values():
    for name, value in re.findall(r'#define ([A-Z]\w+) +((?:%s[ \t]*)+)\n' % STRING, text):
        MACROS[name] = value


def joined(literals):
    return "".join(s[1:-1] for s in re.findall(STRING, literals)).replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


literals = []
sites = []  # (file, error, format)
for path, text in sources.items():
    for name, value in MACROS.items():
        text = re.sub(r"\b%s\b" % name, lambda m: value, text)
    literals += [joined(run) for run in re.findall(r"(?:%s\s*)+" % STRING, text)]
    # One error, or one of two: rex_fail(forked ? REX_EFORK : REX_EDEVICE, "...")
    for error, other, run in re.findall(r"\brex_fail(?:_again|_lines)?\(\s*(?:[^;{]*?\?\s*)?(REX_E\w+)(?:\s*:\s*(REX_E\w+))?,\s*((?:%s\s*)+)" % STRING, text):
        sites += [(path, name, joined(run)) for name in (error, other) if name]
literals.append(joined(re.search(r"rex_fail\(REX_ENOMEM, (%s), size" % STRING, sources["librex/base/error.c"])[1]))

# ---- quotations


class Quotation:
    def __init__(self, roff):
        self.text = plain(re.sub(r"\\fI(.*?)\\fR", r"<\1>", roff))
        parts = re.split(r"\\fI.*?\\fR", roff)
        self.pattern = ".+?".join(re.escape(plain(part)) for part in parts)

    def is_in(self, text):
        return re.search(self.pattern, text, re.S) is not None

    def covers(self, message):
        """the message, or the end of it behind who says it, or the beginning before a reason"""
        if not re.search("[A-Za-z]", re.sub("<.*?>", "", self.text)):  # "<function>: <driver call>"
            return re.search(r"^[\w%]+: %s$", message) is not None
        return re.search(r"(?:^|(?<=[:; ]))%s(?=$|[:; ]|%%)" % self.pattern, message, re.S) is not None


def quotations(page):
    """what stands between quotation marks that begin and end lines; it may go over several"""
    return [Quotation(q.replace("\n", " "))
            for q in re.findall(r"^\\\(lq((?:(?!\\\([lr]q).)*)\\\(rq$", page, re.M | re.S)]


def check_page(name, page):
    value, text = ERRORS[name]
    if section(page, "NAME").strip() != "%s \\- %s" % (name, text):
        fail("%s(3): the NAME is not the header's text" % name)
    if "/* %s */" % value not in plain(section(page, "SYNOPSIS")):
        fail("%s(3): the SYNOPSIS does not say %s" % (name, value))
    for wanted in ("DESCRIPTION", "CAUSES AND CURES", "RETURNED BY", "HISTORY", "SEE ALSO"):
        if not section(page, wanted).strip():
            fail("%s(3) has no section %s" % (name, wanted))
    listed = set(re.findall(r"^\.BR (\w+) \(3\)", section(page, "RETURNED BY"), re.M))
    saying = {p for p, text in FUNCTION_PAGES.items() if re.search(r"\b%s\b" % name, plain(section(text, "ERRORS")))}
    for page_name in sorted(listed - saying):
        fail("%s(3) lists %s(3), whose ERRORS do not have it" % (name, page_name))
    for page_name in sorted(saying - listed):
        fail("%s(3) does not list %s(3), whose ERRORS have it" % (name, page_name))
    quoted = quotations(page)
    if len(quoted) != page.count("\\(lq"):
        fail("%s(3): %d quotations are understood, of %d" % (name, len(quoted), page.count("\\(lq")))
    for quotation in quoted:
        if not any(quotation.is_in(literal) for literal in literals):
            fail('%s(3) quotes "%s", which librex does not say' % (name, quotation.text))
    if name not in MANY:
        for path, error, message in sites:
            if error == name and not any(quotation.covers(message) for quotation in quoted):
                fail('%s(3) does not quote "%s" of %s' % (name, message, path))
    return len(quoted)


quoted = 0
for name in ERRORS:
    if name in PAGES:
        quoted += check_page(name, PAGES[name])
    else:
        fail("%s has no man page" % name)
    if not re.search(r"\b%s\b" % name, PAGES["rex_last_error"]):
        fail("rex_last_error(3) does not mention %s" % name)
for name in PAGES:
    if name.startswith("REX_E") and name not in ERRORS:
        fail("%s(3) is about no error" % name)

# ---- the pages of functions against the headers

functions = 0
for function, errors in documented():
    functions += 1
    for error in sorted(errors):
        page = page_of.get(function)
        if page and not re.search(r"\b%s\b" % error, FUNCTION_PAGES[page]):
            fail("%s() returns %s by its header, and %s(3) does not say so" % (function, error, page))

if not sites or not quoted or functions < 50:
    fail("the sources were not understood")
print("%d errors, %d messages quoted, %d places that fail, %d functions" % (len(ERRORS), quoted, len(sites), functions))
sys.exit(1 if failures else 0)
PYTHON
