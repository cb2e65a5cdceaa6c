/*
 * jit.c - PTX becomes a CUBIN: the CUDA driver's linker compiles it, in the context of the GPU that
 * it is for.
 *
 * libomptarget takes CUBINs alone. On an H100 compiling takes 57 to 122 ms, and what comes out has
 * CUDA 13's header. The driver keeps it in its own cache, of which the linker makes use too: 12 MB
 * of PTX took 14 s in one process, and 47 ms in the next.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/jit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "cuda/driver.h"

/* Of cuda.h. */
#define JIT_ERROR_LOG_BUFFER 5
#define JIT_ERROR_LOG_BUFFER_SIZE 6
#define JIT_GENERATE_LINE_INFO 13
#define JIT_INPUT_PTX 1

/* ---- what the linker says -------------------------------------------------------------------- */

static const struct {
    int result;
    const char *hint;
} hints[] = {
    {200, ""}, /* CUDA_ERROR_INVALID_IMAGE */
    {209, ""}, /* NO_BINARY_FOR_GPU */
    {218, ""}, /* INVALID_PTX */
    {222, "; the PTX is newer than the driver: compile it with an older nvcc, or make a CUBIN"},
};

/* One line out of many. */
static void flatten(char *log)
{
    char *to = log;
    for (const char *from = log; *from != '\0'; from++)
        if (*from != '\n')
            *to++ = *from;
        else if (to > log && from[1] != '\0' && to[-1] != ' ')
            *to++ = ' ';
    *to = '\0';
}

static int failed(int result, char *log, const char *name)
{
    const char *hint = NULL;
    char said[3072];
    flatten(log);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].result == result)
            hint = hints[i].hint;
    if (result == 221) /* JIT_COMPILER_NOT_FOUND */
        return rex_fail(REX_ECUDA,
                        "device image %s is PTX, and the CUDA driver's compiler, "
                        "libnvidia-ptxjitcompiler.so.1, is not installed",
                        name);
    snprintf(said, sizeof said, "%s%s%s%s", rex_cuda_why(), *log != '\0' ? ": " : "", log,
             hint != NULL ? hint : "");
    return rex_fail(hint != NULL ? REX_EIMAGE : REX_ECUDA,
                    "device image %s: the CUDA driver cannot compile the PTX: %s", name, said);
}

/* ---- linking --------------------------------------------------------------------------------- */

/* The linker's CUBIN lasts as long as the linker. */
static int copy_out(const void *from, size_t size, unsigned char **cubin, size_t *cubin_size)
{
    unsigned char *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        return rex_fail_memory(size, "a compiled device image");
    memcpy(copy, from, size);
    *cubin = copy;
    *cubin_size = size;
    return REX_OK;
}

/*
 * Whether the PTX says which lines of its source it comes from, as that of clang -g does. Where it
 * does not, the compiler would number the lines of the PTX.
 */
static bool has_lines(const unsigned char *ptx, size_t size)
{
    static const char directive[] = "\t.loc\t";
    return memmem(ptx, size, directive, strlen(directive)) != NULL;
}

static int link_ptx(const unsigned char *ptx, size_t size, const char *name, unsigned char **cubin,
                    size_t *cubin_size)
{
    char log[2048] = "";
    int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE, JIT_GENERATE_LINE_INFO};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1),
                      (void *)(uintptr_t)has_lines(ptx, size)};
    void *state = NULL, *made = NULL;
    size_t made_size = 0;
    int result = REX_CUDA(cuLinkCreate, 3, options, values, &state);
    if (result != 0)
        return failed(result, log, name);
    /* The size counts the NUL. */
    result = REX_CUDA(cuLinkAddData, state, JIT_INPUT_PTX, (void *)(uintptr_t)ptx, size + 1, name,
                      0, NULL, NULL);
    if (result == 0)
        result = REX_CUDA(cuLinkComplete, state, &made, &made_size);
    result = result != 0 ? failed(result, log, name) : copy_out(made, made_size, cubin, cubin_size);
    rex_driver.cuLinkDestroy(state);
    return result;
}

static int no_context(int gpu, const char *name)
{
    return rex_fail(REX_ECUDA, "device image %s: GPU %d, for compiling the PTX: %s", name, gpu,
                    rex_cuda_why());
}

static int link_on(int gpu, const unsigned char *ptx, size_t size, const char *name,
                   unsigned char **cubin, size_t *cubin_size)
{
    void *context;
    if (rex_context_retain(gpu, &context) != 0)
        return no_context(gpu, name);
    int entered = rex_context_enter(context);
    int result = entered < 0 ? no_context(gpu, name) : link_ptx(ptx, size, name, cubin, cubin_size);
    rex_context_leave(entered);
    rex_context_drop(gpu);
    return result;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static double milliseconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) * 1e3 +
           (double)(now.tv_nsec - start->tv_nsec) * 1e-6;
}

int rex_jit(const unsigned char *ptx, size_t size, int gpu, const char *name, unsigned char **cubin,
            size_t *cubin_size, bool *held)
{
    struct timespec start;
    if (rex_cuda_need(REX_CUDA_LINKER) != 0)
        return rex_fail(REX_ECUDA, "device image %s is PTX: %s", name, rex_cuda_why());
    clock_gettime(CLOCK_MONOTONIC, &start);
    rex_context_activate_one(gpu);
    *held = true;
    int result = link_on(gpu, ptx, size, name, cubin, cubin_size);
    if (result == REX_OK)
        rex_log(REX_LOG_INFO, "device image %s: PTX compiled for sm_%u in %.0f ms", name,
                rex_cuda_architecture(gpu), milliseconds_since(&start));
    return result;
}
