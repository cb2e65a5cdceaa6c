#!/bin/sh
# Files of generators and of nvcc compile: packets of either signedness, declarations behind the include, a host .cu,
# and every generated program of the tree, as C, as C++ and as a host .cu. For REX's older output the compiler's message
# names the page that says what to do. And the public headers ask little of a reader:
#   - rex.h leads to at most 80 functions (rex/detail.h does not count, which is not called by name);
#   - every header says once since when what it declares is there;
#   - rex_kmp.h, which all generated code includes, is at most 420 lines: gcc -E -P, system headers and blank lines left out.
# make builds for it: examples
. tests/support/lib.sh
link=tests/link/headers
[ -n "$nvcc" ] || echo 'left out: a host file by nvcc: no nvcc'

# ---- what rex_kmp.h makes of the names that generated code calls: the wrapper that registers first, unless it is librex's own code

names='target target_teams target_kernel target_data_begin target_data_end target_data_update'
for language in c c++; do
    for way in DEFAULT REX_KMP_INTERNAL; do
        direct=rex_direct_
        [ $way != REX_KMP_INTERNAL ] || direct=
        for name in $names; do echo "${direct}__tgt_$name"; done >"$work/expected"
        { echo '#include <rex_kmp.h>'; for name in $names; do echo "__tgt_$name"; done; } |
            gcc -E -P -x $language -Iinclude -D$way - | tail -n 6 | diff "$work/expected" - || fail "$language, $way: other names"
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
    examples/13_raw_packet/*.c tests/runtime/generated/rose/*.c)"
[ "$(echo "$programs" | wc -w)" -ge 11 ] || fail 'generated programs were not found'
find include -name '*.h' | grep -vE '/(kernel|kernelform|clang|clangmath|openmp|reduce)\.h$' | sort |
    sed 's|^include/\(.*\)|#include <\1>|' >"$work/headers.h"

# ---- macros of the program

# A program may have a macro of any name that the headers use, but for keywords and names of the language and its library.
python3 - "$work" <<'PYTHON'
import re
import sys

FIELDS = "Version NumArgs ArgsBase Args ArgSizes ArgTypes ArgNames ArgMappers Tripcount Flags Teams Threads DynCGroupMem".split()
TAKEN = """auto break case char const continue default do double else enum extern float for goto if inline int long return short signed sizeof
    static struct switch typedef union unsigned void volatile while static_assert bool true false NULL size_t memcpy memset INT64_C
    define defined include ifdef ifndef endif undef pragma""".split()
names, seen = set(), ["include/rex_kmp.h"]
for path in seen:
    text = re.sub(r'/\*.*?\*/|//[^\n]*', " ", open(path).read(), flags=re.S)
    found = ["include/" + name for name in re.findall(r'^#include "([\w/]+\.h)"', text, re.M)]
    seen += [name for name in found if name not in seen]
    names |= set(re.findall(r"\b[A-Za-z]\w*", re.sub(r'"(?:\\.|[^"\\\n])*"|##\w+|\w+##', " ", text)))
names = sorted(n for n in names if n not in TAKEN and not re.match(r"rex_|REX_|kmp|u?int(\d+|ptr)_t$", n))
assert len(seen) >= 5 and set(FIELDS) <= set(names), (seen, names)
USE = """static inline int use(void)
{
    long rex_n = 3;
    void *rex_base[] = {rex_pack_literal_arg_bytes(&rex_n, sizeof rex_n)};
    long rex_sizes[] = {8}, rex_types[] = {REX_MAP_TARGET_PARAM | REX_MAP_LITERAL};
    struct __tgt_kernel_arguments rex_args = rex_packet(1, rex_base, rex_base, rex_sizes, rex_types, 1, 32);
    rex___tgt_target_data_begin(-1, 0, 0, 0, 0, 0);
    return rex_offload_init() || __tgt_target_kernel(-1, 1, 32, rex_base, &rex_args) ||
           __tgt_target_teams(-1, rex_base, 1, rex_base, rex_base, rex_sizes, rex_types, 1, 32) || rex_offload_fini();
}
int check(void);
int check(void)
{
    return use();
}
"""
for kind, parameter, argument in ("object", "", ""), ("function", "(x)", "(0)"):
    for file, which, headers in (("all", names, ["rex_kmp.h"]), ("rex", FIELDS, ["rex.h"]), ("before", FIELDS, ["rex.h", "rex_kmp.h"]),
                                 ("after", FIELDS, ["rex_kmp.h", "rex.h"])):
        with open("%s/macros_%s_%s.c" % (sys.argv[1], file, kind), "w") as out:
            out.writelines("#define %s%s 47%d\n" % (n, parameter, i) for i, n in enumerate(which))
            out.writelines("#include <%s>\n" % name for name in headers)
            out.write(USE if file == "all" else "")
            out.writelines("#if %s%s != 47%d\n#error %s\n#endif\n" % (n, argument, i, n) for i, n in enumerate(which))
print("%d names of macros" % len(names))
PYTHON

# The oldest and the newest compiler of each; a plain gcc is always here. Commands are words.
# shellcheck disable=SC2086
for compiler in 'gcc -x c -std=c11' 'gcc-14 -x c -std=gnu2x' 'clang-14 -x c -std=c11' 'clang-19 -x c -std=gnu2x' \
    'g++ -x c++ -std=c++11' 'g++-14 -x c++ -std=c++17' 'clang++-14 -x c++ -std=c++11' 'clang++-19 -x c++ -std=c++17'; do
    command -v "${compiler%% *}" >/dev/null || { echo "left out: $compiler, which is not here"; continue; }
    for sign in -DSIGN -DREX_PACKET_UNSIGNED; do compiles $compiler $strict $sign $link/packet.c; done
    # The two ways to include the header.
    for way in -DPLAIN -DREX_KMP_INTERNAL; do compiles $compiler $strict $way $link/names.c; done
    for file in older older_call; do
        ! $compiler -fsyntax-only -Iinclude $link/$file.c 2>"$work/err" || fail "$compiler takes $file.c"
        says 'rex_kmp(3)'
    done
    case $compiler in *++*) compiles $compiler -DLINKAGE -I"$work" -fsyntax-only $link/host.h ;; esac
    compiles $compiler -D_GNU_SOURCE -fsyntax-only $programs
    modes='-std=c11 -std=gnu11'
    case $compiler in *++*) modes='-std=c++11 -std=gnu++11' ;; esac
    for mode in $modes; do compiles $compiler $strict $mode "$work"/macros_*.c; done
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
echo "$count calls of compilers"

# ---- how much generated code includes, and a reader meets; since when it is there

: >"$work/nothing.h"
for name in stdbool stddef stdint stdlib string; do cp "$work/nothing.h" "$work/$name.h"; done
lines=$(gcc -E -P -nostdinc -I"$work" -Iinclude -x c include/rex_kmp.h | grep -c '[^[:space:]]')
echo "$lines lines of rex_kmp.h, at most 420"
if [ "$lines" -lt 200 ] || [ "$lines" -gt 420 ]; then fail "rex_kmp.h is $lines lines behind the preprocessor"; fi
python3 - <<'PYTHON' || failed=1
import glob
import re
import sys

failures = []
for path in sorted(glob.glob("include/*.h") + glob.glob("include/rex/*.h")):
    count = len(re.findall(r"Everything here is since \d+\.\d+", re.sub(r"\s*\n \* ", " ", open(path).read())))
    if count != 1:
        failures.append("%s says %d times since when what it has is there, not once" % (path, count))

seen, functions = ["include/rex.h"], set()
for path in seen:
    text = open(path).read()
    seen += [name for name in re.findall(r'^#include "([\w/]+\.h)"', text, re.M) for name in ["include/" + name] if name not in seen]
    if path == "include/rex/detail.h":
        continue
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', lambda m: '""' if m[0][0] == '"' else " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#[^\n]*", "", re.sub(r"\\\n", " ", text), flags=re.M)
    found = re.findall(r"\b(?:REX_API|static inline|REX_DEVICE|REX_PER_BINARY)\b[^;{}()=]*?(\w+)\(|^[\w *]*?\b(__\w+)\([^;{]*;", text, re.M)
    functions |= {one or other for one, other in found if other != "__asm__"}
print("%4d functions for a reader of rex.h, at most 80" % len(functions))
if not 40 <= len(functions) <= 80:
    failures.append("rex.h is %d functions" % len(functions))
print(*("FAIL: " + text for text in failures), sep="\n")
sys.exit(len(failures) > 0)
PYTHON
