#!/bin/sh
# Random sequences of calls of every public function find nothing, and those that once found something find it no more: on the host device of
# releases and on the fake GPU, with sanitizers. The same ones each time, and more of them in
# `make check-all`; `make walk` makes others.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
export O
[ -x "$O/tests/walk/walk" ] || { echo "skip: there is no $O/tests/walk/walk"; exit 77; }

tests/walk/run tests/walk/corpus/*.walk
count=24
[ -z "${TEST_ALL-}" ] || count=120
tests/walk/run --seed 1 --count "$count"
