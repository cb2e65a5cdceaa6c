#!/bin/sh
# What was made of PTX is kept: in a folder that is the user's own, by any number of processes, and never used where it is wrong. The driver
# that compiles is a fake one. tests/golden/cache/log.txt has what the log says of the cache at each load of the PTX.
. tests/support/lib.sh
# A file with a hole is larger than tests/mutants/run lets files be.
ulimit -f unlimited

program "$work/compile" tests/tools/cache/compile.c
ptx=$work/x.ptx folder=$work/cache
cp tests/data/sm_90.ptx "$ptx"
export FAKE_CUDA_SM=90 FAKE_CUDA_DEVICES=1 FAKE_LINK_CUBIN="$PWD/tests/data/sm_90.cubin" LD_LIBRARY_PATH="$build/tests/fake/cuda" \
    REX_OMPTARGET="$build/tests/fake/22/libomptarget.so.22" REX_LOG=debug REX_CACHE="$folder"

# load WHAT [COMMAND...]: in a process of its own, started by COMMAND; what it and the log say, in one line. Of the usual file that is a word.
usual='no such file'
load() {
    what=$1
    shift
    run "$@" "$work/compile" "$ptx" 1
    ends 0 "$what"
    { echo "$what: $(cat "$work/out")"; sed -n "/cache/{s/^librex: [a-z]*: //;s|$work|FOLDER|g;p}" "$work/err"; } |
        sed "s/^kept in the cache as $usual$/kept/; s/^device image x.ptx: compiled before, taken from the cache's $usual$/compiled before/" |
        awk '{ printf "%s%s", NR == 1 ? "" : "; ", $0 } END { print "" }' >>"$work/log"
}
# begin WHAT: nothing is kept, and then the PTX
begin() {
    rm -rf "$folder"
    printf '\n# %s\n' "$1" >>"$work/log"
    load first
}
# The only file in FOLDER.
file_in() { find "$1" -type f; }
# is MODE FILE
is() { [ "$(stat -c %a "$2")" = "$1" ] || fail "$2 has mode $(stat -c %a "$2"), not $1"; }
: >"$work/log"

begin 'there and back'
load again
is 700 "$folder"
is 600 "$(file_in "$folder")"
name=$(file_in "$folder")
usual=${name##*/}
touch -d @1000 "$name"
load 'after a long time'
[ "$(stat -c %Y "$name")" -gt 1000 ] || fail 'a file that is used does not count as new'
rm "$name"
load 'without the file'
rm -r "$folder"
load 'without the folder'
for value in off Off /proc/none/cache; do REX_CACHE=$value load "$value"; done
load 'without standard input' sh -c '"$@" <&-' sh

begin 'keys: the source, also where its file has the name of the first one, and the driver'
mv "$name" "$work/saved"
sed 's/$/ /' tests/data/sm_90.ptx >"$ptx"
load 'another source'
mv "$work/saved" "$(file_in "$folder")"
load "with the first one's file"
cp tests/data/sm_90.ptx "$ptx"
rm "$(file_in "$folder")"
load 'another driver' env FAKE_CUDA_VERSION=13010

begin 'folders'
for mode in 777 1777 770 702 755; do
    chmod $mode "$folder"
    load "folder of $mode"
done
ln -s "$folder" "$work/link" # ~/.cache may lie on another disk
REX_CACHE=$work/link load 'a link to it'
REX_CACHE=$ptx load 'a file'

begin 'files'
for mode in 620:write 644:read; do
    chmod ${mode%:*} "$name"
    load "that others can ${mode#*:}"
done
mv "$name" "$work/elsewhere"
ln -s "$work/elsewhere" "$name"
load 'a link' # it goes, and not what it led to
load 'in its place'
made "$work/elsewhere"
rm "$name"
mkfifo "$name"
load 'a pipe'
rm "$name"
mkdir "$name"
load 'a folder'

# ---- bytes that are wrong. The header: a magic of 16 bytes, a maker of 128, the architecture, the sizes and a sum. Then the source, the product.

begin 'bytes'
cp "$name" "$work/whole"
source=176 product=$((176 + $(stat -c %s "$ptx"))) end=$(stat -c %s "$name")
# changed WHAT FORMAT OFFSET NUMBER...: the file with these numbers there; B and no number: with another byte
changed() {
    what=$1
    shift
    python3 -c '
import struct, sys
whole = bytearray(open(sys.argv[1], "rb").read())
kind, at, numbers = sys.argv[3], int(sys.argv[4]), map(int, sys.argv[5:])
struct.pack_into(kind, whole, at, *(numbers if kind != "B" else [whole[at] ^ 1]))
open(sys.argv[2], "wb").write(whole)' "$work/whole" "$name" "$@"
}
for byte in 'the magic:0' "the magic's end:14" 'the maker:16' "the maker's end:143" 'the architecture:144' "the source's size:152" \
    'the size:167' 'the sum:168' "the source:$source" "the source's end:$((product - 1))" "the product:$product" "the product's end:$((end - 1))"; do
    changed "${byte%:*}" B "${byte#*:}"
    load "$what"
    [ "$(run "$work/compile" "$ptx" 1 && cat "$work/out")" = taken ] || fail "$what: it is not mended"
done
for size in 0 $((source - 1)) $source $product $((end - 1)) $((end + 1)) 1T; do
    cp "$work/whole" "$name"
    truncate -s "$size" "$name"
    load "$size bytes"
done
# The header's words are other ones: no product; as many as can be; and a byte too many.
most=$((256 << 20)) ptx_size=$(stat -c %s "$ptx")
while read -r size maker rest what; do
    changed "$what" 4Q 144 "$maker" "$ptx_size" "$rest" 0
    truncate -s "$size" "$name"
    load "$what"
done <<WORDS
$product 90 0 no product
$((product + most - ptx_size)) 80 $((most - ptx_size)) as many as can be
$((product + most - ptx_size + 1)) 80 $((most - ptx_size + 1)) a byte too many
WORDS

# A disk that is full: the limit on the size of a file makes write() fail likewise.
rm -r "$folder"
run sh -c '(trap "" XFSZ; ulimit -f 0; REX_LOG=off exec "$@") | cat' sh "$work/compile" "$ptx" 2
[ "$(cat "$work/out")" = 'compiled
compiled' ] || fail "a full disk: $(cat "$work/out")"
[ -z "$(file_in "$folder")" ] || fail 'a full disk: something is left'

# ---- which folder

printf '\n# places\n' >>"$work/log"
# place WHAT FOLDER SETTING...: where the file is then
place() {
    what=$1 at=$2
    shift 2
    load "$what" env -u REX_CACHE -u XDG_CACHE_HOME -u HOME "$@"
    echo "    files: $(find "$work/$at" -type f 2>/dev/null | wc -l)" >>"$work/log"
}
# path LETTERS: a path of so many, which leads to a folder in $work
path() { python3 -c 'import sys; print(sys.argv[1] + "/" * (int(sys.argv[2]) - len(sys.argv[1]) - len(sys.argv[3])) + sys.argv[3])' "$work" "$1" "$2"; }
place HOME .cache/librex HOME="$work" XDG_CACHE_HOME=relative
is 700 "$work/.cache"
place long long/librex XDG_CACHE_HOME="$(path 4088 long)"
place 'too long' longer/librex XDG_CACHE_HOME="$(path 4089 longer)"
place XDG_CACHE_HOME xdg/librex XDG_CACHE_HOME="$work/xdg" HOME="$work"
place REX_CACHE cache REX_CACHE="$folder" XDG_CACHE_HOME="$work/xdg"
place 'nothing is set' none

# ---- many at a time: another process may have removed the file; what is there is right

rm -rf "$folder"
writers=
for one in 1 2 3 4 5 6; do
    (
        for _ in 1 2 3; do
            rm -f "$folder"/*
            REX_LOG=off "$work/compile" "$ptx" 13 >/dev/null || exit 1
        done
    ) &
    writers="$writers $!"
done
for one in $writers; do wait "$one" || fail 'one of several processes'; done
load 'after all of them'
[ "$(find "$folder" -mindepth 1 | wc -l)" = 1 ] || fail "unfinished files: $(ls -A "$folder")"

# ---- how full it gets: no more than 256 MiB

# put NAME AGE [SIZE [BYTES]]: a file of the cache, of so many seconds
put() {
    at=$folder/$1
    if [ $# -gt 3 ]; then printf %s "$4" >"$at"; else printf 'librex cache 1\n\0' >"$at"; fi
    [ "${3:-0}" = 0 ] || truncate -s "$3" "$at"
    touch -d "-$2 seconds" "$at"
}
# left WHAT: the PTX is kept beside the files, of which these are left
left() {
    rm -f "$name"
    load "$1"
    find "$folder" -mindepth 1 ! -path "$name" -printf '    %f is left\n' | LC_ALL=C sort >>"$work/log"
    rm -rf "$folder"
    mkdir -m 700 "$folder"
}
own() { echo "000000000000000$1-sm_90.cubin"; }
MiB=$((1 << 20))
rest=$((256 * MiB - end))
begin 'a cache that is full: files that were used longest ago go first'
for more in 0 1; do
    put "$(own 1)" 300 $((100 * MiB))
    put "$(own 2)" 200 $((rest - 100 * MiB + more))
    left "$more bytes more than can be"
done
for number in $(seq 100 599); do put "0000000000000$number-sm_90.cubin" "$number" $MiB; done
rm -f "$name"
run "$work/compile" "$ptx" 1
for number in 354 355; do
    [ -e "$folder/0000000000000$number-sm_90.cubin" ] || echo "$number is gone"
done >>"$work/log"
[ "$(find "$folder" -type f | wc -l)" = 256 ] || fail "of 500 files $(find "$folder" -type f | wc -l) are left"

begin 'files of others, and unfinished ones'
# They are neither removed nor counted; the last one makes the cache too full.
for other in mine.cubin stranger "$(own 1).cubin" 0-sm_90.cubin 000000000000000g-sm_90.cubin 0000000000000001-sm_.cubin \
    000000000000001-sm_90.cubin 0000000000000001f-sm_90.cubin 0000000000000001-sm_1234567890.cubin 0000000000000001_sm_90.cubin \
    ".new1-1-$(own 1)" ".new-1.1-$(own 1)" ".new--1-$(own 1)" ".new-1--$(own 1)" ".new-1-1$(own 1)" .new-1-1-mine.cubin ".new-$(own 1)" \
    ".new-1-x-$(own 1)"; do
    put "$other" 9000
done
# The name of a file of the cache, and something else in it.
put "$(own 5)" 9000 $((200 * MiB)) "$(printf '\177')ELF, by its first bytes"
put "$(own 6)" 9000 0 'librex cache 1'
put ".new-1-1-$(own 7)" 9000 0 mine
# Unfinished ones of the cache: the older ones go.
put ".new-1-1-$(own 4)" 10
put ".new-3-1-$(own 4)" 7200 0 ''
put ".new-4-12-$(own 4)" 3590
put ".new-5-123-$(own 4)" 3610
put ".new-6-1-$(own 4)" 7200 0 libre
put 0123456789abcdef-sm_123456789.cubin 100
put 0123456789abcdef-sm_9.cubin 100
put "$(own 8)" 10 $((257 * MiB))
left 'files of others'

echo "$(grep -cE ': (compiled|taken)(;|$)' "$work/log") loads"
golden cache/log.txt "$work/log"

# ---- whose it is

[ "$(id -u)" = 0 ] || { echo 'left out: only root can give a folder away'; exit "$failed"; }
: >"$work/log"
begin 'owners'
chown 65534:65534 "$name"
load "another user's file"
chown 65534:65534 "$folder"
load "another user's folder"
golden cache/owners.txt "$work/log"
