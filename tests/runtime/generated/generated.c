/*
 * Host code as the REX compiler emits it (rose/) compiles and runs unchanged: as C11 and C++17, by gcc and clang, with and without a call
 * of rex_offload_init().
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

static void run(const char *name)
{
    char command[PATH_MAX + 32];
    snprintf(command, sizeof command, "exec '%s/%s'", own_folder(), name);
    fflush(NULL);
    int status = system(command);
    if (status != 0)
        fail_msg("%s: wait status %#x", command, (unsigned)status);
}

/* cmocka has no parameters for tests: one function for each program. */
#define PROGRAM(name)                                                                                                  \
    TEST(name) \
    { \
        run(#name);                                                                                                    \
    }
PROGRAM(c_init)
PROGRAM(c_lazy)
PROGRAM(cxx_init)
PROGRAM(cxx_lazy)
PROGRAM(clangxx_init)
PROGRAM(clangxx_lazy)
