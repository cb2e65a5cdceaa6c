#!/bin/sh
# librex's maps against clang's own lowering: `make oracle`, as one test; in `make check` on the releases that differ most.
set -eu
cd "$(dirname "$0")/../.."
export LLVM_RELEASES="${LLVM_RELEASES:-${TEST_CORNERS-}}"
tests/llvm
status=0
"${MAKE:-make}" --no-print-directory CC="${CC:-gcc}" oracle-programs >/dev/null || status=$?
[ "$status" = 0 ] || { echo 'the programs cannot be built'; exit 1; }
O=${O:-$("${MAKE:-make}" -s --no-print-directory CC="${CC:-gcc}" print-O)}
export O
exec sh tests/oracle/run
