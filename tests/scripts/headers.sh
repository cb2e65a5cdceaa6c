#!/bin/sh
# What the public headers ask of a reader, and of a program's own names:
#   - whoever includes rex.h meets at most 80 functions (rex/detail.h, which nobody calls by name, does not count);
#   - every header says once since when what it declares is there;
#   - a program may have defined any word that is not ours as a macro before it includes a header, and any ordinary word after it.
#
# The ordinary words of the declarations (parameters, fields, locals) are put aside by rex/detail_push.h and brought back by
# rex/detail_pop.h. This test knows the words from the headers themselves; --write writes the two files anew.
# And files of generators and of nvcc compile: packets of either signedness, declarations behind the include, a host .cu; for REX's older
# output the compiler's message names the page that says what to do.
#
# usage: headers.sh [--write]
set -eu
cd "$(dirname "$0")/../.."
exec python3 - "$@" <<'PYTHON'
import glob
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 80
PAIR = ["include/rex/detail_push.h", "include/rex/detail_pop.h"]
HEADERS = [h for h in sorted(glob.glob("include/*.h") + glob.glob("include/rex/*.h")) if h not in PAIR]

# What the language and its library own. A program that defines one of these has broken them before us.
LANGUAGE = set("""
    auto bool break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static static_assert struct switch typedef union unsigned void volatile while true false
    NULL size_t memcpy memset snprintf calloc free offsetof maybe_unused
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t INT64_C INT64_MAX UINT16_MAX
""".split())
# CUDA's own, in rex/kernel.h.
LANGUAGE |= set("blockIdx threadIdx gridDim blockDim dim3".split())
# Of CUDA and of the C library what rex/clang.h defines for a GPU.
LANGUAGE |= set("""
    atomicAdd atomicAnd atomicCAS atomicExch atomicMax atomicMin atomicOr atomicSub atomicXor max min printf memset typename
    abs labs llabs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim fdimf floor
    fma fmaf fmax fmin fmod hypot hypotf lgamma llrint llround log log10 log1p log2 lrint lround nearbyint pow remainder rint round
    rsqrt sin sinh sqrt tan tanh tgamma trunc
""".split())
OURS = re.compile(r"(rex_|REX_|__|_[A-Z]|kmp_|kmpc_|ident_t$|register_cubin$|MPIX?_)")


def code_of(path):
    text = open(path).read()
    text = re.sub(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', lambda m: '""' if m[0][0] == '"' else " ", text, flags=re.S)
    return re.sub(r"\\\n", " ", text)


def ordinary(text):
    return {w for w in re.findall(r"(?<![\w.])[A-Za-z_]\w*|(?<=\.)[A-Za-z_]\w*", text)
            if w not in LANGUAGE and not OURS.match(w)}


DEFINE = r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(([^)]*)\))?(.*)$"


def macros(path):
    """(name, its ordinary words, whether it lasts): those that the header undefines again are used between push and pop."""
    code = code_of(path)
    gone = re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", code, re.M)
    for m in re.finditer(DEFINE, code, re.M):
        body = re.sub(r"\w*##\w*(##\w*)*", " ", m[4])
        yield m[1], ordinary(body) - set(re.findall(r"\w+", m[3] or "")), m[1] not in gone


def declared_words():
    words = set()
    for path in HEADERS:
        for line in code_of(path).split("\n"):
            if not line.lstrip().startswith("#"):
                words |= ordinary(line)
        for _, own, lasts in macros(path):
            words |= set() if lasts else own
    return words


failed = False


def fail(message):
    global failed
    failed = True
    print("FAIL: " + message)


# ---- the words of the declarations

NOTE = {
    PAIR[0]: """ * rex/detail_push.h - puts aside what a program has defined under the words that librex uses.
 *
 * Every public header includes this before all else and rex/detail_pop.h behind its declarations,
 * so that a program's `#define size ...` neither spoils a declaration nor is lost.
 * tests/scripts/headers.sh --write writes both. Everything here is since 0.1.
""",
    PAIR[1]: """ * rex/detail_pop.h - brings back what rex/detail_push.h has put aside.
 *
 * tests/scripts/headers.sh --write writes both. Everything here is since 0.1.
""",
}


def written(path, words):
    lines = []
    for word in sorted(words):
        if path == PAIR[0]:
            lines += ['#pragma push_macro("%s")' % word, "#undef " + word]
        else:
            lines += ['#pragma pop_macro("%s")' % word]
    return "/*\n%s *\n * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n */\n%s\n" % (NOTE[path], "\n".join(lines))


words = declared_words()
if "--write" in sys.argv[1:]:
    for path in PAIR:
        open(path, "w").write(written(path, words))
for path in PAIR:
    if open(path).read() != written(path, words):
        pattern = r'push_macro\("(\w+)"\)' if path == PAIR[0] else r'pop_macro\("(\w+)"\)'
        there = set(re.findall(pattern, open(path).read()))
        fail("%s is not of these headers (missing: %s; too many: %s): %s" % (
            path, " ".join(sorted(words - there)) or "none", " ".join(sorted(there - words)) or "none",
            "sh tests/scripts/headers.sh --write"))
for path in HEADERS:
    includes = re.findall(r'^#include "rex/(detail_\w+)\.h"', open(path).read(), re.M)
    declares = any(ordinary(line) for line in code_of(path).split("\n") if not line.lstrip().startswith("#"))
    if declares and includes != ["detail_push", "detail_pop"]:
        fail("%s declares something, and not between rex/detail_push.h and rex/detail_pop.h" % path)

# ---- the words of the macros: where a program uses one, its own names are back

for path in HEADERS:
    for name, own, lasts in macros(path):
        for word in sorted(own if lasts else []):
            fail("%s: the macro %s has the word %s, which the program may have defined" % (path, name, word))

# ---- programs that define every word, before and behind the include

# MPI's own header is in front, without the C++ classes that MPI has dropped: it is not ours to protect.
PROGRAM = """
#define OMPI_SKIP_MPICXX
%(mpis)s
%(before)s
#include <rex.h>
#include <rex_kmp.h>
#include <rex/inspect.h>
#include <rex/interop.h>
%(mpi)s
%(behind)s
REX_KERNEL(axpy);
double X[8];
REX_GLOBAL(X);
struct Pair { double A; double *B; };
int LAUNCH(double *Y, struct Pair *P);
int LAUNCH(double *Y, struct Pair *P)
{
    int64_t N = 8;
    REX_MAP(ARGUMENTS, REX_VALUE(N), REX_TO(X, N), REX_TOFROM(Y, N), REX_STRUCT(*P, A, B), REX_MEMBER(3, REX_TYPE_TO, *P, A),
            REX_MEMBER_POINTER(3, REX_TYPE_TO, *P, B, 0, N), REX_ALWAYS(REX_OBJECT(REX_TYPE_TO, N)));
    REX_DATA_MAP(REGION, REX_PRESENT(REX_ALLOC(X, N)), REX_USE_DEVICE_POINTER(Y));
    struct rex_kernel_launch HOW = rex_kernel_launch_of(REX_KERNEL_ID(axpy), 1, 32);
    REX_DATA_REGION(-1, REGION)
        if (rex_launch(&HOW, &ARGUMENTS) != 0)
            break;
    __tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(REGION));
    return rex_queue_create(NULL, -1, NULL, 0);
}
"""
plain = {"size", "name", "flags", "state", "next", "image", "args", "base", "count", "type", "begin", "end", "device", "map", "row",
         "value", "index", "key", "result", "map_name", "used", "section", "aligned", "weak", "visibility", "cleanup", "retain",
         "unused", "hidden", "reserved", "address", "data", "length", "lower", "member", "parent", "object", "pointer", "number",
         "kernel", "queue", "event", "graph", "module", "launch", "list", "view", "error", "option", "level", "message", "once",
         "handle", "bytes", "offset", "file", "symbol", "variable", "entry", "mapper", "capacity", "columns", "types", "sizes"}
defines = "\n".join("#define %s ] nonsense [" % w for w in sorted(words | plain))
mpi = subprocess.run("mpicc --showme:compile", shell=True, capture_output=True, text=True).stdout
if not mpi:
    print("left out: programs with rex/mpi.h: no mpicc of Open MPI")
with tempfile.TemporaryDirectory() as folder:
    for name, parts in (("before", (defines, "")), ("behind", ("", defines)), ("neither", ("", ""))):
        for compiler in ("gcc -std=c11", "clang-19 -std=c11", "g++ -std=c++17", "clang++-19 -std=c++17"):
            source = "%s/%s.%s" % (folder, name, "cc" if "++" in compiler else "c")
            open(source, "w").write(PROGRAM % {
                "before": parts[0], "behind": parts[1], "mpi": "#include <rex/mpi.h>" if mpi else "",
                "mpis": "#include <mpi.h>" if mpi else ""})
            run = subprocess.run(compiler.split() + mpi.replace("-I", "-isystem ").split() + ["-Wall", "-Wextra", "-Werror", "-Iinclude", "-fsyntax-only", source],
                                 capture_output=True, text=True)
            if run.returncode != 0:
                fail("words as macros %s the include: %s\n%s" % (name, compiler, run.stderr[:2000]))

# ---- what generators and nvcc compile

def compile_with(compiler, source, text, *flags):
    open(source, "w").write(text)
    return subprocess.run(compiler.split() + ["-Iinclude", *flags, source], capture_output=True, text=True)


STRICT = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only".split()
C, CXX = ("gcc -std=c11", "gcc -std=gnu2x", "clang-19 -std=c11"), ("g++ -std=c++11", "g++ -std=c++17", "clang++-19 -std=c++17")
# A packet as REX fills it, from signed variables, and as LLVM does; functions declared again behind the include.
PACKET = """
#include <rex_kmp.h>
void rex_offload_init(void);
void rex_offload_fini(void);
int fill(SIGN##32_t n, SIGN##64_t trip, void *key, int (**init)(void));
int fill(SIGN##32_t n, SIGN##64_t trip, void *key, int (**init)(void))
{
    struct __tgt_kernel_arguments packet = {3, n, 0, 0, 0, 0, 0, 0, trip, 0, {n, 1, 1}, {n, 1, 1}, n};
    *init = rex_offload_init;
    if (rex_offload_init() != 0)
        return 1;
    rex_offload_fini();
    return __tgt_target_kernel(-1, 1, 1, key, &packet);
}
"""
# A host file: every header but those for kernels and MPI, and the macros that a program uses most.
HOST = """
%s
REX_KERNEL(axpy);
int launch(double *x, double *y, int64_t n)
{
    REX_MAP(args, REX_VALUE(n), REX_VALUE(2.0), REX_TO(x, n), REX_TOFROM(y, n));
    struct rex_kernel_launch how = rex_kernel_launch_of(REX_KERNEL_ID(axpy), 8, 128);
    REX_DATA_MAP(region, REX_ALLOC(x, n));
    REX_DATA_REGION(-1, region)
        if (rex_launch(&how, &args) != 0)
            break;
    __tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(region));
    return rex_offload_init();
}
"""
OLDER = {
    "__cubin_desc": "#include <rex_kmp.h>\nstruct __tgt_bin_desc *__cubin_desc = 0;\n",
    "register_cubin()": """#include <rex_kmp.h>
struct __tgt_offload_entry table[1];
void begin(void);
void begin(void)
{
    __cubin_desc = register_cubin("rex_lib_nvidia.cubin", &table[0], &table[1]);
}
""",
}
host_headers = [h[len("include/"):] for h in HEADERS if not re.search(r"/(kernel|clang|reduce|mpi)\.h$", h)]
includes = "".join("#include <%s>\n" % h for h in host_headers)
with tempfile.TemporaryDirectory() as folder:
    for compiler in C + CXX:
        source = "%s/file.%s" % (folder, "cc" if "++" in compiler else "c")
        for sign, flags in (("int", []), ("uint", ["-DREX_PACKET_UNSIGNED"])):
            run = compile_with(compiler, source, PACKET.replace("SIGN##", sign), *STRICT, *flags)
            if run.returncode != 0:
                fail("a packet of %s32_t: %s\n%s" % (sign, compiler, run.stderr[:2000]))
        for name, text in OLDER.items():
            run = compile_with(compiler, source, text, "-fsyntax-only")
            if run.returncode == 0 or "rex_kmp(3)" not in run.stderr:
                fail("REX's older %s: %s does not name the page\n%s" % (name, compiler, run.stderr[:2000]))
    for compiler in CXX:
        run = compile_with(compiler, folder + "/linkage.cc", HOST % ('extern "C" {\n%s}' % includes), "-fsyntax-only")
        if run.returncode != 0:
            fail('the headers inside of extern "C": %s\n%s' % (compiler, run.stderr[:2000]))
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        print("left out: a host file by nvcc: no nvcc")
    for what, text in (("the headers", "#include <rex/kernel.h>\n" + includes), ('the headers inside of extern "C"', 'extern "C" {\n%s}' % includes)) if nvcc else ():
        run = compile_with(nvcc, folder + "/host.cu", HOST % text, "-arch=sm_90", "-c", "-o", folder + "/host.o")
        if run.returncode != 0 or run.stderr:
            fail("%s by nvcc:\n%s" % (what, run.stderr[:2000]))

# ---- since when

for path in HEADERS + PAIR:
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
    if path in PAIR or path == "include/rex/detail.h":
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
print("%d ordinary words in the declarations" % len(words))
sys.exit(failed)
PYTHON
