#!/bin/sh
# Lesson 13: what is said of each broken program, before it is compiled and when it runs. Each has to be found, and to fail.
#
# Run it:  make && $(make -s print-O)/examples/13_broken/13_broken
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
built=$(cd "$(dirname "$0")" && pwd)
sources=@SOURCES@
failed=0
for mistake in entry name key row region; do
    echo "$mistake.c"
    ! "$built/../../tools/rex-check" --source "$sources/$mistake.c" "$sources/kernels.cu" >"${TMPDIR:-/tmp}/rex-broken.$$" || failed=1
    sed "s|^$sources/||" "${TMPDIR:-/tmp}/rex-broken.$$"
    rm -f "${TMPDIR:-/tmp}/rex-broken.$$"
    status=0
    "$built/$mistake" 2>&1 || status=$?
    [ "$status" != 0 ] || failed=1
    echo
done
exit $failed
