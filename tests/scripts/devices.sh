#!/bin/sh
# Examples with --devices: the same bits whichever number of devices shares the work, and as without the option; more devices than there
# are, and options that do not go together. Queues that are as late as a GPU's may be are those of the fake GPU (examples on g19).
. tests/support/lib.sh
releases=
for release in 14 19 22; do
    ! tests/llvm --list | grep -qx "$release" || releases="$releases $release"
done
[ -n "$releases" ] || skip 'none of LLVM 14, 19 and 22 is unpacked'

fail() { echo "FAIL: $*"; failed=1; sed 's/^/    /' "$work/output"; }
run() {
    program=$1
    shift
    (cd "$work" && "$top/tests/llvm" "$release" "$top/$O/examples/$program/$program" "$@") >"$work/output" 2>&1
}
digest() { sed -n 's/^digest  *//p' "$work/output"; }

# same PROGRAM ARGUMENTS...: with 1, 2, 3, 4 and all devices
same() {
    expected=
    for devices in 1 2 3 4 all; do
        run "$@" --devices "$devices" || fail "LLVM $release: $* --devices $devices: status $?"
        found=$(digest)
        [ -n "$found" ] || fail "LLVM $release: $* --devices $devices prints no digest"
        [ "${expected:=$found}" = "$found" ] || fail "LLVM $release: $* --devices $devices: other bits than on one device"
        case $devices in
        1 | all) ;;
        *) grep -q "^devices  *$devices, " "$work/output" || fail "LLVM $release: $* does not use $devices devices" ;;
        esac
    done
}

# refused PATTERN PROGRAM ARGUMENTS...
refused() {
    pattern=$1
    shift
    status=0
    run "$@" || status=$?
    [ "$status" = 2 ] || fail "status $status, not 2: $*"
    grep -q "$pattern" "$work/output" || fail "no '$pattern': $*"
}

for release in $releases; do
    same hotspot --size 37 --iterations 101 --no-png
    same nn --size 1003 --rounds 3
    same matmul --size 100
    # A row for each of four devices.
    same hotspot --size 4 --iterations 5 --no-png

    run hotspot --size 37 --iterations 100 --no-png --output one || fail "LLVM $release: hotspot"
    run hotspot --size 37 --iterations 100 --no-png --output several --devices all || fail "LLVM $release: hotspot --devices all"
    cmp "$work/one" "$work/several" || fail "LLVM $release: hotspot --devices has other bits than hotspot"

    run matmul --size 9 --devices 1000 || fail "LLVM $release: more devices than there are"
    grep -q -- '--devices 1000: there are no more than [0-9]*, which do all of it' "$work/output" ||
        fail "LLVM $release: nothing is said of devices that there are not"
    run matmul --size 1 --devices 2 || fail "LLVM $release: more devices than rows"
    grep -q '^devices  *1, 1 rows each' "$work/output" || fail "LLVM $release: one row on two devices"
done

for program in hotspot nn; do
    refused 'no --queue and no --graph' "$program" --devices 2 --graph
    refused 'one or the other' "$program" --devices 2 --device 0
    refused "wants a whole number from 0 to .*, not 'two'" "$program" --devices two
done
refused 'goes with --devices' nn --rounds 2

[ "$failed" = 0 ] && echo "hotspot, nn and matmul on 1 to 4 devices of LLVM$releases: the same bits"
