#!/bin/sh
# What the reduced Rodinia programs promise by their shape: one initialisation, before the clock is read; and where a program has a data
# region, one region with all launches and updates inside it. That entries and kernels are each other's is in clang.sh.
. tests/support/lib.sh
needs_release 19

"$CC" -std=c11 -D_GNU_SOURCE -Wall -Wextra -O2 -shared -fPIC tests/structure/recorder.c -ldl -o "$work/recorder.so"
cd "$work"
for program in hotspot gaussian pathfinder srad bfs particles hotspot_raw pathfinder_raw particles_raw 15_axpy_multi_raw nn axpy_multi nn_raw; do
    case $program in
    nn | axpy_multi | nn_raw) wanted='i[tl]*l[tl]*' ;;
    *) wanted='it*b[tlu]*l[tlu]*et*' ;;
    esac
    # The first of its lines: the others, in a queue and as a graph, have a shape of their own.
    arguments=$(sed -n "/^$program /{s///p;q;}" "$top/tests/examples.args")
    rm -f record
    # Arguments are plain words.
    # shellcheck disable=SC2086
    run on_release env RECORD="$work/record" LD_PRELOAD="$work/recorder.so" "$build/examples/$program/$program" $arguments
    ends 0 "$program"
    grep -qxE "$wanted" record || fail "$program: the order of its calls is $(sed -E 's/(.)\1+/\1+/g' record | head -c 200), not $wanted"
done
