#!/bin/sh
# No example reads or writes memory that is not its own.
set -eu
# The runner starts this in the top directory. The file has no first line of a script.
# shellcheck disable=SC1091
. tests/gpu/sanitizer
check_with memcheck astray 'memory[distance] = 1;'
