#!/bin/sh
# rex-run: programs that clang built, on the release they were linked with and on others; programs that do not offload; what is refused;
# statuses and signals. Which clang's programs which release runs is in matrix.sh.
. tests/support/lib.sh
rex_run=$build/tools/rex-run
librex=$(realpath "$O/librex.so")

mkdir "$work/tmp"
export TMPDIR="$work/tmp"

tidy() {
    left=$(find "$TMPDIR" -name 'rex-run.*')
    [ -z "$left" ] || { fail "$1 left $left"; rm -rf "$TMPDIR"/rex-run.*; }
}

# ---- the command line

command_line rex-run
while IFS='|' read -r text words; do
    # Words of a command.
    # shellcheck disable=SC2086
    refused 125 "$text" "$rex_run" $words
done <<'WRONG'
no program is named|
frobnicate|--frobnicate true
--trace: the value is empty|--trace= true
--omptarget: the value is empty|--omptarget= true
--wait=never: REX_WAIT cannot be "never", only auto, spin|--wait=never true
--launch-blocking=never: REX_LAUNCH_BLOCKING cannot be "never", only on or off|--launch-blocking=never true
--log=loud: REX_LOG cannot be "loud"|--log=loud true
the value is empty|--wait= true
omptarget|--omptarget
WRONG

# The completion, made from --help, has the values that the library knows.
for option in wait launch-blocking log; do
    "$rex_run" --$option=never true 2>&1 | sed 's/.*, only //; s/.*, where LEVEL is one of //; s/ or / /; s/,//g' >"$work/values"
    sed -n "s/^ *--$option) .*-W '\([^']*\)'.*/\1/p" "$O/completion/bash/rex-run" | diff "$work/values" - || fail "--$option: completed to others"
done
# ---- programs that do not offload: the same output, status and signal

# Everything after PROGRAM is PROGRAM's.
# The shell that the scripts are for expands them.
# shellcheck disable=SC2016
run "$rex_run" --log info sh -c 'printf "%s|" "$0" "$@"; cat; exit 7' --wait=x 'two words' '' <<'INPUT'
from standard input
INPUT
ends 7 'the status of the program is lost'
[ "$(cat "$work/out")" = '--wait=x|two words||from standard input' ] || fail "arguments or input: $(cat "$work/out")"
says ' is not linked with libomptarget: there is nothing to adapt'
[ "$(wc -l <"$work/err")" = 1 ] || fail "said to a program that does not offload: $(cat "$work/err")"
# shellcheck disable=SC2016
run "$rex_run" sh -c 'kill -TERM $$'
ends 143 'the signal is lost'

(LD_PRELOAD='' "$rex_run" --wait=spin --launch-blocking=off --log=error --trace=t.json -- env) >"$work/out"
for line in "LD_PRELOAD=$librex" REX_ADOPT=on REX_WAIT=spin REX_LAUNCH_BLOCKING=off REX_LOG=error "REX_TRACE=$PWD/t.json"; do
    grep -qxF "$line" "$work/out" || fail "no $line in the environment"
done
# Relative names are of the folder where rex-run was started: the program may change its own. A % of that folder is no %p.
mkdir "$work/at%p"
for given in log=info:l.%p:REX_LOG=info:/l.%p log=:l:REX_LOG=:/l log=debug:/dev/null:REX_LOG=debug:/dev/null trace=t.json:REX_TRACE=/t.json \
    trace=-:REX_TRACE=- trace=off:REX_TRACE=off report=r.html:REX_TRACE=/r.html.json; do
    line=$(printf '%s\n' "${given#*:REX}" | sed "s|^|REX|; /debug/!s|/|$work/at%%p/|")
    (cd "$work/at%p" && "$rex_run" "--${given%%:REX*}" -- env) >"$work/out" 2>&1
    grep -qxF "$line" "$work/out" || fail "--${given%%:REX*}: no $line in: $(grep REX_ "$work/out")"
done
# --report removes the trace of an earlier run, and no other file.
printf '{"name": "mine"}\n' >"$work/package.json"
refused 125 'package.json is not a trace' "$rex_run" --report="$work/package" true
refused 125 'package.json is not a trace' "$rex_run" --report="$work/page.html" \
    --trace="$work/package.json" true
grep -q mine "$work/package.json" || fail '--report has removed a file that is no trace'
# What could not be made when the program has ended is refused before it starts. Nobody writes to the pipe.
mkfifo "$work/traces"
while IFS='|' read -r text options; do
    # Options are words.
    # shellcheck disable=SC2086
    refused 125 "$text" timeout 60 "$rex_run" $options true
done <<REPORTS
$work/traces is not a regular file|--report=$work/page.html --trace=$work/traces
$work is not a regular file|--report=$work/page.html --trace=$work
--trace=on: this is a setting, not a file name|--report=$work/page.html --trace=on
it is the trace itself|--report=$work/trace.json --trace=$work/trace.json
$work/none/page.html.json cannot be written: No such file|--report=$work/none/page.html
$work/none/page.html cannot be written: No such file|--report=$work/none/page.html --trace=$work/trace.json
$work cannot be written: Is a directory|--report=$work --trace=$work/trace.json
REPORTS
if [ -e "$work/page.html" ] || [ -e "$work/trace.json" ]; then fail '--report has left what it tried'; fi
cp "$rex_run" "$work/rex-run"
# rex-report is the one beside rex-run; this one is killed.
# shellcheck disable=SC2016
printf '#!/bin/sh\nkill -9 $$\n' >"$work/rex-report"
chmod +x "$work/rex-report"
# shellcheck disable=SC2016
run env LD_LIBRARY_PATH="$build" "$work/rex-run" --report="$work/page.html" sh -c 'printf "[\n" >"$REX_TRACE"'
ends 0 '--report'
says "page.html: there is no report: rex-report was ended by signal 9"
! grep -q '^LD_LIBRARY_PATH=.*rex-run' "$work/out" || fail 'a library path without --omptarget'
# shellcheck disable=SC2016
printf '#!/bin/sh\necho script "$@" "$LD_PRELOAD"\n' >"$work/script"
refused 126 'may not be executed' "$rex_run" "$work/script"
chmod +x "$work/script"
[ "$(cd "$work" && "$rex_run" ./script a b)" = "script a b $librex" ] || fail 'a script'
[ "$(PATH=$work:$PATH "$rex_run" script c)" = "script c $librex" ] || fail 'a script on PATH'

# OpenMP without offloading
quietly "$CC" -fopenmp -o "$work/openmp" tests/tools/rex-run/openmp.c
run "$rex_run" --log=debug:"$work/openmp.%p" "$work/openmp"
[ "$status,$(cat "$work/out")" = 0,4950 ] || fail "OpenMP without offloading: $status $(cat "$work/out" "$work/err")"
[ "$(cat "$work"/openmp.[0-9]* | wc -l)" = 1 ] || fail "OpenMP without offloading: in the log: $(cat "$work"/openmp.[0-9]*)"
[ ! -s "$work/err" ] || fail "said to OpenMP without offloading: $(cat "$work/err")"

# ---- what cannot be run so

printf 'int main(void) { return 0; }\n' >"$work/nothing.c"
"$CC" -o "$work/nothing" "$work/nothing.c"
mkfifo "$work/pipe"
ln -s loop "$work/loop"
cp Makefile "$work/text"
head -c 40 "$work/nothing" >"$work/cut"
chmod +x "$work/pipe" "$work/text" "$work/cut"
for way in -static -static-pie; do quietly "$CC" $way -o "$work/program$way" "$work/nothing.c"; done
while IFS='|' read -r wanted program text; do refused "$wanted" "$text" timeout 60 "$rex_run" "$program"; done <<PROGRAMS
127|$work/nowhere|no such program
127|no-such-program-anywhere|no such program
126|$work|may not be executed: Is a directory
126|$work/loop|may not be executed: Too many levels
126|$work/pipe|is not a regular file
126|$work/text|neither an ELF program nor a script
126|$work/cut|truncated inside the ELF header
126|$work/program-static|statically linked
126|$work/program-static-pie|statically linked
PROGRAMS
# patched OFFSET OCTAL-BYTES: the program with other bytes there
patched() {
    cp "$work/nothing" "$work/patched"
    # The format is the bytes.
    # shellcheck disable=SC2059
    printf "$2" | dd of="$work/patched" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
case $(uname -m) in aarch64) other='\076' word=x86-64 ;; *) other='\267' word=aarch64 ;; esac
interpreter=$(LC_ALL=C grep -abo '/lib[^ ]*/ld-linux' "$work/nothing" | sed -n '1s/:.*//p')
while IFS='|' read -r offset bytes text; do
    patched "$offset" "$bytes"
    refused 126 "$text" "$rex_run" "$work/patched"
done <<PATCHES
18|$other|is for $word
18|\377\377|machine number 65535
4|\001|32-bit
$interpreter|/lib/ld-musl-x.so.1\000|ld-musl-x.so.1, but librex is for ld-linux
PATCHES
cp "$work/nothing" "$work/setuid"
for mode in 4755:user 2755:group; do
    chmod "${mode%:*}" "$work/setuid"
    refused 126 "set-${mode#*:}-ID" "$rex_run" "$work/setuid"
done
chmod 755 "$work/setuid"
if setcap cap_net_raw+ep "$work/setuid" 2>/dev/null; then
    refused 126 'capabilities' "$rex_run" "$work/setuid"
else
    echo 'left out: file capabilities, which cannot be set here'
fi
# Headers that say anything: a message and a status of rex-run's, or the kernel's or the loader's verdict on what rex-run let through.
for at in $(seq 4 11 1000); do
    patched "$at" '\377\377\377\377\377\377\377\377'
    run "$rex_run" "$work/patched"
    case $status in 0 | 12[567] | 139 | 1) ;; *) fail "bytes at $at: status $status" ;; esac
done

# ---- programs that clang built: on another release than their own in matrix.sh

releases=$(tests/llvm --plain | tr '\n' ' ')
[ -n "$releases" ] || skip 'no LLVM release is unpacked'
has() { case " $releases " in *" $1 "*) ;; *) return 1 ;; esac; }

# construct NN OUTPUT WORD...: tests/link/constructs.c, which prints what each construct computed
construct() { by_clang "$@" tests/link/constructs.c; }

# The environment of a program that finds nothing of libomptarget's but what --omptarget leads it to: libomp, and what LLVM's libraries need.
# Called through run.
# shellcheck disable=SC2317
elsewhere() {
    target=$1
    shift
    path=$(value_of "$target" LD_LIBRARY_PATH)
    env LD_LIBRARY_PATH="${path#*:}" OMP_TARGET_OFFLOAD=mandatory "$@"
}

for built in 14 19; do
    has $built || continue
    # Debian 13 has no 14.
    if [ $built = 14 ] && ! command -v clang-14 >/dev/null; then
        echo 'left out: programs of clang 14, which is not here'
        continue
    fi
    construct $built "$work/clang-$built" || fail "clang-$built cannot build an offload program"
    for with in '' "$rex_run"; do
        # shellcheck disable=SC2086 # a command or none
        run tests/llvm $built $with "$work/clang-$built"
        ends 5 "clang $built's program, $with"
        cmp "$work/out" tests/clang/expected || fail "clang $built's program, $with: other output: tests/clang/make, if the sources are others"
    done
done
if [ -x "$work/clang-19" ] && has 22; then
    run elsewhere 22 "$rex_run" --log=info --omptarget="$(library_of 22)" "$work/clang-19"
    ends 5 "clang 19's program on LLVM 22"
    says "bound LLVM 22's libomptarget, $TMPDIR/rex-run"
    says "$work/clang-19 runs on LLVM 22's libomptarget, $(realpath "$(library_of 22)"), which --omptarget names"
    says 'adopted the offload code of '
    ! grep -q 'is not linked with libomptarget' "$work/err" || fail "said of a linked program: $(cat "$work/err")"
    tidy "clang 19's program on LLVM 22"
fi

if [ -x "$work/clang-14" ] && has 16 && has 19; then
    # 16's libomptarget opens "libomp.so", a name that 19's folder has and 16's has not: a second libomp would abort.
    run env LD_LIBRARY_PATH="$(value_of 16 LD_LIBRARY_PATH):$(dirname "$(openmp_of 19)")" OMP_TARGET_OFFLOAD=mandatory \
        "$rex_run" --omptarget="$(library_of 16)" "$work/clang-14"
    ends 5 'with two folders that have a libomp'
    # The libomp beside libomptarget, whatever else there is on the program's own run path.
    mkdir "$work/beside" "$work/rest"
    cp -P "$(dirname "$(library_of 16)")"/libomptarget* "$(openmp_of 16)" "$work/beside"
    value_of 16 LD_LIBRARY_PATH | tr : '\n' | sed 1d | while read -r folder; do
        for file in "$folder"/lib*; do case $file in */libomp* | */libiomp*) ;; *) ln -sf "$file" "$work/rest" ;; esac done
    done
    run env LD_LIBRARY_PATH="$work/rest" LD_DEBUG=files LD_DEBUG_OUTPUT="$work/loaded" OMP_TARGET_OFFLOAD=mandatory \
        "$rex_run" --omptarget="$work/beside/libomptarget.so.16" "$work/clang-14"
    ends 5 'with libomp beside libomptarget'
    cat "$work"/loaded.* | grep -q "calling init: $work/beside/libomp.so.5" || fail 'the libomp beside libomptarget was not used'
fi

# A program that a program starts inherits all of it.
if [ -x "$work/clang-19" ] && has 22; then
    run elsewhere 22 "$rex_run" sh -c "\"$rex_run\" --omptarget=\"$(library_of 22)\" \"$work/clang-19\"; exit \$?"
    ends 5 'rex-run under rex-run'
    run tests/llvm 19 "$rex_run" --log=info sh -c "\"$work/clang-19\"; exit \$?"
    grep -q adopted "$work/err" || fail 'a program that the program starts is not adopted'
    ends 5 'a program that the program starts'
    run tests/llvm 19 "$rex_run" --log=info:"$work/log" "$work/clang-19"
    grep -q "clang-19 runs on LLVM 19's libomptarget, .*, which it is linked with" "$work/log" || fail "which libomptarget is not said: $(cat "$work/log")"
    grep -q "adopted .*: nothing in it had to change for LLVM 19" "$work/log" || fail '--log=info:FILE: nothing is in the file'
    ! grep -q librex "$work/err" || fail "--log=info:FILE: said on standard error: $(cat "$work/err")"
fi

# ---- the linked libomptarget, where the loader does not find it

if [ -x "$work/clang-19" ]; then
    run elsewhere 19 env REX_OMPTARGET="$(library_of 19)" "$rex_run" "$work/clang-19"
    ends 5 'a libomptarget that REX_OMPTARGET names'
fi
if [ -x "$work/clang-14" ] && [ -e /usr/lib/llvm-14/lib/libomptarget.so ]; then
    construct 14 "$work/unaided" -fno-openmp-implicit-rpath
    run env -u LD_LIBRARY_PATH OMP_TARGET_OFFLOAD=mandatory "$rex_run" "$work/unaided"
    ends 5 "Debian's libomptarget"
else
    echo "left out: Debian's libomptarget 14, which is not here"
fi

# What every user may write is an error where it is named, and another user's folder in /opt is passed over.
quietly "$CC" -o "$work/linked" "$work/nothing.c" -Wl,--no-as-needed "$O/tests/fake/24/libomptarget.so.24" -Wl,--allow-shlib-undefined
mkdir "$work/loose"
cp "$O/tests/fake/24"/lib*.so.* "$work/loose"
chmod 777 "$work/loose"
loose=$work/loose/libomptarget.so.24
refused 125 "every user may write $work/loose" env -u LD_LIBRARY_PATH REX_OMPTARGET="$loose" "$rex_run" "$work/linked"
refused 125 "every user may write $work/loose" "$rex_run" --omptarget="$loose" "$work/linked"
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none /opt 2>/dev/null; then
    while read -r owner text; do
        # The shell that is started expands it.
        # shellcheck disable=SC2016
        run env -u LD_LIBRARY_PATH -u REX_OMPTARGET unshare -m sh -c 'mount -t tmpfs -o mode=755 none /opt && mkdir -p /opt/one/lib &&
            cp "$1"/lib*.so.* /opt/one/lib && chown -R "$2" /opt/one && "$3" --log=info "$4"' sh "$O/tests/fake/24" "$owner" "$rex_run" "$work/linked"
        says "$text"
    done <<'OWNERS'
0 runs on the one in /opt/one/lib
65534 no folder has
OWNERS
else
    echo 'left out: another user'"'"'s folder in /opt, which needs root and a mount namespace'
fi

# ---- --omptarget: what it refuses, and the program's end

if [ -x "$work/clang-19" ] && has 16 && has 22; then

    lib22=$(library_of 22)
    refused 126 'linked with libomptarget.so.19.1: LLVM 16' "$rex_run" \
        --omptarget="$(library_of 16)" "$work/clang-19"
    # The loader is asked by a pipe, which may have the numbers of a standard input and output that are not there.
    # shellcheck disable=SC2016
    refused 126 'linked with libomptarget.so.19.1: LLVM 16' sh -c 'exec "$@" <&- >&-' sh "$rex_run" \
        --omptarget="$(library_of 16)" "$work/clang-19"
    refused 125 'No such file' "$rex_run" --omptarget="$work/none.so" "$work/clang-19"
    # The loader expands it.
    # shellcheck disable=SC2016
    for folder in a:b "two
lines" '$ORIGIN'; do
        mkdir -p "$work/$folder"
        refused 125 'cannot be put into LD_LIBRARY_PATH: the path contains one of' \
            env TMPDIR="$work/$folder" "$rex_run" --omptarget="$lib22" "$work/clang-19"
    done
    refused 125 'it is a directory' "$rex_run" --omptarget="$(dirname "$lib22")" "$work/clang-19"
    refused 125 'Makefile: it is not an ELF file' "$rex_run" --omptarget=Makefile "$work/clang-19"
    refused 125 'it is librex' "$rex_run" --omptarget="$librex" "$work/clang-19"
    refused 126 'is a script' "$rex_run" --omptarget="$lib22" "$work/script"
    # Nothing says where libLLVM is, unless the machine has it by itself.
    if ! PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -qF libLLVM.so.22.1; then
        refused 126 'which the loader does not find' env -u LD_LIBRARY_PATH "$rex_run" \
            --omptarget="$lib22" "$work/clang-19"
    fi
    construct 19 "$work/rpath" -Wl,--disable-new-dtags -Wl,-rpath,"$work/names/19"
    refused 126 "has a DT_RPATH ($work/names/19" elsewhere 22 "$rex_run" --omptarget="$lib22" \
        "$work/rpath"
    construct 19 "$work/runpath" -Wl,--enable-new-dtags -Wl,-rpath,"$work/names/19"
    run elsewhere 22 "$rex_run" --omptarget="$lib22" "$work/runpath"
    ends 5 'a program with DT_RUNPATH'
    refused 126 'names this library by a path' elsewhere 22 env LD_PRELOAD="$(library_of 19)" "$rex_run" \
        --omptarget="$lib22" "$work/clang-19"
    # The same DT_RPATH in a library is seen in what the loader does.
    folder19=$(dirname "$(library_of 19)")
    printf 'int between(void) { return 0; }\n' >"$work/between.c"
    quietly "$CC" -shared -fPIC -o "$work/libbetween.so" "$work/between.c" -Wl,--no-as-needed "$folder19/libomptarget.so.19.1" \
        -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags -Wl,-rpath,"$folder19"
    quietly "$CC" -o "$work/through" "$work/nothing.c" -Wl,--no-as-needed "$work/libbetween.so" -Wl,--allow-shlib-undefined
    refused 126 "--omptarget cannot replace $folder19/libomptarget.so.19.1" elsewhere 22 \
        "$rex_run" --omptarget="$lib22" "$work/through"
    tidy 'what --omptarget refuses'
    # The program may change its folder, and what it starts finds the private one all the same.
    printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { return puts(getenv("LD_LIBRARY_PATH")) < 0; }\n' >"$work/shows.c"
    quietly "$CC" -o "$work/shows" "$work/shows.c" -Wl,--no-as-needed "$folder19/libomptarget.so.19.1" -Wl,--allow-shlib-undefined
    # shellcheck disable=SC2016
    run elsewhere 22 sh -c 'cd "${TMPDIR%/*}" && TMPDIR=${TMPDIR##*/} exec "$@"' sh "$rex_run" --omptarget="$lib22" "$work/shows"
    ends 0 'a relative TMPDIR'
    grep -q '^/[^:]*/rex-run\.' "$work/out" || fail "a relative TMPDIR: $(cat "$work/out")"
    # No libomptarget to replace: a plain run.
    # shellcheck disable=SC2016
    run "$rex_run" --omptarget="$lib22" sh -c 'echo "$REX_OMPTARGET"; exit 3'
    [ "$status,$(cat "$work/out")" = "3,$(realpath "$lib22")" ] || fail "--omptarget for a program without: $status $(cat "$work/out")"

    # A program that says when it is ready, and on SIGUSR1 what it got; a signal for rex-run is one for the program.
    quietly "$CC" -o "$work/waits" tests/tools/rex-run/waits.c -Wl,--no-as-needed \
        "$(realpath "$(library_of 19)")" -Wl,--allow-shlib-undefined
    mkfifo "$work/fifo"
    path22=$(value_of 22 LD_LIBRARY_PATH)
    # signalled SIGNAL...: rex-run gets them once its program is ready; $status
    signalled() {
        env LD_LIBRARY_PATH="$path22" "$rex_run" --omptarget="$lib22" "$work/waits" >"$work/fifo" 2>"$work/err" &
        pid=$!
        exec 3<"$work/fifo"
        read -r line <&3
        [ "$line" = ready ] || fail "the program said $line: $(cat "$work/err")"
        for signal in "$@"; do kill -"$signal" "$pid"; done
        status=0
        wait "$pid" || status=$?
        rest=$(cat <&3)
        exec 3<&-
        # Nobody can tidy up after SIGKILL.
        case $* in KILL) rm -rf "$TMPDIR"/rex-run.* ;; *) tidy "a program that got $*" ;; esac
    }
    signalled USR1
    [ "$status,$rest" = '9,got it' ] || fail "after SIGUSR1: status $status, $rest"
    signalled TERM
    ends 143 'after SIGTERM'
    signalled TSTP CONT USR1
    [ "$status,$rest" = '9,got it' ] || fail "after SIGTSTP, SIGCONT and SIGUSR1: status $status, $rest"
    signalled KILL
    ends 137 'after SIGKILL'
fi
