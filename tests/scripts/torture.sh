#!/bin/sh
# Each call of librex's fails in turn, on one fake release: nothing is found there, nor in a sample
# on the host device. With TEST_ALL=yes each call fails in each likely way, not only the first call
# from each place in librex. The defects of tests/torture/planted.c are found. TORTURE_MOST=N: only
# the sample of --most N on the fake, and on the host device what reads host images and looks for
# libomptarget, for tests/mutants/run.
if [ -n "${TORTURE_MOST:-}" ]; then
    tests/torture/run --on fake-22 --most "$TORTURE_MOST" || exit
    exec tests/torture/run --on 19 --most 100 -k '@(library|find)'
fi
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

# Calls that wait for the time differ a little from run to run.
extent=--places least=5500
[ -z "${TEST_ALL-}" ] || extent='' least=15000
# shellcheck disable=SC2086 # an option or nothing
tests/torture/run $extent --on fake-22 -k '!(large)' | tee "$work/whole"
awk -v least=$least '/ failures / { tried += $5; reached += $7; clean += $9 == 0 }
    END { exit !(tried > least && reached > 0.99 * tried && clean == 18) }' "$work/whole" ||
    fail 'not all failures were tried, or something was found'
# A large copy takes as long as ten other scenarios, each time.
tests/torture/run --on fake-22 -k large --most 60 || failed=1
tests/torture/run --on 22 --most 200 || failed=1
