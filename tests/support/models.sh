# Sourced by scripts that check models of tests/model with Spin, after lib.sh.
# shellcheck shell=sh disable=SC2154 # lib.sh sets them

# check_models: what $work/list names, a line each:
# NAME MODEL EXPECTED CHECK DEFINITIONS...: NAME is defined, too. EXPECTED is what Spin has to say.
# CHECK is what Spin looks for, beside what an assertion finds: `states` in which no thread can go
# on; also `cycles` in which one waits for ever although all that can run do run; or also `endless`
# runs, whatever runs; or `claim`: the model's own, of what runs if all that can run do.
check_models() {
    # A process that checks gives up at 1500 MB. The variables are the inner shell's.
    # shellcheck disable=SC2016
    clang=$clang xargs -L 1 -P "$(nproc 2>/dev/null || echo 2)" sh -c '
        models=$1 folder=$2/$3 name=$3 model=$4 check=$6
        mkdir "$folder" && cd "$folder" || exit 1
        shift 6
        # Most runs are over before a compiler has optimised them, and gcc takes three times as long as clang.
        case $model/$name in */*THREADS | present/CONF=4) compiler="gcc -O1" ;; *) compiler="$clang -O0" ;; esac
        cc="$compiler -w -DMEMLIM=1500 -DVECTORSZ=2048 -o pan pan.c"
        {
            spin -D"$name" "$@" -a "$models/$model.pml" &&
            case $check in
            cycles) $cc -DNP -DNFAIR=2 && ./pan -l -f -m400000 ;;
            endless) $cc -DNP -DNOFAIR -DCOLLAPSE && ./pan -l -m400000 ;;
            claim) $cc -DNFAIR=4 -DCOLLAPSE && ./pan -a -f -m400000 ;;
            states) $cc -DSAFETY -DNOFAIR -DCOLLAPSE && ./pan -m400000 ;;
            esac
        } >log 2>&1
        :' sh "$top/tests/model" "$work" <"$work/list" || true

    while read -r name model expected _ definitions; do
        log=$work/$name/log
        found=$(sed -n 's/^pan:1: //p' "$log" | head -n 1)
        states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$log")
        echo "$name: ${found:-nothing found in ${states:-no} states}"
        case $expected in
        errors*)
            # Complete, without an error; of registration.pml, no line of the threads never runs.
            if ! grep -q 'errors: 0' "$log" ||
                grep -qE 'Search not completed|max search depth too small|out of memory' "$log" ||
                { [ "$model" = registration ] &&
                    ! sed -n '/^unreached in proctype thread/{n;p;}' "$log" | grep -q '(0 of'; }; then
                fail "$name"
                sed 's/^/    /' "$log"
                # shellcheck disable=SC2086
                [ ! -e "$work/$name/$model.pml.trail" ] ||
                    (cd "$work/$name" && spin -D"$name" $definitions -k "$model.pml.trail" -p -g \
                        "$top/tests/model/$model.pml" | tail -n 60)
            fi ;;
        *)
            case $found in *"$expected"*) ;; *)
                fail "$name is not found: expected was '$expected'"
                sed 's/^/    /' "$log" ;;
            esac ;;
        esac
    done <"$work/list"
}
