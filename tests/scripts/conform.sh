#!/bin/sh
# tests/conform on a sample: a raw example in all sixteen builds; two of the larger ones, and what a compiler writes, in some. An
# entry without the attribute `used` is lost by gcc -flto, and the table says so.
. tests/support/lib.sh
needs_no_sanitizer

# conforms BUILDS OPERANDS...: all of so many builds are ok
conforms() {
    builds=$1
    shift
    tests/conform --quick "$@" >"$work/table" 2>&1 || { fail "tests/conform $*"; cat "$work/table"; }
    [ "$(grep -cE '^(gcc|clang) ' "$work/table")" = "$builds" ] || fail "tests/conform $*: not $builds builds: $(cat "$work/table")"
}
conforms 16 examples/08_raw_packet
conforms 2 --only 'c11 lto gc' examples/particles_raw -- --size 50
conforms 2 --only 'c11 lto gc' examples/hotspot_raw -- --size 48
conforms 4 --only clang\ c++ tests/runtime/generated/rose tests/runtime/generated/kernels.cu
mkdir "$work/generator"
awk -f examples/generator/generate.awk -v file=work -v part=host examples/generator/work.loops >"$work/generator/work_host.c"
awk -f examples/generator/generate.awk -v file=work -v part=kernels examples/generator/work.loops >"$work/generator/work_kernels.cu"
cp examples/generator/generator.c "$work/generator"
conforms 4 --only 'lto gc' "$work/generator"

# refused STATUS WORDS OPERANDS...: the table, or what follows it, has WORDS
refused() {
    wanted=$1
    words=$2
    shift 2
    status=0
    tests/conform --quick "$@" >"$work/table" 2>&1 || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted: tests/conform $*"
    grep -q -e "$words" "$work/table" || fail "no \"$words\" of tests/conform $*: $(cat "$work/table")"
}
cp examples/08_raw_packet/* "$work"
sed -i 's/, used, aligned(8)))/))/' "$work/raw_packet.c"
refused 1 'gcc c11 lto, rex-check:' --only 'gcc c11 lto' "$work"
sed -i 's/THREADS, &axpy__id__/THREADS, \&axpi__id__/' "$work/raw_packet.c"
refused 1 'rex-check --source: .*axpi__id__ is in no entry' --only 'gcc c11' "$work"
refused 1 'gcc c11, compiling:' --only 'gcc c11' "$work"
refused 2 'there is no nowhere' nowhere
refused 2 'are wanted' examples/common
[ "$failed" = 0 ] && echo 'the examples conform'
