#!/bin/sh
# tests/conform on a sample: a raw example in all sixteen builds; two of the larger ones, and what a compiler writes, in some. An
# entry without the attribute `used` is lost by gcc -flto, and the table says so.
# make builds for it: library tools fakes
. tests/support/lib.sh
needs_no_sanitizer

# conforms STATUS BUILDS WORDS OPERANDS...: it ends so, with so many builds in its table, or any; it says WORDS
conforms() {
    wanted=$1 builds=$2 words=$3
    shift 3
    run tests/conform --quick "$@"
    ends "$wanted" "tests/conform $*"
    cat "$work/err" >>"$work/out"
    grep -q -e "$words" "$work/out" || fail "no \"$words\" of tests/conform $*: $(cat "$work/out")"
    [ -z "$builds" ] || [ "$(grep -cE '^(gcc|clang) ' "$work/out")" = "$builds" ] || fail "tests/conform $*: not $builds builds: $(cat "$work/out")"
}
conforms 0 16 ok examples/13_raw_packet
conforms 0 2 ok --only 'c11 lto gc' examples/particles_raw -- --size 50
conforms 0 2 ok --only 'c11 lto gc' examples/hotspot_raw -- --size 48
conforms 0 4 ok --only clang\ c++ tests/runtime/generated/rose tests/runtime/generated/kernels.cu
mkdir "$work/generator"
for part in host:work_host.c kernels:work_kernels.cu; do
    awk -f examples/generator/generate.awk -v file=work -v part=${part%:*} examples/generator/work.loops >"$work/generator/${part#*:}"
done
cp examples/generator/generator.c "$work/generator"
conforms 0 4 ok --only 'lto gc' "$work/generator"

cp examples/13_raw_packet/* "$work"
sed -i 's/, used, aligned(8)))/))/' "$work/raw_packet.c"
conforms 1 '' 'gcc c11 lto, rex-check:' --only 'gcc c11 lto' "$work"
sed -i 's/THREADS, &axpy__id__/THREADS, \&axpi__id__/' "$work/raw_packet.c"
conforms 1 '' 'rex-check --source: .*axpi__id__ is in no entry' --only 'gcc c11' "$work"
conforms 1 '' 'gcc c11, compiling:' --only 'gcc c11' "$work"
# Only a GPU has memory that the host cannot access.
rm "$work"/*.c
sed 's/int error = rex_offload_init();/&\n    if (error == 0)\n        *(char *)rex_device_alloc(1, -1) = 0;/' examples/13_raw_packet/raw_packet.c >"$work/raw_packet.c"
conforms 1 '' 'gcc c11, running on the fake GPU:' --only 'gcc c11' "$work"
conforms 2 '' 'there is no nowhere' nowhere
conforms 2 '' 'are wanted' examples/common
conforms 2 '' 'nothing was tried: no build has' --only c12 examples/13_raw_packet
# Names that are no words of a shell, and what is no source, though its name says so; nobody writes to the pipe.
escape=$(printf '\033')
conforms 2 '' 'there is no ?\[31m' "${escape}[31m"
for folder in "$work/missing parts" "$work/missing"; do
    mkdir "$folder"
    cp examples/13_raw_packet/* "$folder"
    mkfifo "$folder/pipe.c" "$folder/pipe.cu"
done
conforms 2 '' 'a name with blanks' "$work/missing parts"
cp examples/13_raw_packet/kernels.cu "$work/missing/${escape}[2J.cu"
conforms 2 '' 'or control characters' "$work/missing"
rm "$work/missing/${escape}"*
TMPDIR="$work/missing parts" conforms 0 1 ok --only 'gcc c11 lto gc' "$work/missing"
[ "$failed" = 0 ] && echo 'the examples conform'
