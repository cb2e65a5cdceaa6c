#!/bin/sh
# Each access with __ATOMIC_RELAXED in librex/ and include/ has its reason beside it: a comment that
# begins with "Relaxed:", above its statement or in it. Who reads such a value may not conclude from
# it what another thread has done before.
set -eu
cd "$(dirname "$0")/../.."
exec python3 - <<'PYTHON'
import glob
import re
import sys

places, without = 0, []
for path in sorted(glob.glob("librex/*/*.[ch]") + glob.glob("include/*.h") + glob.glob("include/*/*.h")):
    lines = open(path).read().split("\n")
    for number, line in enumerate(lines):
        if "__ATOMIC_RELAXED" not in re.sub(r"/\*.*?\*/", "", line):
            continue
        places += 1
        first = number
        while first > 0 and not re.search(r"([;{}:]|\*/)\s*(/\*.*\*/)?$|^\s*$|^#", lines[first - 1]):
            first -= 1
        last = number
        while ";" not in lines[last] and "{" not in lines[last]:
            last += 1
        above = first
        if above > 0 and lines[above - 1].rstrip().endswith("*/"):
            above -= 1
            while "/*" not in lines[above]:
                above -= 1
        if not re.search(r"/\*\s+(\* )?Relaxed: ", "\n".join(lines[above:last + 1])):
            without.append("%s:%d: %s" % (path, number + 1, line.strip()))
for place in without:
    print("FAIL: no reason beside " + place)
if places == 0:
    print("FAIL: no access was found at all")
print("%d accesses with __ATOMIC_RELAXED, %d without a reason" % (places, len(without)))
sys.exit(1 if without or places == 0 else 0)
PYTHON
