#!/bin/sh
# alone: it fills the memory of the GPU
# REX_LOAD_MEMORY of librex/module/trialload.h: loading an image takes no more device memory, and with less left nothing ends the process.
set -eu
program=$PWD/$O/tests/gpu/loadmemory/loadmemory
limit=$(($(sed -n 's/^#define REX_LOAD_MEMORY ((size_t)\([0-9]*\) << 20)$/\1/p' librex/module/trialload.h) << 20))
cd "$(dirname "$program")"
for by in runtime driver; do
    status=0
    took=$(REX_LAUNCH_BY=$by "$program") || status=$?
    [ "$status" != 77 ] || { echo 'skip: no image for a GPU'; exit 77; }
    [ "$status" = 0 ] || { echo "by the $by: status $status"; exit 1; }
    echo "by the $by: loading took $took bytes of device memory; REX_LOAD_MEMORY is $limit"
    [ "$took" -le "$limit" ] || exit 1
done
for left in 0 1 2 4 8 16 24 32 40 48 56 60 64 66 72 96 128; do
    status=0
    "$program" $left >/dev/null || status=$?
    echo "$left MiB left: status $status (0: loaded, 3: REX_ENOMEM)"
    [ "$status" = 0 ] || [ "$status" = 3 ] || exit 1
done
