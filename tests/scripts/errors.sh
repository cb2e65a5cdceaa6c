#!/bin/sh
# Every error has a man page with the header's text and number; the page lists the functions whose pages list the error. It quotes the
# messages of the library, which stand between \(lq and \(rq, \fI...\fR for what is filled in.
# An error in the comment of a function is in the page of the function.
. tests/support/lib.sh
python3 - <<'PYTHON'
import glob
import os
import re
import sys

failures = []
LITERAL = r'"([^"\n]*)"'
MANY = {"REX_EINVAL", "REX_ENOMEM"}  # so many messages that their pages quote the usual ones alone
source = "".join(open(path).read().replace("\\\n", " ").replace('\\"', "''") for path in sorted(glob.glob("librex/*/*.[ch]")))
source = re.sub(r'"\s*(?:([A-Z]\w+)\s*)?"(?!\))', lambda m: "d" if m[1] else "", source)  # literals side by side are one
pages = {os.path.basename(path)[:-2]: re.sub(r"\\([-e&])", lambda m: {"-": "-", "e": "\\", "&": ""}[m[1]], open(path).read())
         for path in glob.glob("librex/man/*.3")}
literals = "\n".join(re.findall(LITERAL, source))
errors = re.findall(r'X\((REX_E\w+), (-\d+), "([^"]*)"\)', open("include/rex/offload.h").read())


def section(page, name):
    return (page.split(".SH %s\n" % name) + [""])[1].split("\n.SH ")[0]


for name, value, text in errors:
    page = pages.get(name, "")
    if "%s - %s\n" % (name, text) not in page or "/* %s */" % value not in page or name not in pages["rex_last_error"]:
        failures.append("%s(3) is not of the header's text and number, or rex_last_error(3) has no %s" % (name, name))
    lists = set(re.findall(r"^\.BR (\w+) \(3\)", section(page, "RETURNED BY"), re.M))
    listing = {other for other in pages if re.search(r"\b%s\b" % name, section(pages[other], "ERRORS"))}
    failures += ["only one of %s(3) and %s(3) lists the other" % (name, other) for other in lists ^ (listing - {"rex_last_error"})]
    page = page.replace("\\(dq", "''").replace('"', "''")
    quotes = [".+?".join(re.escape(part.replace("\n", " ")) for part in re.split(r"\\fI.*?\\fR", quote, flags=re.S))
              for quote in re.findall(r"^\\\(lq(.*?)\\\(rq$", page, re.S | re.M)]
    failures += ["%s(3) quotes %s, which librex does not say" % (name, quote) for quote in quotes if not re.search(quote, literals)]
    for message in re.findall(r"\brex_fail\w*\([^;{\"]*?\b%s\b[^;{\"]*?,\s*%s" % (name, LITERAL), source):
        # The whole of it, or the end of it behind who says it, or the beginning before a reason; of "%s: %s" no word is to be quoted.
        quoted = any(re.search(r"(?:^|(?<=[:; ]))%s(?=$|[:; ]|%%)" % quote, message) for quote in quotes if re.search("[A-Za-z]", quote))
        if name not in MANY and not quoted and not re.match(r"[\w%]+: %s$", message):
            failures.append('%s(3) does not quote "%s"' % (name, message))

# What the comment of a function says, the page with its name says too.
page_of = {name: page for page in pages.values() for name in re.findall(r"\w+", section(page, "NAME").split(" - ")[0])}
for header in glob.glob("include/rex/*.h"):
    for function, comment in re.findall(r"/\*\*\s+(?:\* )?(\w+)\(\)((?:(?!\*/).)*)\*/\s*[^;{/#]*?\b\1\s*\(", open(header).read(), re.S):
        for name in {error[0] for error in errors} & set(re.findall(r"\w+", comment)):
            if name not in page_of.get(function, name):
                failures.append("%s() returns %s by its header, and its page does not say so" % (function, name))
print(*("FAIL: " + failure for failure in failures), "%d errors" % len(errors), sep="\n")
sys.exit(1 if failures or len(errors) < 15 else 0)
PYTHON
