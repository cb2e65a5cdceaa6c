#!/bin/sh
# Lesson 17: five programs, each with one mistake, and the reports of rex-check and librex.
#
# `rex-check --source` compares the names of entries, keys and kernels before anything is compiled.
# It finds three of the mistakes. librex refuses four programs at their first launch. The fourth is
# row.c, because the image lists the parameters of its kernels. In region.c librex warns of the
# region when the program ends. Each program must fail.
#
# Run it:  make && $(make -s print-O)/examples/17_broken/17_broken
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
built=$(cd "$(dirname "$0")" && pwd)
sources=@SOURCES@
failed=0
for mistake in entry name key row region; do
    echo "$mistake.c"
    source=$sources/$mistake.c
    status=0
    said=$("$built/../../tools/rex-check" --source "$source" "$sources/kernels.cu") || status=$?
    case $mistake$status in row0 | region0) ;; *0) failed=1 ;; esac
    echo "$said" | sed "s|^$sources/||"
    status=0
    "$built/$mistake" 2>&1 || status=$?
    [ "$status" != 0 ] || failed=1
    echo
done
exit $failed
