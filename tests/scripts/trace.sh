#!/bin/sh
# REX_TRACE and the log at debug where programs are linked in other ways, and what others built: -lomptarget -lrex, what clang built under rex-run;
# the summary as a whole; a program that offloads nothing.
. tests/support/lib.sh
needs_release 19
needs python3

check() { python3 tests/trace/check.py "$@" || fail "$*"; }
library=$(library_of 19)
rex_run=$build/tools/rex-run

# ---- by hand, with librex in front of libomptarget and behind it

host_image "$work/rex_lib_host.so" tests/tools/trace/kernels.cu
loose='-Wl,--no-as-needed -Wl,--allow-shlib-undefined'
# Options are words.
# shellcheck disable=SC2086
{
    program "$work/front" tests/tools/trace/hand.c $loose
    program "$work/behind" tests/tools/trace/hand.c $loose "$library"
}
# traced COMMAND...: on the release; its messages are in $work/err
traced() {
    run on_release "$@"
    ends 0 "$*"
}

REX_LOG=info REX_TRACE=$work/front.json traced "$work/front"
says_no "lacks the program's own calls"
check "$work/front.json" launch/twice__kernel__=2:1600,1600 'data/data begin=1:800,0' 'data/data end=1:0,800'
REX_LOG=info REX_TRACE=$work/behind.json traced "$work/behind"
says "the trace lacks the program's own calls of libomptarget: the loader finds libomptarget's __tgt_* functions before librex's"
check "$work/behind.json" launch/twice__kernel__=2:1600,1600 'data/data begin=1:800,0' 'data/data end=1:0,800'
traced "$rex_run" --trace="$work/preloaded.json" "$work/behind"
check "$work/preloaded.json" launch/twice__kernel__=2:1600,1600 'data/data begin=1:800,0' 'data/data end=1:0,800'

# ---- the summary: all of it, times masked, in the order of the names

REX_TRACE=- traced "$work/front"
[ ! -s "$work/out" ] || fail 'something is on standard output'
# Rows go below their heading, in the order of their names.
sed 's/process [0-9]*/process N/; s/[0-9][0-9]*\.[0-9]/#/g; s/  */ /g' "$work/err" |
    awk '!/^ [a-z_]/ || /calls total us/ { part++ } { printf "%03d%d%s\n", part, /^ [a-z_]/ && !/calls total us/, $0 }' |
    LC_ALL=C sort | cut -c 5- >"$work/summary"
golden trace/summary.txt "$work/summary"

# A file that another process has is left to it.
exec 9>"$work/taken.json"
flock 9
REX_LOG=info REX_TRACE=$work/taken.json traced "$work/front"
exec 9>&-
says "REX_TRACE: another process writes to $work/taken.json; the number of this process is added to the name"
check "$work"/taken.json.* launch/twice__kernel__=2:1600,1600
[ ! -s "$work/taken.json" ] || fail 'a file that another process has is written to'

# A word turns it off; with a folder before it, it is a file.
(cd "$work" && REX_TRACE=No traced "$work/front" && REX_TRACE=./off traced "$work/front")
if [ -e "$work/No" ] || [ ! -e "$work/off" ]; then fail 'REX_TRACE=No, REX_TRACE=./off'; fi

# ---- what clang built

if by_clang 19 "$work/clang" tests/tools/trace/clang.c; then
    for pass in adopted passed-on; do
        case $pass in
        adopted) traced "$rex_run" --trace="$work/clang.json" "$work/clang" && adoptions=1 ;;
        *) REX_TRACE=$work/clang.json LD_PRELOAD=$PWD/$O/librex.so traced "$work/clang" &&
            adoptions=0 ;;
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
    by_clang 19 "$work/named" tests/tools/trace/clang.c -g
    REX_LOG=debug:$work/named.log traced "$rex_run" "$work/named"
    REX_LOG=debug:$work/own.log traced "$O/examples/gaussian/gaussian" --size 8
    for lines in 'named data begin: device=1' 'named data begin: row 0: to x 800 bytes=1' 'named data update: row 0: from x 800 bytes=1' \
        'named data end: device=1' 'named main_l[0-9]*: device -1, 3 x 0 x 0 teams=4' 'named main_l[0-9]*: row 1: to|target_param x 800 bytes=4' \
        'named triple_l[0-9]*: device=1' 'named triple_l[0-9]*: row 0: to|from|target_param y 800 bytes=1' \
        'own data enter: device=1' 'own data end: device=1' 'own gaussian_fan1: device=7' 'own gaussian_back: device=8'; do
        log=${lines%% *} text=${lines#* }
        [ "$(grep -c "${text%=*}" "$work/$log.log")" = "${text##*=}" ] || fail "$log.log has not ${text##*=} times '${text%=*}'"
    done
else
    fail 'clang-19 cannot build an offload program'
fi

# ---- nothing is offloaded: no file, and nothing is said

traced "$rex_run" --trace="$work/nothing.json" true
if [ -e "$work/nothing.json" ] || [ -s "$work/err" ]; then fail 'a program that offloads nothing'; fi
