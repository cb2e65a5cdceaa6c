#!/bin/sh
# The page of each error has text of its own, and quotes the messages of the library, which stand between \(lq and \(rq, \fI...\fR for what
# is filled in.
# make builds for it: manual
. tests/support/lib.sh
python3 - "$build/man" <<'PYTHON'
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
         for path in glob.glob(sys.argv[1] + "/REX_E*.3")}
literals = "\n".join(re.findall(LITERAL, source))
errors = re.findall(r"X\((REX_E\w+), ", open("include/rex/error.h").read())

for name in errors:
    page = pages.get(name, "")
    if "\n.SH CAUSES AND CURES\n" not in page:
        failures.append("%s has no causes and cures" % name)
    page = page.replace("\\(dq", "''").replace('"', "''")
    quotes = [".+?".join(re.escape(part.replace("\n", " ")) for part in re.split(r"\\fI.*?\\fR", quote, flags=re.S))
              for quote in re.findall(r"^\\\(lq(.*?)\\\(rq$", page, re.S | re.M)]
    failures += ["%s(3) quotes %s, which librex does not say" % (name, quote) for quote in quotes if not re.search(quote, literals)]
    for message in re.findall(r"\brex_fail\w*\([^;{\"]*?\b%s\b[^;{\"]*?,\s*%s" % (name, LITERAL), source):
        # The whole of it, or the end of it behind who says it, or the beginning before a reason; of "%s: %s" no word is to be quoted.
        quoted = any(re.search(r"(?:^|(?<=[:; ]))%s(?=$|[:; ]|%%)" % quote, message) for quote in quotes if re.search("[A-Za-z]", quote))
        if name not in MANY and not quoted and not re.match(r"[\w%.*]+: %s$", message):
            failures.append('%s(3) does not quote "%s"' % (name, message))

print(*("FAIL: " + failure for failure in failures), "%d errors" % len(errors), sep="\n")
sys.exit(1 if failures or len(errors) < 15 else 0)
PYTHON
