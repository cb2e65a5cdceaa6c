#!/bin/sh
# rex-cc: programs, objects, shared objects, several files of kernels, embedded images, on every release; what it shows; wrong use.
set -eu
cd "$(dirname "$0")/../.."
top=$PWD
O=${O:-$(make -s --no-print-directory print-O)}
rex_cc=$top/$O/tools/rex-cc
NVCC=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)}

# A library that is built with a sanitizer cannot be loaded into a program that is not.
[ -z "${SAN-}" ] || { echo 'skip: rex-cc is tested without sanitizers'; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-rex-cc.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

run() {
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
}
ends() { [ "$status" = "$1" ] || fail "status $status and not $1: $(cat "$work/err" "$work/out")"; }
says() { grep -qF -e "$1" "$work/err" || fail "no \"$1\" in: $(cat "$work/err")"; }
# made FILE...: they are there
made() { for file in "$@"; do [ -s "$file" ] || fail "there is no $file"; done; }

# ---- the command line

run "$rex_cc" --help
ends 0
[ -z "${UPDATE-}" ] || cp "$work/out" tests/golden/rex-cc/help.txt
diff -u tests/golden/rex-cc/help.txt "$work/out" || fail '--help'
[ "$("$rex_cc" --version)" = "rex-cc (librex) ${VERSION:-$(sed -n 's/^VERSION := //p' Makefile)}" ] || fail '--version'
for option in $("$rex_cc" --help | grep -o -e ' --[a-z-]*' -e '-Xnvcc' -e '-shared' -e '-###' | sort -u); do
    grep -q -e "$(echo "$option" | sed 's/-/\\\\-/g')" tools/rex-cc.1 || fail "$option is not in the man page"
done
run "$rex_cc"
ends 2
says 'no input files'
# A slip in an option of its own is no option of the host compiler.
for slip in --ach=sm_90:arch --arhc:arch --hots:host --embd:embed --embed=x:embed --no_chekc:no-check --nocheck:no-check \
    --verison:version; do
    run "$rex_cc" "${slip%:*}" app.c
    ends 2
    says "${slip%:*}: no such option; is --${slip#*:} meant?"
done
run "$rex_cc" --frobnicate app.c
ends 1
says '--frobnicate'
run "$rex_cc" --arch= app.c
ends 2
says '--arch=: its value is missing'
run "$rex_cc" app.c -o
ends 2
says '-o: its value is missing'
run "$rex_cc" -c -o both.o a.c b.cu
ends 2
says '-o with -c and several files'
run "$rex_cc" --arch=90 a.cu
ends 2
says '--arch: 90 is no architecture'
# Nothing of a value is a command, or the name of a file here.
# shellcheck disable=SC2016
for list in 'sm_90;>injected;' 'sm_90$(>injected)' 'sm_9*' 'sm_90 *' sm_90b sm_ sm_a; do
    run env NVCC=true "$rex_cc" --arch="$list" -c "$top/examples/09_raw_macros/kernels.cu" -o "$work/injected.o"
    ends 2
    says '--arch: '
done
run "$rex_cc" --host '-Og;>injected;' -c "$top/examples/09_raw_macros/raw_macros.c" -o "$work/injected.o"
ends 1
[ ! -e injected ] || { rm injected; fail 'a value was run as a command'; }
# Bytes for a terminal are escaped, and a backslash in a name is no escape.
escape=$(printf '\033')
run "$rex_cc" --device-compiler='\033[31m' a.cu
says '--device-compiler: \033[31m is neither'
run "$rex_cc" --device-compiler="${escape}[31m$(printf 'h\303\244\302\233\233\n2')" a.cu
says "--device-compiler: \\x1b[31mh$(printf '\303\244')\\xc2\\x9b\\x9b\\x0a2 is neither"
run "$rex_cc" '-###' "$escape.c"
grep -qF ' '"'"'\x1b.c'"'"' ' "$work/out" || fail "-###: no escaped name in: $(cat "$work/out")"
! grep -qF "$escape" "$work/out" || fail '-###: a byte that commands a terminal'
# The latest clang counts that runs.
mkdir "$work/clangs"
printf '#!/bin/sh\nexit 0\n' >"$work/clangs/clang-98"
printf '#!/nowhere/sh\n' >"$work/clangs/clang-99"
: >"$work/clangs/clang-97"
chmod +x "$work/clangs/clang-98" "$work/clangs/clang-99"
run env -u CLANG PATH="$work/clangs:$PATH" "$rex_cc" '-###' --device-compiler=clang --arch=sm_80 -c kernels.cu
grep -q "^$work/clangs/clang-98 " "$work/out" || fail "another clang than the latest that runs: $(cat "$work/out" "$work/err")"
run "$rex_cc" --host --arch=sm_90 a.cu
ends 2
says '--arch needs nvcc'
run "$rex_cc" --device-compiler=gcc a.cu
ends 2
says '--device-compiler: gcc is neither nvcc nor clang'
run env CLANG=true "$rex_cc" --device-compiler=clang a.cu
ends 2
says 'true does not compile for NVIDIA GPUs'
run "$rex_cc" -c --embed a.cu
ends 2
run "$rex_cc" -E a.c
ends 2
run "$rex_cc" --no-check -o "$work/none" /nonexistent.c
ends 1

# What it would do, whatever nvcc there is; the folders of this build are left out.
run env CC=gcc NVCC=/cuda/bin/nvcc "$rex_cc" '-###' --arch=sm_80,sm_90 -O2 -g -Og -I "my headers" -DNAME='"it'"'"'s"' -Xnvcc -lineinfo -Wall app.c kernels.cu \
    more.cu -lm -o out/app
ends 0
sed "s|$top/$O|BUILD|g; s|$top|TOP|g" "$work/out" >"$work/shown"
[ -z "${UPDATE-}" ] || cp "$work/shown" tests/golden/rex-cc/shown.txt
diff -u tests/golden/rex-cc/shown.txt "$work/shown" || fail 'other commands than tests/golden/rex-cc/shown.txt'

# given WORD...: passed on, all of it, at its place
given() {
    run env CC=gcc NVCC=/cuda/bin/nvcc "$rex_cc" '-###' "$@"
    ends 0
    grep -qF -e "-o a.out $wanted -L" "$work/out" || fail "rex-cc $*: no \"$wanted\" in: $(cat "$work/out" "$work/err")"
}
wanted='app.c --std=c11 --sysroot=/ --coverage --param=x=1 --help=common'
given app.c --std=c11 --sysroot=/ --coverage --param=x=1 --help=common
wanted='app.c -Wl,--whole-archive x.a -Wl,--no-whole-archive y.o -lm z.a'
given -Wl,--whole-archive x.a -Wl,--no-whole-archive y.o app.c -lm z.a
wanted='-x c++ app.c -x none y.o'
given y.o -x c++ app.c
# Options whose value is the next word, which is neither a file to link nor an option.
for option in -isysroot -Xpreprocessor -Xassembler -Xlinker -Xclang -mllvm -target -iquote -MF -MJ -T -B -wrapper --param --sysroot; do
    wanted="app.c $option k.cu y.o"
    given "$option" k.cu app.c y.o
    run "$rex_cc" app.c "$option"
    ends 2
    says "$option: its value is missing"
done

# ---- programs that run, on every release

mkdir "$work/two" "$work/all" "$work/objects" "$work/whole" "$work/embed" "$work/so"
cp examples/09_raw_macros/*.c "$work/app.c"
cp examples/09_raw_macros/*.cu "$work/"
# A second file of kernels, which shares a name with the first that is its own, and has an odd name.
cat >"$work/more kernels.cu" <<'CU'
#include <rex/kernel.h>
REX_DEVICE_KERNEL(twice, (double *) x)
{
    REX_FOR(i, 1)
        x[i] *= FACTOR;
}
CU
cat >"$work/twice.c" <<'C'
#include <rex.h>
REX_KERNEL(twice);
int twice(void);
int twice(void)
{
    double x[1] = {21};
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(twice), 1, 1);
    REX_MAP(map, REX_TOFROM(x, 1));
    return rex_launch(&launch, &map) != REX_OK || x[0] != 42;
}
C
cat >"$work/main.c" <<'C'
int twice(void);
int main(void)
{
    return twice();
}
C

quietly() { "$@" >"$work/output" 2>&1 || { sed 's/^/    /' "$work/output"; fail "$*"; }; }
cd "$work"
quietly "$rex_cc" -O2 app.c kernels.cu -o all/app
made all/app all/rex_lib_host.so
quietly "$rex_cc" -O2 -DFACTOR=2 -c kernels.cu 'more kernels.cu' app.c
quietly "$rex_cc" -c twice.c -o objects/twice.o
made kernels.o 'more kernels.o' app.o
quietly "$rex_cc" main.c objects/twice.o 'more kernels.o' -o objects/app
made objects/app objects/rex_lib_host.so
# Of an archive all members are taken between two options, though nothing asks for them.
ar rc libtwice.a objects/twice.o
cat >asks.c <<'C'
#include <dlfcn.h>
int main(void)
{
    int (*twice)(void) = dlsym(dlopen(0, RTLD_LAZY), "twice");
    return !twice || twice();
}
C
quietly "$rex_cc" -rdynamic asks.c 'more kernels.o' -Wl,--whole-archive libtwice.a -Wl,--no-whole-archive -o whole/app
quietly "$rex_cc" --host --embed app.o kernels.o -o embed/app
[ ! -e embed/rex_lib_host.so ] || fail '--embed left an image'
quietly "$rex_cc" -shared -DFACTOR=2 twice.c 'more kernels.cu' -o so/libtwice.so
# The loader expands it.
# shellcheck disable=SC2016
quietly "$rex_cc" main.c -Lso -ltwice -Wl,-rpath,'$ORIGIN' -o so/app
for release in $("$top/tests/llvm" --list); do
    for folder in all objects whole embed so; do
        quietly "$top/tests/llvm" "$release" "$folder/app"
    done
done
"$top/tests/llvm" 19 embed/app | grep -qi 'image:.*\(memory\|embedded\)' || fail 'the embedded image is not used'

# ---- GPUs

if [ -n "$NVCC" ]; then
    made all/rex_lib_nvidia.cubin
    quietly "$rex_cc" --arch=sm_90,sm_80 -DFACTOR=2 app.c twice.c kernels.cu 'more kernels.cu' -o two/app
    made two/rex_lib_nvidia.cubin
    "$top/$O/tools/rex-check" two/app two/rex_lib_nvidia.cubin >out || fail "several kernels: $(cat out)"
    for sm in sm_80 sm_90; do
        grep -q "rex_lib_nvidia.cubin($sm): image for $sm, 2 kernels" out || fail "not both kernels for $sm: $(cat out)"
    done
    quietly "$top/tests/llvm" 19 two/app # without a GPU on the host image beside it
    # An object without that architecture is named.
    quietly "$rex_cc" --arch=sm_80 -c kernels.cu
    run "$rex_cc" --arch=sm_90 app.o kernels.o -o two/app
    ends 1
    says 'kernels.o has no kernels for sm_90'
    # The CUBIN is inside.
    quietly "$rex_cc" --embed app.c kernels.cu -o embed/gpu
    [ ! -e embed/rex_lib_nvidia.cubin ] || fail '--embed left a CUBIN'
    quietly "$top/tests/llvm" 19 embed/gpu # without a GPU on the host image inside
    # A fatbin for two, inside.
    quietly "$rex_cc" --arch=sm_75,sm_90 --embed app.c kernels.cu -o embed/gpus
    "$top/$O/tools/rex-check" embed/gpus >out || fail "an embedded fatbin: $(cat out)"
    for sm in sm_75 sm_90; do grep -q "($sm): image for $sm, 1 kernel" out || fail "no $sm inside: $(cat out)"; done
    quietly "$top/tests/llvm" 19 embed/gpus
else
    echo 'no nvcc: CUBINs are not tested'
fi
if command -v clang-19 >/dev/null; then
    # PTX for the oldest, inside the program and beside it, by way of objects.
    by_clang() { quietly env CLANG=clang-19 "$rex_cc" --device-compiler=clang "$@"; }
    by_clang --arch=sm_90,sm_80 --embed -DFACTOR=2 app.c twice.c kernels.cu 'more kernels.cu' -o embed/ptx
    "$top/$O/tools/rex-check" embed/ptx >out || fail "embedded PTX: $(cat out)"
    grep -q 'image for compute_80, 2 kernels' out || fail "not both kernels: $(cat out)"
    quietly "$top/tests/llvm" 19 embed/ptx # without a GPU on the host image inside
    by_clang --arch=sm_80 -c kernels.cu
    run env CLANG=clang-14 "$rex_cc" --device-compiler=clang --arch=sm_90 -c kernels.cu
    if command -v clang-14 >/dev/null; then
        ends 2
        says 'clang-14 cannot compile for sm_90; it does for sm_'
    fi
    by_clang --arch=sm_80 app.o kernels.o -o two/ptx
    grep -q '^\.target sm_80$' two/rex_lib_nvidia.cubin || fail 'no PTX for sm_80'
    # What another compiler made cannot be linked, and is named.
    run env NVCC=/cuda/bin/nvcc "$rex_cc" --arch=sm_80 app.o kernels.o -o two/app
    ends 1
    says 'kernels.o has no kernels for sm_80 by nvcc'
fi

# ---- images alone, for a program that something else links

mkdir images
quietly "$rex_cc" --host --images -DFACTOR=2 -o images kernels.cu 'more kernels.o'
made images/rex_lib_host.so
[ "$(ls images)" = rex_lib_host.so ] || fail "--images made $(ls images)"
quietly "$rex_cc" --no-check app.o twice.c -o images/app
quietly "$top/tests/llvm" 19 images/app
run "$rex_cc" --images -o images kernels.cu app.o
ends 2
says '--images takes kernels and nothing else'
run "$rex_cc" --images --embed kernels.cu
ends 2

# ---- names: a path that is longer than a file's name may be, and a TMPDIR that .incbin and nvcc would misread

long=$(printf 'folder%060d/' 1 2 3 4 5)
mkdir -p "$long"
cp kernels.cu "$long"
quietly "$rex_cc" app.c "${long}kernels.cu" -o images/long
quietly "$top/tests/llvm" 19 images/long
quietly "$rex_cc" -c "${long}kernels.cu" -o images/long.o
mkdir "tmp \"'\$,\\"
for embed in --embed --no-check; do
    TMPDIR="$work/tmp \"'\$,\\" quietly "$rex_cc" $embed --arch=sm_80,sm_90 app.c kernels.cu -o images/quoted
    quietly "$top/tests/llvm" 19 images/quoted
done

# ---- rex-check speaks up: the kernel of twice.c is in no image

run "$rex_cc" --host app.c twice.c kernels.cu -o two-app
ends 1
grep -q 'twice__kernel__' "$work/out" || fail "rex-check said nothing: $(cat "$work/out" "$work/err")"
run "$rex_cc" --host --no-check app.c twice.c kernels.cu -o two-app
ends 0

# Its images are newer than the program: nothing says that they are another build's.
run "$rex_cc" --host app.c twice.c kernels.cu -o two-app
! grep -q 'older than' "$work/out" || fail "an image just built is called old: $(cat "$work/out")"

# ---- two programs in one folder: the second takes the first one's image away, and says so

mkdir one one/again
quietly "$rex_cc" --host app.c kernels.cu -o one/first
run "$rex_cc" --host app.c kernels.cu -o one/first
ends 0
! grep -q warning "$work/err" || fail "a program built again: $(cat "$work/err")"
run "$rex_cc" --host main.c objects/twice.o 'more kernels.o' -o one/second
ends 0
says 'one/rex_lib_host.so was made for one/first, which finds the kernels of one/second in it now'
says 'with --embed'
run "$rex_cc" --host --embed app.c kernels.cu -o one/third
! grep -q warning "$work/err" || fail "--embed: $(cat "$work/err")"
rm one/second
run "$rex_cc" --host app.c kernels.cu -o one/first
! grep -q warning "$work/err" || fail "a program that is gone is warned of: $(cat "$work/err")"
quietly "$rex_cc" --host app.c kernels.cu -o "one/${escape}[31m"
run "$rex_cc" --host app.c kernels.cu -o one/again/first
run "$rex_cc" --host app.c kernels.cu -o one/first
says 'one/\x1b[31m'

left=$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'rex-cc.*' -newer "$work/app.c")
[ -z "$left" ] || fail "left behind: $left"
exit "$failed"
