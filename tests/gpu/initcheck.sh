#!/bin/sh
# No example's kernel reads memory that nobody has written.
set -eu
. tests/gpu/sanitizer
check_with initcheck unwritten 'memory[1] = memory[0];'
