#!/bin/sh
# A program that is linked with -static or -static-pie is told why it cannot offload; it does not crash. One that has librex.a and a
# loader works, position-independent or not, also where the loader is called by its name.
. tests/support/lib.sh
needs_plain

host_image "$work/rex_lib_host.so" examples/01_launch/kernels.cu

# build NAME LINKER-WORDS...
build() {
    name=$1
    shift
    $CC -D_GNU_SOURCE -Iinclude -o "$work/$name" examples/01_launch/launch.c "$O/librex.a" \
        -Wl,-z,nostart-stop-gc "$@" -ldl -pthread >"$work/log" 2>&1
}

# runs STATUS WORDS COMMAND...: no signal, and these words in what it says
runs() {
    wanted=$1 text=$2
    shift 2
    run on_release env REX_LOG=warn "$@"
    ends "$wanted" "$*"
    cat "$work/out" "$work/err" | grep -q "$text" ||
        fail "$*: no \"$text\" in: $(cat "$work/out" "$work/err")"
}

for way in -pie -no-pie; do
    build "dynamic$way" "$way" || { cat "$work/log"; fail "librex.a cannot be linked with $way"; continue; }
    runs 0 '0 of 100000 values wrong' "$work/dynamic$way"
done
loader=$(LC_ALL=C readelf -l "$work/dynamic-pie" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
# The executable is the loader then, and no image lies beside it.
runs 0 '0 of 100000 values wrong' env "REX_CUBIN_PATH=$work" "$loader" "$work/dynamic-pie"

tried=
for way in -static -static-pie; do
    build "program$way" "$way" || continue # no libc.a
    tried="$tried $way"
    runs 1 'linked with -static or -static-pie' "$work/program$way"
    says '[REX_ENORUNTIME]'
done
[ "$failed" = 0 ] || exit 1
[ -n "$tried" ] || skip 'there is no libc.a'
echo "without a loader:$tried"
