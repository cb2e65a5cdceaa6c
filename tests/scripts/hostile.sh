#!/bin/sh
# Files that are made to take long (tests/fuzz/hostile): four times the file takes a reader about four times the instructions, not sixteen
# times. Instructions are counted by callgrind, so no clock decides.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
command -v valgrind >/dev/null || { echo 'skip: no valgrind'; exit 77; }

small=1500
large=$((4 * small))
most=600 # percent; sorting takes a little more than four times
work=$(mktemp -d "${TMPDIR:-/tmp}/librex-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0

for count in $small $large; do
    mkdir "$work/$count"
    python3 tests/fuzz/hostile "$work/$count" "$count"
done
: >"$work/empty"

# Instructions of TARGET over FILE
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$O/tests/fuzz/$1" "$2" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# grows TARGET FILE: what the start of a program takes does not count
grows() {
    start=$(count "$1" "$work/empty")
    one=$(($(count "$1" "$work/$small/$2") - start))
    four=$(($(count "$1" "$work/$large/$2") - start))
    percent=$((100 * four / one))
    printf '%-12s %-34s %11s %11s %4s %%\n' "$1" "$2" "$one" "$four" "$percent"
    [ "$percent" -le "$most" ] || { echo "FAIL: $1 takes more than in proportion: $2"; failed=1; }
}

for file in "$work/$small"/*.cubin; do grows cubin "${file##*/}"; done
for file in "$work/$small"/*.host; do grows hostimage "${file##*/}"; done
for file in "$work/$small"/*names.host; do grows library "${file##*/}"; done
for file in "$work/$small"/*.list; do grows list "${file##*/}"; done
exit $failed
