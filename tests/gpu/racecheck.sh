#!/bin/sh
# No example's threads race for shared memory.
set -eu
# The runner starts this in the top directory.
# shellcheck source=tests/gpu/sanitizer
. tests/gpu/sanitizer
check_with racecheck race
