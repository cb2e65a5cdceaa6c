#!/bin/sh
# The ABI: symbols as librex.map and Debian's symbols file list them, under our prefixes, not too many, and needing libc alone; structs, constants,
# prototypes and callback types as tests/golden/rex-info/abi.txt has them; the JSON of rex-info --abi as its schema says. UPDATE=1 writes
# both files anew; then ABI_NUMBER in tools/rex-info/abi.c grows, and CHANGELOG.md says why.
# make builds for it: library tools
. tests/support/lib.sh

# ---- symbols

# A version node is itself a symbol, absolute (A).
nm -D --defined-only "$O/librex.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
nm -g --defined-only "$O/librex.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u >"$work/archive"
[ -s "$work/exported" ] || fail 'librex.so exports nothing'

exported=$(grep -c '^rex_' "$work/exported")
[ "$exported" -le 102 ] || fail "$exported exported functions begin with rex_, at most 102 may"

# Debian's symbols file is made from the map. Its packages are of the version that is built.
version=$(sed -n 's/^VERSION := //p' Makefile)
symbols=tools/debian/librex0.2.symbols
tools/packages/symbols "$O/librex.so" "$version" >"$work/symbols"
like "$symbols" "$work/symbols"
sed -n '/@/{s/^ //;s/@.*//;p;}' "$symbols" | grep -v '^[A-Z]' | sort | diff - "$work/exported" ||
    fail "librex.map and $symbols have other names than librex.so"
for file in exported archive; do
    for name in $(grep -vE '^(rex_|__tgt_|register_cubin$|omp_target_(dis)?associate_ptr$|omp_get_mapped_ptr$)' "$work/$file" || true); do
        fail "$file symbol $name has none of our prefixes"
    done
done
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

# ---- structs, constants, prototypes; types of callbacks, which rex-info leaves out. Names that have no prototype are in the symbols file.

export LD_LIBRARY_PATH="$O"
"$O/tools/rex-info" --abi >"$work/abi"
{
    sed -e '/^LLVM /,/^$/d' -e '/^    inline /d' -e '/^    [a-z_0-9]*$/d' "$work/abi"
    echo
    cat include/*.h include/rex/*.h | sed -n '/^typedef [^{]*(/p'
} >"$work/abi.txt"
like tests/golden/rex-info/abi.txt "$work/abi.txt"

"$O/tools/rex-info" --abi --json >"$work/abi.json"
sed -n 's/^    \([a-z_0-9]*\)$/\1/p' "$work/abi" >"$work/bare"
jq -r '.functions[] | select(.prototype == null).name' "$work/abi.json" | diff - "$work/bare" || fail 'functions without a prototype'
/usr/bin/python3 - tools/rex-info/abi.schema.json "$work/abi.json" "$work/exported" <<'PYTHON' || failed=1
import json, sys
import jsonschema
schema, report = (json.load(open(path)) for path in sys.argv[1:3])
jsonschema.Draft202012Validator.check_schema(schema)
wrong = [error.json_path + ': ' + error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(report)]
names = {key: [item['name'] for item in report[key]] for key in ('structs', 'functions')}
names['constants'] = list(report['constants'])
wrong += [key + ' are not sorted, or come twice' for key in names if names[key] != sorted(set(names[key]))]
exported = open(sys.argv[3]).read().split()
linked = [item['name'] for item in report['functions'] if not item['inline'] and not item['per_binary']]
wrong += ['%s: a function or an exported symbol, and not both' % name for name in set(linked) ^ set(exported)]
sys.exit('\n'.join('FAIL: ' + text for text in wrong) or 0)
PYTHON

echo "$(wc -l <"$work/exported") exported symbols, $(wc -l <"$work/archive") global symbols in the archive, $(grep -c '^struct' "$work/abi.txt") structs"
