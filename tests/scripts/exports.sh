#!/bin/sh
# What librex.so and librex.a offer to a linker is what librex.map says, under our prefixes, and they need libc alone.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-exports.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

# The map without comments, a token a line: names and patterns after `global:` up to `local:` or the end of the node.
sed -e ':more' -e '$!{N;b more' -e '}' -e 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g' librex/librex.map |
    sed 's/[;{}]/\n/g; s/global:/&\n/g; s/local:/&\n/g' | tr -d ' \t' |
    awk '/^global:$/ { on = 1; next } /^local:$/ { on = 0; next } on && NF' | sort -u >"$work/listed"

# A version node is itself a symbol, absolute (A).
nm -D --defined-only "$O/librex.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
nm -g --defined-only "$O/librex.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u >"$work/archive"

[ -s "$work/exported" ] || fail 'librex.so exports nothing'

# unmatched PATTERNS NAMES: the lines of NAMES that no line of PATTERNS matches
unmatched() {
    sed 's/[*]/.*/g; s/^/^/; s/$/$/' "$1" >"$work/patterns"
    grep -vf "$work/patterns" "$2" || true
}
for name in $(unmatched "$work/listed" "$work/exported"); do
    fail "librex.so exports $name, which librex.map does not list"
done
while read -r pattern; do
    echo "$pattern" >"$work/one"
    [ "$(unmatched "$work/one" "$work/exported" | wc -l)" != "$(wc -l <"$work/exported")" ] ||
        fail "librex.map lists $pattern, which librex.so does not define"
done <"$work/listed"
for file in exported archive; do
    for name in $(grep -vE '^(rex_|__tgt_|register_cubin$|omp_target_(dis)?associate_ptr$)' "$work/$file" || true); do
        fail "$file symbol $name has none of our prefixes"
    done
done

# Debian's symbols file, made from the map: UPDATE=1 writes it anew. Its packages are of the version that is built.
version=$(sed -n 's/^VERSION := //p' Makefile)
symbols=tools/debian/librex0.2.symbols
tools/packages/symbols "$O/librex.so" "$version" >"$work/symbols"
[ -z "${UPDATE-}" ] || cp "$work/symbols" "$symbols"
diff -u "$symbols" "$work/symbols" || fail "$symbols is not what librex.map exports (UPDATE=1 writes it)"
sed -n '/@/{s/^ //;s/@.*//;p;}' "$symbols" | grep -v '^[A-Z]' | sort | diff - "$work/exported" || fail "$symbols has other names than librex.so"
case $(head -n 1 tools/debian/changelog) in
"librex ($version-"*) ;;
*) fail "tools/debian/changelog does not begin with version $version" ;;
esac

for needed in $(readelf -d "$O/librex.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $needed in
    libc.so.* | libdl.so.* | libpthread.so.* | ld-linux*) ;;
    *) fail "librex.so needs $needed" ;;
    esac
done
# libomptarget's calls of its own functions come back through our forwarders, which -Bsymbolic would prevent for ours.
if readelf -d "$O/librex.so" | grep -q SYMBOLIC; then fail 'librex.so is linked with -Bsymbolic'; fi

echo "$(wc -l <"$work/exported") exported symbols, $(wc -l <"$work/archive") global symbols in the archive"
exit "$failed"
