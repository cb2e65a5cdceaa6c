#!/bin/sh
# Lesson 13: what is said of each broken program, before it is compiled and when it runs. Each has to fail, and three are found before.
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
    status=0
    said=$("$built/../../tools/rex-check" --source "$sources/$mistake.c" "$sources/kernels.cu") || status=$?
    case $mistake$status in row0 | region0) ;; *0) failed=1 ;; esac
    echo "$said" | sed "s|^$sources/||"
    status=0
    "$built/$mistake" 2>&1 || status=$?
    [ "$status" != 0 ] || failed=1
    echo
done
exit $failed
