#!/bin/sh
# The model of registration (tests/model/registration.pml) holds in all its states, has the atomic steps that the code has, and notices
# when one is taken away: `make check` tries two of these, `make check-all` all.
. tests/support/lib.sh
model=$PWD/tests/model/registration.pml
python3 tests/model/steps
command -v spin >/dev/null || skip 'no spin'

# NAME EXPECTED CHECK DEFINITIONS...: EXPECTED is what Spin has to say, CHECK what is looked for, beside what an assertion finds: a state
# in which nobody can go on, or a cycle in which somebody waits for ever although all that can run do run.
cat >"$work/list" <<'LIST'
TWO_THREADS errors:.0 cycles -DTHREADS=2 -DCALLS=2
THREE_THREADS errors:.0 states -DTHREADS=3 -DCALLS=1 -DANY_START
NO_CAS assertion cycles -DTHREADS=2 -DCALLS=2
NO_RELEASE non-progress cycles -DTHREADS=2 -DCALLS=2
NO_RELEASE_BY_FINI non-progress cycles -DTHREADS=2 -DCALLS=2
NO_RETRY assertion cycles -DTHREADS=2 -DCALLS=2
NO_LOOP assertion cycles -DTHREADS=2 -DCALLS=2
NO_OWN_ATTEMPT non-progress cycles -DTHREADS=2 -DCALLS=2
NO_RESTORE non-progress cycles -DTHREADS=2 -DCALLS=2
LATE_RULES assertion cycles -DTHREADS=2 -DCALLS=2
LATE_FAILURE assertion cycles -DTHREADS=2 -DCALLS=2
NO_RENEWAL non-progress cycles -DTHREADS=2 -DCALLS=2
LIST
[ -n "${TEST_ALL-}" ] || sed -i -E '/^([A-Z]+_THREADS|NO_CAS|NO_RELEASE) /!d' "$work/list"

# A process that checks gives up at 1500 MB. The variables are the inner shell's.
# shellcheck disable=SC2016
xargs -L 1 -P "$(nproc 2>/dev/null || echo 2)" sh -c '
    model=$1 folder=$2/$3 name=$3 check=$5
    mkdir "$folder" && cd "$folder" || exit 1
    shift 5
    # What stops at an error is sooner compiled than run fast.
    case $name in *THREADS) optimise=-O2 ;; *) optimise=-O0 ;; esac
    {
        spin -D"$name" "$@" -a "$model" &&
        case $check in
        cycles) gcc $optimise -w -DMEMLIM=1500 -DNP -DNFAIR=2 -o pan pan.c && ./pan -l -f -m100000 ;;
        states) gcc $optimise -w -DMEMLIM=1500 -DSAFETY -DNOFAIR -o pan pan.c && ./pan -m100000 ;;
        esac
    } >log 2>&1
    :' sh "$model" "$work" <"$work/list" || true

while read -r name expected _; do
    log=$work/$name/log
    found=$(sed -n 's/^pan:1: //p' "$log" | head -n 1)
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$log")
    echo "$name: ${found:-nothing found in ${states:-no} states}"
    case $expected in
    errors*)
        # Complete, without an error, and no line of the threads that never runs.
        if ! grep -q 'errors: 0' "$log" || grep -qE 'Search not completed|max search depth too small|out of memory' "$log" ||
            ! sed -n '/^unreached in proctype thread/{n;p;}' "$log" | grep -q '(0 of'; then
            fail "$name"
            sed 's/^/    /' "$log"
            [ ! -e "$work/$name/registration.pml.trail" ] || (cd "$work/$name" && spin -t -p -g "$model" | tail -n 60)
        fi ;;
    *)
        case $found in *"$expected"*) ;; *)
            fail "the model without what $name takes away: expected was '$expected'"
            sed 's/^/    /' "$log" ;;
        esac ;;
    esac
done <"$work/list"
