/*
 * Host code as the REX compiler emits it (rose/) compiles and runs unchanged: as C11 and C++17, by gcc and clang, with and without a call
 * of rex_offload_init(), by the direct and by the safe wrappers.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

static void run(const char *name)
{
    char path[PATH_MAX + 32];
    char *arguments[] = {path, NULL};
    pid_t child;
    int status = -1;
    snprintf(path, sizeof path, "%s/%s", own_folder(), name);
    fflush(NULL);
    assert_int_equal(posix_spawn(&child, path, NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: wait status %#x", path, (unsigned)status);
}

/* cmocka has no parameters for tests: one function for each program. */
#define PROGRAM(name)                                                                                                  \
    TEST(name) \
    { \
        run(#name);                                                                                                    \
    }
PROGRAM(c_init)
PROGRAM(c_lazy)
PROGRAM(c_safe)
PROGRAM(cxx_init)
PROGRAM(cxx_lazy)
PROGRAM(clangxx_init)
PROGRAM(clangxx_lazy)
