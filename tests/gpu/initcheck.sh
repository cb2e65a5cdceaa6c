#!/bin/sh
# No example's kernel reads memory that nobody has written.
set -eu
# The runner starts this in the top directory. The file has no first line of a script.
# shellcheck disable=SC1091
. tests/gpu/sanitizer
check_with initcheck unwritten 'memory[1] = memory[0];'
