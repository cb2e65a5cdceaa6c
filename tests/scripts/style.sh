#!/bin/sh
# No line of what people edit in librex, include and tools is longer than 100 characters, where a
# tab goes to the next multiple of 8. The rows of a Markdown table, which cannot be broken, may be.
set -eu
cd "$(dirname "$0")/../.."
exec python3 - librex include tools <<'PYTHON'
import os
import sys

LONGEST = 100
files = lines = failures = 0
for folder in sys.argv[1:]:
    for parent, _, names in os.walk(folder):
        for path in sorted(os.path.join(parent, name) for name in names):
            files += 1
            for number, line in enumerate(open(path, encoding="utf-8"), 1):
                lines += 1
                line = line.rstrip("\n").expandtabs(8)
                if len(line) <= LONGEST or (path.endswith(".md") and line.startswith("|")):
                    continue
                failures += 1
                print("FAIL: %s:%d has %d characters: %s" % (path, number, len(line), line))
if files < 100:
    failures += 1
    print("FAIL: only %d files were found" % files)
print("%d lines in %d files" % (lines, files))
sys.exit(1 if failures else 0)
PYTHON
