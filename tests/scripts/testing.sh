#!/bin/sh
# The numbers in rex-testing(7) are true: lower bounds, and not a quarter below what there is. UPDATE=1 writes them anew, large ones a
# little smaller, in thousands.
set -eu
cd "$(dirname "$0")/../.."
page=librex/man/rex-testing.7
failed=0
fail() { echo "FAIL: $*"; failed=1; }

lines() { cat "$@" | wc -l; }
# Of all files of a folder that have one of these suffixes.
lines_below() {
    folder=$1
    shift
    find "$folder" "$@" -type f | sort | xargs cat | wc -l
}
tests_of() { find "$1" -name '*.c' -print0 | xargs -0 cat | grep -cE '^TEST(_[A-Z]+)*\(' || true; }
# Commas and spaces of no name.
# shellcheck disable=SC2012
count() { ls -d "$@" 2>/dev/null | wc -l; }

number_of() {
    case $1 in
    library_lines) lines librex/*/*.[ch] include/*.h include/rex/*.h ;;
    test_lines) lines_below tests -name '*.[ch]' -o -name '*.cu' -o -name '*.sh' -o -name '*.py' ;;
    unit_programs) count tests/unit/*.c ;;
    unit_tests) tests_of tests/unit ;;
    runtime_programs) count tests/runtime/*/ ;;
    runtime_tests) tests_of tests/runtime ;;
    releases) tests/llvm --releases | wc -w ;;
    fakes) sed -n 's/^fake_releases *:= *//p' tests/fake/rules.mk | wc -w ;;
    examples) printf '%s\n' examples/*/*.c | sed 's|/[^/]*$||' | grep -v 'examples/common' | sort -u | wc -l ;;
    scripts) count tests/scripts/*.sh ;;
    fuzz_targets) count tests/fuzz/*.c ;;
    fuzz_inputs) find tests/fuzz/corpus -type f | wc -l ;;
    shapes) cat tests/oracle/shapes/*.c | grep -c '^SHAPE(' ;;
    model_deletions) grep -cE '^(NO|LATE)_[A-Z_]+ ' tests/scripts/model.sh ;;
    driver_faults) grep -oE '\{"cu[A-Za-z0-9]+", +[0-9], [01]\}' tests/unit/queuefaults.c | wc -l ;;
    valgrind_tests) sed -n "/^tests='/,/'\$/p" tests/scripts/valgrind.sh | tr -d "'" | sed 's/^tests=//' | wc -w ;;
    torture_calls)
        {
            sed -n 's/^    [XV].\([A-Za-z_0-9]*\)[,)].*/\1/p' tests/torture/torture.h
            sed -n 's/^    X([A-Z]*, \([A-Za-z0-9]*\),.*/\1/p' librex/cuda/driver.h
        } | sort -u | wc -l
        ;;
    torture_scenarios) grep -cE '^    \{"[a-z]+", (HOST|GPUS|FAKE)' tests/torture/scenarios.c ;;
    torture_plants) grep -cE '^    \{"[a-z]+", "planted ' tests/torture/scenarios.c ;;
    rooms) find librex -mindepth 2 -name '*.c' | sed 's|/[^/]*$||' | sort -u | wc -l ;;
    walk_functions) grep -c '^FUNCTION(' tests/walk/rules.list ;;
    walk_sequences) sed -n 's/^count=//p' tests/scripts/walk.sh ;;
    walk_kept) count tests/walk/corpus/*.walk ;;
    *) echo 0 ;;
    esac | tr -d ' \n'
}

names=$(sed -n 's/^\.ds \([a-z_]*\) .*/\1/p' "$page")
[ -n "$names" ] || fail "$page has no numbers"
for name in $names; do
    stated=$(sed -n "s/^\.ds $name //p" "$page")
    there=$(number_of "$name")
    if [ -n "${UPDATE-}" ]; then
        [ "$there" -lt 10000 ] || there=$(((there / 1000 - there / 20000) * 1000))
        sed -i "s/^\.ds $name .*/.ds $name $there/" "$page"
    elif [ "$stated" -gt "$there" ] || [ "$((there * 4))" -gt "$((stated * 5))" ]; then
        fail "$page: $name is $stated, and there are $there (UPDATE=1 writes what there is)"
    fi
    grep -q "\\*\\[$name\\]" "$page" || fail "$page does not say $name"
done
# What it names can be run.
sed 's/\\-/-/g' "$page" | sed -n 's/^\.BI* "*make \([a-z -]*\).*/\1/p' | tr ' ' '\n' | sed '/^$/d' | sort -u >"${TMPDIR:-/tmp}/targets.$$"
while read -r target; do
    grep -qhE "^([a-z-]+ )*$target( [a-z-]+)*:" Makefile tests/*/rules.mk || fail "$page: there is no make $target"
done <"${TMPDIR:-/tmp}/targets.$$"
rm -f "${TMPDIR:-/tmp}/targets.$$"
echo "$names" | wc -w | sed 's/$/ numbers/'
exit "$failed"
