#!/bin/sh
# The ABI that is promised: functions and structs against the baseline in tests/abi, every constant's value, and the form of rex-info's own
# report. UPDATE=1 writes the baseline anew; then ABI_NUMBER in tools/rex-info/abi.c grows with it, and CHANGELOG.md says why.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
info=$O/tools/rex-info

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-abi.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

readelf -S "$O/librex.so" | grep -q '\.debug_info' || { echo 'skip: the library was built without -g'; exit 77; }

# Types of the public headers alone, and nothing that a comment or another line changes.
abidw --headers-dir include --drop-private-types --exported-interfaces-only --no-show-locs --no-parameter-names --no-corpus-path \
    --no-comp-dir-path --no-elf-needed --type-id-style hash --out-file "$work/librex.abi" "$O/librex.so"
LD_LIBRARY_PATH=$O "$info" --abi >"$work/abi"
sed -n '/^constants$/,/^$/p' "$work/abi" >"$work/constants"
if [ -n "${UPDATE-}" ]; then
    cp "$work/librex.abi" tests/abi/librex.abi
    cp "$work/constants" tests/abi/constants
fi
abidiff tests/abi/librex.abi "$work/librex.abi" >"$work/report" ||
    fail "the ABI is not that of tests/abi/librex.abi: $(cat "$work/report")"
diff -u tests/abi/constants "$work/constants" || fail 'constants are not those of tests/abi/constants'

# The comparison sees what it has to: a function less, a field that has moved.
sed 's/<elf-symbol name=.rex_target_is_present. .*//' "$work/librex.abi" >"$work/less"
! abidiff "$work/librex.abi" "$work/less" >/dev/null || fail 'a function that is gone is not seen'
sed "s/layout-offset-in-bits='128'/layout-offset-in-bits='192'/" "$work/librex.abi" >"$work/moved"
! abidiff "$work/librex.abi" "$work/moved" >/dev/null || fail 'a field that has moved is not seen'

LD_LIBRARY_PATH=$O "$info" --abi --json >"$work/abi.json"
/usr/bin/python3 - tools/rex-info/abi.schema.json "$work/abi.json" <<'PYTHON' || failed=1
import json, sys
import jsonschema
schema, report = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.Draft202012Validator.check_schema(schema)
wrong = [error.json_path + ': ' + error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(report)]
for key in 'structs', 'functions':
    names = [item['name'] for item in report[key]]
    if names != sorted(set(names)):
        wrong.append(key + ' are not sorted, or come twice')
if list(report['constants']) != sorted(report['constants']):
    wrong.append('constants are not sorted')
print(*('FAIL: ' + text for text in wrong), sep='\n', end='\n' if wrong else '')
sys.exit(1 if wrong else 0)
PYTHON

[ "$failed" = 0 ] && echo "$(grep -c '<function-decl' tests/abi/librex.abi) functions, $(grep -c '^  ' tests/abi/constants) constants"
exit "$failed"
