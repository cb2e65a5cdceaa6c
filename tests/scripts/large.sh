#!/bin/sh
# rex-check takes time in proportion to what it reads: files that are made to take the square of it (tests/tools/rex-check/hostile), with
# instructions counted by callgrind for a small one and one four times as large, and read once with 200 000 of everything.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
check=$O/tools/rex-check
[ -z "${SAN-}" ] || { echo 'skip: valgrind runs no sanitizer'; exit 77; }

small=200
large=$((4 * small))
most=600 # percent; sorting takes a little more than four times
work=$(mktemp -d "${TMPDIR:-/tmp}/librex-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }
mkdir "$work/$small" "$work/$large" "$work/200000"
tests/tools/rex-check/hostile "$work/$small" "$small"
tests/tools/rex-check/hostile "$work/$large" "$large"

# reads NAME: what rex-check is given
reads() {
    case $1 in
    image) echo keys.o image.so ;;
    drifted) echo keys.o drifted.so ;;
    source) echo --source source.c source.cu ;;
    endless) echo --source endless.c endless.cu ;;
    *) echo "$1" ;;
    esac
}
cases='keys.o imports.o one_key.o tables.o image drifted image.so source endless'

# count FOLDER NAME: instructions
count() {
    # Names are words.
    # shellcheck disable=SC2046
    (cd "$work/$1" && valgrind --tool=callgrind --callgrind-out-file=/dev/null "$check" $(reads "$2") 2>&1 >/dev/null) |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
case $check in /*) ;; *) check=$PWD/$check ;; esac
start=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$check" --version 2>&1 >/dev/null | sed -n 's/.*Collected : \([0-9]*\).*/\1/p')
for name in $cases; do
    one=$(($(count "$small" "$name") - start))
    four=$(($(count "$large" "$name") - start))
    percent=$((100 * four / one))
    printf '%-12s %11s %11s %4s %%\n' "$name" "$one" "$four" "$percent"
    [ "$percent" -le "$most" ] || fail "more than in proportion: $name"
done

# No clock decides, but the square of 200 000 does not come to an end here.
tests/tools/rex-check/hostile "$work/200000" 200000 one_key.o tables.o
for name in one_key.o tables.o; do
    status=0
    timeout 60 "$check" -q "$work/200000/$name" >"$work/out" 2>&1 || status=$?
    [ "$status" = 1 ] || fail "200 000: $name ends with status $status"
done
exit $failed
