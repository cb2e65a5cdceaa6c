#!/bin/sh
# No line of what people edit in librex, include and tools is longer than 100 characters, where a
# tab goes to
# the next multiple of 8. The rows of a Markdown table, which cannot be broken, may be.
. tests/support/lib.sh

export LC_ALL=C.UTF-8
find librex include tools -type f | sort >"$work/files"
while read -r file; do
    expand "$file" | grep -nE '.{101}' | sed "s|^|FAIL: $file:|"
done <"$work/files" | grep -vE '^FAIL: [^:]*\.md:[0-9]+:\|' >"$work/long" || true
[ ! -s "$work/long" ] || { cat "$work/long"; failed=1; }
[ "$(wc -l <"$work/files")" -ge 100 ] || fail 'hardly any file was found'
