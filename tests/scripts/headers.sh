#!/bin/sh
# Files of generators and of nvcc compile: packets of either signedness, declarations behind the include, a host .cu,
# and every generated program of the tree, as C, as C++ and as a host .cu. For REX's older output the compiler's message
# names the page that says what to do. And the public headers ask little of a reader:
#   - rex.h leads to at most 80 functions (rex/detail.h does not count, which is not called by name);
#   - every header says once since when what it declares is there;
#   - rex_kmp.h, which all generated code includes, is at most 420 lines: gcc -E -P, system headers and blank lines left out.
. tests/support/lib.sh
link=tests/link/headers
[ -n "$nvcc" ] || echo 'left out: a host file by nvcc: no nvcc'

# ---- what rex_kmp.h makes of the names that generated code calls: the wrapper that registers first, unless it is librex's own code

for language in c c++; do
    for way in DEFAULT REX_KMP_SAFE REX_KMP_INTERNAL; do
        direct=rex_direct_
        [ $way != REX_KMP_INTERNAL ] || direct=
        for name in target target_teams target_kernel target_data_begin target_data_end target_data_update; do
            made=$(printf '#include <rex_kmp.h>\n__tgt_%s\n' $name | gcc -E -P -x $language -Iinclude -D$way - | tail -n 1)
            [ "$made" = "${direct}__tgt_$name" ] || fail "$language, $way: __tgt_$name becomes $made"
        done
    done
done

# ---- what generators and nvcc compile

count=0
# compiles WORD...: without an error
compiles() {
    count=$((count + 1))
    quietly "$@" -Iinclude || fail "$*"
}
strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only'
programs="$O/examples/generator/work_host.c $O/examples/without_headers/launch_axpy.c $(echo examples/*_raw/*_raw.c \
    examples/0*_raw_*/*.c tests/runtime/generated/rose/*.c)"
[ "$(echo "$programs" | wc -w)" -ge 11 ] || fail 'generated programs were not found'
find include -name '*.h' | grep -vE '/(kernel|kernelform|clang|clangmath|reduce)\.h$' | sort |
    sed 's|^include/\(.*\)|#include <\1>|' >"$work/headers.h"

# The oldest and the newest compiler of each that is here; a plain gcc always is. Commands are words.
# shellcheck disable=SC2086
for compiler in 'gcc -x c -std=c11' 'gcc -x c -std=gnu2x' 'gcc-13 -x c -std=c11' 'gcc-14 -x c -std=gnu2x' \
    'clang-14 -x c -std=c11' 'clang-19 -x c -std=c11' 'g++ -x c++ -std=c++11' 'g++ -x c++ -std=c++17' \
    'g++-13 -x c++ -std=c++11' 'g++-14 -x c++ -std=c++17' 'clang++-14 -x c++ -std=c++11' 'clang++-19 -x c++ -std=c++17'; do
    command -v "${compiler%% *}" >/dev/null || { echo "left out: $compiler, which is not here"; continue; }
    for sign in -DSIGN -DREX_PACKET_UNSIGNED; do compiles $compiler $strict $sign $link/packet.c; done
    # The three ways to include the header.
    for way in -DPLAIN -DREX_KMP_SAFE -DREX_KMP_INTERNAL; do compiles $compiler $strict $way $link/names.c; done
    for file in older older_call; do
        ! $compiler -fsyntax-only -Iinclude $link/$file.c 2>"$work/err" || fail "$compiler takes $file.c"
        says 'rex_kmp(3)'
    done
    case $compiler in *++*) compiles $compiler -DLINKAGE -I"$work" -fsyntax-only $link/host.h ;; esac
    for program in $programs; do compiles $compiler -D_GNU_SOURCE -fsyntax-only "$program"; done
done
printf '#define FORMS in_cu\n#include "tests/runtime/oneline/forms.h"\n' >"$work/forms.h"
# shellcheck disable=SC2086
[ -z "$nvcc" ] || {
    cu="$nvcc -x cu -arch=sm_90 -c -o $work/host.o"
    for file in "$link/host.h" "-DLINKAGE $link/host.h" "-I. $work/forms.h"; do
        compiles $cu -I"$work" $file
        [ ! -s "$work/output" ] || fail "nvcc, $file: $(cat "$work/output")"
    done
    for program in $programs; do compiles $cu -D_GNU_SOURCE "$program"; done
}
echo "$count compilations"

python3 - <<'PYTHON' || failed=1
import glob
import re
import subprocess
import sys
import tempfile

MOST = 80
HEADERS = sorted(glob.glob("include/*.h") + glob.glob("include/rex/*.h"))


def code_of(path):
    text = open(path).read()
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', lambda m: '""' if m[0][0] == '"' else " ", text, flags=re.S)
    return re.sub(r"\\\n", " ", text)


failed = False


def fail(message):
    global failed
    failed = True
    print("FAIL: " + message)

# ---- how much generated code includes

MOST_LINES = 420
with tempfile.TemporaryDirectory() as folder:
    for name in ("stdbool", "stddef", "stdint", "stdlib", "string"):
        open("%s/%s.h" % (folder, name), "w").close()
    text = subprocess.run(["gcc", "-E", "-P", "-nostdinc", "-I" + folder, "-Iinclude", "-x", "c", "include/rex_kmp.h"],
                          capture_output=True, text=True, check=True).stdout
lines = sum(not not line.strip() for line in text.split("\n"))
print("%4d lines of rex_kmp.h, at most %d" % (lines, MOST_LINES))
if not 200 < lines <= MOST_LINES:
    fail("rex_kmp.h is %d lines behind the preprocessor" % lines)

# ---- since when

for path in HEADERS:
    text = re.sub(r"\s*\n \* ", " ", open(path).read())
    count = len(re.findall(r"Everything here is since \d+\.\d+", text))
    if count != 1:
        fail("%s says %d times since when what it has is there, not once" % (path, count))

# ---- how much a reader meets


def included(path, seen):
    if path not in seen:
        seen.append(path)
        for name in re.findall(r'^#include "([\w/]+\.h)"', open(path).read(), re.M):
            included("include/" + name, seen)
    return seen

functions = {}
for path in included("include/rex.h", []):
    if path == "include/rex/detail.h":
        continue
    flat = re.sub(r"^[ \t]*#[^\n]*", "", code_of(path), flags=re.M)
    found = re.findall(r"\b(?:REX_API|static inline|REX_DEVICE|REX_PER_BINARY)\b[^;{}()=]*?(\w+)\(|^[\w *]*?\b(__\w+)\([^;{]*;", flat, re.M)
    for name in found:
        if name[1] != "__asm__":
            functions[name[0] or name[1]] = path
for path in sorted(set(functions.values())):
    print("%4d functions in %s" % (sum(p == path for p in functions.values()), path))
print("%4d functions for a reader of rex.h, at most %d" % (len(functions), MOST))
if len(functions) > MOST:
    fail("rex.h is more than %d functions" % MOST)
if len(functions) < 40:
    fail("functions were not found: this test is broken")
sys.exit(failed)
PYTHON
