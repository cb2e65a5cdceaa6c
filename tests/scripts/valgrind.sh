#!/bin/sh
# Tests of some runtime programs under valgrind, on LLVM 22, in `make check-all` on each release that it can start: no error and no leak that librex made itself. What LLVM's libraries
# and the loader lose is theirs, though librex called them: the innermost function that is not one like malloc or memcpy decides.
. tests/support/lib.sh
needs valgrind
# A program's tests run in one process, which takes some seconds to start.
cat >"$work/tests" <<'TESTS'
badinput unusable_images one_key_in_two_modules bad_packets
register lazy_launch_registers
modules several_beside_the_header_s_own globals_after_fini_beside_a_module
queues destroyed branches
pinned allocated wrong
overlaps one_array_twice
TESTS

tests/llvm >/dev/null
wanted=22
[ -z "${TEST_ALL-}" ] || wanted=$(tests/llvm --list)
releases=
for release in $wanted; do
    if tests/llvm --plain | grep -qx "$release"; then
        releases="$releases $release"
    else
        echo "left out: LLVM $release: it is not there, or its newer C library has no symbols for valgrind"
    fi
done
[ -n "$releases" ] || skip 'no LLVM 22'

# As many at once as there are cores. The variables are the inner shell's.
# shellcheck disable=SC2016
for release in $releases; do sed "s/^/$release /" "$work/tests"; done | xargs -L 1 -P "$(nproc 2>/dev/null || echo 2)" sh -c '
    program=$2/tests/runtime/$4/$4 run=$1/$3-$4
    release=$3
    shift 4
    "$0" "$release" valgrind --quiet --num-callers=40 --fullpath-after= --leak-check=full \
        --show-leak-kinds=definite,indirect,possible --log-file="$run.log" \
        "$program" "$@" >"$run.out" 2>&1 && : >"$run.passed"
    :' tests/llvm "$work" "$O"

# A block of a log is a finding.
for release in $releases; do
    while read -r program tests; do
        run=$work/$release-$program
        if [ ! -e "$run.passed" ]; then
            echo "--- $program ($tests) on LLVM $release failed under valgrind"
            tail -n 25 "$run.out"
            failed=1
        fi
        awk '
            function finish() {
                if (ours) { print block; found = 1 }
                block = ""
                decided = ours = 0
            }
            { sub(/^==[0-9]+== ?/, "") }
            /^ *$/ { finish(); next }
            { block = block "\n" $0 }
            !decided && /^ *(at|by) 0x/ {
                if ($3 ~ /^(malloc|calloc|realloc|reallocarray|free|mem[a-z]+|str[a-z]+|_*v?sn?printf.*|_IO_.*|printf_.*|glob.*)$/) next
                decided = 1
                ours = $0 ~ /librex\/[a-z]+\/[a-z]+\.[ch]:[0-9]+|librex\.so/
            }
            END { finish(); exit found }
        ' "$run.log" || { echo "--- made by librex: $program on LLVM $release"; failed=1; }
    done <"$work/tests"
done
