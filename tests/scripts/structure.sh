#!/bin/sh
# What the reduced Rodinia programs promise by their shape: an entry for each kernel and a kernel for each entry; one initialisation, before
# the clock is read; and where a program has a data region, one region with all launches and updates inside it.
. tests/support/lib.sh
needs_release 19

# CC may be a command with flags.
# shellcheck disable=SC2086
$CC -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wno-pedantic -O2 -shared -fPIC tests/structure/recorder.c -ldl -o "$work/recorder.so"

# The strings that the entries of a program name: symbols and section together, as the image must have them.
# Beside each kernel there is a function that calls it on some releases.
kernels_of_image() { nm -D --defined-only "$1" | sed -n '/ T rex_call_/d; s/.* T \(.*__kernel__\)$/\1/p' | sort; }
# Entries are 32 bytes and have one relocation for their name; the names lie in the program as strings.
entries_of() {
    size=$(readelf -SW "$1" | sed -n 's/.* omp_offloading_entries  *[A-Z]*  *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')
    echo $((0x${size:-0} / 32))
}

# check PROGRAM KERNELS PATTERN: its record must match the whole of PATTERN
check() {
    program=$1
    binary=$PWD/$O/examples/$program/$program
    image=$O/examples/$program/rex_lib_host.so
    [ -x "$binary" ] || { fail "$program: not built"; return 0; }
    entries=$(entries_of "$binary")
    [ "$entries" -eq "$2" ] || fail "$program: $entries entries for $2 kernels"
    kernels_of_image "$image" >"$work/kernels"
    [ "$(wc -l <"$work/kernels")" -eq "$2" ] || fail "$program: the image has $(wc -l <"$work/kernels") kernels, $2 expected"
    while read -r kernel; do
        tr '\0' '\n' <"$binary" | grep -aq "$kernel\$" || fail "$program: no entry names $kernel"
    done <"$work/kernels"
    rm -f "$work/record"
    # The first of its lines: the others, in a queue and as a graph, have a shape of their own.
    arguments=$(sed -n "/^$program /{s///p;q;}" tests/examples.args)
    # Arguments are plain words.
    # shellcheck disable=SC2086
    (cd "$work" && RECORD=$work/record LD_PRELOAD=$work/recorder.so "$top/tests/llvm" $release "$binary" $arguments >"$work/output" 2>&1) ||
        { fail "$program: status $?"; tail -n 5 "$work/output"; }
    grep -qxE "$3" "$work/record" ||
        fail "$program: the order of its calls is $(sed -E 's/(.)\1+/\1+/g' "$work/record" | head -c 200), expected $3"
}

# Two of the four kernels of hotspot are for --devices.
region='it*b[tlu]*l[tlu]*et*'
check hotspot 4 "$region"
check gaussian 3 "$region"
check pathfinder 1 "$region"
check srad 2 "$region"
check bfs 2 "$region"
check particles 3 "$region"
check nn 1 'i[tl]*l[tl]*'
check axpy_multi 3 'i[tl]*l[tl]*'
check hotspot_raw 2 "$region"
check pathfinder_raw 1 "$region"
check nn_raw 1 'i[tl]*l[tl]*'
check particles_raw 3 "$region"
check axpy_multi_raw 4 "$region"

[ "$failed" -eq 0 ] && echo '13 programs have the shape that they promise'
