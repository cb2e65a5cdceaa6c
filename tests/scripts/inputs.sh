#!/bin/sh
# The input files of the Rodinia programs: what a program writes it reads again with the same result; files and options that
# are wrong get status 1 or 2 and a line that names them and says why.
. tests/support/lib.sh
needs_release 19

# program NAME ARGUMENTS...: an example
program() {
    binary=$build/examples/$1/$1
    shift
    (cd "$work" && "$top/tests/llvm" "$release" "$binary" "$@") >"$work/output" 2>&1
}
works() { program "$@" || { fail "$*"; sed 's/^/    /' "$work/output"; }; }
# refused STATUS PATTERN PROGRAM ARGUMENTS...: the line begins with the program's name
refused() {
    expected=$1
    pattern=$2
    shift 2
    status=0
    program "$@" || status=$?
    [ "$status" = "$expected" ] || fail "status $status, not $expected: $*"
    grep -q "^\(.*/\)\{0,1\}$1: .*$pattern" "$work/output" || { fail "no '$pattern': $*"; sed 's/^/    /' "$work/output"; }
}
# bad_picture PATTERN TEXT: a PGM file with TEXT, in which printf's escapes stand for bytes. The text is a format.
# shellcheck disable=SC2059
bad_picture() { printf -- "$2" >"$work/bad.pgm" && refused 1 "bad.pgm: .*$1" srad --input bad.pgm --iterations 2; }
# shellcheck disable=SC2059
bad_graph() { printf -- "$2" >"$work/bad.txt" && refused 1 "bad.txt.*$1" bfs --input bad.txt; }

# ---- srad -----------------------------------------------------------------------------------------------------------

works srad --size 33 --iterations 5 --generate drawn.pgm --output first.pgm
works srad --input drawn.pgm --iterations 5 --output second.pgm
cmp "$work/first.pgm" "$work/second.pgm" || fail "the same picture, another result"

# The same pixels as text, with comments, and with two bytes a pixel.
{
    printf 'P2 # text\n33 33\n# white\n255\n'
    tail -c 1089 "$work/drawn.pgm" | od -An -v -tu1
} >"$work/plain.pgm"
works srad --input plain.pgm --iterations 5 --output third.pgm
cmp "$work/first.pgm" "$work/third.pgm" || fail "P2 differs from P5"
printf 'P5 3 1 1000 \003\350\000\001\001\364' >"$work/wide.pgm"
works srad --input wide.pgm --iterations 2 --output wider.pgm
[ "$(head -n 3 "$work/wider.pgm" | tail -n 1)" = 1000 ] || fail "white is not 1000 in what was written"

bad_picture 'file ends early: not a PGM' ''
bad_picture 'not a PGM' '\211PNG\r\n'
bad_picture 'the width should be a number from 0 to 16384' 'P5 99999999999999999999999 4 255 abc'
bad_picture 'the height' 'P5 4 16385 255 abc'
bad_picture 'file ends early: the height' 'P5 4 '
bad_picture 'without pixels' 'P5 0 4 255 '
bad_picture 'white is 0' 'P5 1 1 0 \001'
bad_picture 'the value of white' 'P5 1 1 65536 \001'
bad_picture 'ends early: fewer pixels' 'P5 2 2 255 abc'
bad_picture 'more pixels than in its header' 'P5 2 2 255 abcdef'
bad_picture 'brighter than white' 'P5 2 2 10 \001\002\013\004'
bad_picture 'a pixel should be a number from 0 to 9' 'P2 2 2 9 1 2 3 10'
refused 1 'missing.pgm: No such file' srad --input missing.pgm
refused 1 'missing/out.pgm: No such file' srad --size 8 --iterations 1 --output missing/out.pgm
refused 2 'size does not apply' srad --input drawn.pgm --size 8
refused 2 'one or the other' srad --input drawn.pgm --generate other.pgm

# ---- bfs ------------------------------------------------------------------------------------------------------------

works bfs --size 700 --source 9 --generate graph.txt --output first.txt
works bfs --input graph.txt --source 9 --output second.txt
cmp "$work/first.txt" "$work/second.txt" || fail "the same graph, another result"
# Two nodes, one of which cannot be reached; the source is the file's.
printf '2\n0 0\n0 1\n\n1\n\n1\n1 7\n' >"$work/loop.txt"
works bfs --input loop.txt --output loop.out
printf '0) cost:-1\n1) cost:0\n' | cmp - "$work/loop.out" || fail "the graph of one loop"

bad_graph 'file ends early: the number of nodes' ''
bad_graph 'the number of nodes' 'nodes'
bad_graph 'without nodes' '0'
bad_graph "ends early: a node's first edge" '2\n0 1\n'
bad_graph ':3: .*number of edges' '2\n0 1\n1 x\n'
bad_graph 'the source should be a whole number from 0 to 1' '2\n0 1\n1 0\n2\n1\n0 1\n'
bad_graph ':5: the node that an edge leads to' '2\n0 1\n1 0\n0 1\n7 1\n'
bad_graph 'node 1 has edges up to number 1' '2\n0 1\n1 1\n0\n1\n0 1\n'
bad_graph 'more text after the last edge' '1\n0 1\n0\n1\n0 1 0\n'
refused 1 'missing.txt: No such file' bfs --input missing.txt
refused 1 'source 700: the graph has 700 nodes' bfs --input graph.txt --source 700
refused 2 'size does not apply' bfs --input graph.txt --size 8

# ---- options, which all have in common ------------------------------------------------------------------------------

for program in srad bfs particles particles_raw hotspot_raw; do
    refused 2 "size wants a whole number from 1 to" "$program" --size 12x
    refused 2 "device wants a whole number from -1 to" "$program" --device -2
    refused 2 'option' "$program" --nonsense
    refused 1 'device 4711 does not exist' "$program" --device 4711
    works "$program" --size 5 --device 0 --no-verify
    works "$program" --help
    grep -q -- '--verify' "$work/output" || fail "$program --help"
done

[ "$failed" = 0 ] && echo 'inputs and options are read, or refused with the reason'
