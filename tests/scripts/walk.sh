#!/bin/sh
# Random sequences of calls of every public function find nothing, and those that once found something find it no more: on the host device of
# releases and on the fake GPU, with sanitizers. The same ones each time; `make walk` makes others.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
export O
[ -x "$O/tests/walk/walk" ] || { echo "skip: there is no $O/tests/walk/walk"; exit 77; }

tests/walk/run tests/walk/corpus/*.walk
tests/walk/run --seed 1 --count 24
