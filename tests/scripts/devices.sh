#!/bin/sh
# Examples with --devices: the same bits whichever number of devices shares the work, and as without the option; more devices than there
# are, and options that do not go together. Queues that are as late as a GPU's may be are those of the fake GPU (examples on g19).
. tests/support/lib.sh
releases=
for release in 14 19 22; do
    ! tests/llvm --list | grep -qx "$release" || releases="$releases $release"
done
[ -n "$releases" ] || skip 'none of LLVM 14, 19 and 22 is unpacked'
cd "$work"

# example STATUS PROGRAM ARGUMENT...
example() {
    wanted=$1 name=$2
    shift 2
    run on_release "$build/examples/$name/$name" "$@"
    ends "$wanted" "LLVM $release: $name $*"
}
for release in $releases; do
    while read -r name arguments; do
        expected=
        for devices in 1 2 3 4 all; do
            # Arguments are words.
            # shellcheck disable=SC2086
            example 0 "$name" $arguments --devices "$devices"
            found=$(sed -n 's/^digest  *//p' out)
            [ -n "$found" ] || fail "LLVM $release: $name --devices $devices prints no digest"
            [ "${expected:=$found}" = "$found" ] || fail "LLVM $release: $name $arguments --devices $devices: other bits than on one device"
            case $devices in 1 | all) ;; *) grep -q "^devices  *$devices, " out || fail "LLVM $release: $name does not use $devices devices" ;; esac
        done
    done <<'PROGRAMS'
hotspot --size 37 --iterations 101 --no-png
nn --size 1003 --rounds 3
matmul --size 100
hotspot --size 4 --iterations 5 --no-png
PROGRAMS
    example 0 hotspot --size 37 --iterations 100 --no-png --output one
    example 0 hotspot --size 37 --iterations 100 --no-png --output several --devices all
    cmp one several || fail "LLVM $release: hotspot --devices has other bits than hotspot"
    example 0 matmul --size 9 --devices 1000
    grep -q -- '--devices 1000: the number of devices is [0-9]' out err || fail 'nothing is said of devices that there are not'
    example 0 matmul --size 1 --devices 2
    grep -q '^devices  *1, 1 rows each' out || fail "LLVM $release: one row on two devices"
done

for program in hotspot nn; do
    example 2 $program --devices 2 --graph
    says 'excludes --queue and --graph'
    example 2 $program --devices 2 --device 0
    says 'one or the other'
    example 2 $program --devices two
    says "wants a whole number from 0 to "
done
example 2 nn --rounds 2
says 'needs --devices'
[ "$failed" = 0 ] && echo "hotspot, nn and matmul on 1 to 4 devices of LLVM$releases: the same bits"
