/*
 * environment.c - what the program finds in its environment.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "environment.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"

void put_in_front(const char *variable, const char *value, const char *separators)
{
    const char *old = getenv(variable);
    if (strpbrk(value, separators) != NULL)
        die(NOT_RUN, "%s cannot be put into %s: its name contains one of the characters \"%s\"",
            value, variable, separators);
    if (old == NULL || *old == '\0') {
        setenv(variable, value, 1);
        return;
    }
    char *both;
    if (asprintf(&both, "%s:%s", value, old) < 0)
        die(NOT_RUN, "out of memory");
    setenv(variable, both, 1);
    free(both);
}

void preload_librex(void)
{
    char path[PATH_MAX];
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, "rex_version");
    if (address == NULL || dladdr(address, &info) == 0 || realpath(info.dli_fname, path) == NULL)
        die(NOT_RUN, "librex.so cannot be found");
    put_in_front("LD_PRELOAD", path, ": ");
    setenv("REX_ADOPT", "on", 1);
}
