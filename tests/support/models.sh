# Scripts that check models of tests/model with Spin source this file after lib.sh.
# shellcheck shell=sh disable=SC2154 # lib.sh sets them

# check_models: checks the models in $work/list. A line is NAME MODEL EXPECTED CHECK DEFINITIONS...
# The model has NAME and DEFINITIONS defined. EXPECTED is a part of Spin's report. CHECK selects the
# errors that Spin searches besides failed assertions. `states`: no thread can go on. `cycles`: also
# a thread that waits for ever under fair scheduling. `endless`: also a run without end under any
# scheduling. `claim`: the model's own claim under fair scheduling.
check_models() {
    # A checker gives up at 1500 MB. The inner shell expands the variables.
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
            # The search must be complete and without an error. In registration.pml each line of the threads must run.
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
                fail "$name: Spin did not report '$expected'"
                sed 's/^/    /' "$log" ;;
            esac ;;
        esac
    done <"$work/list"
}
