#!/bin/sh
# tests/run: its status and its last line, in a tree of its own with tests that pass, fail and skip. A
# release is there for a script that starts one, and is not fetched for another.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/librex-runner.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

mkdir -p "$work/tests/scripts" "$work/tests/unit" "$work/build/tests/unit" "$work/build/tools"
cp tests/run "$work/tests/"
cd "$work"
# The stub of tests/llvm keeps what it fetched in the file `fetched`.
cat >tests/llvm <<'STUB'
#!/bin/sh
case ${1-} in
'') echo 19 >fetched ;;
--releases | --required) echo 19 ;;
--list) cat fetched 2>/dev/null || true ;;
esac
STUB
chmod +x tests/llvm
echo 'once unit/skipped_there the release cannot' >tests/unable
script() { printf '%s\n' "$2" >"tests/scripts/$1.sh"; }
script good 'exit 0'
script bad 'exit 1'
script skipped 'echo "skip: no tool"; exit 77'
llvm=tests/llvm # not written out: this script itself needs no release
script starts "$llvm --list | grep -qx 19 || { echo 'skip: LLVM 19 is not unpacked'; exit 77; }"
: >tests/unit/skipped_there.c

# runs STATUS LAST-LINE ARGUMENTS...
runs() {
    wanted=$1 line=$2 status=0
    shift 2
    env -u CI -u REX_REQUIRE_GPU O=build sh tests/run "$@" >said 2>&1 || status=$?
    [ "$status" = "$wanted" ] || fail "tests/run $*: status $status, not $wanted"
    [ "$(tail -n 1 said)" = "$line" ] || fail "tests/run $*: the last line is '$(tail -n 1 said)', not '$line'"
}
runs 0 '1 passed, 0 failed, 0 skipped' -k script/good
runs 1 '0 passed, 1 failed, 0 skipped' -k script/bad
runs 77 '0 passed, 0 failed, 1 skipped: nothing ran' -k script/skipped
runs 0 '1 passed, 0 failed, 1 skipped' -k 'script/[gs][ok]'
runs 1 '0 passed, 1 failed, 1 skipped' -k 'script/[bs][ak]'
runs 0 '0 passed, 0 failed, 1 skipped: nothing ran' -k unit/skipped_there
runs 77 '0 passed, 0 failed, 2 skipped: nothing ran' -k '/skipped'
runs 2 "tests/run: nothing matches 'script/none'" -k script/none
[ ! -e fetched ] || fail 'a release was fetched for scripts that start none'
runs 0 '1 passed, 0 failed, 0 skipped' -k script/starts
[ -e fetched ] || fail 'no release was fetched for a script that starts one'
runs 1 '2 passed, 1 failed, 2 skipped'

# Each test that skips where a release is missing is one for which tests/run fetches it.
cd "$OLDPWD"
pattern=$(sed -n "s/^uses_release='\(.*\)'/\1/p" tests/run)
grep -lE "echo .skip: .*LLVM" tests/scripts/[!r]*.sh tests/scripts/rex-*.sh >"$work/skipping"
grep -l "is not unpacked" tests/unit/*.c >>"$work/skipping"
while read -r test; do
    grep -qE "$pattern" "$test" || fail "tests/run fetches no release for $test"
done <"$work/skipping"
[ "$(wc -l <"$work/skipping")" -gt 9 ] || fail 'hardly any test skips for want of a release'
exit "$failed"
