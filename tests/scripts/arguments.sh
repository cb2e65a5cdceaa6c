#!/bin/sh
# What compilers say of launches, regions and kernels that are wrong: each mistake alone is an error of each compiler, in C and in C++, with
# the words that tell of it; and the program without the mistake compiles with all warnings on.
. tests/support/lib.sh
python3 - <<'PYTHON'
import re
import shutil
import subprocess
import sys

STRICT = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -Iinclude".split()
COMPILERS = ["gcc -std=c11 -x c", "clang-14 -std=c11 -x c", "clang-19 -std=c11 -x c",
             "g++ -std=c++11 -x c++", "clang++-14 -std=c++11 -x c++", "clang++-19 -std=c++11 -x c++"]
HOST = """#include <rex.h>
#define NAMED axpy
#define SHARED total
double total;
REX_GLOBAL(SHARED);
REX_KERNEL(NAMED, %(parameters)s);
REX_KERNEL(any);
int go(int64_t n, double a, const double *x, double *y, const float *f);
int go(int64_t n, double a, const double *x, double *y, const float *f)
{
    int two[2] = {1, 2}, error = REX_LAUNCH(axpy, 8, 128, %(rows)s);
    REX_DATA_REGION(&error, -1, %(region)s) {
        error = REX_LAUNCH(any, 1, 1, %(many)s);
    }
    if (n > two[1])
        return total__global__omp_offload_entry__.name[0] + (REX_KERNEL_ID(NAMED) == (const void *)f);
    return f[0] > 0 ? error : REX_LAUNCH_FOR(NAMED, n, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n));
}
"""
DEVICE = """#include <rex/kernel.h>
#pragma GCC diagnostic ignored "-Wunused-parameter"
struct two {
    double one, other;
};
#define NAMED kernel
REX_DEVICE_KERNEL(NAMED, %(kernel)s)
{
}
__typeof__(kernel__kernel__) kernel__kernel__;
"""
N, A, X, Y = "REX_VALUE(n)", "REX_VALUE(a)", "REX_TO(x, n)", "REX_TOFROM(y, n)"
RIGHT = {
    "parameters": "(int64_t) n, (double) a, (const double *) x, (double *) y",
    "rows": ", ".join([N, A, X, Y]),
    "region": ", ".join([X] * 64),
    "many": ", ".join([N] * 64),
    "kernel": ", ".join("(double) p%d" % i for i in range(64)),
}
# What is wrong instead, and what every message has.
MISTAKES = [
    ("too few rows", "rows", [N, A, X], "too few arguments|requires 5 arguments, but 4 were"),
    ("too many rows", "rows", [N, A, X, Y, N], "too many arguments|requires 5 arguments, but 6 were"),
    ("a double for an int64_t", "rows", [A, A, X, Y], "rex_double.*rex_integer|rex_integer.*rex_double"),
    ("an integer for a pointer", "rows", [N, A, N, Y], "rex_integer.*double ?\\*|double ?\\*.*rex_integer"),
    ("a pointer to float for one to double", "rows", [N, A, "REX_TO(f, n)", Y], "float ?\\*"),
    ("a const pointer for a writable one", "rows", [N, A, X, "REX_TOFROM(x, n)"], "discards|invalid conversion|lose const"),
    ("a row that no macro makes", "rows", [N, A, X, "rex_row_of(y, y, 8 * n, 0x23)"], "['‘](struct )?rex_row['’]"),
    ("a number for a row", "rows", ["3", A, X, Y], "not a row: write REX_VALUE"),
    ("a variable for a row of a kernel without a list", "many", [N, "(n)"], "not a row: write REX_VALUE"),
    ("a pointer for a row of a region", "region", [X, "y"], "not a row: write REX_VALUE"),
    ("an array for a value", "many", [N, "REX_VALUE(two)"], "an array is not a value: write REX_TO"),
    ("65 rows of a launch", "many", [N] * 65, "rex_at_most_64_rows|more than 64 rows: use REX_MAP"),
    ("65 rows of a region", "region", [X] * 65, "rex_at_most_64_rows|more than 64 rows: use REX_MAP"),
    ("65 parameters of REX_KERNEL()", "parameters", ["(int) p%d" % i for i in range(65)], "a kernel has at most 64 parameters"),
    ("65 parameters of a kernel", "kernel", ["(int) p%d" % i for i in range(65)], "a kernel has at most 64 parameters"),
    ("a type without parentheses in REX_KERNEL()", "parameters", ["int n", "double a"], "REX_WRITE_THE_TYPE_IN_PARENTHESES_int"),
    ("a type without parentheses after a parameter", "parameters", ["(int64_t) n", "double a"], "REX_WRITE_THE_TYPE_IN_PARENTHESES_double|expected '\\)'"),
    ("a type without parentheses in a kernel", "kernel", ["double p"], "REX_WRITE_THE_TYPE_IN_PARENTHESES_double"),
    ("a parameter of 16 bytes", "kernel", ["(struct two) p"], "parameter p has more than 8 bytes.*REX_FIRSTPRIVATE"),
]


def compile_with(compiler, what):
    text = DEVICE if what is None or "kernel" in what else HOST
    return subprocess.run(compiler.split() + STRICT + ["-"], input=text % dict(RIGHT, **what or {}), capture_output=True, text=True)


failed = tried = 0
for compiler in COMPILERS:
    if not shutil.which(compiler.split()[0]):
        print("left out: %s: it is not here" % compiler)
        continue
    for name, what, message in [("no mistake", {}, None), ("no mistake", None, None)] + \
            [(name, {place: ", ".join(wrong)}, message) for name, place, wrong, message in MISTAKES]:
        run = compile_with(compiler, what)
        tried += 1
        if (run.returncode == 0 or not re.search(message, run.stderr, re.S)) if message else (run.returncode != 0 or run.stderr):
            failed += 1
            print("FAIL: %s: %s: status %d\n%s" % (name, compiler, run.returncode, run.stderr[:2000]))
print("%d programs tried" % tried)
sys.exit(failed > 0)
PYTHON
