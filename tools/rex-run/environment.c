/*
 * environment.c - sets the environment of the program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "environment.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/memory.h"
#include "die.h"

void put_in_front(const char *variable, const char *value, const char *separators)
{
    const char *old = getenv(variable);
    if (strpbrk(value, separators) != NULL)
        die(NOT_RUN, "%s cannot be put into %s: the path contains one of the characters \"%s\"",
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

bool is_setting(const char *name)
{
    static const char *const words[] = {"-", "on", "off", "yes", "no", "true", "false", "1", "0"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0)
            return true;
    return false;
}

void set_file(const char *variable, const char *before, const char *name)
{
    char folder[PATH_MAX], doubled[2 * PATH_MAX], *to = doubled;
    if (*name == '/' || is_setting(name) || getcwd(folder, sizeof folder) == NULL ||
        strlen(folder) + strlen(name) + 2 > PATH_MAX)
        folder[0] = '\0';
    for (const char *from = folder; *from != '\0'; *to++ = *from++)
        if (*from == '%')
            *to++ = '%';
    *to = '\0';
    char *value = tool_format("%s%s%s%s", before, doubled, *doubled != '\0' ? "/" : "", name);
    setenv(variable, value, 1);
    free(value);
}

void preload_librex(void)
{
    char path[PATH_MAX];
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, "rex_version");
    if (address == NULL || dladdr(address, &info) == 0 || realpath(info.dli_fname, path) == NULL)
        die(NOT_RUN, "librex.so cannot be found");
    const char *name = path;
    /*
     * A space ends a name in LD_PRELOAD, but not in LD_LIBRARY_PATH. So preload a name without a
     * folder.
     */
    if (strchr(path, ' ') != NULL) {
        char *slash = strrchr(path, '/');
        *slash = '\0';
        name = slash + 1;
        put_in_front("LD_LIBRARY_PATH", path, SEPARATORS);
    }
    put_in_front("LD_PRELOAD", name, ": ");
    setenv("REX_ADOPT", "on", 1);
}
