#!/bin/sh
# No example reads or writes memory that is not its own.
set -eu
# The runner starts this in the top directory.
# shellcheck source=tests/gpu/sanitizer
. tests/gpu/sanitizer
check_with memcheck astray
