#!/bin/sh
# No example reads or writes memory that is not its own.
set -eu
. tests/gpu/sanitizer
check_with memcheck astray 'memory[distance] = 1;'
