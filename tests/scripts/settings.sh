#!/bin/sh
# Settings: what each variable can be, and what is said of what it cannot be, in the environment and by the program; names that are none;
# where the log goes.
# tests/golden/settings/log.txt has what is said, and what holds then.
# make builds for it: library fakes
. tests/support/lib.sh

program "$work/configure" tests/tools/settings/configure.c
# libomptarget is in the process already, whatever the settings say.
fakes=$build/tests/fake
export LD_LIBRARY_PATH="$fakes/cuda" FAKE_CUDA_DEVICES=0 LD_PRELOAD="$fakes/22/libomp.so.5:$fakes/22/libomptarget.so.22"
unset REX_OMPTARGET REX_CUBIN REX_CUBIN_PATH REX_LOG
: >"$work/log"
cd "$work"

# configure WHAT [OPTION[=VALUE]...]: in $work/said, without what no step is about
unsaid='the module is NULL'
configure() {
    what=$1
    shift
    run "$work/configure" "$@"
    ends 0 "$what"
    LC_ALL=C sort -o "$work/err" "$work/err"
    sed -i 's/^/    /' "$work/err"
    sed -E "/$unsaid/d; s/x{200,}/xxx.../g; s|$build|BUILD|g; s/process [0-9]+/process N/; s/ +[0-9]+\\.[0-9]/ #/g" \
        "$work/err" "$work/out" >"$work/said"
    if cmp -s "$work/said" "$work/before"; then echo "$what: the same"; else echo "$what"; cat "$work/said"; fi >>"$work/log"
    cp "$work/said" "$work/before"
}
# contents FILE...: without the number of the process
contents() { for file in "$@"; do sed "s/^/    $(echo "$file" | sed 's/ [0-9]*$/ N/'): /" "$file"; done >>"$work/log"; }

# ---- each of them: its bad value, if it has one, and good ones

number=0
while read -r name bad good; do
    case $bad in -) bad=$(letters 4096) ;; esac
    configure "$name: a bad value" $number="$bad"
    taken=
    for value in $good; do
        cp "$work/log" "$work/so_far"
        configure "$name: $value" $number="$value"
        [ "$(cat "$work/said")" != "    $name $value (the program)" ] || { taken="$taken $value"; mv "$work/so_far" "$work/log"; }
    done
    [ -z "$taken" ] || echo "$name: it is${taken}, and nothing is said" >>"$work/log"
    echo "$name=$bad" >>"$work/bad"
    echo "$name" >>"$work/names"
    number=$((number + 1))
done <<'TABLE'
REX_OMPTARGET - on 0
REX_CUBIN - off
REX_CUBIN_PATH - a:b
REX_LOG loud off No FALSE 0 error warn warning info Debug warn:/dev/null :/dev/null
REX_WAIT sometimes auto SPIN yield block runtime
REX_ADOPT 2 on Yes true 1 off no false 0
REX_UNFINISHED on error Wait
REX_TRACE On off no FALSE 0 - ./0 trace.json
REX_CHECK perhaps on yes TRUE 1 off no false 0 Full
REX_LAUNCH_BY clang auto Driver runtime
REX_COPY_THREADS 9 auto AUTO 0 1 8
REX_REQUIRE_GPU always on Yes true 1 off no false 0
REX_LAUNCH_BLOCKING never on Yes true 1 off no false 0
TABLE
configure 'no such options' -1=x $number=x
configure 'a level and no file, no level and a file' 3=loud:/tmp/a 3=info:
configure 'as long as can be' 1="$(letters 4095)"
configure 'given, and given back' 4=spin 4=

# ---- in the environment

# in_environment WHAT [OPTION[=VALUE]...]: with the lines of $work/settings
in_environment() {
    (
        while read -r setting; do export "${setting?}"; done <"$work/settings"
        configure "$@"
    )
}
cp "$work/bad" "$work/settings"
in_environment 'all are bad'
for length in 4096 100000; do
    sed "s/$/=$(letters $length)/" "$work/names" >"$work/settings"
    in_environment "all have $length letters"
done
sed 's/$/=/' "$work/names" >"$work/settings"
in_environment 'all are empty'
echo REX_WAIT=sometimes >"$work/settings"
in_environment 'a bad value that the program has replaced' 4=spin
in_environment 'and given back to the environment' 4=spin 4 4
echo 'REX_LOG=:/nowhere/a%%b' >"$work/settings"
in_environment 'the environment alone'
in_environment 'the program comes before it' '3=:/nowhere/c%%d'
in_environment 'and gives it back' '3=:/nowhere/c%%d' 3

# ---- names that are none

for name in REX_WIAT REX_LOGS REX_CUBIN_PAHT REX_OMP_TARGET REX_LGO REX_TEST_LOG REX_TEST_TRACE REX_TEST_RELEASE REX_LLVM_LIBDIR REX_BENCH \
    REX_BENCH_LOG REX_LIB REX_HOME REX_LG REX_OMG REX_; do
    echo $name=x
done >"$work/settings"
in_environment 'names that are none'
# ---- levels of the log: an error, a warning, what was bound, that there is no GPU. An error that is repeated is printed once.

for level in off error warn '' info debug nonsense Warning debug:; do
    echo "REX_LOG=$level" >"$work/settings"
    in_environment "level '$level'" 0=on 4=x
done
REX_LOG=error run "$work/configure"
[ "$(grep -c 'the module is NULL' "$work/err")" = 1 ] || fail "an error that is repeated: $(cat "$work/err")"

# ---- where the log goes: an error of each name, of which none is a value of REX_WAIT

unsaid="$unsaid|^    REX_E"
configure 'to files, to nowhere, and to standard error' 3=info:plain 4=to_the_file 3=off:plain 4=nowhere 3=info 4=to_standard_error \
    3=:plain 4=behind_it '3=error:100%% of %p' 4=by_number 3=info:missing/file 4=one_line 4=another 3=off
contents plain 100*
echo 'REX_LOG=info:environment' >"$work/settings"
in_environment 'to a file of the environment' 3=off 4=nowhere 3 4=in_it 3=off
contents environment

# A file is opened once: librex writes to it where it has been moved, and its old name stays free, in a child of fork too. Each process has a
# file of its own where the name says so.
configure 'to a file that is moved' 3=info:of 4=before move=of=moved 4=after fork 4=in_a_child 3=off
contents moved
[ ! -e of ] || fail 'the old name is taken'
configure 'to a file for each process' '3=info:of %p' 4=before fork 4=in_a_child 3=off
contents "$(grep -l before 'of '*)" "$(grep -l in_a_child 'of '*)"
unsaid='the module is NULL'
configure 'names that would forge lines' 4="$(printf 'a\nlibrex: forged \033[2Jb\177\302\237c\377 \303\244\342\202\254\134')" '4=a\x0ab'
# Several processes: each line is whole, and none is lost. An error that is repeated is not printed.
lines=$(seq 200 | sed "s/.*/4=$(letters 150)&/")
for one in 1 2 3 4; do
    # Lines are words.
    # shellcheck disable=SC2086
    "$work/configure" 3=error:shared $lines 3=off >/dev/null &
done
wait
[ "$(grep -cE '^librex: error: rex_configure: REX_WAIT cannot be "x{150}[0-9]+", only auto, [^"]* \[REX_EINVAL\]$' shared)" = 800 ] ||
    fail "$(wc -l <shared) lines of four processes, and not 800 whole ones"

unset LD_PRELOAD
cd "$top"
golden settings/log.txt "$work/log"
