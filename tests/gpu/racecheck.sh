#!/bin/sh
# No example's threads race for shared memory, in those that have some.
set -eu
# The runner starts this in the top directory. The file has no first line of a script.
# shellcheck disable=SC1091
. tests/gpu/sanitizer
check_with racecheck race 'out[threadIdx.x] = cell[127 - threadIdx.x];' 'REX_SHARED|__shared__'
