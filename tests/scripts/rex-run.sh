#!/bin/sh
# rex-run: programs that clang built, on the release they were linked with and on others; programs that do not offload; what is refused;
# statuses and signals. Which clang's programs which release runs is in matrix.sh.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
CC=${CC:-gcc}
rex_run=$PWD/$O/tools/rex-run
librex=$(realpath "$O/librex.so")

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-rex-run.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
export TMPDIR="$work/tmp"
failed=0
fail() { echo "FAIL: $*"; failed=1; }
quietly() { "$@" >"$work/output" 2>&1 || { sed 's/^/    /' "$work/output"; return 1; }; }

# run COMMAND...: $status, $work/out, $work/err
run() {
    status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
}
# says STATUS TEXT: the last run ended so, and its error messages contain the text
says() {
    [ "$status" = "$1" ] || fail "status $status and not $1: $(cat "$work/err")"
    grep -qF -e "$2" "$work/err" || fail "no \"$2\" in: $(cat "$work/err")"
}
tidy() {
    left=$(find "$TMPDIR" -name 'rex-run.*')
    [ -z "$left" ] || { fail "$1 left $left"; rm -rf "$TMPDIR"/rex-run.*; }
}

# ---- the command line

run "$rex_run" --help
grep -q '^usage: rex-run' "$work/out" || fail '--help'
[ "$status" = 0 ] || fail "--help: status $status"
[ "$("$rex_run" --version)" = "rex-run (librex) ${VERSION:-$(sed -n 's/^VERSION := //p' Makefile)}" ] || fail '--version'
run "$rex_run"
says 125 'no program is named'
run "$rex_run" --frobnicate true
says 125 'frobnicate'
run "$rex_run" --wait=never true
says 125 '--wait=never: REX_WAIT cannot be "never", only auto, spin'
run "$rex_run" --log=loud true
says 125 '--log=loud: REX_LOG cannot be "loud"'
run "$rex_run" --wait= true
says 125 'the value is empty'
run "$rex_run" --omptarget
says 125 'omptarget'

# What --help and the man page say is what there is; the completion, made from --help, has the values that the library knows.
run "$rex_run" --help
[ -z "${UPDATE-}" ] || cp "$work/out" tests/golden/rex-run/help.txt
diff -u tests/golden/rex-run/help.txt "$work/out" || fail '--help'
for option in $("$rex_run" --help | grep -o -e '--[a-z]*' | sort -u); do
    grep -q -e "$(echo "$option" | sed 's/-/\\\\-/g')" tools/rex-run.1 || fail "$option is not in the man page"
done
for option in wait log; do
    "$rex_run" --$option=never true 2>&1 | sed 's/.*, only //; s/, and :FILE.*//; s/ or / /; s/,//g' >"$work/values"
    sed -n "s/^ *--$option) .*-W '\([^']*\)'.*/\1/p" "$O/completion/bash/rex-run" | diff "$work/values" - || fail "--$option: completed to others"
done
# The library takes a file behind the level: so do --help and the man page, and the file gets the lines.
"$rex_run" --log=never true 2>&1 | grep -q ':FILE' || fail '--log: no :FILE'
"$rex_run" --help | grep -q -e '--log=.*:FILE' || fail '--log: --help says nothing of :FILE'
grep -q '^\.IB LEVEL : FILE$' tools/rex-run.1 || fail '--log: the man page says nothing of :FILE'

# ---- programs that do not offload: the same output, status and signal

# Everything after PROGRAM is PROGRAM's.
# The shell that the scripts are for expands them.
# shellcheck disable=SC2016
run "$rex_run" --log info sh -c 'printf "%s|" "$0" "$@"; cat; exit 7' --wait=x 'two words' '' <<'INPUT'
from standard input
INPUT
[ "$status" = 7 ] || fail "the status of the program is lost: $status"
[ "$(cat "$work/out")" = '--wait=x|two words||from standard input' ] || fail "arguments or input: $(cat "$work/out")"
[ ! -s "$work/err" ] || fail "said to a program that does not offload: $(cat "$work/err")"
# shellcheck disable=SC2016
run "$rex_run" sh -c 'kill -TERM $$'
[ "$status" = 143 ] || fail "the signal is lost: $status"

(LD_PRELOAD='' "$rex_run" --wait=spin --log=error --trace=t.json -- env) >"$work/out"
for line in "LD_PRELOAD=$librex" REX_ADOPT=on REX_WAIT=spin REX_LOG=error "REX_TRACE=$PWD/t.json"; do
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
run "$rex_run" --report="$work/package" true
says 125 'package.json is there, and is no trace'
run "$rex_run" --report="$work/page.html" --trace="$work/package.json" true
says 125 'package.json is there, and is no trace'
grep -q mine "$work/package.json" || fail '--report has removed a file that is no trace'
! grep -q '^LD_LIBRARY_PATH=.*rex-run' "$work/out" || fail 'a library path without --omptarget'
# shellcheck disable=SC2016
printf '#!/bin/sh\necho script "$@" "$LD_PRELOAD"\n' >"$work/script"
run "$rex_run" "$work/script"
says 126 'may not be executed'
chmod +x "$work/script"
[ "$(cd "$work" && "$rex_run" ./script a b)" = "script a b $librex" ] || fail 'a script'
[ "$(PATH=$work:$PATH "$rex_run" script c)" = "script c $librex" ] || fail 'a script on PATH'

# OpenMP without offloading
cat >"$work/openmp.c" <<'C'
#include <stdio.h>
int main(void)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
    printf("%d\n", sum);
    return 0;
}
C
quietly "$CC" -fopenmp -o "$work/openmp" "$work/openmp.c"
run "$rex_run" --log=debug "$work/openmp"
[ "$status,$(cat "$work/out")" = 0,4950 ] || fail "OpenMP without offloading: $status $(cat "$work/out" "$work/err")"
[ ! -s "$work/err" ] || fail "said to OpenMP without offloading: $(cat "$work/err")"

# ---- what cannot be run so

printf 'int main(void) { return 0; }\n' >"$work/nothing.c"
"$CC" -o "$work/nothing" "$work/nothing.c"
run "$rex_run" "$work/nowhere"
says 127 'no such program'
run "$rex_run" no-such-program-anywhere
says 127 'no such program'
run "$rex_run" "$work"
says 127 'no such program'
mkfifo "$work/pipe"
chmod +x "$work/pipe"
run timeout 60 "$rex_run" "$work/pipe"
says 126 'is not a regular file'
cp Makefile "$work/text"
chmod +x "$work/text"
run "$rex_run" "$work/text"
says 126 'neither an ELF program nor a script'
head -c 40 "$work/nothing" >"$work/cut"
chmod +x "$work/cut"
run "$rex_run" "$work/cut"
says 126 'cut off'
quietly "$CC" -static -o "$work/static" "$work/nothing.c"
run "$rex_run" "$work/static"
says 126 'statically linked'
quietly "$CC" -static-pie -o "$work/static" "$work/nothing.c"
run "$rex_run" "$work/static"
says 126 'statically linked'
# patched OFFSET OCTAL-BYTES: the program with other bytes there
patched() {
    cp "$work/nothing" "$work/patched"
    # The format is the bytes.
    # shellcheck disable=SC2059
    printf "$2" | dd of="$work/patched" bs=1 seek="$1" conv=notrunc 2>/dev/null
    run "$rex_run" "$work/patched"
}
case $(uname -m) in aarch64) other='\076' word=x86-64 ;; *) other='\267' word=AArch64 ;; esac
patched 18 "$other"
says 126 "is for $word"
patched 18 '\377\377'
says 126 'machine number 65535'
patched 4 '\001'
says 126 '32-bit'
interpreter=$(LC_ALL=C grep -abo '/lib[^ ]*/ld-linux' "$work/nothing" | sed -n '1s/:.*//p')
patched "$interpreter" '/lib/ld-musl-x.so.1\000'
says 126 'ld-musl-x.so.1; librex is made for ld-linux'
cp "$work/nothing" "$work/setuid"
for mode in 4755 2755; do
    chmod "$mode" "$work/setuid"
    run "$rex_run" "$work/setuid"
    case $mode in 4*) says 126 'set-user-ID' ;; *) says 126 'set-group-ID' ;; esac
done
if command -v setcap >/dev/null && chmod 755 "$work/setuid" && setcap cap_net_raw+ep "$work/setuid" 2>/dev/null; then
    run "$rex_run" "$work/setuid"
    says 126 'capabilities'
else
    echo 'file capabilities: cannot be set here'
fi
# Headers that say anything: a message and a status of rex-run's, never a signal. The bytes of the ELF header and the program headers.
cut=$(($(stat -c %s "$work/nothing") < 1024 ? $(stat -c %s "$work/nothing") : 1024))
at=4
while [ "$at" -lt "$cut" ]; do
    patched "$at" '\377\377\377\377\377\377\377\377'
    case $status in
    0 | 12[56]) ;;
    # The kernel's or the loader's verdict on the program that rex-run let through.
    127 | 139 | 1) [ ! -s "$work/err" ] || ! grep -q '^rex-run.*\(overflow\|Sanitizer\)' "$work/err" || fail "byte $at" ;;
    *) fail "bytes at $at: status $status" ;;
    esac
    at=$((at + 11))
done

# ---- programs that clang built

releases=$(tests/llvm --plain | tr '\n' ' ')
[ -n "$releases" ] || { echo 'skip: no LLVM release is unpacked'; exit 77; }
value_of() { tests/llvm "$1" printenv "$2"; }
library_of() { value_of "$1" REX_OMPTARGET; }
openmp_of() {
    value_of "$1" LD_LIBRARY_PATH | tr : '\n' | while read -r folder; do
        [ ! -e "$folder/libomp.so.5" ] || { echo "$folder/libomp.so.5"; break; }
    done
}
has() { case " $releases " in *" $1 "*) ;; *) return 1 ;; esac; }

# build_by_clang NN OUTPUT WORDS...: tests/link/constructs.c, which prints what each construct computed
build_by_clang() {
    release=$1
    names=$work/names/$1
    mkdir -p "$names"
    ln -sf "$(realpath "$(openmp_of "$1")")" "$names/libomp.so"
    ln -sf "$(realpath "$(library_of "$1")")" "$names/libomptarget.so"
    [ -e "$names/libomptarget.devicertl.a" ] || ar rc "$names/libomptarget.devicertl.a"
    output=$2
    shift 2
    quietly "clang-$release" -O1 -Wall -Werror -Wno-openmp-mapping -fopenmp -fopenmp-targets="$(uname -m)-pc-linux-gnu" \
        tests/link/constructs.c -o "$output" -L"$names" "$@"
}

# The environment of a program that finds nothing of libomptarget's but what --omptarget leads it to: libomp, and what LLVM's libraries need.
# Called through run.
# shellcheck disable=SC2317
elsewhere() {
    target=$1
    shift
    path=$(value_of "$target" LD_LIBRARY_PATH)
    env LD_LIBRARY_PATH="${path#*:}" OMP_TARGET_OFFLOAD=mandatory "$@"
}

# on_other BUILT NN: the program of clang BUILT prints the same with --omptarget
on_other() {
    run elsewhere "$2" "$rex_run" --log=info --omptarget="$(library_of "$2")" "$work/clang-$1"
    if [ "$status" != 5 ] || ! cmp -s "$work/out" "$work/expected-$1"; then
        fail "clang $1's program on LLVM $2: status $status"
        diff "$work/expected-$1" "$work/out" | sed 's/^/    /' || true
        sed 's/^/    /' "$work/err"
    else
        grep -q "bound LLVM ${2%-bare}'s libomptarget, $TMPDIR/rex-run" "$work/err" || fail "clang $1's program was not on LLVM $2"
        grep -q 'adopted the offload code of .*, 1 device image$' "$work/err" || fail "clang $1's program was not adopted"
        echo "LLVM $2  clang $1's program, linked with LLVM $1"
    fi
    tidy "clang $1's program on LLVM $2"
}

for pair in '14:15-bare 16-bare' '19:22'; do
    built=${pair%%:*}
    has "$built" || continue
    if ! command -v "clang-$built" >/dev/null; then
        # Debian 13 has no 14.
        if [ "$built" = 14 ]; then echo 'left out: programs of clang 14, which is not here'; else fail "clang-$built is missing"; fi
        continue
    fi
    build_by_clang "$built" "$work/clang-$built" || { fail "clang-$built cannot build an offload program"; continue; }
    run tests/llvm "$built" "$work/clang-$built"
    cp "$work/out" "$work/expected-$built"
    [ "$status" = 5 ] || fail "clang $built's program without rex-run: status $status"
    cmp "$work/out" tests/clang/expected || fail "the programs of tests/clang are of other sources: tests/clang/make makes them again"
    run tests/llvm "$built" "$rex_run" "$work/clang-$built"
    if [ "$status" != 5 ] || ! cmp -s "$work/out" "$work/expected-$built"; then fail "clang $built's program under rex-run: $status"; fi
    for release in ${pair#*:}; do
        has "${release%-bare}" && on_other "$built" "$release"
    done
done

if [ -x "$work/clang-14" ] && has 16 && has 19; then
    # 16's libomptarget opens "libomp.so", a name that 19's folder has and 16's has not: a second libomp would abort.
    run env LD_LIBRARY_PATH="$(value_of 16 LD_LIBRARY_PATH):$(dirname "$(openmp_of 19)")" OMP_TARGET_OFFLOAD=mandatory \
        "$rex_run" --omptarget="$(library_of 16)" "$work/clang-14"
    [ "$status" = 5 ] || fail "with two folders that have a libomp: status $status: $(cat "$work/err")"
    # The libomp beside libomptarget, whatever else there is on the program's own run path.
    mkdir "$work/beside" "$work/rest"
    cp -P "$(dirname "$(library_of 16)")"/libomptarget* "$(openmp_of 16)" "$work/beside"
    value_of 16 LD_LIBRARY_PATH | tr : '\n' | sed 1d | while read -r folder; do
        for file in "$folder"/lib*; do case $file in */libomp* | */libiomp*) ;; *) ln -sf "$file" "$work/rest" ;; esac done
    done
    run env LD_LIBRARY_PATH="$work/rest" LD_DEBUG=files LD_DEBUG_OUTPUT="$work/loaded" OMP_TARGET_OFFLOAD=mandatory \
        "$rex_run" --omptarget="$work/beside/libomptarget.so.16" "$work/clang-14"
    [ "$status" = 5 ] || fail "with libomp beside libomptarget: status $status: $(cat "$work/err")"
    cat "$work"/loaded.* | grep -q "calling init: $work/beside/libomp.so.5" || fail 'the libomp beside libomptarget was not used'
fi

# A program that a program starts inherits all of it.
if [ -x "$work/clang-19" ] && has 22; then
    run elsewhere 22 "$rex_run" sh -c "\"$rex_run\" --omptarget=\"$(library_of 22)\" \"$work/clang-19\"; exit \$?"
    [ "$status" = 5 ] || fail "rex-run under rex-run: status $status: $(cat "$work/err")"
    run tests/llvm 19 "$rex_run" --log=info sh -c "\"$work/clang-19\"; exit \$?"
    grep -q adopted "$work/err" || fail 'a program that the program starts is not adopted'
    [ "$status" = 5 ] || fail "a program that the program starts: status $status"
    run tests/llvm 19 "$rex_run" --log=info:"$work/log" "$work/clang-19"
    grep -q adopted "$work/log" || fail '--log=info:FILE: nothing is in the file'
    ! grep -q librex "$work/err" || fail "--log=info:FILE: said on standard error: $(cat "$work/err")"
fi

# ---- the linked libomptarget, where the loader does not find it

if [ -x "$work/clang-19" ]; then
    run elsewhere 19 env REX_OMPTARGET="$(library_of 19)" "$rex_run" "$work/clang-19"
    [ "$status" = 5 ] || fail "a libomptarget that REX_OMPTARGET names: status $status: $(cat "$work/err")"
fi
if [ -x "$work/clang-14" ] && [ -e /usr/lib/llvm-14/lib/libomptarget.so ]; then
    build_by_clang 14 "$work/unaided" -fno-openmp-implicit-rpath
    run env -u LD_LIBRARY_PATH OMP_TARGET_OFFLOAD=mandatory "$rex_run" "$work/unaided"
    [ "$status" = 5 ] || fail "Debian's libomptarget: status $status: $(cat "$work/err")"
else
    echo "left out: Debian's libomptarget 14, which is not here"
fi

# ---- --omptarget: what it refuses, and the program's end

if [ -x "$work/clang-19" ] && has 16 && has 22; then
    lib16=$(library_of 16)
    lib22=$(library_of 22)
    run "$rex_run" --omptarget="$lib16" "$work/clang-19"
    says 126 'linked with libomptarget.so.19.1: LLVM 16'
    run "$rex_run" --omptarget="$work/none.so" "$work/clang-19"
    says 125 'No such file'
    run "$rex_run" --omptarget="$(dirname "$lib22")" "$work/clang-19"
    says 125 'it is a directory'
    run "$rex_run" --omptarget=Makefile "$work/clang-19"
    says 125 'Makefile: it is not an ELF file'
    run "$rex_run" --omptarget="$librex" "$work/clang-19"
    says 125 'it is librex'
    run "$rex_run" --omptarget="$lib22" "$work/script"
    says 126 'is a script'
    # Nothing says where libLLVM is, unless the machine has it by itself.
    if ! PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -qF libLLVM.so.22.1; then
        run env -u LD_LIBRARY_PATH "$rex_run" --omptarget="$lib22" "$work/clang-19"
        says 126 'which the loader does not find'
    fi
    build_by_clang 19 "$work/rpath" -Wl,--disable-new-dtags -Wl,-rpath,"$work/names/19"
    run elsewhere 22 "$rex_run" --omptarget="$lib22" "$work/rpath"
    says 126 "has a DT_RPATH ($work/names/19"
    build_by_clang 19 "$work/runpath" -Wl,--enable-new-dtags -Wl,-rpath,"$work/names/19"
    run elsewhere 22 "$rex_run" --omptarget="$lib22" "$work/runpath"
    [ "$status" = 5 ] || fail "a program with DT_RUNPATH: $status: $(cat "$work/err")"
    run elsewhere 22 env LD_PRELOAD="$(library_of 19)" "$rex_run" --omptarget="$lib22" "$work/clang-19"
    says 126 'by its path'
    # The same DT_RPATH in a library is seen in what the loader does.
    folder19=$(dirname "$(library_of 19)")
    printf 'int between(void) { return 0; }\n' >"$work/between.c"
    quietly "$CC" -shared -fPIC -o "$work/libbetween.so" "$work/between.c" -Wl,--no-as-needed "$folder19/libomptarget.so.19.1" \
        -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags -Wl,-rpath,"$folder19"
    quietly "$CC" -o "$work/through" "$work/nothing.c" -Wl,--no-as-needed "$work/libbetween.so" -Wl,--allow-shlib-undefined
    run elsewhere 22 "$rex_run" --omptarget="$lib22" "$work/through"
    says 126 "the loader takes $folder19/libomptarget.so.19.1 all the same"
    tidy 'what --omptarget refuses'
    # No libomptarget to replace: a plain run.
    # shellcheck disable=SC2016
    run "$rex_run" --omptarget="$lib22" sh -c 'echo "$REX_OMPTARGET"; exit 3'
    [ "$status,$(cat "$work/out")" = "3,$(realpath "$lib22")" ] || fail "--omptarget for a program without: $status $(cat "$work/out")"

    # A program that says when it is ready, and on SIGUSR1 what it got; a signal for rex-run is one for the program.
    cat >"$work/waits.c" <<'C'
#include <signal.h>
#include <stdio.h>
int main(void)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    puts("ready");
    fflush(stdout);
    sigwait(&set, &number);
    puts("got it");
    return 9;
}
C
    quietly "$CC" -o "$work/waits" "$work/waits.c" -Wl,--no-as-needed "$(realpath "$(library_of 19)")" -Wl,--allow-shlib-undefined
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
    [ "$status" = 143 ] || fail "after SIGTERM: status $status"
    signalled TSTP CONT USR1
    [ "$status,$rest" = '9,got it' ] || fail "after SIGTSTP, SIGCONT and SIGUSR1: status $status, $rest"
    signalled KILL
    [ "$status" = 137 ] || fail "after SIGKILL: status $status"
fi

exit "$failed"
