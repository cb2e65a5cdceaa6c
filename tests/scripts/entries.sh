#!/bin/sh
# Every entry of a program and of its shared object is in the table that the runtime sees, each binary has one module, and every kernel
# runs: by gcc and clang, C and C++, with LTO, section garbage collection and the linkers that there are. Programs are linked as rex.pc says.
# At the end, what is lost otherwise.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
rex=$PWD/$O
sources=tests/link/entries
# What rex.pc adds, and what the test takes away to show why.
keep=$(sed -n 's/^Libs: .*-lrex *//p' librex/rex.pc.in)
[ -n "$keep" ] || { echo 'FAIL: rex.pc adds no linker flag'; exit 1; }

release=19
tests/llvm --list | grep -qx "$release" || { echo "skip: LLVM $release is not unpacked"; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-entries.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }
quietly() { "$@" >"$work/output" 2>&1 || { sed 's/^/    /' "$work/output"; return 1; }; }

# As many entries as the sources have macros and raw entries.
declared() { cat "$@" | grep -cE '^(REX_KERNEL|REX_KERNEL_STEM|REX_GLOBAL)\(|^struct __tgt_offload_entry '; }
in_program=$(declared "$sources/macros.c" "$sources/more.c" "$sources/raw.c")
by_macro=$(declared "$sources/macros.c" "$sources/more.c")
in_object=$(declared "$sources/object.c")

# Entries in the section of a linked file, 32 bytes each.
in_section() {
    size=$(readelf -SW "$1" | sed -n 's/.* omp_offloading_entries  *[A-Z]*  *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')
    echo $((0x${size:-0} / 32))
}
modules_in() { nm "$1" | grep -c ' rex_this_module\(\.[a-z_.0-9]*\)\{0,1\}$' || true; }

# build COMPILER STANDARD FLAGS LINKER-FLAGS: $work/main and $work/object/libobject.so
build() {
    compiler=$1
    rm -f "$work"/*.o "$work/main" "$work/object/libobject.so"
    # Flags are words.
    # shellcheck disable=SC2086
    for source in "$sources"/*.c; do
        pic=
        [ "${source##*/}" != object.c ] || pic=-fPIC
        quietly "$compiler" $2 -Wall -Wextra -Werror -O2 -Iinclude $3 $pic -c "$source" -o "$work/$(basename "$source" .c).o" || return 1
    done
    # shellcheck disable=SC2086
    quietly "$compiler" -O2 $3 -shared -o "$work/object/libobject.so" "$work/object.o" ${4#-no-pie} -L"$rex" -lrex -Wl,-rpath,"$rex" || return 1
    # shellcheck disable=SC2086
    quietly "$compiler" -O2 $3 -o "$work/main" "$work/main.o" "$work/macros.o" "$work/more.o" "$work/raw.o" $4 -L"$work/object" \
        -lobject -Wl,-rpath,"$work/object" -L"$rex" -lrex -Wl,-rpath,"$rex"
}

# check NAME COMPILER STANDARD FLAGS LINKER-FLAGS
check() {
    name=$1
    shift
    if ! build "$1" "$2" "$3" "$4"; then
        fail "$name: cannot be built"
        return 0
    fi
    counts="$(in_section "$work/main") $(in_section "$work/object/libobject.so")"
    [ "$counts" = "$in_program $in_object" ] || fail "$name: $counts entries in the sections, $in_program $in_object in the sources"
    counts="$(modules_in "$work/main") $(modules_in "$work/object/libobject.so")"
    [ "$counts" = '1 1' ] || fail "$name: $counts modules in program and shared object, one each expected"
    if quietly tests/llvm "$release" timeout -k 5 60 "$work/main" "$in_program" "$in_object"; then
        echo "$name: $in_program and $in_object entries, all kernels ran"
    else
        fail "$name: the program"
    fi
}
# loses NAME COMPILER STANDARD FLAGS LINKER-FLAGS: entries made by macros are there, those written out are not
loses() {
    name=$1
    shift
    if ! build "$1" "$2" "$3" "$4"; then
        fail "$name: cannot be built"
        return 0
    fi
    count=$(in_section "$work/main")
    case $count in
    "$by_macro") echo "$name: loses $((in_program - count)) of $in_program entries, as expected" ;;
    "$in_program") fail "$name: loses no entry any more" ;;
    *) fail "$name: $count entries, $by_macro by macros" ;;
    esac
}

mkdir "$work/object"
${CC:-gcc} -x c -std=gnu11 -O2 -shared -fPIC -Iinclude -o "$work/rex_lib_host.so" "$sources/kernels.cu"
${CC:-gcc} -x c -std=gnu11 -O2 -shared -fPIC -Iinclude -DFOR_OBJECT -o "$work/object/rex_lib_host.so" "$sources/kernels.cu"

clang=$(command -v clang-19 || command -v clang || true)
[ -n "$clang" ] || { echo 'FAIL: no clang'; exit 1; }
clangxx=$(echo "$clang" | sed 's/clang\([-0-9]*\)$/clang++\1/')
# clang's LTO needs an lld of its own release.
case $clang in *-19) lld=-fuse-ld=lld-19 ;; *) lld=-fuse-ld=lld ;; esac
sections='-ffunction-sections -fdata-sections'
gc=-Wl,--gc-sections
c=-std=gnu11
cxx='-x c++ -std=c++17'

lld_of() { case $1 in gcc) echo -fuse-ld=lld ;; *) echo "$lld" ;; esac; }

for compiler in gcc "$clang"; do
    by=${compiler##*/}
    check "$by" "$compiler" $c '' "$keep"
    check "$by, no PIE" "$compiler" $c -fno-pie "-no-pie $keep"
    check "$by, sections collected" "$compiler" $c "$sections" "$gc $keep"
    check "$by, lld, sections collected" "$compiler" $c "$sections" "$(lld_of "$compiler") $gc $keep"
    # gold knows no such option and needs none.
    if command -v ld.gold >/dev/null; then
        check "$by, gold, sections collected" "$compiler" $c "$sections" "-fuse-ld=gold $gc"
    fi
done
for compiler in g++ "$clangxx"; do
    by=${compiler##*/}
    check "$by" "$compiler" "$cxx" '' "$keep"
    check "$by, sections collected" "$compiler" "$cxx" "$sections" "$gc $keep"
done
check 'clang, LTO, lld' "$clang" $c -flto "$lld $keep"
check 'clang, thin LTO, lld, sections collected' "$clang" $c "-flto=thin $sections" "$lld $gc $keep"
check 'clang++, LTO, lld' "$clangxx" "$cxx" -flto "$lld $keep"
# gcc drops a variable that nothing refers to before the linker sees it: what has no attribute `used` has to be exported.
check 'gcc, LTO, exported' gcc $c -flto "$keep -rdynamic"
check 'g++, LTO, exported' g++ "$cxx" -flto "$keep -rdynamic"

loses 'gcc, LTO, not exported' gcc $c -flto "$keep"
# The launch of a kernel whose entry was lost says how.
! tests/llvm "$release" timeout -k 5 60 "$work/main" "$by_macro" "$in_object" >"$work/output" 2>&1 || fail 'a lost entry: the program ran'
grep -q 'host key .* is in no registered table of offload entries (gcc -flto drops entries without __attribute__((used)))' "$work/output" ||
    fail "a lost entry: $(cat "$work/output")"

# written_out FLAGS: a program whose entries are all written out, as a compiler prints them: $status, $work/output
written_out() {
    # Flags are words.
    # shellcheck disable=SC2086
    quietly gcc $c -O2 -Wall -Wextra -Werror -Iinclude -I"$sources" $1 -o "$work/main" "$work/alone.c" "$work/raw.c" -L"$rex" -lrex \
        -Wl,-rpath,"$rex" || { fail "$1: cannot be built"; return 0; }
    status=0
    tests/llvm "$release" timeout -k 5 60 "$work/main" >"$work/output" 2>&1 || status=$?
}
cat >"$work/alone.c" <<'C'
#include "entries.h"
int main(void)
{
    int64_t x = 0;
    return add_with(&OUT__2__smooth__20__id__, 1, &x) != 0 || add_with(&OUT__3__smooth__31__id__, 1, &x) != 0 || x != 2;
}
C
cp "$sources/raw.c" "$work"
written_out "-flto $keep"
[ "$status" = 1 ] || fail "entries as they are printed, gcc, LTO: status $status"
grep -q 'or gcc -flto dropped entries without __attribute__((used)) (add it, or link with -rdynamic)' "$work/output" ||
    fail "entries as they are printed, gcc, LTO: $(cat "$work/output")"
written_out "-flto $keep -rdynamic"
[ "$status" = 0 ] || fail "entries as they are printed, exported: $(cat "$work/output")"
sed -i 's/section("omp_offloading_entries")/&, used/' "$work/raw.c"
written_out "-flto $keep"
[ "$status" = 0 ] || fail "entries that are used: $(cat "$work/output")"
# Whatever the linker collects.
sed -i 's/, used/, used, retain/' "$work/raw.c"
written_out "-flto $sections $gc -Wl,-z,start-stop-gc"
[ "$status" = 0 ] || fail "entries that are retained: $(cat "$work/output")"
echo 'entries as they are printed: lost by gcc with LTO, and kept where they are used'
for compiler in gcc "$clang"; do
    loses "${compiler##*/}, lld, sections collected, without $keep" "$compiler" $c "$sections" "$(lld_of "$compiler") $gc"
done
# GNU ld keeps them unless it is told not to.
check 'gcc, GNU ld, sections collected, without the flag' gcc $c "$sections" "$gc"
loses 'gcc, GNU ld, sections collected, with the opposite flag' gcc $c "$sections" "$gc -Wl,-z,start-stop-gc"

exit "$failed"
