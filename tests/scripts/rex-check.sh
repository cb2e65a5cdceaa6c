#!/bin/sh
# rex-check: what it prints for good and for broken inputs that gcc, clang, objcopy and strip make, compared with tests/golden/rex-check.
# Every finding has a case. With UPDATE=1 the kept outputs are written anew: read the difference.
. tests/support/lib.sh
check=$build/tools/rex-check
data=$top/tests/data
sources=$top/tests/tools/rex-check
golden=$top/tests/golden/rex-check

count=0
unset REX_CUBIN REX_CUBIN_PATH NO_COLOR 2>/dev/null || true
cd "$work"

needs_clang
lld=$(command -v ld.lld-19 || command -v ld.lld || true)
[ -n "$lld" ] || { fail 'no lld'; exit 1; }

# Addresses, the section of pointers and the number of instructions that take a key's address are
# the compiler's.
plainly() {
    sed -e 's/0x[0-9a-f]*/0x*/g' -e 's/\.data\.rel[a-z_.]*+/.data+/' \
        -e 's/"address": [0-9][0-9]*/"address": 0/g' -e 's/"version": "[0-9.]*"/"version": "N"/' \
        -e 's/[0-9][0-9]* references\{0,1\} to host keys/N references to host keys/'
}

# expect NAME STATUS ARGUMENTS...: the output is that of NAME.txt
expect() {
    name=$1
    wanted=$2
    shift 2
    run "$check" "$@"
    ends "$wanted" "$name: rex-check $*"
    cat "$work/out" "$work/err" | plainly >"$work/output"
    golden "rex-check/$name.txt" "$work/output"
    count=$((count + 1))
}
# notes: the findings and notes of rex-check's output
notes() { grep -E ': (finding|note): ' | sort; }
# same NAME ARGUMENTS...: the same findings and notes as in NAME.txt, in whatever order
same() {
    name=$1
    shift
    notes <"$golden/$name.txt" >"$work/wanted" || true
    "$check" -q "$@" 2>&1 | plainly | notes | diff "$work/wanted" - ||
        fail "$name, otherwise: rex-check -q $*"
    count=$((count + 1))
}

# finds TEXT ARGUMENTS...: a line with it
finds() {
    text=$1
    shift
    "$check" -q "$@" 2>&1 | grep "$text" >"$work/found" || fail "no \"$text\" by rex-check $*"
}

object() { "$@" -w -fPIC -c -o host.o "$sources/host.c"; }
linked() { "$@" -w -fPIC -shared -o libhost.so "$sources/host.c"; }
image() { host_image "$1" "$sources/kernels.cu" ${2+"$2"}; }
image kernels.so

# both NAME STATUS FLAGS...: an object of every compiler, optimised or not, says the same
both() {
    case_name=$1
    case_status=$2
    shift 2
    object gcc -O0 "$@"
    expect "object-$case_name" "$case_status" host.o
    for compile in "$clang -O2" 'gcc -O2 -g -fno-toplevel-reorder -ffunction-sections -fdata-sections'; do
        # A command and its options.
        # shellcheck disable=SC2086
        object $compile "$@"
        same "object-$case_name" host.o
    done
}

# ---- entries and keys, in objects and in what is linked

both good 0
both elsewhere 0 -DELSEWHERE
both new-form 0 -DNEW_FORM
both short-entries 1 -DSHORT_ENTRY
both far-entries 1 -DALIGNED=64
both length 1 -DBYTES=7
both front 1 -DFRONT=8
flag() { echo "-D$(echo "$1" | tr 'a-z-' 'A-Z_' | sed 's/SHORT_ENTRIES/SHORT_ENTRY/')"; }
for mistake in no-entries outside no-symbol no-name wrong-key other-name other-symbol one-key one-name drift unused one-entry; do
    both $mistake 1 "$(flag $mistake)"
done
for mistake in good short-entries wrong-key other-name one-key drift unused; do
    flag=$(flag $mistake)
    linked gcc -O0 "$flag"
    status=1
    [ "$mistake" != good ] || status=0
    expect "linked-$mistake" "$status" libhost.so
    # Relative relocations packed, as the newest distributions do.
    linked "$clang" -O2 "$flag" "-fuse-ld=$lld" -Wl,-z,pack-relative-relocs
    same "linked-$mistake" libhost.so
done

# clang 20 has entries of the newer form in the older section.
linked gcc -O0 -DNEW_FORM
expect linked-new-form 0 libhost.so kernels.so
linked "$clang" -O2 -DNEW_FORM '-DNEW_SECTION="omp_offloading_entries"' "-fuse-ld=$lld"
expect linked-new-form-older-section 0 libhost.so kernels.so
both new-form-older-section 0 -DNEW_FORM '-DNEW_SECTION="omp_offloading_entries"'

# g++ has another name for a key that is static.
cat >static.cc <<'SOURCE'
#include "rex_kmp.h"
static char OUT__1__main__9__id__ = 0;
struct __tgt_offload_entry OUT__1__main__9__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    &OUT__1__main__9__id__, (char *)"OUT__1__main__9__kernel__", 0, 0, 0};
SOURCE
g++ -I"$top/include" -O2 -c static.cc
expect object-static 0 static.o

# Alignment is lost where an assembler or objcopy is told so.
object gcc -O0
objcopy --set-section-alignment omp_offloading_entries=4 host.o host4.o
expect object-alignment 1 host4.o

# A relocation for every reference stays in what is linked with --emit-relocs.
linked gcc -O0 -DDRIFT -Wl,--emit-relocs
expect linked-emit-relocs 1 libhost.so

# Programs at a fixed address have the pointers in place.
gcc -w -O0 -fno-pie -no-pie -nostartfiles -Wl,-e,launch -Wl,--unresolved-symbols=ignore-all -o program "$sources/host.c"
expect program-fixed 0 program kernels.so

# The instructions that take a key's address are found where relocations are gone.
for compile in 'gcc -O0' 'gcc -O2' "$clang -O2"; do
    for pie in -no-pie -pie; do
        # A command and its options.
        # shellcheck disable=SC2086
        $compile -w -DDRIFT -f${pie#-} $pie -nostartfiles -Wl,-e,launch -Wl,--unresolved-symbols=ignore-all -o program "$sources/host.c" \
            2>errors || fail "$compile $pie: $(cat errors)"
        if [ "$compile $pie" = 'gcc -O0 -no-pie' ]; then
            expect program-drift 1 -q program kernels.so
        else
            same program-drift program kernels.so
        fi
    done
done

# More sections than the header can count.
awk 'BEGIN { for (i = 0; i < 66000; i++) printf "int f%d(void) { return %d; }\n", i, i }' >many.c
cat "$sources/host.c" >>many.c
"$clang" -w -O0 -ffunction-sections -DDRIFT -fPIC -c -o many.o many.c
[ "$(readelf -h many.o | sed -n 's/.*Number of section headers: *\([0-9]*\).*/\1/p')" = 0 ] || fail 'many.o has too few sections'
"$check" -q many.o 2>&1 | grep -vE '^[0-9]+ finding' | sed 's/many\.o/host.o/' | plainly >output || true
notes <"$golden/object-drift.txt" | diff - output || fail 'an object of 66000 sections'

# Another processor's object; gcc for it is not needed.
object "$clang" --target=aarch64-linux-gnu -ffreestanding -O2 -DDRIFT
same object-drift host.o
object "$clang" --target=aarch64-linux-gnu -ffreestanding -O2
expect aarch64 0 -q host.o

# ---- stripped

linked gcc -O0 -DOTHER_NAME -Wl,--exclude-libs,ALL -fvisibility=hidden
strip libhost.so
expect stripped 0 libhost.so
image other.so -DSTALE
linked gcc -O0 -DONE_KEY -fvisibility=hidden
strip libhost.so
expect stripped-one-key 1 libhost.so

# ---- images

linked gcc -O0
expect image-good 0 libhost.so kernels.so
touch -d '2001-01-01' other.so
expect image-stale 1 libhost.so other.so
touch -d '2001-01-01' kernels.so
expect image-old 0 -q libhost.so kernels.so
touch -d '2036-01-01' other.so
expect image-newer 1 -q libhost.so other.so
linked gcc -O0 -DGLOBAL=4
image global.so -DGLOBAL
expect global-good 0 libhost.so global.so
linked gcc -O0 -DGLOBAL=5
# An old image may differ in nothing but a global.
touch -d '2001-01-01' global.so
expect global-size 1 -q libhost.so global.so
expect global-missing 1 -q libhost.so kernels.so

# An image that was built again with other parameters, the program not. The program says which ones it was compiled for.
# compiled LIST: told.so, a program for that
compiled() {
    list=$1
    gcc -O2 -flto -ffunction-sections -fdata-sections -Wl,--gc-sections -fPIC -shared -I"$top/include" "-DLIST=$list" -o told.so \
        "$sources/told.c" -Wl,-z,nostart-stop-gc
    strip told.so
}
# told COUNT IMAGE...: so many findings about parameters of each
told() {
    wanted=$1
    shift
    for file in "$@"; do
        run "$check" -q told.so "$file"
        found=$(grep -c '\[signature\]$' "$work/out" || true)
        [ "$found" = "$wanted" ] || fail "$file, a program for ($list): $found findings, not $wanted: $(cat "$work/out")"
        [ "$wanted" = 0 ] || [ "$status" = 1 ] || fail "$file, a program for ($list): status $status"
    done
}
gcc -w -x c -shared -fPIC -I"$top/include" -o host.so "$data/kernels.cu"
for type in double int64_t; do
    gcc -w -x c -shared -fPIC -I"$top/include" "-DTYPE=$type" -o $type.so "$sources/typed.cu"
done
# Findings of images with signatures; without, when there is the number alone, and one more may be the runtime's; of a kernel that takes a
# double.
while IFS='|' read -r list typed plain double; do
    compiled "$list"
    told "$typed" "$data"/typed_sm_90.* "$data/typed_rdc_sm_90.cubin" host.so
    told "$plain" "$data/sm_90.cubin"
    told "$double" double.so
    [ "$list" != '(uint64_t) value' ] ||
        finds 'told.so: finding: it was compiled for the kernel plain__kernel__(uint64_t), but .* has plain__kernel__(uint64_t, pointer)' told.so host.so
done <<'LISTS'
(uint64_t) a, (const double *) b|0|0|1
(unsigned long) value, (double (*)[3]) out|0|0|1
(int64_t) value, (uint64_t *) out|1|0|1
(float) value, (uint64_t *) out|1|0|1
(double) value, (uint64_t *) out|1|0|0
(struct { int a, b; }) value, (uint64_t *) out|1|0|1
(uint64_t) value|1|0|1
(uint64_t *) out, (uint64_t) value|1|0|1
void|1|1|1
(uint64_t) value, (uint64_t *) out|0|0|1
(uint64_t) value, (uint64_t *) out, (uint64_t) more|1|1|1
LISTS
# An image that is older says so beside the finding; images differ from each other.
touch -d '2001-01-01' double.so
expect image-signature 1 -q told.so double.so int64_t.so

gcc -w -O0 -fPIC -shared -I"$top/include" -o data.so "$sources/data.c"
cp "$data/sm_90.cubin" "$data/sm_80.cubin" "$data/limits_sm_90.cubin" "$data/environments_sm_90.cubin" .
touch -d '2036-01-01' ./*.cubin
expect cubin 1 data.so sm_90.cubin
expect cubin-two 1 -q data.so sm_90.cubin sm_80.cubin
gcc -w -O0 -fPIC -shared -DLIMITS -I"$top/include" -o limits.so "$sources/data.c"
expect cubin-limits 1 limits.so limits_sm_90.cubin
expect cubin-json 1 --json limits.so limits_sm_90.cubin
gcc -w -O0 -fPIC -shared -DENVIRONMENTS -I"$top/include" -o environments.so "$sources/data.c"
expect cubin-environments 1 environments.so environments_sm_90.cubin
# Kernels that start others bring CUDA's device runtime, which has kernels too.
if [ -n "$nvcc" ]; then
    cat >starts.cu <<'SOURCE'
extern "C" __global__ void plain__kernel__(long) {}
extern "C" __global__ void env__kernel__(long n) { plain__kernel__<<<1, 1>>>(n); }
SOURCE
    printf '#include <rex.h>\nREX_KERNEL(plain);\nREX_KERNEL(env);\n' >starts.c
    gcc -fPIC -shared -I"$top/include" -o starts.so starts.c
    "$nvcc" -rdc=true -cubin -arch=sm_90 -o relocatable.cubin starts.cu
    "$nvcc" -rdc=true -dlink -cubin -arch=sm_90 -o starts.cubin starts.cu -lcudadevrt
    grep -q cuda_device_runtime starts.cubin || fail "CUDA's device runtime has no kernel"
    for file in relocatable.cubin starts.cubin; do
        expect cubin-starts 0 -q starts.so $file
    done
else
    echo "left out: CUDA's device runtime: no nvcc"
fi

# Files with several images: each is compared, and different GPUs are what they are for.
cp "$data/sm_90.ptx" "$data/three_zstd.fatbin" "$data/three_lz4.fatbin" "$data/special.fatbin" "$data/two.offload" .
touch -d '2036-01-01' ./*.ptx ./*.fatbin ./*.offload
expect ptx 1 data.so sm_90.ptx
expect fatbin 1 -q data.so three_zstd.fatbin
sed -i 's/three_zstd/three_lz4/' "$work/output"
"$check" -q data.so three_lz4.fatbin | plainly | diff "$work/output" - || fail 'LZ4 differs from Zstandard'
expect fatbin-special 1 limits.so special.fatbin
expect fatbin-json 1 --json limits.so special.fatbin
expect fatbin-stale 1 -q libhost.so three_zstd.fatbin
expect offload 1 -q data.so two.offload
head -c 3000 three_zstd.fatbin >cut.fatbin
expect fatbin-cut 2 data.so cut.fatbin

"$clang" -w --target=aarch64-linux-gnu -ffreestanding -nostdlib -fPIC -shared "-fuse-ld=$lld" -o arm.so "$sources/host.c"
expect image-arm 1 -q data.so arm.so sm_90.cubin

# One object of a program: the other kernels' entries may be in other objects.
object gcc -O0 -DONE_ENTRY
expect object-image 1 -q host.o kernels.so
echo 'int main(void) { return 0; }' >main.c
gcc -c main.c
expect object-plain 0 main.o
gcc -fPIC -shared -o plain.so main.c
expect linked-plain 1 -q plain.so
# A program that finds its kernels by name, of any parameters, stripped or not.
program by_name "$top/examples/16_by_name/by_name.c"
for word in -g -s; do
    strip $word by_name
    expect by-name 0 by_name sm_90.cubin
done
expect image-first 0 -q kernels.so

# ---- images that are not given

mkdir beside
for pie in -pie -no-pie; do
    case $pie in -pie) pic=-fPIE ;; *) pic=-fno-pie ;; esac
    gcc -w -O0 $pic -I"$top/include" -DREX_CUBIN_NAME='"my.cubin"' -c -o data.o "$sources/data.c"
    gcc $pic $pie -o beside/program main.c data.o -L"$top/$O" -lrex -Wl,--allow-shlib-undefined
    rm -f beside/my.cubin
    expect image-nowhere 0 -q beside/program
    cp sm_90.cubin beside/my.cubin
    expect image-beside 1 -q beside/program
    strip beside/program
    finds 'compared with beside/my.cubin (the program.s image is my.cubin)' beside/program
done
rm beside/my.cubin
mkdir folder
cp sm_90.cubin folder/my.cubin
REX_CUBIN_PATH=nowhere:folder finds 'compared with folder/my.cubin' beside/program
REX_CUBIN=sm_80.cubin finds 'compared with sm_80.cubin' beside/program
REX_CUBIN=missing.cubin finds '[$]REX_CUBIN names missing.cubin, which was not found' beside/program
export REX_CUBIN=missing.cubin:sm_80.cubin:sm_90.cubin
expect image-list 1 -q beside/program
unset REX_CUBIN
cp data.o beside/data.o
cp sm_90.cubin beside/my.cubin
finds 'compared with beside/my.cubin' beside/data.o

# An image in the program, whose module is called otherwise.
od -An -v -tx1 "$data/sm_75.cubin" | sed 's/ \(..\)/0x\1,/g' >image.h
gcc -O0 -fPIC -shared -I"$top/include" -I. -o embedded.so "$sources/embedded.c"
expect image-embedded 1 embedded.so
strip embedded.so
finds 'compared with the image in the program' embedded.so

# Two images in the program, whose entries are divided; then a name in both, and one in none.
for name in alpha beta; do
    gcc -x c -O2 -shared -fPIC -I"$top/include" -DNAME=$name -DFACTOR=2 -o $name.so \
        "$top/tests/runtime/parts/image/kernels.cu"
    gcc -O2 -I"$top/include" -DNAME=$name "-DIMAGE=\"$name.so\"" -c -o part_$name.o \
        "$top/tests/link/parts/part.c"
done
link_parts() {
    gcc -o "$1" "$top/tests/link/parts/main.c" part_alpha.o "$2" -L"$build" -lrex -Wl,-rpath,"$build"
}
link_parts parts part_beta.o
expect two-images 0 parts
# librex takes these images, whatever lies beside the program.
echo broken >rex_lib_host.so
expect two-images 0 parts
rm rex_lib_host.so
gcc -x c -O2 -shared -fPIC -I"$top/include" -DNAME=alpha -DFACTOR=2 -o beta.so \
    "$top/tests/runtime/parts/image/kernels.cu"
gcc -O2 -I"$top/include" -DNAME=beta "-DIMAGE=\"beta.so\"" -c -o part_beta.o \
    "$top/tests/link/parts/part.c"
link_parts shared part_beta.o
expect two-images-wrong 1 -q shared

# ---- what clang builds

printf 'int main(void) { int x = 1;\n_Pragma("omp target map(tofrom: x)") x++;\nreturn x; }\n' >omp.c
if "$clang" -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -c -o omp.o omp.c 2>errors; then
    expect clang 0 -q omp.o
else
    fail "clang compiles no target region: $(cat errors)"
fi

# Whole programs: the same entry in two objects, constructors, clang's descriptors, which are no struct rex_module, and clang's host image.
# clean WHAT FILE...: no finding, no name that is none, and a note with the words of WHAT
clean() {
    what=$1
    shift
    "$check" -q "$@" >output 2>&1 || fail "clang $release: status $? for $*: $(cat output)"
    ! grep -q 'asks for' output || fail "clang $release: $*: $(cat output)"
    grep -q "$what" output || fail "clang $release: $*: nothing of \"$what\": $(cat output)"
}
for release in 14 19; do
    if ! command -v "clang-$release" >/dev/null || ! "$top/tests/llvm" --plain | grep -qx $release; then
        echo "left out: whole programs of clang $release"
        continue
    fi
    for word in -pie -no-pie; do
        for part in -DMAIN -DOTHER; do
            "clang-$release" -O1 -fopenmp "-fopenmp-targets=$(uname -m)-pc-linux-gnu" -c $part -o "part$part.o" "$sources/clang.cpp"
        done
        by_clang $release "program$word" $word part-DMAIN.o part-DOTHER.o || { fail "clang $release builds no program"; continue 2; }
        clean 'clang puts its images' "program$word"
        strip -o stripped "program$word"
        clean 'clang puts its images' stripped
    done
    # The first ELF file inside of the program.
    python3 - program-pie >clang-image <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"\x7fELF", 1)
sections, count = struct.unpack_from("<Q", data, at + 40)[0], struct.unpack_from("<H", data, at + 60)[0]
sys.stdout.buffer.write(data[at : at + sections + 64 * count])
PYTHON
    clean 'no findings' program-pie clang-image
    clean 'no image given' part-DMAIN.o
    clean 'it is an image for the CPU' clang-image
done

# ---- sources

# Two right programs, as REX writes them and by macros; and each mistake in both: what it is, and how sed makes it.
cp "$sources"/rose_good.c "$sources"/rex_lib_good.cu "$sources"/macros.c "$sources"/macros.cu "$sources"/odd.c .
expect source-good 0 --source rose_good.c rex_lib_good.cu
expect source-device-only 0 --source rex_lib_good.cu
expect source-unusable 2 --source kernels.so
# mistake WHAT HOST DEVICE SED: with the edit by sed, in whichever of the two files, something is found
mistake() {
    sed -E "$4" "$2" >mistake.c
    sed -E "$4" "$3" >mistake.cu
    ! cmp -s mistake.c "$2" || ! cmp -s mistake.cu "$3" || fail "no mistake is made in $2: $1" >&2
    echo "$1, $2:"
    ! "$check" --source mistake.c mistake.cu >output 2>&1 || fail "not found in $2: $1" >&2
    sed '/^[0-9]* finding/d; s/^/    /' output
    count=$((count + 1))
}
entry='struct __tgt_offload_entry again__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) ='
while IFS=@ read -r what rose macros; do
    mistake "$what" rose_good.c rex_lib_good.cu "$rose"
    mistake "$what" macros.c macros.cu "$macros"
done >mistakes <<MISTAKES
a kernel in no entry@/OUT__2__main__12__(id|omp)/d@/^REX_KERNEL\(|config|REX_LAUNCH/d
no entry at all@/^(struct|__attribute)/d@/^REX_KERNEL\(|^__attribute__|^    \.name/d
an entry without a kernel@s/void OUT__1__main__9__/void OUT__1__main__8__/@s/BOUNDS\(first/BOUNDS(fist/
an entry outside of the section@s/^__attribute__.*\)\)\) =/=/@s/, section\("[a-z_]*"\)//
an entry in another section@s/"omp_offloading_entries/"omp_offload_entries/@s/"omp_offloading_entries/"llvm_entries/
a second entry of a kernel@/^#if 0/i static char again__id__; static $entry {\&again__id__, "OUT__1__main__9__kernel__", 0, 0, 0};@/^int main/i char again__id__; $entry {.addr = \&again__id__, .name = "first__kernel__"};
an entry that a launch makes@/__host_ptr = /i static $entry {(void *)\&OUT__1__main__9__id__, "OUT__1__main__9__kernel__"};@/clock_t/i static $entry {.addr = \&first__id__, .name = "first__kernel__"};
an entry twice@/^struct __tgt_offload_entry OUT__2/p@/^REX_KERNEL/p
a key of two entries@s/^(struct.*)OUT__2__main__12__id/\1OUT__1__main__9__id/@s/addr = &second/addr = \&first/
an entry without a key@s/\(\(void \*\)\(&OUT__2__main__12__id__\)\)/(void *)0/@s/, .addr = &second__id__//
an entry without a name@s/"OUT__2__main__12__kernel__"/NULL/@s/\.name = .*kernel__", //
a key that is none@s/^(struct.*&)OUT__2__main__12__id__/\1status/@s/addr = &second__id__/addr = (void *)\&second/
keys exchanged@s/OUT__2__main__12__id__\)\)/OUT__1__main__9__id__))/; s/&OUT__1__main__9__id__,/\&OUT__2__main__12__id__,/@s/second__kernel__/third__kernel__/
a key in no entry@s/__host_ptr = .*/__host_ptr = (void *)(\&OUT__1__main__8__id__);/@s/REX_LAUNCH\(first/REX_LAUNCH(fist/
another address than a key's@s/__host_ptr = .*/__host_ptr = (void *)\&status;/@s/64, &second__id__/64, \&begin/
a launch without a key@s/\(void \*\)&OUT__2__main__12__id__, &/(void *)0, \&/@s/64, &second__id__/64, NULL/
a kernel with a name of C++@s/^extern "C" \{//@s/^extern "C"//
no rex_kmp.h@/rex_kmp.h"$/d@/rex.h/d
rex_kmp.h twice@/rex_kmp.h"$/p@s/.*rex.h.*/#include <rex_kmp.h>\n#include "rex_kmp.h"/
rex_kmp.h below the entries@/rex_kmp.h"$/d; /^#if 0/i #include "rex_kmp.h"@/rex.h/d; /^int main/i #include "rex_kmp.h"
no rex_offload_init()@/rex_offload_init/d@/rex_offload_init/,+1d
rex_offload_init() twice@/rex_offload_init/p@s/^    static double.*/&\n    rex_offload_init();/
no rex_offload_init(), a clock is read once@/rex_offload_init/d; s/read_timer\(\) -/1 -/@/rex_offload_init/,+1d; s/clock\(\) -/1 -/
rex_offload_init() behind a clock that is read once@/rex_offload_init/d; s/read_timer\(\) -/1 -/; /double begin/a rex_offload_init();@s/^    static double.*/&\n    long long t0 = (long long)(clock_t)clock();/; /clock_t begin/d; s/clock\(\) -/1 -/; s/ begin > 1000/ 1 > 2/
rex_offload_init() behind a clock of C++ that is read once@/rex_offload_init/d; s/read_timer\(\) -/1 -/; s/double begin = .*/auto begin = std::chrono::steady_clock::now();\nrex_offload_init();/@s/^    static double.*/&\n    auto t0 = std::chrono::steady_clock::now();/; /clock_t begin/d; s/clock\(\) - begin/1/
rex_offload_init() behind a clock@/rex_offload_init/d; /double begin/a rex_offload_init();@s/^    static double.*/&\n    clock_t before = clock();/
MISTAKES
golden rex-check/source-mistakes.txt mistakes
expect source-json 1 --source --json mistake.c mistake.cu
# A source may have no end: it is read up to a limit.
yes | head -c 300000000 | "$check" --source /dev/stdin >output 2>&1 && fail 'a source of 300 MB is accepted'
grep -q 'it is larger than any source' output || fail "a source of 300 MB: $(cat output)"

# Nothing is found where nothing is wrong: in what macros and conditions hide, in REX's output, in examples. docs.sh has README's first program.
clean_sources() { "$check" --source "$@" >output 2>&1 || fail "$*: $(cat output)"; }
clean_sources odd.c macros.cu
sed 's/clock_gettime(.*/unsigned seed_now = (unsigned)clock();/; /rex_offload_init/d' odd.c >seed.c
clean_sources seed.c macros.cu
clean_sources "$top"/tests/runtime/generated/rose/*.c "$top"/tests/runtime/generated/kernels.cu
for example in "$top"/examples/*/; do
    set -- "$example"*.c*
    case $example in *17_broken/) ;; *) [ ! -f "$1" ] || clean_sources "$@" ;; esac
done

# ---- unusable input, options; an archive, a CUBIN and others are in hostile.sh

expect missing 2 missing
expect folder 2 folder
: >empty
expect empty 2 empty
expect no-elf 2 main.c
head -c 40 libhost.so >short
expect cut 2 short
# Intermediate code has no entries that could be seen: that is not clean.
object gcc -O0 -flto -fno-fat-lto-objects
expect lto-gcc 2 host.o
object "$clang" -O0 -flto
expect lto-clang 2 host.o
object gcc -O0 -flto -ffat-lto-objects
same object-good host.o
gcc -flto -ffat-lto-objects -c main.c
expect object-plain 0 main.o
if "$clang" -c -Wa,--crel,--allow-experimental-crel -o crel.o "$sources/host.c" -w 2>/dev/null; then
    expect crel 2 crel.o
fi
cp libhost.so headless
objcopy --strip-section-headers headless 2>/dev/null || printf '\0\0\0\0\0\0\0\0' | dd of=headless bs=1 seek=40 conv=notrunc 2>/dev/null
expect headless 2 headless
gcc -m32 -c -o main32.o main.c 2>/dev/null || "$clang" --target=i386-linux-gnu -c -o main32.o main.c
expect bits 2 main32.o
expect image-missing 2 libhost.so missing.cubin
expect image-empty 2 libhost.so empty
# Behind a long path stands the reason.
far=$(letters 200)/$(letters 200)/$(letters 200)/none.c
for words in "$far" "libhost.so $far" "--source $far"; do
    # shellcheck disable=SC2086
    refused 2 "rex-check: $far: No such file" "$check" $words
done
expect option 2 --nonsense
expect colour-wrong 2 --color=sometimes libhost.so
expect help 2 # no argument
command_line rex-check
# A report that nobody gets is no clean one.
"$check" -q libhost.so kernels.so >&- 2>output && fail 'a report that cannot be written is clean'
grep -q 'cannot be written: Bad file' output || fail 'a report that cannot be written is not named'
# The signal of a file that is cut while it is read. Who writes to a pipe has opened it when its reader has.
mkfifo read.c
"$check" --source read.c 2>output &
exec 3>read.c
kill -BUS $!
status=0
wait $! || status=$?
exec 3>&-
[ "$status, $(cat output)" = '2, rex-check: a file was shortened while it was read' ] || fail "a file that is cut: $status, $(cat output)"

# Colour: asked for, or on a terminal that wants it.
escape=$(printf '\033')
# It reads all there is: pty.spawn() of Python 3.11 can hang where its reader has gone.
coloured() { grep -c "$escape" >/dev/null; }
"$check" -q --color=always libhost.so kernels.so | coloured || fail '--color=always has no colour'
! "$check" -q libhost.so kernels.so | coloured || fail 'colour in a pipe'
on_terminal() { python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" </dev/null; }
on_terminal env TERM=xterm "$check" -q libhost.so kernels.so | coloured || fail 'no colour on a terminal'
! on_terminal env TERM=xterm NO_COLOR=1 "$check" -q libhost.so kernels.so | coloured || fail 'colour in spite of NO_COLOR'

# ---- what is kept is JSON, and no finding lacks a case

for file in cubin-json source-json; do
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$golden/$file.txt" || fail "$file is not JSON"
done
"$check" --help | sed '1,/^Findings (/d' | while read -r name meaning; do
    [ -n "$meaning" ] || continue
    case $meaning in
    source:*) grep -q "\[$name\]\$" "$golden"/source-*.txt || echo "$name" ;;
    *) cat "$golden"/[!s]*.txt | grep -q "\[$name\]\$" || echo "$name" ;;
    esac
done >output
[ ! -s output ] || fail "no case for $(tr '\n' ' ' <output)"
[ "$("$check" --help | sed '1,/^Findings (/d' | wc -l)" -ge 19 ] || fail '--help names too few findings'

[ "$failed" = 0 ] && echo "$count outputs as they should be"
