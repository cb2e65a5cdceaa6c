#!/bin/sh
# Tests of some runtime programs under valgrind, on LLVM 22, in `make check-all` on each release that it can start: no error and no leak that librex made itself. What LLVM's libraries
# and the loader lose is theirs, though librex called them: the innermost function that is not one like malloc or memcpy decides.
. tests/support/lib.sh
needs valgrind
# program/test: each runs in a process of its own, which takes some seconds to start.
tests='badinput/unusable_images badinput/bad_tables badinput/bad_packets
    register/lazy_launch_registers modules/several_beside_the_header_s_own modules/globals_after_fini_beside_a_module
    queues/bad_input queues/branches pinned/allocated pinned/wrong'

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
for test in $tests; do
    for release in $releases; do echo "$release $test"; done
done | xargs -n 2 -P "$(nproc 2>/dev/null || echo 2)" sh -c '
    program=${4%/*} test=${4#*/}
    run=$1/$3-$program-$test
    "$0" "$3" valgrind --quiet --num-callers=40 --fullpath-after= --leak-check=full \
        --show-leak-kinds=definite,indirect,possible --log-file="$run.log" \
        "$2/tests/runtime/$program/$program" "$test" >"$run.out" 2>&1 && : >"$run.passed"
    :' tests/llvm "$work" "$O"

# A block of a log is a finding.
for release in $releases; do
    for test in $tests; do
        run=$work/$release-${test%/*}-${test#*/}
        if [ ! -e "$run.passed" ]; then
            echo "--- $test on LLVM $release failed under valgrind"
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
        ' "$run.log" || { echo "--- made by librex: $test on LLVM $release"; failed=1; }
    done
done
