#!/bin/sh
# Every way of bringing a program, librex and libomptarget together: -lrex, librex.a, -lomptarget -lrex, and clang's offloading and ours in
# one process. On every LLVM release that is there.
. tests/support/lib.sh

# The linker, which is not in a namespace, looks into libomptarget: releases of a newer C library are not for it.
releases=$(tests/llvm --plain | tr '\n' ' ')
[ -n "$releases" ] || skip 'no LLVM release is unpacked'

# run RELEASE OUTPUT COMMAND...: its output and, as the last line, its status
run() {
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
    run "$llvm" "$work/got" "$work/main" "$data_home"
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
    run "$1" "$2" env LD_LIBRARY_PATH="$work/names/as-$1:$(value_of "$1" LD_LIBRARY_PATH)" "$3"
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
