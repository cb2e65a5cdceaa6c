#!/bin/sh
# rex-codegen(7) is true: the program in it, taken twice with two stems, works whatever compiles and links it, beside a file that includes
# the header, and with a host image that is written by hand; and it is the one form of an entry that the tree shows.
set -eu
cd "$(dirname "$0")/../.."
top=$PWD
O=${O:-$(make -s --no-print-directory print-O)}
case $O in /*) build=$O ;; *) build=$top/$O ;; esac

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-codegen.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

# The last example of the page, and the same under another stem.
awk '/^\.EX/ { text = ""; inside = 1; next } /^\.EE/ { inside = 0 } inside { text = text $0 "\n" } END { printf "%s", text }' \
    librex/man/rex-codegen.7 | sed 's/\\-/-/g' >"$work/one.c"
grep -q 'rex_module_launch' "$work/one.c" || fail 'the page has no program'
sed 's/OUT__1__scale__7__/OUT__2__scale__9__/g; s/int scale(/int scale_again(/' "$work/one.c" >"$work/two.c"
cat >"$work/main.c" <<'C'
#include <stdint.h>
#include <stdio.h>
int scale(double *x, int64_t n), scale_again(double *x, int64_t n);
int with_header(double *x, int64_t n);
int rex_offload_init(void), rex_offload_fini(void); /* of the file that includes the header */
int main(void)
{
    double x[100];
    if (rex_offload_init() != 0)
        return puts("not initialised");
    for (int i = 0; i < 100; i++)
        x[i] = i;
    if (scale(x, 100) != 0 || scale_again(x, 100) != 0 || with_header(x, 100) != 0)
        return puts("not launched");
    for (int i = 0; i < 100; i++)
        if (x[i] != 8.0 * i)
            return puts("wrong");
    return rex_offload_fini();
}
C
cat >"$work/header.c" <<'C'
#include <rex.h>
REX_KERNEL_STEM(OUT__3__scale__2__);
int with_header(double *x, int64_t n);
int with_header(double *x, int64_t n)
{
    REX_MAP(map, REX_VALUE(n), REX_TOFROM(x, n));
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_STEM_ID(OUT__3__scale__2__), 1, 1);
    return rex_launch(&launch, &map);
}
C
# A host image without rex/kernel.h, as the page says.
cat >"$work/image.c" <<'C'
#include <stddef.h>
#include <stdint.h>
struct row { void *address; char *name; size_t size; int32_t flags, reserved; };
#define KERNEL(stem)                                                                                                  \
    void stem##kernel__(uintptr_t n, double *x);                                                                      \
    static struct row stem##row __attribute__((section("omp_offloading_entries"), used, aligned(8))) =                \
        {(void *)(uintptr_t)stem##kernel__, (char *)(uintptr_t)#stem "kernel__", 0, 0, 0};                            \
    void stem##kernel__(uintptr_t n, double *x)                                                                       \
    {                                                                                                                 \
        for (uintptr_t i = 0; i < n; i++)                                                                             \
            x[i] *= 2;                                                                                                \
    }
KERNEL(OUT__1__scale__7__)
KERNEL(OUT__2__scale__9__)
KERNEL(OUT__3__scale__2__)
C
gcc -std=c11 -Wall -Wextra -Wpedantic -O2 -shared -fPIC -o "$work/rex_lib_host.so" "$work/image.c"

# built CC FLAGS...: it links, and runs
built() {
    # shellcheck disable=SC2086 # FLAGS are words
    if ! ${1} -std=gnu11 -Wall -Wextra -O2 ${2} -Iinclude -o "$work/program" "$work/main.c" "$work/one.c" "$work/two.c" "$work/header.c" \
        -L"$build" -lrex -Wl,-z,nostart-stop-gc -Wl,-rpath,"$build" 2>"$work/err"; then
        fail "$1 $2 does not link: $(head -n 5 "$work/err")"
    elif ! "$work/program" >"$work/out" 2>&1; then
        fail "$1 $2: $(cat "$work/out")"
    fi
    count=$((count + 1))
}
count=0
gc='-ffunction-sections -fdata-sections -Wl,--gc-sections'
for flags in '' -flto "$gc" "-flto $gc"; do
    built gcc "$flags"
    if command -v clang-19 >/dev/null; then
        built clang-19 "$flags"
        built clang-19 "$flags -fuse-ld=lld"
    fi
done
built gcc "-fuse-ld=lld $gc"

# On every release that runs images without rex/kernel.h.
for release in $(tests/llvm --list); do
    case $release in *bare | 18 | 23 | 24) continue ;; esac
    tests/llvm "$release" "$work/program" >"$work/out" 2>&1 || fail "LLVM $release: $(cat "$work/out")"
done

# Two modules with one table: refused, as the page says.
for file in one two; do
    sed '/^__attribute__((weak, visibility("hidden")))$/d; s/^struct rex_module rex_this_module/static &/' "$work/$file.c" \
        >"$work/${file}_static.c"
done
gcc -O2 -Iinclude -o "$work/program" "$work/main.c" "$work/one_static.c" "$work/two_static.c" "$work/header.c" -L"$build" -lrex \
    -Wl,-z,nostart-stop-gc -Wl,-rpath,"$build"
! "$work/program" >"$work/out" 2>&1 || fail 'two modules with one table are not refused'
grep -q 'REX_EKEY' "$work/out" || fail "two modules with one table: $(cat "$work/out")"

# What REX emits compiles as C and as C++ wherever it is compiled; a helper may have safe wrappers of its own, beside files that call them.
cat >"$work/helper.c" <<'C'
#define REX_KMP_INTERNAL
#include "rex_kmp.h"
int own_wrappers = 0;
__attribute__((visibility("hidden"))) int rex___tgt_target_kernel(int64_t device_id, int32_t num_teams, int32_t thread_limit, void *host_ptr,
                                                                  struct __tgt_kernel_arguments *args)
{
    own_wrappers++;
    if (register_cubin(REX_CUBIN_NAME) == NULL)
        return -1;
    return rex_direct___tgt_target_kernel(device_id, num_teams, thread_limit, host_ptr, args);
}
__attribute__((visibility("hidden"))) void rex___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                                                                       int64_t *arg_sizes, int64_t *arg_types)
{
    own_wrappers++;
    if (register_cubin(REX_CUBIN_NAME) != NULL)
        rex_direct___tgt_target_data_begin(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}
C
cat >"$work/caller.c" <<'C'
#define REX_KMP_INTERNAL
#include "rex_kmp.h"
extern int own_wrappers;
char OUT__1__scale__7__id__ = 0;
struct __tgt_offload_entry OUT__1__scale__7__omp_offload_entry__ __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__1__scale__7__id__, (char *)"OUT__1__scale__7__kernel__", 0, 0, 0};
int main(void)
{
    double x[3] = {1, 2, 3};
    int64_t n = 3;
    int teams = 1, threads = 32, rows = 2;
    void *packed = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *values[] = {packed, x};
    int64_t sizes[] = {8, 24}, types[] = {288, 33}, region[] = {3};
    struct __tgt_kernel_arguments args = {3, rows, values, values, sizes, types, 0, 0, (int64_t)n, 0, {teams, 1, 1}, {threads, 1, 1}, 0};
    rex___tgt_target_data_begin(-1, 1, values + 1, values + 1, sizes + 1, region);
    int failed = rex___tgt_target_kernel(-1, teams, threads, &OUT__1__scale__7__id__, &args);
    rex___tgt_target_data_end(-1, 1, values + 1, values + 1, sizes + 1, region);
    return failed || own_wrappers != 2 || x[2] != 6;
}
C
for compiler in 'gcc-12 -std=c11' 'g++-12 -x c++ -std=c++17' 'gcc -std=c11' 'g++ -x c++ -std=c++17' 'clang-19 -std=c11' \
    'clang++-19 -x c++ -std=c++17' 'clang++-14 -x c++ -std=c++17'; do
    command -v "${compiler%% *}" >/dev/null || continue
    for source in tests/runtime/generated/rose/*.c "$work/helper.c" "$work/caller.c"; do
        # shellcheck disable=SC2086 # a command
        $compiler -Wall -Wextra -Wpedantic -Wconversion -Werror -Iinclude -c -o "$work/$(basename "$source").o" "$source" 2>"$work/err" ||
            fail "$compiler $source: $(head -n 5 "$work/err")"
    done
    if ! "${compiler%% *}" -o "$work/program" "$work/helper.c.o" "$work/caller.c.o" -L"$build" -lrex -Wl,-z,nostart-stop-gc \
        -Wl,-rpath,"$build" 2>"$work/out" || ! "$work/program" >"$work/out" 2>&1; then
        fail "$compiler, wrappers of a helper: $(cat "$work/out")"
    fi
    count=$((count + 1))
done

# Wherever the tree writes an entry by hand, it has that form.
grep -rn 'section("omp_offloading_entries")' README.md include librex/man examples --include=*.md --include=*.h --include=*.[37] --include=*.c \
    --include=*.awk | grep -v -e 'used, aligned(8)' -e ': finding: ' >"$work/others" && fail "other forms of an entry: $(cat "$work/others")"

[ "$failed" = 0 ] && echo "$count ways to build"
exit "$failed"
