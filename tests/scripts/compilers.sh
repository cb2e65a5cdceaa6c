#!/bin/sh
# Every C file of the library, the tools, the examples and the tests compiles without a warning with clang, too: the suite itself is built by
# gcc alone.
. tests/support/lib.sh

needs_clang

# The commands that make would run for an empty folder, with the files that this build has made, but for assembler code. A check alone, so
# that nothing is written. The library's files are there once more, with sanitizers: a second look at these shows nothing new.
"$MAKE" --no-print-directory --dry-run CC="$clang" O=nowhere V=1 test-programs |
    sed ':join; /\\$/{N; s/\\\n/ /; b join}' | sed -n "/ -o nowhere\/tested\//d;/ -c -o [^ ]*\\.o /{s/ -c -o [^ ]*\\.o / -fsyntax-only /;s/ -MMD//;s/ -MP//;s/ -M[TF] [^ ]*//g;s|\\([ I\"']\\)nowhere/|\\1$O/|g;/\\.s\$/!p;}" |
    sort -u >"$work/commands"
count=$(wc -l <"$work/commands")
[ "$count" -ge 250 ] || { echo "FAIL: make tells of only $count files"; exit 1; }
xargs -d '\n' -n 1 -P "$(nproc)" sh -c <"$work/commands" >"$work/output" 2>&1 || { cat "$work/output"; echo "FAIL: a warning of $clang"; exit 1; }
[ ! -s "$work/output" ] || { cat "$work/output"; exit 1; }
echo "$count files without a warning of $clang"
