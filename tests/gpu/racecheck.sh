#!/bin/sh
# No example's threads race for shared memory, in those that have some.
set -eu
. tests/gpu/sanitizer
check_with racecheck race 'out[threadIdx.x] = cell[127 - threadIdx.x];' 'REX_SHARED|__shared__'
