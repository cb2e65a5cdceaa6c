#!/bin/sh
# Functions for test scripts: `. tests/support/lib.sh` in the top folder, in which tests/run starts them. $top is the tree, $O the build folder
# and $build its absolute path. $CC and $MAKE are make's. $work is removed at the end. $release is the LLVM release of on_release(): 19, unless
# needs_plain() chose another. A script that has called fail() ends with status 1, whatever its last command returned.
# shellcheck disable=SC2034 # the scripts use these
set -eu

top=$PWD
CC=${CC:-gcc} MAKE=${MAKE:-make}
O=${O:-$("$MAKE" -s --no-print-directory print-O)}
case $O in /*) build=$O ;; *) build=$top/$O ;; esac
release=19
keep_entries=-Wl,-z,nostart-stop-gc
work=$(mktemp -d "${TMPDIR:-/tmp}/librex-test.XXXXXX")

failed=0
fail() { echo "FAIL: $*"; failed=1; }
skip() { echo "skip: $*"; exit 77; }
at_end() {
    status=${1:-$?}
    rm -rf "$work"
    [ "$failed" = 0 ] || status=1
    exit "$status"
}
trap at_end EXIT

# ---- what a script needs

needs() { for command in "$@"; do command -v "$command" >/dev/null || skip "no $command"; done; }
# needs_release NN...: skips unless all releases are unpacked
needs_release() {
    for one in "$@"; do tests/llvm --list | grep -qx "$one" || skip "LLVM $one is not unpacked"; done
}
# needs_plain: sets $release to the latest release for which this machine's C library is new enough
needs_plain() {
    release=$(tests/llvm --plain | tail -n 1)
    [ -n "$release" ] || skip 'no LLVM release is unpacked'
}
needs_no_sanitizer() { [ -z "${SAN-}" ] || skip 'programs are built without sanitizers here'; }
needs_clang() {
    clang=$(command -v clang-19 || command -v clang || true)
    [ -n "$clang" ] || { fail 'no clang'; exit 1; }
    clangxx=$(echo "$clang" | sed 's/clang\([-0-9]*\)$/clang++\1/')
}
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)}

# ---- running

# quietly COMMAND...: runs it, and shows its output only if it fails
quietly() { "$@" >"$work/output" 2>&1 || { sed 's/^/    /' "$work/output"; return 1; }; }
# on_release COMMAND...: runs it with LLVM $release
on_release() { "$top/tests/llvm" "$release" timeout -k 5 60 "$@"; }
# run COMMAND...: runs it, and stores its status and output in $status, $work/out and $work/err
run() {
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
}
# ends STATUS [WHAT]: fails unless the command of run() ended with STATUS
ends() { [ "$status" = "$1" ] || fail "${2-}${2+: }status $status and not $1: $(cat "$work/err")"; }
# says TEXT, says_no TEXT: fails unless, or if, TEXT is in its standard error
says() { grep -qF -e "$1" "$work/err" || fail "no \"$1\" in: $(cat "$work/err")"; }
says_no() { ! grep -qF -e "$1" "$work/err" || fail "\"$1\" in: $(cat "$work/err")"; }
# prints TEXT: fails unless TEXT is in its standard output
prints() { grep -qF -e "$1" "$work/out" || fail "no \"$1\" in: $(cat "$work/out")"; }
# refused STATUS TEXT COMMAND...: fails unless the command ends with STATUS and TEXT on standard error
refused() {
    wanted=$1 text=$2
    shift 2
    run "$@"
    ends "$wanted" "$*"
    [ -z "$text" ] || says "$text"
}
# letters NUMBER [LETTER]: prints LETTER, or x, NUMBER times
letters() { head -c "$1" /dev/zero | tr '\0' "${2-x}"; }
# made FILE...: fails unless each FILE exists and is not empty
made() { for file in "$@"; do [ -s "$file" ] || fail "there is no $file"; done; }

# like FILE MADE: fails unless MADE equals FILE of the tree. UPDATE=1 replaces FILE by a new file, because a copy of the tree may share the old
# one by a hard link
like() {
    [ -z "${UPDATE-}" ] || { mkdir -p "$top/${1%/*}" && cp "$2" "$top/$1.new" && mv "$top/$1.new" "$top/$1"; }
    diff -u "$top/$1" "$2" || fail "$2 differs from $1"
}
# golden NAME MADE: fails unless MADE equals tests/golden/NAME
golden() { like "tests/golden/$1" "$2"; }
# command_line TOOL: fails unless --help is golden, the manual has each option of it, and --version prints the version
command_line() {
    tool=$build/tools/$1
    run "$tool" --help
    ends 0 "$1 --help"
    golden "$1/help.txt" "$work/out"
    for option in $(grep -oE -e '(^|[ ,[])(--[a-z][a-z-]*|-Xnvcc|-shared|-###)' "$work/out" | tr -d ' ,[' | sort -u); do
        sed 's/\\-/-/g' "$top/tools/$1.1" | grep -F -e "$option" >/dev/null || fail "$option is not in the manual of $1"
    done
    run "$tool" --version
    [ "$(cat "$work/out")" = "$1 (librex) $(sed -n 's/^VERSION := //p' "$top/Makefile")" ] || fail "$1 --version"
}

# ---- instructions, counted by cachegrind

# instructions COMMAND...: prints the number of its instructions
instructions() {
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$@" 2>&1 |
        sed -n 's/.* I *refs: *\([0-9,]*\).*/\1/p' | tr -d ,
}
# in_proportion MOST WHAT ONE FOUR: fails if FOUR, the instructions for a file four times as large, are more than MOST percent of ONE
in_proportion() {
    percent=$((100 * $4 / $3))
    printf '%-48s %11s %11s %4s %%\n' "$2" "$3" "$4" "$percent"
    [ "$percent" -le "$1" ] || fail "more than in proportion: $2"
}

# ---- building

# examples_of PAGE FOLDER: writes the programs in the man page PAGE to FOLDER as 1.c and so on, or .cu if they are kernels
examples_of() {
    mkdir "$2"
    sed 's/\\-/-/g; s/\\&//; s/\\(dq/"/g; s/\\e/\\/g' "$1" | awk -v folder="$2" '
        /^\.EX$/ { text = ""; inside = 1; next }
        /^\.EE$/ {
            inside = 0
            if (text ~ /^(\/\*[^\n]*\n)?#include/)
                printf "%s", text >(folder "/" ++count (text ~ /<rex\/kernel.h>/ ? ".cu" : ".c"))
        }
        inside { text = text $0 "\n" }'
}
# host_image OUTPUT SOURCE [FLAG...]: compiles kernels for the CPU
host_image() {
    output=$1 source=$2
    shift 2
    gcc -x c -std=gnu11 -O2 -shared -fPIC -I"$top/include" "$@" -o "$output" "$source"
}
# program OUTPUT WORD...: compiles a program and links it with librex.so
program() {
    output=$1
    shift
    "$CC" -std=gnu11 -O2 -I"$top/include" -o "$output" "$@" -L"$build" -lrex -Wl,-rpath,"$build" "$keep_entries" -ldl -pthread
}

# ---- builds with clang

# value_of RELEASE VARIABLE: prints VARIABLE of the environment in which tests/llvm runs programs on RELEASE
value_of() { "$top/tests/llvm" "$1" printenv "$2"; }
library_of() { value_of "$1" REX_OMPTARGET; }
# openmp_of RELEASE: prints the path of its libomp; 22 has no libomp and uses that of 19
openmp_of() {
    value_of "$1" LD_LIBRARY_PATH | tr : '\n' | while read -r folder; do
        [ ! -e "$folder/libomp.so.5" ] || { echo "$folder/libomp.so.5"; break; }
    done
}
# by_clang RELEASE OUTPUT WORD...: compiles a program with OpenMP offloading to the CPU. $names has the library names that clang's driver links,
# because some releases' packages lack them.
by_clang() {
    names=$work/names/$1 with=clang-$1 output=$2
    mkdir -p "$names"
    ln -sf "$(realpath "$(openmp_of "$1")")" "$names/libomp.so"
    ln -sf "$(realpath "$(library_of "$1")")" "$names/libomptarget.so"
    [ -e "$names/libomptarget.devicertl.a" ] || ar rc "$names/libomptarget.devicertl.a"
    shift 2
    quietly "$with" -O1 -Wall -Werror -Wno-openmp-mapping -fopenmp -fopenmp-targets="$(uname -m)-pc-linux-gnu" "$@" -o "$output" -L"$names"
}
