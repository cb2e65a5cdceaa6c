#!/bin/sh
# Every way of bringing a program, librex and libomptarget together: -lrex, librex.a, -lomptarget -lrex, LD_PRELOAD into what clang built
# with -fopenmp-targets, and both kinds of offloading in one process. On every LLVM release that is there.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
CC=${CC:-gcc}
rex=$PWD/$O
keep=-Wl,-z,nostart-stop-gc

# The linker, which is not in a namespace, looks into libomptarget: releases of a newer C library are not for it.
releases=$(tests/llvm --plain | tr '\n' ' ')
[ -n "$releases" ] || { echo 'skip: no LLVM release is unpacked'; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-linking.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }
quietly() { "$@" >"$work/output" 2>&1 || { sed 's/^/    /' "$work/output"; return 1; }; }

# value_of RELEASE VARIABLE: in the environment of a program that runs on it
value_of() { tests/llvm "$1" printenv "$2"; }
library_of() { value_of "$1" REX_OMPTARGET; }

# The libomp that belongs to a release; 22 has none of its own and uses 19's.
openmp_of() {
    value_of "$1" LD_LIBRARY_PATH | tr : '\n' | while read -r folder; do
        [ ! -e "$folder/libomp.so.5" ] || { echo "$folder/libomp.so.5"; break; }
    done
}

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
$CC -x c -std=gnu11 -O2 -shared -fPIC -Iinclude -o "$work/rex_lib_host.so" tests/link/kernels.cu

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
    if ! quietly "$CC" -o "$work/main" "$work/main.o" "$work/hand.o" $keep -Wl,--no-as-needed -Wl,--allow-shlib-undefined \
        "$@" -Wl,-rpath,"$rex" -ldl -pthread; then
        fail "LLVM $llvm, $form: cannot be linked"
        return 0
    fi
    { cat "$work/expected"; echo "data $data_home kernel $kernel_home libomptarget 1 libomp 1 librex $librexes"; echo 'status 0'; } >"$work/want"
    run "$llvm" "$work/got" "$work/main" "$data_home"
    if cmp -s "$work/want" "$work/got"; then
        echo "LLVM $llvm  $form: data calls in $data_home, launches in $kernel_home"
    else
        fail "LLVM $llvm, $form:"
        diff "$work/want" "$work/got" | sed 's/^/    /' || true
    fi
}

for release in $releases; do
    library=$(library_of "$release")
    openmp=$(openmp_of "$release")
    kernel=libomptarget
    # 14 has no __tgt_target_kernel: the program finds librex's.
    [ "$release" != 14 ] || kernel=librex
    by_hand "$release" '-lrex' librex librex 1 -L"$rex" -lrex
    by_hand "$release" 'librex.a' main main 0 "$rex/librex.a"
    by_hand "$release" '-lomp -lomptarget -lrex' libomptarget "$kernel" 1 "$openmp" "$library" -L"$rex" -lrex
    by_hand "$release" '-lrex -lomp -lomptarget' librex librex 1 -L"$rex" -lrex "$openmp" "$library"
    by_hand "$release" '-lomp -lomptarget librex.a' main main 0 "$openmp" "$library" "$rex/librex.a"
    case $release in
    # The constructors of 16's and 17's libomptarget call libomp, whatever a program is linked with besides.
    16 | 17) ;;
    *) by_hand "$release" '-lomptarget -lrex' libomptarget "$kernel" 1 "$library" -L"$rex" -lrex ;;
    esac
done

# ---- by clang: the same with librex in front

# clang's driver links libraries by names that not every release's packages have; a folder of ours has them.
names_of() {
    mkdir -p "$work/names/$1"
    ln -sf "$(realpath "$(openmp_of "$1")")" "$work/names/$1/libomp.so"
    ln -sf "$(realpath "$(library_of "$1")")" "$work/names/$1/libomptarget.so"
    [ -e "$work/names/$1/libomptarget.devicertl.a" ] || ar rc "$work/names/$1/libomptarget.devicertl.a"
}

# build_by_clang CLANG RELEASE OUTPUT WORDS...
build_by_clang() {
    clang=$1
    names_of "$2"
    output=$3
    names=$work/names/$2
    shift 3
    quietly "$clang" -O1 -Wall -Werror -Wno-openmp-mapping -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu tests/link/constructs.c \
        -o "$output" -L"$names" "$@"
}

# run_by_clang RELEASE OUTPUT PROGRAM WORDS-FOR-ENV...
run_by_clang() {
    release=$1
    output=$2
    program=$3
    shift 3
    # 19's program on 22, whose library has another name.
    run "$release" "$output" env LD_LIBRARY_PATH="$work/names/as-$release:$(value_of "$release" LD_LIBRARY_PATH)" "$@" "$program"
}

# with_preload RELEASE PROGRAM FORM: the same with librex in front, and calls that go through it
with_preload() {
    run_by_clang "$1" "$work/without" "$2"
    run_by_clang "$1" "$work/with" "$2" LD_PRELOAD="$rex/librex.so"
    tail -n 1 "$work/without" | grep -qx 'status 5' || { fail "LLVM $1, $3, without librex:"; sed 's/^/    /' "$work/without"; }
    if ! cmp -s "$work/without" "$work/with"; then
        fail "LLVM $1, $3: with librex it does something else"
        diff "$work/without" "$work/with" | sed 's/^/    /' || true
    fi
    bindings=$work/bindings
    rm -f "$bindings".*
    run_by_clang "$1" "$work/with" "$2" LD_PRELOAD="$rex/librex.so" LD_DEBUG=bindings LD_BIND_NOW=1 LD_DEBUG_OUTPUT="$bindings"
    cat "$bindings".* | grep "file $2 .*\`__tgt_target" | sed 's/.* to \([^ ]*\) .*`\(.*\)'"'"'.*/\2 \1/' | sort -u >"$bindings"
    [ -s "$bindings" ] || fail "LLVM $1, $3: the program binds no __tgt_target function"
    ! grep -v '/librex\.so' "$bindings" || fail "LLVM $1, $3: calls that do not reach librex"
    echo "LLVM $1  $3: $(wc -l <"$bindings") entry points through librex"
}

mkdir "$work/hand"
cp "$work/rex_lib_host.so" "$work/hand/"
$CC -shared -o "$work/hand/libhand.so" "$work/hand.o" $keep -L"$rex" -lrex -Wl,-rpath,"$rex"

# A program runs on the release that built it and on later ones. clang-14 and clang-19 are enough for all five.
for pair in 14:14 14:15 14:16 16:16 19:19 19:22; do
    built=${pair%:*}
    release=${pair#*:}
    case $releases in *"$release"*) ;; *) continue ;; esac
    case $releases in *"$built"*) ;; *) continue ;; esac
    clang=$(command -v "clang-$built" || true)
    # 16 needs clang-tools-16 besides, and adds no release. Debian 13 has no 14.
    if [ "$built" = 16 ] && { [ -z "$clang" ] || [ ! -e /usr/lib/llvm-16/bin/clang-linker-wrapper ]; }; then
        echo 'clang 16: not here'
        continue
    fi
    if [ "$built" = 14 ] && [ -z "$clang" ]; then
        echo "left out: clang 14's program on LLVM $release: clang 14 is not here"
        continue
    fi
    if [ ! -e "$work/clang-$built" ] && ! build_by_clang "${clang:-clang-$built}" "$built" "$work/clang-$built"; then
        fail "clang-$built cannot build an offload program"
        continue
    fi
    mkdir -p "$work/names/as-$release"
    [ "$release" != 22 ] || ln -sf "$(library_of 22)" "$work/names/as-22/libomptarget.so.19.1"
    with_preload "$release" "$work/clang-$built" "LD_PRELOAD into clang $built's program"

    [ -e "$work/both-$built" ] || build_by_clang "$clang" "$built" "$work/both-$built" -DWITH_HAND -L"$work/hand" -lhand \
        -Wl,-rpath,"$work/hand" || { fail "clang-$built cannot build the program with both"; continue; }
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
    if sed '$d' "$work/got" | cmp -s - "$work/want"; then
        echo "LLVM $release  clang $built's program with kernels by hand in a shared object"
    else
        fail "LLVM $release, clang $built's offloading and ours in one process:"
        diff "$work/want" "$work/got" | sed 's/^/    /' || true
    fi
done

exit "$failed"
