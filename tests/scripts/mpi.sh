#!/bin/sh
# examples/hotspot_mpi on 1 to 4 ranks of Open MPI: its exchange on a fake GPU (tests/mpi); the same bits for any number of ranks, with
# both ways of exchange and after a restart (on LLVM 16, too, in `make check-all`); and where a rank is killed, or fails, the others end.
. tests/support/lib.sh
exchange=$build/tests/mpi/halo
hotspot=$build/examples/hotspot_mpi/hotspot_mpi
{ command -v mpirun && [ -x "$exchange" ] && [ -x "$hotspot" ]; } >/dev/null ||
    skip 'no Open MPI, or built without it'
releases=
for release in ${TEST_ALL:+16} 19; do
    ! tests/llvm --list | grep -qx "$release" || releases="$releases $release"
done
[ -n "$releases" ] || skip 'LLVM 19 is not unpacked'

cd "$work"

# The exchange is as short as plain MPI lets it be: lines of code, without comments.
[ "$(gcc -fpreprocessed -dD -E -P "$top/examples/hotspot_mpi/halo.c" | wc -l)" -le 60 ] || fail 'halo.c has more than 60 lines of code'

unset OMP_DEFAULT_DEVICE REX_LOG REX_TRACE 2>/dev/null || true

# ranks RELEASE NUMBER COMMAND...: output in `out`; a hang is status 124. As root too, with more ranks than processors, and without
# process_vm_readv(), which containers forbid.
ranks() {
    release=$1
    number=$2
    shift 2
    timeout -k 5 150 "$top/tests/llvm" "$release" mpirun --allow-run-as-root --oversubscribe \
        --mca btl_vader_single_copy_mechanism none -n "$number" "$@" >out 2>&1 </dev/null
}
# fits RELEASE NUMBER COMMAND...: it ends with 0
fits() { ranks "$@" || { fail "$*: status $?"; tail -n 20 out; }; }

# Fakes want to be started at the top.
(cd "$top" && timeout -k 5 150 mpirun --allow-run-as-root --oversubscribe -n 2 "$exchange") >out 2>&1 </dev/null ||
    { fail "the exchange on a fake GPU: status $?"; tail -n 20 out; }
grep -q ': passed$' out || fail 'the exchange on a fake GPU: no word of success'

# ---- hotspot_mpi: 127 cells, so that no two parts are of one size

for release in $releases; do
    for run in '1 0' '3 0' '4 0' '4 1'; do
        number=${run% *}
        fits "$release" "$number" "$hotspot" --size 127 --steps 100 --save "$number.state" --png "$number.png" --through-host "${run#* }"
        grep -q 'check *passed' out || fail "LLVM $release, hotspot_mpi, $number ranks: no check passed"
        cmp 1.state "$number.state" || fail "LLVM $release, hotspot_mpi: $number ranks have other bits than 1"
    done
done
cat "$work"/4.p?? >pictures
[ -s pictures ] || fail 'hotspot_mpi has drawn nothing'
fits "$release" 4 "$hotspot" --size 127 --steps 60 --save half --no-verify
fits "$release" 3 "$hotspot" --size 127 --steps 100 --restart half --save again --no-verify
cmp 1.state again || fail 'hotspot_mpi: a restart changes the result'
! ranks "$release" 2 "$hotspot" --size 128 --restart half || fail 'hotspot_mpi goes on from the state of another chip'
grep -q 'half: has a chip of another size' out || fail 'hotspot_mpi does not say what is wrong with the state'

# ---- a rank is killed: mpirun ends, with an error, and no rank is left; the last whole state is one to go on from

# wait_for COMMAND...: until it succeeds, or mpirun has ended
wait_for() {
    until "$@"; do
        kill -0 "$mpirun" 2>/dev/null || return 1
        sleep 0.1
    done
}
alive() { for file in pid.*; do ! kill -0 "$(cat "$file")" 2>/dev/null || return 0; done; return 1; }

# The shell in front of each rank writes its number down.
# shellcheck disable=SC2016
ranks "$release" 4 sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$@"' sh "$hotspot" --size 64 --steps 2000000000 --save state --every 20 &
mpirun=$!
wait_for test -s state || fail 'hotspot_mpi has ended before it was told to'
kill -9 "$(cat pid.2)"
status=0
wait "$mpirun" || status=$?
case $status in 0 | 124) fail "a rank was killed: status $status"; cat out ;; esac
left=0
while alive && [ "$left" -lt 100 ]; do
    left=$((left + 1))
    sleep 0.1
done
! alive || fail 'a rank was killed, and others are left'
step=$(od -An -t d8 -j 16 -N 8 state | tr -d ' ')
fits "$release" 3 "$hotspot" --size 64 --steps $((step + 30)) --restart state --save again --no-verify
fits "$release" 1 "$hotspot" --size 64 --steps $((step + 30)) --save straight --no-verify
cmp straight again || fail "hotspot_mpi: going on from step $step, where a rank was killed, changes the result"

# ---- a rank fails by itself, while the others wait for it

# shellcheck disable=SC2016
! ranks "$release" 4 sh -c '[ "$OMPI_COMM_WORLD_RANK" != 2 ] || export REX_CUBIN=nothere; exec "$@"' sh "$hotspot" --size 64 ||
    fail 'one rank has no image, and the program ends well'
grep -q "\[REX_ENOIMAGE\]" out || { fail "nothing is said of the rank that has no image"; cat out; }

[ "$failed" = 0 ] && echo "hotspot_mpi on LLVM$releases; went on from step $step after a kill"
