#!/bin/sh
# rex-cc: programs, objects, shared objects, several files of kernels, embedded images, on every release; what it shows; wrong use.
. tests/support/lib.sh
rex_cc=$build/tools/rex-cc
# A library that is built with a sanitizer cannot be loaded into a program that is not.
needs_no_sanitizer

# ---- the command line

command_line rex-cc
while IFS='|' read -r wanted text words; do
    # Words of a command. Nothing of a value is a command, or the name of a file here.
    # shellcheck disable=SC2086
    (set -f && refused "$wanted" "$text" env NVCC=true CLANG=true "$rex_cc" $words && exit "$failed") || failed=1
done <<WRONG
2|no input files|
1|--frobnicate|--frobnicate app.c
2|--arch=: its value is missing|--arch= app.c
2|-o: its value is missing|app.c -o
1||--host --no-check --$(letters 50000) $top/examples/13_raw_packet/raw_packet.c
2|-o names one file, and -c has several sources|-c -o both.o a.c b.cu
2|--arch: 90 is not an architecture|--arch=90 a.cu
2|--arch: |--arch=sm_90;>injected; -c a.cu
2|--arch: |--arch=sm_90\$(>injected) -c a.cu
2|--arch: |--arch=sm_a -c a.cu
1||--host -Og;>injected; -c $top/examples/13_raw_packet/raw_packet.c -o $work/injected.o
2|--arch needs nvcc|--host --arch=sm_90 a.cu
2|--device-compiler: gcc is neither nvcc nor clang|--device-compiler=gcc a.cu
2|true does not compile for NVIDIA GPUs|--device-compiler=clang a.cu
2||-c --embed a.cu
2||-E a.c
2||--images --embed kernels.cu
2|--images takes only kernels|--images -o images kernels.cu app.o
1||--no-check -o $work/none /nonexistent.c
2|--ach=sm_90: no such option; is --arch meant?|--ach=sm_90 app.c
2|--embed=x: no such option; is --embed meant?|--embed=x app.c
2|--verison: no such option; is --version meant?|--verison app.c
WRONG
[ ! -e injected ] || { rm injected; fail 'a value was run as a command'; }
# A backslash in a name is no escape; bytes for a terminal are, of text in UTF-8 those alone. More of that is in controls.sh.
escape=$(printf '\033')
refused 2 '--device-compiler: \033[31m is neither' "$rex_cc" --device-compiler='\033[31m' a.cu
refused 2 "--device-compiler: \\x1b[31mh$(printf '\303\244')\\xc2\\x9b\\x9b\\x0a2 is neither" \
    "$rex_cc" --device-compiler="${escape}[31m$(printf 'h\303\244\302\233\233\n2')" a.cu
refused 2 '-o: its value is empty' "$rex_cc" --host -o '' app.c
# The latest clang counts that runs.
mkdir "$work/clangs"
printf '#!/bin/sh\nexit 0\n' >"$work/clangs/clang-98"
printf '#!/nowhere/sh\n' >"$work/clangs/clang-99"
: >"$work/clangs/clang-97"
chmod +x "$work/clangs/clang-98" "$work/clangs/clang-99"
run env -u CLANG PATH="$work/clangs:$PATH" "$rex_cc" '-###' --device-compiler=clang --arch=sm_80 -c kernels.cu
grep -q "^$work/clangs/clang-98 " "$work/out" || fail "another clang than the latest that runs: $(cat "$work/out" "$work/err")"

# What it would do, whatever nvcc there is; the folders of this build are left out.
run env CC=gcc NVCC=/cuda/bin/nvcc "$rex_cc" '-###' --arch=sm_80,sm_90 -O2 -g -Og -I "my headers" \
    -DNAME='"it'"'"'s"' -Xnvcc -lineinfo -Wall app.c kernels.cu more.cu -lm -o out/app
ends 0
sed "s|$top/$O|BUILD|g; s|$top|TOP|g" "$work/out" >"$work/shown"
golden rex-cc/shown.txt "$work/shown"
run "$rex_cc" '-###' --host --images -fno-openmp kernels.cu
! grep -e '-c ' "$work/out" | grep -q -e -fopenmp || fail "-fno-openmp: $(cat "$work/out")"
# A compiler that lacks the library of OpenMP.
printf '#!/bin/sh\ncase " $* " in *" -fopenmp "*) exit 1 ;; esac\nexec gcc "$@"\n' >"$work/plain-gcc"
chmod +x "$work/plain-gcc"

# given PLACED WORD...: the words are passed on, all of them, at their places
given() {
    wanted=$1
    shift
    run env CC=gcc NVCC=/cuda/bin/nvcc "$rex_cc" '-###' "$@"
    ends 0
    grep -qF -e "-o a.out $wanted -L" "$work/out" || fail "rex-cc $*: no \"$wanted\" in: $(cat "$work/out" "$work/err")"
}
given 'app.c --std=c11 --sysroot=/ --param=x=1' app.c --std=c11 --sysroot=/ --param=x=1
given 'app.c -Wl,--whole-archive x.a -Wl,--no-whole-archive y.o -lm z.a' -Wl,--whole-archive x.a \
    -Wl,--no-whole-archive y.o app.c -lm z.a
given 'app.c -fno-openmp -lm' app.c -lm -fno-openmp
given '-x c++ app.c -x none y.o' y.o -x c++ app.c
# Options whose value is the next word, which is neither a file to link nor an option.
for option in -isysroot -Xpreprocessor -Xassembler -Xlinker -Xclang -mllvm -target -iquote -MF -MJ -T -B -wrapper --param --sysroot; do
    given "app.c $option k.cu y.o" "$option" k.cu app.c y.o
    refused 2 "$option: its value is missing" "$rex_cc" app.c "$option"
done

# ---- programs that run, on every release

mkdir "$work/two" "$work/all" "$work/objects" "$work/whole" "$work/embed" "$work/so"
cp examples/13_raw_packet/*.c "$work/app.c"
cp examples/13_raw_packet/*.cu tests/tools/rex-cc/* "$work/"
# A second file of kernels, which shares a name with the first that is its own, and has an odd name.
mv "$work/more.cu" "$work/more kernels.cu"
works() { quietly "$@" || fail "$*"; }
cd "$work"
works "$rex_cc" -O2 app.c kernels.cu -o all/app
made all/app all/rex_lib_host.so
readelf -d all/rex_lib_host.so | grep -q 'NEEDED.*omp' || fail 'kernels for the CPU have one thread'
# libomptarget would stop the process where the library is missing.
sed 's/omp\.so\./onp.so./g' all/rex_lib_host.so >missing.so
! REX_CUBIN=$PWD/missing.so on_release all/app 2>errors || fail 'an image ran without its library'
grep -q 'missing.so needs lib.*onp.so.*, which cannot be loaded: .* \[REX_EIMAGE\]' errors ||
    fail "an image without its library: $(cat errors)"
# Nor without a version of one, a variable, or a function that the loader looks for at once.
sed 's/GLIBC_2\.\([0-9]\)/GLIBC_9.\1/g' all/rex_lib_host.so >newer.so
printf 'extern int none;\nint *unused(void) { return &none; }\n' >variable.c
printf 'int none(void);\nint unused(void) { return none(); }\n' >function.c
host_image variable.so kernels.cu variable.c
host_image function.so kernels.cu function.c -Wl,-z,now
host_image lazy.so kernels.cu function.c -Wl,-z,lazy
while read -r image text; do
    ! REX_CUBIN=$PWD/$image.so on_release all/app 2>errors || fail "$image.so ran"
    grep -q "$image.so needs $text.* \[REX_EIMAGE\]" errors || fail "$image.so: $(cat errors)"
done <<'LACKS'
newer GLIBC_9[^ ]* of libc.so.6, which is older on this machine
variable the symbol none, which no library has
function the symbol none, which no library has
LACKS
works env REX_CUBIN="$PWD/lazy.so" "$top/tests/llvm" "$release" all/app
# libomptarget opens host images as files in /tmp: where that is not possible it is an error, and else nothing is left there.
# in_tmp RELEASE OPTIONS: all/app with a /tmp of its own
in_tmp() {
    # The shell that is started expands it.
    # shellcheck disable=SC2016
    run "$top/tests/llvm" "$1" env TMPDIR=/tmp unshare -m sh -c \
        'mount --bind . /mnt && mount -t tmpfs -o "$1" none /tmp && cd /mnt && all/app && ls -A /tmp >left' sh "$2"
}
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none /mnt 2>"$work/err"; then
    for one in $("$top/tests/llvm" --list | grep -v bare); do
        in_tmp "$one" size=1m
        ends 0 "LLVM $one"
        [ ! -s "$work/left" ] || fail "LLVM $one has left $(cat "$work/left")"
        for options in noexec:run ro:made size=4k:written; do
            in_tmp "$one" "${options%:*}"
            says "no file can be ${options#*:}: "
            [ "$status" -lt 128 ] || fail "LLVM $one, /tmp with $options: status $status"
        done
    done
else
    echo "left out: a /tmp without room or programs: $(cat "$work/err")"
fi
mkdir "$work/by_name"
works "$rex_cc" "$top"/examples/16_by_name/*.c* -o by_name/app
works on_release by_name/app
mkdir "$work/plain"
works env CC="$work/plain-gcc" "$rex_cc" --host app.c kernels.cu -o plain/app
! readelf -d plain/rex_lib_host.so | grep -q 'NEEDED.*omp' || fail 'an image without OpenMP needs its library'
works "$rex_cc" -O2 -DFACTOR=2 -c kernels.cu 'more kernels.cu' app.c
works "$rex_cc" -c twice.c -o objects/twice.o
made kernels.o 'more kernels.o' app.o
works "$rex_cc" main.c objects/twice.o 'more kernels.o' -o objects/app
made objects/app objects/rex_lib_host.so
# Of an archive all members are taken between two options, though nothing asks for them.
ar rc libtwice.a objects/twice.o
works "$rex_cc" -rdynamic asks.c 'more kernels.o' -Wl,--whole-archive libtwice.a \
    -Wl,--no-whole-archive -o whole/app
works "$rex_cc" --host --embed app.o kernels.o -o embed/app
[ ! -e embed/rex_lib_host.so ] || fail '--embed left an image'
# A static library with an image of its own, beside the program's.
parts=$top/tests/link/parts kernels=$top/tests/runtime/parts/image/kernels.cu
quietly gcc -x c -O2 -shared -fPIC -I"$top/include" -DNAME=beta -DFACTOR=3 -o embed/beta.so "$kernels"
quietly gcc -I"$top/include" -DNAME=beta "-DIMAGE=\"embed/beta.so\"" -c -o embed/beta.o "$parts/part.c"
ar rc embed/libbeta.a embed/beta.o
works "$rex_cc" --host --embed -DNAME=alpha -DFACTOR=2 "$parts/part.c" "$parts/main.c" "$kernels" embed/libbeta.a -o embed/both
works "$rex_cc" -shared -DFACTOR=2 twice.c 'more kernels.cu' -o so/libtwice.so
# The loader expands it.
# shellcheck disable=SC2016
works "$rex_cc" main.c -Lso -ltwice -Wl,-rpath,'$ORIGIN' -o so/app
for release in $("$top/tests/llvm" --list); do
    for folder in all plain objects whole embed so; do works on_release "$folder/app"; done
done
release=19
works on_release embed/both
on_release embed/app | grep -qi 'image:.*\(memory\|embedded\)' ||
    fail 'the embedded image is not used'

# ---- GPUs

if [ -n "$nvcc" ]; then
    made all/rex_lib_nvidia.cubin
    works "$rex_cc" --arch=sm_90,sm_80 -DFACTOR=2 app.c twice.c kernels.cu 'more kernels.cu' -o \
        two/app
    made two/rex_lib_nvidia.cubin
    "$build/tools/rex-check" two/app two/rex_lib_nvidia.cubin >out ||
        fail "several kernels: $(cat out)"
    for sm in sm_80 sm_90; do
        grep -q "rex_lib_nvidia.cubin($sm): image for $sm, 3 kernels" out || fail "not all kernels for $sm: $(cat out)"
    done
    works on_release two/app # without a GPU on the host image beside it
    # An object without that architecture is named.
    works "$rex_cc" --arch=sm_80 -c kernels.cu
    refused 1 'kernels.o has no kernels for sm_90' "$rex_cc" --arch=sm_90 app.o kernels.o -o two/app
    # A fatbin for two, inside.
    works "$rex_cc" --arch=sm_75,sm_90 --embed app.c kernels.cu -o embed/gpus
    "$build/tools/rex-check" embed/gpus >out || fail "an embedded fatbin: $(cat out)"
    for sm in sm_75 sm_90; do grep -q "($sm): image for $sm, 2 kernels" out || fail "no $sm inside: $(cat out)"; done
    [ ! -e embed/rex_lib_nvidia.cubin ] || fail '--embed left a CUBIN'
    works on_release embed/gpus # without a GPU on the host image inside
else
    echo 'no nvcc: CUBINs are not tested'
fi
if command -v clang-19 >/dev/null; then
    # PTX for the oldest, inside the program and beside it, by way of objects.
    by_clang() { works env CLANG=clang-19 "$rex_cc" --device-compiler=clang "$@"; }
    by_clang --arch=sm_90,sm_80 --embed -DFACTOR=2 app.c twice.c kernels.cu 'more kernels.cu' -o embed/ptx
    "$build/tools/rex-check" embed/ptx >out || fail "embedded PTX: $(cat out)"
    grep -q 'image for compute_80, 3 kernels' out || fail "not all kernels: $(cat out)"
    works on_release embed/ptx # without a GPU on the host image inside
    by_clang --arch=sm_80 -c kernels.cu
    ! command -v clang-14 >/dev/null || refused 2 \
        'clang-14 cannot compile for sm_90, only for sm_' \
        env CLANG=clang-14 "$rex_cc" --device-compiler=clang --arch=sm_90 -c kernels.cu
    by_clang --arch=sm_80 app.o kernels.o -o two/ptx
    grep -q '^\.target sm_80$' two/rex_lib_nvidia.cubin || fail 'no PTX for sm_80'
    # What another compiler made cannot be linked, and is named.
    refused 1 'kernels.o has no kernels for sm_80 by nvcc' env NVCC=/cuda/bin/nvcc "$rex_cc" \
        --arch=sm_80 app.o kernels.o -o two/app
fi

# ---- images alone, for a program that something else links

mkdir images
works "$rex_cc" --host --images -DFACTOR=2 -o images kernels.cu 'more kernels.o'
made images/rex_lib_host.so
[ "$(ls images)" = rex_lib_host.so ] || fail "--images made $(ls images)"
works "$rex_cc" --no-check app.o twice.c -o images/app
works on_release images/app

# ---- names: a path that is longer than a file's name may be, and a TMPDIR that .incbin and nvcc would misread

long=$(printf 'folder%060d/' 1 2 3 4 5)
mkdir -p "$long"
cp kernels.cu "$long"
works "$rex_cc" app.c "${long}kernels.cu" -o images/long
works on_release images/long
works "$rex_cc" -c "${long}kernels.cu" -o images/long.o
mkdir "tmp \"'\$,\\"
for embed in --embed --no-check; do
    TMPDIR="$work/tmp \"'\$,\\" works "$rex_cc" $embed --arch=sm_80,sm_90 app.c kernels.cu -o \
        images/quoted
    works on_release images/quoted
done

# Nor does a name begin as an option does; and a half-made object or program is none.
for TMPDIR in "$work/two
lines" -t; do
    export TMPDIR
    mkdir -- "$TMPDIR"
    works "$rex_cc" --host --embed app.c kernels.cu -o -embedded
done
TMPDIR=${work%/*}
works "$rex_cc" --host app.c kernels.cu -o -dashed
cp kernels.cu images/-kernels.cu
works "$rex_cc" --host -c images/-kernels.cu
works "$rex_cc" --host app.c ./-kernels.o -o images/dashed
# The text of a script.
# shellcheck disable=SC2016
printf '#!/bin/sh\nwhile [ $# -gt 1 ]; do [ "$1" != -o ] || echo >"$2"; shift; done\n' >images/nvcc
chmod +x images/nvcc
cp kernels.cu half.cu
refused 1 '' env NVCC=false "$rex_cc" -c half.cu
refused 1 'nvlink: not found' env NVCC="$work/images/nvcc" "$rex_cc" app.c half.cu -o half
echo older >older.o
echo mistake >mistake.cu
refused 1 '' "$rex_cc" --host -c mistake.cu -o older.o
made older.o
# A source is no output.
for words in 'app.c half.cu -o ./half.cu' '-c half.cu -o half.cu'; do
    # shellcheck disable=SC2086
    refused 2 'half.cu is also an input' "$rex_cc" --host $words
done
refused 2 'is the name that rex-cc gives a device image' "$rex_cc" --host -shared twice.c half.cu -o images/rex_lib_host.so
cmp half.cu kernels.cu || fail 'a source is written over'
for output in half.o half; do [ ! -e $output ] || fail "$output is there without its kernels for GPUs"; done

# ---- rex-check speaks up: the kernel of twice.c is in no image

refused 1 '' "$rex_cc" --host app.c twice.c kernels.cu -o two-app
prints twice__kernel__
run "$rex_cc" --host --no-check app.c twice.c kernels.cu -o two-app
ends 0

# Its images are newer than the program: nothing says that they are another build's.
run "$rex_cc" --host app.c twice.c kernels.cu -o two-app
! grep -q 'older than' "$work/out" || fail "an image just built is called old: $(cat "$work/out")"

# ---- two programs in one folder: the second takes the first one's image away, and says so

mkdir one one/again
works "$rex_cc" --host app.c kernels.cu -o one/first
run "$rex_cc" --host app.c kernels.cu -o one/first
ends 0
says_no warning
run "$rex_cc" --host main.c objects/twice.o 'more kernels.o' -o one/second
ends 0
says 'one/rex_lib_host.so is the image of one/first, and now has only the kernels of one/second'
says 'with --embed'
run "$rex_cc" --host --embed app.c kernels.cu -o one/third
says_no warning
rm one/second
run "$rex_cc" --host app.c kernels.cu -o one/first
says_no warning
works "$rex_cc" --host app.c kernels.cu -o "one/${escape}[31m"
run "$rex_cc" --host app.c kernels.cu -o one/again/first
run "$rex_cc" --host app.c kernels.cu -o one/first
says 'one/\x1b[31m'

# ---- a CUBIN beside the output: an older one of the program goes with a build that has none, and any other stays and is told of

mkdir marks
cubin=marks/rex_lib_nvidia.cubin
# host_build WORD...: without GPUs
host_build() { run "$rex_cc" --host app.c kernels.cu "$@" && ends 0; }
host_build -o marks/app
says_no warning
# The kinds of images that may lie there are those of the compilers here: a CUBIN, a fatbin, PTX.
while read -r words; do
    # Words of a command.
    # shellcheck disable=SC2086
    works "$rex_cc" $words app.c kernels.cu -o marks/app
    for image in rex_lib_host.so rex_lib_nvidia.cubin; do
        "$build/tools/rex-check" -q marks/app "marks/$image" >out || fail "a marked $image: $(cat out)"
        ! grep -q 'another build' out || fail "$words: $(cat out)"
    done
    # Other code for the CPU and the CUBIN of before: the status stays.
    cp $cubin older.cubin
    host_build -O1 -o marks/app
    says_no warning
    [ ! -e $cubin ] || fail "$words: the CUBIN of an older build stays"
    cp older.cubin $cubin
    run "$build/tools/rex-check" -q marks/app
    ends 0
    prints "$cubin: note: it and marks/app were made by different runs of rex-cc"
    # Without the program's mark one image is compared with the other.
    objcopy --remove-section .rex_program marks/app marks/unmarked
    run "$build/tools/rex-check" -q marks/unmarked
    prints "marks/rex_lib_host.so: note: it and $cubin were made by different runs of rex-cc"
    # The program inside has no image for GPUs, and would take that.
    host_build -O1 --embed -o marks/app
    [ ! -e $cubin ] || fail "$words: the CUBIN of an older build stays beside images inside"
done <<COMPILERS
${nvcc:+--arch=sm_90}
${nvcc:+--arch=sm_80,sm_90}
$(command -v clang-19 >/dev/null && echo --device-compiler=clang --arch=sm_80)
COMPILERS
# One that was put there by hand, or for another program.
kept() {
    host_build "$@"
    says "warning: $cubin is from another build, this build makes no image for GPUs, and a program on a GPU will run"
    cmp -s by-hand $cubin || fail "$*: another CUBIN than was there"
}
cp "$top/tests/data/sm_90.cubin" by-hand
cp by-hand $cubin
kept -o marks/app
kept --embed -o marks/app
run "$rex_cc" --host --images kernels.cu -o marks
says 'a program on a GPU will run the kernels of the other build'
if [ -n "$nvcc" ]; then
    works "$rex_cc" app.c kernels.cu -o marks/other
    cp $cubin by-hand
    kept -o marks/app
    cp "$top/tests/data/sm_90.cubin" $cubin
    run "$rex_cc" app.c kernels.cu -o marks/app
    says "warning: $cubin, which rex-cc did not make, is replaced"
    # A name for which PTX and a line have no room.
    works "$rex_cc" app.c kernels.cu -o "marks/$(printf 'h\303\244\\ \n2')"
    tail -n 1 $cubin >mark
    grep -qE '^// rex-cc: build [0-9]+-[0-9]+ of h\\0303\\0244\\0134\\0040\\00122$' mark || fail "the mark: $(cat mark)"
    run "$rex_cc" app.c kernels.cu -o marks/app
    says 'rex_lib_host.so is the image of marks/h'
fi
# Where there is no compiler for GPUs, all that is said in one line.
mkdir bare
find /usr/local/bin /usr/bin -maxdepth 1 ! -name 'clang*' ! -name nvcc ! -name ls -exec ln -sf -t bare {} +
printf '#!/bin/sh\nexit 1\n' >bare/ls
chmod +x bare/ls
cp by-hand $cubin
run env -u CLANG -u NVCC PATH="$work/bare" "$rex_cc" app.c kernels.cu -o marks/app
ends 0
says 'neither nvcc nor clang is found: kernels are compiled only for the CPU, as with --host'
says 'a program on a GPU will run the kernels of the other build'
run env -u CLANG -u NVCC PATH="$work/bare" "$rex_cc" --host -c kernels.cu
says_no neither

# ---- archives, and linkers that do not know an option

mkdir archives
works "$rex_cc" --host -c main.c
works "$rex_cc" --host -c kernels.cu
works "$rex_cc" --host -c app.c
ar rc 'archives/libthe kernels.a' kernels.o app.o
for words in "'archives/libthe kernels.a'" "-L archives '-lthe kernels'" "'-lthe kernels' -lm -Larchives" "-l 'the kernels' -Lmarks -Larchives"; do
    eval "run '$rex_cc' --host archives/none.o $words"
    says 'warning: no image has the kernels in archives/libthe kernels.a: give their objects to rex-cc'
done
ar d 'archives/libthe kernels.a' kernels.o
run "$rex_cc" --host 'archives/libthe kernels.a' kernels.o -o archives/app
ends 0
says_no warning
for linker in bfd gold lld mold; do
    command -v ld.$linker >/dev/null || { echo "no ld.$linker"; continue; }
    run "$rex_cc" --host -fuse-ld=$linker -Wl,--gc-sections app.c kernels.cu -o archives/app
    ends 0 "$linker"
    on_release archives/app >out || fail "$linker: $(cat out)"
done

left=$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'rex-cc.*' -newer "$work/app.c")
[ -z "$left" ] || fail "left behind: $left"
