#!/bin/sh
# Each call of the driver, of libomptarget and of the C library that librex makes fails on the GPU
# once with each likely error.
set -eu
[ -x "$O/tests/torture/torture" ] || { echo "skip: $O/tests/torture/torture is not built"; exit 77; }
exec sh tests/torture/run --most 1 --on gpu
