#!/bin/sh
# REX_TRACE and the log at debug where programs are linked in other ways, and what others built: -lomptarget -lrex, what clang built under rex-run;
# the summary as a whole; a program that offloads nothing.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
CC=${CC:-gcc}
release=19
tests/llvm --list | grep -qx $release || { echo "skip: LLVM $release is not unpacked"; exit 77; }
command -v python3 >/dev/null || { echo 'skip: no python3'; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-trace.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }
check() { python3 tests/trace/check.py "$@" || fail "$*"; }
value_of() { tests/llvm $release printenv "$1"; }
library=$(value_of REX_OMPTARGET)
rex_run=$PWD/$O/tools/rex-run

# ---- by hand, with librex in front of libomptarget and behind it

cat >"$work/hand.c" <<'C'
#include <rex.h>
#include <rex_kmp.h>
REX_KERNEL(twice);
int main(void)
{
    static double x[100];
    void *address[] = {x};
    int64_t size[] = {sizeof x}, both[] = {0x23}, in[] = {1}, out[] = {2};
    struct __tgt_kernel_arguments packet = {3, 1, address, address, size, both, NULL, NULL, 0, 0, {2, 1, 1}, {64, 1, 1}, 0};
    if (rex_offload_init() != 0)
        return 1;
    __tgt_target_data_begin(-1, 1, address, address, size, in);
    for (int i = 0; i < 2; i++)
        if (__tgt_target_kernel(-1, 2, 64, REX_KERNEL_ID(twice), &packet) != 0)
            return 1;
    __tgt_target_data_end(-1, 1, address, address, size, out);
    return rex_offload_fini();
}
C
cat >"$work/kernels.cu" <<'CU'
#include <rex/kernel.h>
REX_DEVICE_KERNEL(twice, (double *) x)
{
    REX_FOR(i, 100)
        x[i] *= 2;
}
CU
"$CC" -x c -shared -fPIC -Iinclude -o "$work/rex_lib_host.so" "$work/kernels.cu"
# link OUTPUT LIBRARIES...
link() {
    output=$1
    shift
    "$CC" -Iinclude -o "$work/$output" "$work/hand.c" -Wl,-z,nostart-stop-gc -Wl,--no-as-needed -Wl,--allow-shlib-undefined "$@" -L"$O" -lrex \
        -Wl,-rpath,"$PWD/$O"
}
link front
link behind "$library"
# run COMMAND...: on the release; its messages are in $work/err
run() { tests/llvm $release "$@" >"$work/out" 2>"$work/err" || fail "$*: $(cat "$work/err")"; }

REX_LOG=info REX_TRACE=$work/front.json run "$work/front"
! grep -q "librex's own calls only" "$work/err" || fail 'all calls pass through librex, and it says otherwise'
check "$work/front.json" launch/twice__kernel__=2:1600,1600 'data/data begin=1:800,0' 'data/data end=1:0,800'
REX_LOG=info REX_TRACE=$work/behind.json run "$work/behind"
grep -q "the trace has librex's own calls only: the program is linked with libomptarget itself" "$work/err" || fail 'nobody says what is missing'
check "$work/behind.json" launch/twice__kernel__=2:1600,1600 'data/*=0'
run "$rex_run" --trace="$work/preloaded.json" "$work/behind"
check "$work/preloaded.json" launch/twice__kernel__=2:1600,1600 'data/data begin=1:800,0' 'data/data end=1:0,800'

# ---- the summary: all of it, times masked, in the order of the names

REX_TRACE=- run "$work/front"
[ ! -s "$work/out" ] || fail 'something is on standard output'
sed 's/process [0-9]*/process N/; s/[0-9][0-9]*\.[0-9]/#/g; s/  */ /g' "$work/err" |
    awk '/^ [a-z_]/ && !/calls total us/ { row[++rows] = $0; next }
         { sorted(); print }
         END { sorted() }
         function sorted(   i, j, t) {
             for (i = 1; i <= rows; i++)
                 for (j = i + 1; j <= rows; j++)
                     if (row[j] < row[i]) { t = row[i]; row[i] = row[j]; row[j] = t }
             for (i = 1; i <= rows; i++) print row[i]
             rows = 0
         }' >"$work/summary"
[ -z "${UPDATE-}" ] || cp "$work/summary" tests/golden/trace/summary.txt
cmp -s "$work/summary" tests/golden/trace/summary.txt || { fail 'the summary'; diff tests/golden/trace/summary.txt "$work/summary" || true; }

# ---- what clang built

mkdir "$work/names"
value_of LD_LIBRARY_PATH | tr : '\n' | while read -r folder; do
    [ ! -e "$folder/libomp.so.5" ] || { ln -sf "$folder/libomp.so.5" "$work/names/libomp.so"; break; }
done
ln -s "$library" "$work/names/libomptarget.so"
ar rc "$work/names/libomptarget.devicertl.a"
cat >"$work/clang.c" <<'C'
static double x[100], y[100];
static void triple(void)
{
#pragma omp target map(tofrom : y)
    for (int i = 0; i < 100; i++)
        y[i] *= 3;
}
int main(void)
{
#pragma omp target data map(to : x)
    {
        for (int step = 0; step < 4; step++) {
#pragma omp target teams distribute parallel for num_teams(3) thread_limit(32) map(to : x) map(from : y)
            for (int i = 0; i < 100; i++)
                y[i] = x[i] + step;
        }
#pragma omp target update from(x)
    }
    triple();
    return y[0] == 9 ? 0 : 1;
}
C
if clang-$release -O1 -fopenmp -fopenmp-targets="$(uname -m)-pc-linux-gnu" "$work/clang.c" -o "$work/clang" -L"$work/names" >"$work/err" 2>&1; then
    for pass in adopted passed-on; do
        case $pass in
        adopted) run "$rex_run" --trace="$work/clang.json" "$work/clang" && adoptions=1 ;;
        *) REX_TRACE=$work/clang.json LD_PRELOAD=$PWD/$O/librex.so run "$work/clang" && adoptions=0 ;;
        esac
        check "$work/clang.json" 'launch/*=5:4000,4000' 'data/data begin=1:800,0' 'data/data end=1:0,0' 'data/data update=1:0,800' \
            phase/__tgt_register_lib=1 phase/__tgt_unregister_lib=1 'phase/bind libomptarget=1' phase/adopt="$adoptions"
        # On a thread's track and on the device's.
        for kernel in main_l=8 triple_l=2; do
            [ "$(grep -c "\"name\":\"__omp_offloading_[0-9a-f]*_[0-9a-f]*_${kernel%=*}[0-9]*\"" "$work/clang.json")" = "${kernel#*=}" ] ||
                fail "$pass: not ${kernel#*=} slices of ${kernel%=*}"
        done
        # clang's -1, of a region without teams, is no number of them.
        for teams in 3,0,0=4 0,0,0=1; do
            [ "$(grep -c "\"teams\":\[${teams%=*}\]" "$work/clang.json")" = "${teams#*=}" ] || fail "$pass: not ${teams#*=} slices of teams ${teams%=*}"
        done
    done
    # At debug the log has each call's rows once, by their names where clang was told to write them, and so has that of librex's own calls.
    clang-$release -O1 -g -fopenmp -fopenmp-targets="$(uname -m)-pc-linux-gnu" "$work/clang.c" -o "$work/named" -L"$work/names"
    REX_LOG=debug:$work/named.log run "$rex_run" "$work/named"
    REX_LOG=debug:$work/own.log run "$O/examples/gaussian/gaussian" --size 8
    for lines in 'named data begin: device=1' 'named data begin: row 0: to x 800 bytes=1' 'named data update: row 0: from x 800 bytes=1' \
        'named data end: device=1' 'named main_l[0-9]*: device -1, 3 x 0 x 0 teams=4' 'named main_l[0-9]*: row 1: to|target_param x 800 bytes=4' \
        'named triple_l[0-9]*: device=1' 'named triple_l[0-9]*: row 0: to|from|target_param y 800 bytes=1' \
        'own data begin: device=1' 'own data end: device=1' 'own gaussian_fan1__kernel__: device=7' 'own gaussian_back__kernel__: device=8'; do
        log=${lines%% *} text=${lines#* }
        [ "$(grep -c "${text%=*}" "$work/$log.log")" = "${text##*=}" ] || fail "$log.log has not ${text##*=} times '${text%=*}'"
    done
else
    fail "clang-$release cannot build an offload program: $(cat "$work/err")"
fi

# ---- nothing is offloaded: no file, and nothing is said

run "$rex_run" --trace="$work/nothing.json" true
if [ -e "$work/nothing.json" ] || [ -s "$work/err" ]; then fail 'a program that offloads nothing'; fi
exit $failed
