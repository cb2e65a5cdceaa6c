#!/bin/sh
# tests/run: its status and its last line, in a tree of its own with tests that pass, fail and skip. A
# release is there for a script that starts one, and is not fetched for another. Longest tests start
# first, and a program runs on a sample of some releases.
# make builds for it: nothing
. tests/support/lib.sh
mkdir -p "$work/tests/scripts" "$work/tests/unit" "$work/build/tests/unit" "$work/build/tools"
cp tests/run "$work/tests/"
cd "$work"
# releases RELEASE...: what the stub of tests/llvm has, once it was called to fetch them
releases() {
    printf '%s\n' "$@" >releases
    cat >tests/llvm <<'STUB'
#!/bin/sh
case ${1-} in
'') : >fetched ;;
--releases | --required) cat releases ;;
--list) [ ! -e fetched ] || cat releases ;;
--how) echo plain ;;
[0-9]*) shift; exec "$@" ;;
esac
STUB
    chmod +x tests/llvm
}
releases 19
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
runs 0 '0 passed, 0 failed, 1 skipped: nothing ran' -k unit/skipped_there
runs 77 '0 passed, 0 failed, 2 skipped: nothing ran' -k '/skipped'
runs 2 "tests/run: nothing matches 'script/none'" -k script/none
[ ! -e fetched ] || fail 'a release was fetched for scripts that start none'
runs 0 '1 passed, 0 failed, 0 skipped' -k script/starts
[ -e fetched ] || fail 'no release was fetched for a script that starts one'
runs 1 '2 passed, 1 failed, 2 skipped'

# ---- a librex that is installed: no test finds it

mkdir -p 'an installed/lib/pkgconfig' 'an installed/bin' build/tools kept
: >'an installed/lib/librex.so.0.2'
: >'an installed/lib/pkgconfig/rex.pc'
for tool in 'an installed/bin/rex-cc' build/tools/rex-cc; do
    echo '#!/bin/sh' >"$tool"
    chmod +x "$tool"
done
# The test's shell expands them.
# shellcheck disable=SC2016
script installed 'echo "$LD_LIBRARY_PATH $PKG_CONFIG_PATH $(command -v rex-cc)"'
(
    export LD_LIBRARY_PATH="$work/an installed/lib:$work/kept:$work/an installed/lib" PATH="$work/an installed/bin:$PATH"
    export PKG_CONFIG_PATH="$work/kept:$work/an installed/lib/pkgconfig"
    runs 0 '1 passed, 0 failed, 0 skipped' -k script/installed
    sees=$(cat build/tests/log/once-script-installed.log)
    [ "$sees" = "$work/kept $work/kept $work/build/tools/rex-cc" ] || fail "a test sees $sees"
    exit "$failed"
) || failed=1

# ---- order: first what has a time, longest first; then scripts, programs and unit tests

# program PLACE COMMAND: one that is built
program() {
    mkdir -p "build/tests/${1%/*}" "tests/${1%/*}"
    : >"tests/$1.c"
    printf '#!/bin/sh\necho "%s" >>"%s/order"\n%s\n' "${1##*/}" "$work" "$2" >"build/tests/$1"
    chmod +x "build/tests/$1"
}
rm -r tests/scripts/* tests/unit/* build/tests
for name in new_script slow fast; do script "$name" "echo $name >>'$work/order'"; done
program unit/known ''
program unit/new_unit 'sleep 1'
program runtime/p1/p1 ''
mkdir -p build/tests
printf '%s\n' '0 once script/fast' '9 once script/slow' '10 once unit/known' '8 once unit/elsewhere' >build/tests/times
TEST_JOBS=1 runs 0 '6 passed, 0 failed, 0 skipped'
ran=$(tr '\n' ' ' <order)
[ "$ran" = 'known slow fast new_script p1 new_unit ' ] || fail "the order was $ran"
grep -q '^ *[1-9][0-9]* s unit/new_unit$' said || fail 'the slowest tests are not named'
for line in '[1-9][0-9]* once unit/new_unit' '[0-9]* 19 runtime/p1' '8 once unit/elsewhere'; do
    grep -qx "$line" build/tests/times || fail "no time is kept for $line"
done
[ "$(wc -l <build/tests/times)" = 7 ] || fail 'a test has two times'

# ---- sample: a program runs on 14, 18, 19 and 24, and on one or two of the others; --all and -k run it on all

rm -r tests/scripts/* tests/unit/*
releases 14 15 16 17 18 19 21 22 23 24
program runtime/p5/p5 ''
logs() { find build/tests/log -name '*.log' | sort; }
runs 0 '11 passed, 0 failed, 0 skipped'
grep -q '^left to make check-all: 9 runs, 0 of them on the fake GPU$' said || fail 'what is left out is not counted'
[ "$(grep '^runtime/' said | tr ' ' '\n' | grep -cx '[.]')" = 9 ] || fail 'the table has no dots for what is left out'
logs >before
for name in p1 p5; do
    [ "$(grep -cE "/(14|18|19|24)-runtime-$name.log" before)" = 4 ] || fail "$name does not run on 14, 18, 19 and 24"
    [ "$(grep -cE "/(15|16|17|21|22|23)-runtime-$name.log" before)" -gt 0 ] || fail "$name runs on no other release"
done
runs 0 '20 passed, 0 failed, 0 skipped' --all
program runtime/p0/p0 ''
runs 0 '16 passed, 0 failed, 0 skipped'
logs | grep -v p0 | cmp -s - before || fail 'a new program moves others'

# ---- the fake GPU: 19, and one other; a list of what cannot run there

# The program's shell expands them.
# shellcheck disable=SC2016
program ../fake-gpu/tests/runtime/p5/p5 '[ "$LD_LIBRARY_PATH" = "$PWD/build/tests/fake/cuda" ]; echo "$FAKE_CUDA_ORDER"'
runs 0 '18 passed, 0 failed, 0 skipped'
[ "$(cat build/tests/log/g19-runtime-p5.log)" = late ] || fail 'the fake GPU is not late'
[ "$(cat build/tests/log/g[0-9]*-runtime-p5.log | sort | tr '\n' ' ')" = 'early late ' ] || fail 'no other release has a fake GPU that does all at once'
runs 0 '20 passed, 0 failed, 0 skipped' -k runtime/p5
echo 'fake-gpu runtime/p5 a reason' >>tests/unable
runs 0 '10 passed, 0 failed, 10 skipped' -k runtime/p5
grep -q '^ *10 a reason$' said || fail 'no reason for what cannot run on the fake GPU'

# Each test that skips where a release is missing is one for which tests/run fetches it.
cd "$top"
uses_release=
eval "$(grep '^uses_release=' tests/run)"
grep -lE '^needs_(release|plain)|skip .*LLVM' tests/scripts/[!r]*.sh tests/scripts/rex-*.sh \
    >"$work/skipping"
grep -l "is not unpacked" tests/unit/*.c >>"$work/skipping"
while read -r test; do
    grep -qE "$uses_release" "$test" || fail "tests/run fetches no release for $test"
done <"$work/skipping"
[ "$(wc -l <"$work/skipping")" -gt 9 ] || fail 'hardly any test skips for want of a release'

# A script that says what make builds for it names all that it mentions: of a fresh folder `make check K=script/NAME` is enough.
for pair in 'library:(build|O)}?"?/librex|^ *program ' 'tools:(build|O)}?"?/tools|command_line' 'fakes:/tests/fake' 'examples:(build|O)}?"?/examples' \
    'manual:(build|O)}?"?/man'; do
    grep -lE '^# make builds for it: ' tests/scripts/*.sh | grep -v /runner | xargs grep -lE "${pair#*:}" | xargs -r grep -LE "^# make builds for it:.* ${pair%%:*}( |\$)"
done >"$work/untold"
[ ! -s "$work/untold" ] || fail "scripts use what make builds and do not say so: $(cat "$work/untold")"
