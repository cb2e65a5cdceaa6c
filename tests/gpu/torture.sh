#!/bin/sh
# Each call of the driver, of libomptarget and of the C library that a launch or a queue makes fails
# on the GPU, once with each likely error. All scenarios take minutes there: `make torture`.
set -eu
[ -x "$O/tests/torture/torture" ] || { echo "skip: $O/tests/torture/torture is not built"; exit 77; }
exec sh tests/torture/run --most 1 -k '@(launch|queue)' --on gpu
