#!/bin/sh
# Random sequences of calls of every public function find nothing, and those that once found something find it no more: on the fake GPU and
# on the host device, under releases of libomptarget, with sanitizers. The same ones each time, and more of them in `make check-all`;
# `make walk` makes others.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
export O
[ -x "$O/tests/walk/walk" ] || { echo "skip: there is no $O/tests/walk/walk"; exit 77; }

# walk COUNT WORDS...: so many sequences on each, and launches wait in half of them
walk() {
    half=$(($1 / 2))
    shift
    REX_LAUNCH_BLOCKING=1 tests/walk/run --seed 1 --count "$half" "$@"
    REX_LAUNCH_BLOCKING=0 tests/walk/run --seed 2 --count "$half" "$@"
}

# A mutant meets fewer places and more sequences.
if [ -n "${WALK_MUTANT-}" ]; then
    for release in $(tests/llvm --list); do
        case $release in 14 | 19 | 23) set -- "$@" --on "gpu-$release" ;; esac
    done
    walk 40 "$@"
    exit
fi
tests/walk/run --on gpu-14 --on gpu-15 --on gpu-18 --on gpu-24 --on 19 tests/walk/corpus/*.walk
count=8
[ -z "${TEST_ALL-}" ] || count=60
walk "$count"
