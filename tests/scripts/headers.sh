#!/bin/sh
# What the public headers ask of a reader:
#   - whoever includes rex.h meets at most 80 functions (rex/detail.h, which nobody calls by name, does not count);
#   - every header says once since when what it declares is there;
#   - rex_kmp.h, which all generated code includes, is at most 420 lines: gcc -E -P, system headers and blank lines left out.
# And files of generators and of nvcc compile: packets of either signedness, declarations behind the include, a host .cu, and every
# generated program of the tree, as C, as C++ and as a host .cu; for REX's older output the compiler's message names the page that
# says what to do.
#
# usage: headers.sh
set -eu
cd "$(dirname "$0")/../.."
exec python3 - "$@" <<'PYTHON'
import glob
import os
import re
import shutil
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


# ---- what generators and nvcc compile

def compile_with(compiler, source, text, *flags):
    open(source, "w").write(text)
    return subprocess.run(compiler.split() + ["-Iinclude", *flags, source], capture_output=True, text=True)


def present(*compilers):
    here = [compiler for compiler in compilers if shutil.which(compiler.split()[0])]
    missing = [compiler for compiler in compilers if compiler not in here]
    if missing:
        print("left out: what is not here: " + ", ".join(missing))
    return tuple(here)


STRICT = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only".split()
# The oldest and the newest of each that is here; a plain gcc always is.
C = present("gcc -std=c11", "gcc -std=gnu2x", "gcc-13 -std=c11", "gcc-14 -std=gnu2x", "clang-14 -std=c11", "clang-19 -std=c11")
CXX = present("g++ -std=c++11", "g++ -std=c++17", "g++-13 -std=c++11", "g++-14 -std=c++17", "clang++-14 -std=c++11",
              "clang++-19 -std=c++17")
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
# A host file: every header but those for kernels, and the macros that a program uses most.
HOST = """
%s
REX_KERNEL(axpy);
int launch(double *x, double *y, int64_t n)
{
    REX_MAP(args, REX_VALUE(n), REX_VALUE(2.0), REX_TO(x, n), REX_TOFROM(y, n));
    struct rex_launch_config how = rex_launch_config_of(REX_KERNEL_ID(axpy), 8, 128);
    REX_MAP(region, REX_ALLOC(x, n));
    REX_DATA_REGION_MAP(NULL, -1, region)
        if (rex_launch(&how, &args) != 0)
            break;
    __tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(region));
    return rex_offload_init();
}
"""
# Both names of each wrapper, in each of the three ways to include the header: called, taken the address of, declared again.
NAMES = """
#include <rex_kmp.h>
int rex___tgt_target_kernel(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);
typedef int launcher(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);
typedef void data_call(int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types);
extern launcher *const launchers[];
launcher *const launchers[] = {rex___tgt_target_kernel, &rex_direct___tgt_target_kernel};
extern data_call *const calls[];
data_call *const calls[] = {rex___tgt_target_data_begin, &rex_direct___tgt_target_data_begin, rex___tgt_target_data_end};
#ifdef REX_KMP_INTERNAL
int rex___tgt_target_kernel(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args)
{
    return rex_direct___tgt_target_kernel(device, teams, threads, key, args);
}
#endif
int both(void *key, struct __tgt_kernel_arguments *args, struct __tgt_bin_desc **made);
int both(void *key, struct __tgt_kernel_arguments *args, struct __tgt_bin_desc **made)
{
    *made = register_cubin(0);
    rex___tgt_target_data_update(-1, 0, 0, 0, 0, 0);
    rex_direct___tgt_target_data_update(-1, 0, 0, 0, 0, 0);
    return rex___tgt_target_kernel(-1, 1, 1, key, args) + rex_direct___tgt_target_kernel(-1, 1, 1, key, args) +
           rex___tgt_target(-1, key, 0, 0, 0, 0, 0) + rex_direct___tgt_target_teams(-1, key, 0, 0, 0, 0, 0, 1, 1);
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
host_headers = [h[len("include/"):] for h in HEADERS if not re.search(r"/(kernel|kernelform|clang|clangmath|reduce)\.h$", h)]
includes = "".join("#include <%s>\n" % h for h in host_headers)
with tempfile.TemporaryDirectory() as folder:
    for compiler in C + CXX:
        source = "%s/file.%s" % (folder, "cc" if "++" in compiler else "c")
        for sign, flags in (("int", []), ("uint", ["-DREX_PACKET_UNSIGNED"])):
            run = compile_with(compiler, source, PACKET.replace("SIGN##", sign), *STRICT, *flags)
            if run.returncode != 0:
                fail("a packet of %s32_t: %s\n%s" % (sign, compiler, run.stderr[:2000]))
        for way in ([], ["-DREX_KMP_SAFE"], ["-DREX_KMP_INTERNAL"]):
            run = compile_with(compiler, source, NAMES, *STRICT, *way)
            if run.returncode != 0:
                fail("both names of the wrappers, %s: %s\n%s" % (way, compiler, run.stderr[:2000]))
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
    host_files = (("the headers", HOST % ("#include <rex/kernel.h>\n" + includes)), ('the headers inside of extern "C"', HOST % ('extern "C" {\n%s}' % includes)),
                  ("launches in one line", '#define FORMS in_cu\n#include "tests/runtime/oneline/forms.h"\n'))
    for what, text in host_files if nvcc else ():
        run = compile_with(nvcc, folder + "/host.cu", text, "-I.", "-arch=sm_90", "-c", "-o", folder + "/host.o")
        if run.returncode != 0 or run.stderr:
            fail("%s by nvcc:\n%s" % (what, run.stderr[:2000]))

    # Programs as compilers write them.
    make = ["make", "-s", "--no-print-directory", "print-O"]
    build = os.environ.get("O") or subprocess.run(make, capture_output=True, text=True, check=True).stdout.strip()
    programs = [build + "/examples/generator/work_host.c", build + "/examples/without_headers/launch_axpy.c"]
    for pattern in ("examples/*_raw/*_raw.c", "examples/0*_raw_*/*.c", "tests/runtime/generated/rose/*.c"):
        programs += sorted(glob.glob(pattern))
    tried = 0
    for compiler in C + CXX + ((nvcc + " -arch=sm_90",) if nvcc else ()):
        way = ["-x", "c++" if "++" in compiler else "c", "-fsyntax-only"]
        if "nvcc" in compiler:
            way = ["-x", "cu", "-c", "-o", folder + "/program.o"]
        for program in programs:
            run = subprocess.run(compiler.split() + ["-Iinclude", "-D_GNU_SOURCE", *way, program], capture_output=True, text=True)
            tried += 1
            if run.returncode != 0:
                fail("%s: %s\n%s" % (program, compiler, run.stderr[:2000]))
    print("%4d times a generated program compiles" % tried)
    if len(programs) < 11:
        fail("generated programs were not found")

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
