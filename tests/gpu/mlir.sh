#!/bin/sh
# What lowered code asks of librex-mlir, and what MLIR has lowered, on the GPU: it checks what its kernels compute, and times launches beside
# plain calls of the driver.
set -eu
"$O/tests/gpu/mlir/mlir"
[ -x "$O/examples/mlir/mlir" ] || { echo "skip: examples/mlir is not built: the lowered program is for x86-64"; exit 77; }
exec "$O/examples/mlir/mlir" 512
