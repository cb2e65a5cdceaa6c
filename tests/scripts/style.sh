#!/bin/sh
# No line of what people edit in librex, include, tools and examples is longer than 100 characters, where a tab goes to the next multiple of 8.
# The rows of a Markdown table, which cannot be broken, may be, and what a compiler wrote (program.s). C is as clang-format 14 writes it, but
# for examples; other releases break lines otherwise. Every shell script passes shellcheck; the first line tells which files are scripts.
# make builds for it: nothing
. tests/support/lib.sh

export LC_ALL=C.UTF-8
# $work/files: what people edit; $work/scripts: the shell scripts among these and in tests and .ci
python3 - "$work" <<'PYTHON' || failed=1
import os
import re
import sys

failed = False


def files(*folders):
    return sorted(os.path.join(where, name) for folder in folders for where, _, names in os.walk(folder) for name in names)


edited = [path for path in files("librex", "include", "tools", "examples") if not path.endswith("/program.s")]
for path in edited:
    text = open(path, "rb").read()
    for number, line in enumerate([] if b"\0" in text else text.decode(errors="replace").split("\n"), 1):
        if len(line.expandtabs()) > 100 and not (path.endswith(".md") and line.startswith("|")):
            failed = True
            print("FAIL: %s:%d:%s" % (path, number, line))
if len(edited) < 100:
    failed = True
    print("FAIL: hardly any file was found")
scripts = [path for path in files(".ci", "tools", "tests", "examples") if re.match(rb"#!.*sh\n", open(path, "rb").read(80))]
for name, paths in ("files", edited), ("scripts", scripts):
    open(os.path.join(sys.argv[1], name), "w").writelines(path + "\n" for path in paths)
sys.exit(failed)
PYTHON

if command -v clang-format-14 >/dev/null; then
    grep -v '^examples/' "$work/files" | grep '\.[ch]$' | xargs clang-format-14 --dry-run -Werror || failed=1
else
    echo 'left out: clang-format: release 14 is not here'
fi

xargs -P "$(nproc 2>/dev/null || echo 2)" -n 8 shellcheck -x <"$work/scripts" || failed=1
echo "$(wc -l <"$work/scripts") scripts"
