#!/bin/sh
# Calls of the driver, of libomptarget and of the C library that librex makes fail one after another on the GPU, as far as a minute
# goes; those first that make something of the driver's or launch, each with each likely error, however long they take.
set -eu
[ -x "$O/tests/torture/torture" ] || { echo "skip: $O/tests/torture/torture is not built"; exit 77; }
exec sh tests/torture/run --shallow --on gpu
