/*
 * link.c - the linker of the fake CUDA driver: it compiles nothing. What it gives is the file FAKE_LINK_CUBIN.
 *
 * FAKE_LINK_FAILS=NAME:RESULT makes a function return RESULT, with FAKE_LINK_LOG in the error log that the caller gave. It asks what the
 * real one asks: a current context, and PTX whose last byte is a NUL. FAKE_OLD: a build without it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

extern __thread int fake_cuda_current; /* contexts that this thread has pushed */

/* Linkers that were made, and that exist. */
int fake_cuda_links, fake_cuda_linkers;
/* Those that were to keep the numbers of source lines. */
int fake_cuda_links_with_lines;

struct linker {
    char *log, *cubin;
    size_t log_size;
};

#ifndef FAKE_OLD
static int fails(const struct linker *linker, const char *name)
{
    char wanted[64];
    int result = fake_cuda_result(name);
    if (result != 0)
        return result;
    const char *setting = getenv("FAKE_LINK_FAILS"), *log = getenv("FAKE_LINK_LOG");
    if (setting == NULL || sscanf(setting, "%63[^:]:%d", wanted, &result) != 2 || strcmp(wanted, name) != 0)
        return 0;
    if (linker != NULL && linker->log != NULL && log != NULL)
        snprintf(linker->log, linker->log_size, "%s", log);
    return result;
}

FUNCTION(cuLinkCreate_v2, unsigned count, int *options, void **values, void **state)
{
    int result = fails(NULL, "cuLinkCreate");
    if (result != 0)
        return result;
    if (fake_cuda_current == 0)
        return 201; /* CUDA_ERROR_INVALID_CONTEXT */
    struct linker *linker = calloc(1, sizeof *linker);
    for (unsigned i = 0; linker != NULL && i < count; i++) {
        if (options[i] == 5)
            linker->log = values[i];
        if (options[i] == 6)
            linker->log_size = (size_t)(uintptr_t)values[i];
        if (options[i] == 13 && values[i] != NULL)
            __atomic_fetch_add(&fake_cuda_links_with_lines, 1, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&fake_cuda_links, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&fake_cuda_linkers, 1, __ATOMIC_RELAXED);
    *state = linker;
    return linker != NULL ? 0 : 2;
}

FUNCTION(cuLinkAddData_v2, void *state, int type, void *data, size_t size, const char *name, unsigned count, int *options, void **values)
{
    int result = fails(state, "cuLinkAddData");
    (void)name, (void)count, (void)options, (void)values;
    if (result != 0)
        return result;
    return type == 1 && size > 0 && ((char *)data)[size - 1] == '\0' && strstr(data, ".version") != NULL ? 0 : 1; /* CUDA_ERROR_INVALID_VALUE */
}

FUNCTION(cuLinkComplete, void *state, void **cubin, size_t *size)
{
    struct linker *linker = state;
    const char *path = getenv("FAKE_LINK_CUBIN");
    int result = fails(linker, "cuLinkComplete");
    FILE *file = result == 0 && path != NULL ? fopen(path, "rb") : NULL;
    if (file == NULL)
        return result != 0 ? result : 301; /* CUDA_ERROR_FILE_NOT_FOUND */
    linker->cubin = malloc(1 << 20);
    *size = linker->cubin != NULL ? fread(linker->cubin, 1, 1 << 20, file) : 0;
    *cubin = linker->cubin;
    fclose(file);
    return 0;
}

FUNCTION(cuLinkDestroy, void *state)
{
    struct linker *linker = state;
    free(linker->cubin);
    free(linker);
    __atomic_fetch_sub(&fake_cuda_linkers, 1, __ATOMIC_RELAXED);
    return 0;
}
#endif
