#!/bin/sh
# Each mistake of tests/fuzz/mistakes is still one that `make fuzz-planted` can plant: what it changes is there, once.
set -eu
cd "$(dirname "$0")/../.."
exec python3 tests/fuzz/planted --check
