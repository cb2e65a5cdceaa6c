#!/bin/sh
# Every way of bringing a program, librex and libomptarget together: -lrex, librex.a, -lomptarget -lrex, and clang's offloading and ours in
# one process, on every LLVM release that is there; where launches are never deferred; librex.a with and without a loader; and a process that
# is not linked with librex and opens it, from Python too, or a plug-in that links it or has librex.a inside.
. tests/support/lib.sh

# The linker, which is not in a namespace, looks into libomptarget: releases of a newer C library are not for it.
releases=$(tests/llvm --plain | tr '\n' ' ')
[ -n "$releases" ] || skip 'no LLVM release is unpacked'

# record RELEASE OUTPUT COMMAND...: its output and, as the last line, its status
record() {
    release=$1
    output=$2
    shift 2
    status=0
    tests/llvm "$release" timeout -k 5 60 "$@" >"$output" 2>"$output.err" || status=$?
    echo "status $status" >>"$output"
    sed 's/^/    /' "$output.err"
}

# ---- by hand: what the program calls, and that there is one libomptarget and one libomp

set -- -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -Iinclude
for source in main hand; do
    $CC "$@" -fPIC -c -o "$work/$source.o" "tests/link/$source.c"
done
host_image "$work/rex_lib_host.so" tests/link/kernels.cu

cat >"$work/expected" <<'EXPECTED'
in the region: 500500 1001000
behind it: 506500 1507500
EXPECTED

# The wrappers of rex_kmp.h call functions that librex alone has: no order of libraries leads them past it.
cat >"$work/wrappers.c" <<'PROGRAM'
#include <rex_kmp.h>
int all(void *key, void **base, int64_t *sizes, int64_t *types, struct __tgt_kernel_arguments *packet)
{
    __tgt_target_data_begin(-1, 1, base, base, sizes, types);
    __tgt_target_data_update(-1, 1, base, base, sizes, types);
    __tgt_target_data_end(-1, 1, base, base, sizes, types);
    return __tgt_target(-1, key, 1, base, base, sizes, types) + __tgt_target_teams(-1, key, 1, base, base, sizes, types, 1, 1) +
           __tgt_target_kernel(-1, 1, 1, key, packet);
}
PROGRAM
$CC "$@" -c -o "$work/wrappers.o" "$work/wrappers.c"
nm -u "$work/wrappers.o" | sed 's/.* U //' >"$work/called"
grep -q '^rex_module_target_data$' "$work/called" || fail 'the wrappers do not call rex_module_target_data()'
if grep '^__tgt_' "$work/called"; then fail 'the wrappers call functions of libomptarget'; fi

# by_hand RELEASE FORM HOME-OF-THE-DATA-CALLS HOME-OF-THE-LAUNCH LIBREXES LINKER-WORDS...
by_hand() {
    llvm=$1
    form=$2
    data_home=$3
    kernel_home=$4
    librexes=$5
    shift 5
    # librex is linked with libraries that find theirs only when they are run.
    if ! quietly "$CC" -o "$work/main" "$work/main.o" "$work/hand.o" "$keep_entries" \
        -Wl,--no-as-needed -Wl,--allow-shlib-undefined \
        "$@" -Wl,-rpath,"$build" -ldl -pthread; then
        fail "LLVM $llvm, $form: cannot be linked"
        return 0
    fi
    { cat "$work/expected"; echo "data $data_home kernel $kernel_home libomptarget 1 libomp 1 librex $librexes"; echo 'status 0'; } >"$work/want"
    record "$llvm" "$work/got" "$work/main" "$data_home"
    diff "$work/want" "$work/got" || fail "LLVM $llvm, $form"
    echo "LLVM $llvm  $form: data calls in $data_home, launches in $kernel_home"
}

for release in $releases; do
    library=$(library_of "$release")
    openmp=$(openmp_of "$release")
    kernel=libomptarget
    # 14 has no __tgt_target_kernel: the program finds librex's.
    [ "$release" != 14 ] || kernel=librex
    by_hand "$release" '-lrex' librex librex 1 -L"$build" -lrex
    by_hand "$release" 'librex.a' main main 0 "$build/librex.a"
    by_hand "$release" '-lomp -lomptarget -lrex' libomptarget "$kernel" 1 "$openmp" "$library" \
        -L"$build" -lrex
    by_hand "$release" '-lrex -lomp -lomptarget' librex librex 1 -L"$build" -lrex "$openmp" \
        "$library"
    by_hand "$release" '-lomp -lomptarget librex.a' main main 0 "$openmp" "$library" \
        "$build/librex.a"
    case $release in
    # The constructors of 16's and 17's libomptarget call libomp, whatever a program is linked with besides.
    16 | 17) ;;
    *) by_hand "$release" '-lomptarget -lrex' libomptarget "$kernel" 1 "$library" -L"$build" -lrex \
        ;;
    esac
done

# ---- by clang and by hand in one process; what clang built with librex in front is in matrix.sh

# run_by_clang RELEASE OUTPUT PROGRAM: 19's program on 22, whose library has another name
run_by_clang() {
    record "$1" "$2" env LD_LIBRARY_PATH="$work/names/as-$1:$(value_of "$1" LD_LIBRARY_PATH)" "$3"
}

mkdir "$work/hand"
cp "$work/rex_lib_host.so" "$work/hand/"
$CC -shared -o "$work/hand/libhand.so" "$work/hand.o" "$keep_entries" -L"$build" -lrex \
    -Wl,-rpath,"$build"

# A program runs on the release that built it and on later ones. clang-14 and clang-19 are enough for all five.
for pair in 14:14 14:15 14:16 16:16 19:19 19:22; do
    built=${pair%:*}
    release=${pair#*:}
    case $releases in *"$release"*) ;; *) continue ;; esac
    case $releases in *"$built"*) ;; *) continue ;; esac
    # 16 needs clang-tools-16 besides, and adds no release. Debian 13 has no 14.
    if ! command -v "clang-$built" >/dev/null || [ ! -e "/usr/lib/llvm-$built/bin/clang-linker-wrapper" ]; then
        [ "$built" != 19 ] || fail 'clang-19 is missing'
        echo "left out: clang $built's program on LLVM $release: clang $built is not here"
        continue
    fi
    [ -e "$work/both-$built" ] || { by_clang "$built" "$work/clang-$built" tests/link/constructs.c &&
        by_clang "$built" "$work/both-$built" tests/link/constructs.c -DWITH_HAND -L"$work/hand" -lhand \
            -Wl,-rpath,"$work/hand"; } || { fail "clang-$built cannot build the programs"; continue; }
    mkdir -p "$work/names/as-$release"
    [ "$release" != 22 ] || ln -sf "$(library_of 22)" "$work/names/as-22/libomptarget.so.19.1"
    run_by_clang "$release" "$work/without" "$work/clang-$built"
    run_by_clang "$release" "$work/got" "$work/both-$built"
    {
        sed -n 1,3p "$work/without"
        cat "$work/expected"
        echo 'by hand 0'
        sed -n '4,/^mapper/p' "$work/without"
        cat "$work/expected"
        echo 'by hand 0'
    } >"$work/want"
    # The status is made of all lines, and so it differs.
    sed '$d' "$work/got" | diff "$work/want" - ||
        fail "LLVM $release, clang $built's offloading and ours in one process"
    echo "LLVM $release  clang $built's program with kernels by hand in a shared object"
done

# ---- REX_LAUNCH_BLOCKING=0 where librex does not see what copies: on the fake GPU, whose kernels run late, each launch is waited for

cat >"$work/order.c" <<'PROGRAM'
#include <rex.h>
#include <stdio.h>
void *omp_get_mapped_ptr(const void *host, int device);
int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_at, size_t from_at, int to_device, int from_device);
int omp_get_initial_device(void);
REX_KERNEL(link_fill);
#ifdef TOOL
void *ompt_start_tool(unsigned version, const char *runtime);
void *ompt_start_tool(unsigned version, const char *runtime)
{
    return version == 0 ? (void *)(size_t)runtime : NULL;
}
#endif
int main(void)
{
    static int64_t x[8];
    REX_MAP(region, REX_TOFROM(x, 8));
    int wrong = rex_offload_init() + rex_data_enter(0, &region);
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(link_fill), 1, 1);
    for (int64_t i = 1; i <= 3; i++) {
        int64_t seen = 0;
        REX_MAP(map, REX_VALUE(INT64_C(8)), REX_VALUE(i), REX_ALLOC(x, 8));
        wrong += rex_launch(&config, &map) != 0 ||
                 omp_target_memcpy(&seen, omp_get_mapped_ptr(x, 0), sizeof seen, 0, 0, omp_get_initial_device(), 0) != 0 || seen != i;
    }
    wrong += rex_data_exit(0, &region);
    return printf("%d wrong, %d\n", wrong, (int)x[0]) < 0;
}
PROGRAM
mkdir "$work/order"
host_image "$work/order/host.so" tests/link/kernels.cu
"$build/tests/fake/cubin" "$work/order/host.so" "$work/order/rex_lib_nvidia.cubin"
# waits_for_launches REASON LINKER-WORDS...
waits_for_launches() {
    reason=$1
    shift
    quietly "$CC" -std=gnu11 -D_GNU_SOURCE -Iinclude -rdynamic -o "$work/order/order" "$work/order.c" "$keep_entries" -Wl,--no-as-needed \
        -Wl,--allow-shlib-undefined "$@" -Wl,-rpath,"$build" || { fail "LLVM $release: $* cannot be linked"; return 0; }
    run env FAKE_CUDA_ORDER=late FAKE_CUDA_MEMORY=64 LD_LIBRARY_PATH="$build/tests/fake/cuda" REX_LAUNCH_BLOCKING=0 REX_LOG=info \
        "$top/tests/llvm" "$release" timeout -k 5 60 "$work/order/order"
    ends 0 "LLVM $release: $*"
    prints '0 wrong, 3'
    says "waited for, though REX_LAUNCH_BLOCKING is off: $reason"
    [ "$(grep -c REX_LAUNCH_BLOCKING "$work/err")" = 1 ] || fail "LLVM $release: $*: not one line about REX_LAUNCH_BLOCKING in: $(cat "$work/err")"
    says_no 'returns before its kernel'
}
for release in $releases; do
    # 14 has no omp_get_mapped_ptr(), and 16 and 17 do not start without libomp in front.
    case $release in 14 | 16 | 17) continue ;; esac
    library=$(library_of "$release")
    waits_for_launches "the loader finds libomptarget's __tgt_* functions before librex's" "$library" -L"$build" -lrex
    waits_for_launches 'an OMPT tool' -DTOOL -L"$build" -lrex "$library"
done

# ---- librex.a: position-independent or not, also where the loader is called by its name; without a loader the program is told why it cannot
# offload, and does not crash

needs_plain
lesson=examples/01_launch
host_image "$work/rex_lib_host.so" $lesson/kernels.cu
# ran STATUS WORDS COMMAND...: on the release, without a signal, and these words in what it says
ran() {
    wanted=$1 text=$2
    shift 2
    run on_release env REX_LOG=warn "$@"
    ends "$wanted" "$*"
    cat "$work/out" "$work/err" | grep -qF "$text" || fail "$*: no \"$text\" in: $(cat "$work/out" "$work/err")"
}
for way in -pie -no-pie -static -static-pie; do
    if ! $CC -D_GNU_SOURCE -Iinclude -o "$work/program$way" $lesson/launch.c "$build/librex.a" "$keep_entries" $way -ldl -pthread >"$work/log" 2>&1; then
        case $way in -static*) echo "left out: $way: there is no libc.a" ;; *) fail "librex.a cannot be linked with $way: $(cat "$work/log")" ;; esac
        continue
    fi
    case $way in
    -static*)
        ran 1 'linked with -static or -static-pie' "$work/program$way"
        says '[REX_ENORUNTIME]' ;;
    *) ran 0 '0 of 100000 values wrong' "$work/program$way" ;;
    esac
done
loader=$(LC_ALL=C readelf -l "$work/program-pie" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
# The executable is the loader then, and no image lies beside it.
ran 0 '0 of 100000 values wrong' env "REX_CUBIN_PATH=$work" "$loader" "$work/program-pie"

# ---- opened: the process has little static TLS left, and threads that have called a plug-in may end after dlclose()

size=$((0x$(readelf -lW "$build/librex.so" | awk '$1 == "TLS" { sub(/^0x/, "", $6); print $6 }')))
if [ "$size" = 0 ] || [ "$size" -gt 64 ]; then fail "librex.so has $size bytes of static TLS, and not 1 to 64"; fi
if [ -z "${SAN-}" ] && grep -q 'REX_ASSERT' "$build/librex.so"; then fail 'librex.so checks invariants, which tests alone do'; fi
# The plug-in is lesson 11's, with a function more.
lesson=examples/11_shared_objects
echo '#include <rex.h>
#include <stddef.h>
int fails(void);
int fails(void)
{
    return rex_module_register(NULL, NULL) == REX_EINVAL && rex_last_error()[0] != 0 ? 0 : 1;
}' >"$work/more.c"
cp "$build/$lesson/shift_host.so" "$work"
$CC -O2 -o "$work/opens" tests/link/dlopen.c -ldl -pthread
for library in "$build/librex.so" "$build/librex.a"; do
    $CC -D_GNU_SOURCE -Iinclude -I$lesson/shift -shared -fPIC -O2 -o "$work/plugin.so" $lesson/shift/shift.c "$work/more.c" \
        "$keep_entries" "$library" -Wl,-rpath,"$build" -ldl -pthread
    for launches in 0 1; do ran 0 good "$work/opens" "$work/plugin.so" $launches; done
done
ran 0 good python3 -c '
import ctypes, sys
rex = ctypes.CDLL(sys.argv[1])
rex.rex_last_error.restype = ctypes.c_char_p
assert rex.rex_module_register(None, None) < 0 and b"NULL" in rex.rex_last_error(), rex.rex_last_error()
print("good")' "$build/librex.so"

# ---- a constructor that registers: while the driver starts, a thread loads libomptarget, for which it needs the loader's lock

echo '__attribute__((constructor)) static void start(void)
{
    rex_offload_init();
}' >>"$work/more.c"
$CC -D_GNU_SOURCE -Iinclude -I$lesson/shift -shared -fPIC -O2 -o "$work/plugin.so" $lesson/shift/shift.c "$work/more.c" \
    "$keep_entries" "$build/librex.so" -Wl,-rpath,"$build"
mkfifo "$work/until"
sleep 0.2 >"$work/until" &
exec 6>/dev/null 7<"$work/until"
ran 0 good env FAKE_CUDA_SLOW=cuInit:6:7 FAKE_CUDA_FAILS=100 LD_PRELOAD="$build/tests/fake/cuda/libcuda.so.1" "$work/opens" "$work/plugin.so" 1
exec 6>&- 7<&-
