#!/bin/sh
# A sample of `make torture`, the same every time, finds nothing; and what librex must not do, as tests/torture/planted.c does it, is found.
. tests/support/lib.sh

status=0
tests/torture/run --on planted >"$work/planted" || status=$?
if [ "$status" != 1 ] || grep -q ' 0 findings$' "$work/planted" || [ "$(grep -c 'findings$' "$work/planted")" != 7 ]; then
    echo "FAIL: not all that is planted is found (status $status):"
    grep 'findings$' "$work/planted" || true
    failed=1
fi
# What is found can be seen again by what is printed of it.
again=$(sed -n 's/^ *to see it again: //p' "$work/planted" | grep ' leak ' | head -n 1)
# The command is plain words.
# shellcheck disable=SC2086
! $again >"$work/again" || { echo "FAIL: '$again' finds nothing"; failed=1; }
grep -q 'leaks malloc' "$work/again" || { echo "FAIL: '$again' tells of no leak:"; cat "$work/again"; failed=1; }

# Where its time is over a sample has what makes something of the driver's, with each likely error: 13 functions and 5 errors. It says so.
tests/torture/run --shallow --on fake-22 --seconds 0.001 >"$work/short" || { echo "FAIL: a sample that is cut short:"; failed=1; }
if ! awk '/ failures / { tried += $5; clean += $9 == 0 } / were not tried/ { left = 1 } END { exit !(tried >= 65 && tried < 500 && left && clean == 20) }' "$work/short"; then
    echo "FAIL: this sample is no short one:"
    cat "$work/short"
    failed=1
fi

tests/torture/run --shallow || failed=1
