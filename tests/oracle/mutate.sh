#!/bin/sh
# Would the oracle notice? For each map bit, librex and the shapes are compiled with another value of it, in a copy, and run: some shape must fail.
#
# usage: tests/oracle/mutate.sh     after `make oracle`, whose clang record it compares with; `make oracle-mutate` runs both
set -eu

cd "$(dirname "$0")/../.."
here=tests/oracle
O=${O:-$(make -s --no-print-directory print-O)}
built=$O/$here
release=19
[ -s "$built/clang.rec" ] || { echo "run make oracle first" >&2; exit 2; }

# NAME VALUE of each bit
bits() { sed -n 's/^#define REX_MAP_\([A-Z]*\) INT64_C(\(0x[0-9a-f]*\))$/\1 \2/p' include/rex/map.h; }

# Each bit left out, and another one (0x800, which means nothing to any release) in its place; members that name the row after their parent.
mutations() {
    bits | while read -r name _; do
        echo "$name 0x0"
        echo "$name 0x800"
    done
    echo 'MEMBER_OF row+2'
    echo 'ALLOC 0x1'
}

mutate() {
    case $1 in
    MEMBER_OF) sed '/define REX_MAP_MEMBER_OF/s/(row) + 1/(row) + 2/' ;;
    ALLOC) sed 's/^#define REX_MAP_ALLOC .*/#define REX_MAP_ALLOC INT64_C(1)/' ;;
    *) sed "s/^#define REX_MAP_$1 .*/#define REX_MAP_$1 INT64_C($2)/" ;;
    esac <include/rex/map.h
}

# One mutation, in a process of its own: prints its row of the table
one() {
    directory=$work/$1-$2
    mkdir -p "$directory/include/rex"
    mutate "$1" "$2" >"$directory/include/rex/map.h"
    if cmp -s include/rex/map.h "$directory/include/rex/map.h"; then
        echo "$1 $2 the-same 0"
        return
    fi
    # Mutants may well run into warnings; the version and the library's flags are those of the Makefile.
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O0 -w -I"$directory/include" -Iinclude -Ilibrex -DREX_BUILDING_LIBRARY= \
        -DREX_VERSION_STRING='"mutant"' -r -o "$directory/librex.o" librex/*/*.c || return 0
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O0 -w -I"$directory/include" -Iinclude -I"$here" -Wl,--wrap=dlsym -Wl,-z,nostart-stop-gc \
        -o "$directory/librex" "$here"/shapes/*.c "$here/main.c" "$here/recorder.c" "$here/wrap_librex.c" "$directory/librex.o" -ldl -pthread || return 0
    cp "$built/rex_lib_host.so" "$directory/"
    timeout 100 tests/llvm "$release" "$directory/librex" "$directory/rec" >/dev/null 2>&1 </dev/null || true
    sh "$here/compare" columns "$built/clang.rec" "$directory/rec" >"$directory/verdicts" 2>/dev/null
    echo "$1 $2 $(grep -c '^FAIL' "$directory/verdicts") $(wc -l <"$directory/verdicts")"
    rm -rf "$directory"
}

if [ "${1-}" = --one ]; then
    one "$2" "$3"
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work O
mutations | xargs -n 2 -P "$(nproc 2>/dev/null || echo 2)" sh "$here/mutate.sh" --one | sort >"$work/table"
awk -v expected="$(mutations | wc -l)" '
    BEGIN { printf "%-12s %-8s %s\n", "bit", "becomes", "shapes that fail" }
    { printf "%-12s %-8s %s of %s\n", $1, $2, $3, $4 }
    $3 + 0 == 0 { unnoticed++ }
    END {
        passed = NR - unnoticed
        print passed " passed, " expected - passed " failed, 0 skipped"
        exit passed < expected
    }
' "$work/table"
