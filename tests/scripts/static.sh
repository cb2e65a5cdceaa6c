#!/bin/sh
# A program that is linked with -static or -static-pie is told why it cannot offload; it does not crash. One that has librex.a and a
# loader works, position-independent or not, also where the loader is called by its name.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
CC=${CC:-gcc}
release=$(tests/llvm --plain | tail -n 1)
[ -n "$release" ] || { echo 'skip: no LLVM release is unpacked'; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-static.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

cat >"$work/kernels.cu" <<'SOURCE'
#include <rex/kernel.h>
REX_DEVICE_KERNEL(one, (int64_t *) result)
{
    *result = 1;
}
SOURCE
cat >"$work/main.c" <<'SOURCE'
#include <rex.h>
#include <stdio.h>
REX_KERNEL(one);
int main(void)
{
    int64_t result = 0;
    REX_MAP(map, REX_FROM(&result, 1));
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(one), 1, 1);
    printf("%d GPUs\n", rex_gpu_count() > 0);
    int failed = rex_launch(&launch, &map);
    printf("%s %d\n", failed != 0 ? rex_error_name(failed) : "launched", (int)result);
    return failed != 0;
}
SOURCE
$CC -x c -shared -fPIC -Iinclude -o "$work/rex_lib_host.so" "$work/kernels.cu"

# build NAME LINKER-WORDS...
build() {
    name=$1
    shift
    $CC -D_GNU_SOURCE -Iinclude -o "$work/$name" "$work/main.c" "$O/librex.a" -Wl,-z,nostart-stop-gc "$@" -ldl -pthread >"$work/log" 2>&1
}

# runs NAME STATUS WORDS COMMAND...: no signal, and these words in what it says
runs() {
    name=$1
    expected=$2
    words=$3
    shift 3
    status=0
    REX_LOG=warn tests/llvm "$release" timeout -k 5 60 "$@" >"$work/said" 2>&1 || status=$?
    if [ "$status" != "$expected" ] || ! grep -q "$words" "$work/said"; then
        fail "$name: status $status"
        sed 's/^/    /' "$work/said"
    fi
}

for way in -pie -no-pie; do
    build "dynamic$way" "$way" || { cat "$work/log"; fail "librex.a cannot be linked with $way"; continue; }
    runs "$way" 0 'launched 1' "$work/dynamic$way"
done
loader=$(LC_ALL=C readelf -l "$work/dynamic-pie" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
# The executable is the loader then, and no image lies beside it.
runs "$loader" 0 'launched 1' env "REX_CUBIN_PATH=$work" "$loader" "$work/dynamic-pie"

tried=
for way in -static -static-pie; do
    build "program$way" "$way" || continue # no libc.a
    tried="$tried $way"
    runs "$way" 1 'linked with -static or -static-pie' "$work/program$way"
    grep -q '^REX_ENORUNTIME 0$' "$work/said" || fail "$way: another error"
done
[ "$failed" = 0 ] || exit 1
[ -n "$tried" ] || { echo 'skip: there is no libc.a'; exit 77; }
echo "without a loader:$tried"
