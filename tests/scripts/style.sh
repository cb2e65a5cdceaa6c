#!/bin/sh
# No line of what people edit in librex, include, tools and examples is longer than 100 characters, where a tab goes to the next multiple of 8.
# The rows of a Markdown table, which cannot be broken, may be, and what a compiler wrote (program.s). C is as clang-format 14 writes it, but
# for examples; other releases break lines otherwise. Every shell script passes shellcheck; the first line tells which files are scripts.
. tests/support/lib.sh

export LC_ALL=C.UTF-8
find librex include tools examples -type f ! -name program.s | sort >"$work/files"
while read -r file; do
    expand "$file" | grep -InE '.{101}' | sed "s|^|FAIL: $file:|"
done <"$work/files" | grep -vE '^FAIL: [^:]*\.md:[0-9]+:\|' >"$work/long" || true
[ ! -s "$work/long" ] || { cat "$work/long"; failed=1; }
[ "$(wc -l <"$work/files")" -ge 100 ] || fail 'hardly any file was found'

if command -v clang-format-14 >/dev/null; then
    grep -v '^examples/' "$work/files" | grep '\.[ch]$' | xargs clang-format-14 --dry-run -Werror || failed=1
else
    echo 'left out: clang-format: release 14 is not here'
fi

find .ci tools tests examples -type f 2>/dev/null | sort | while read -r file; do
    case $(head -n 1 "$file" | tr -d '\0') in '#!'*sh) echo "$file" ;; esac
done >"$work/scripts"
xargs -P "$(nproc 2>/dev/null || echo 2)" -n 8 shellcheck -x <"$work/scripts" || failed=1
echo "$(wc -l <"$work/scripts") scripts"
