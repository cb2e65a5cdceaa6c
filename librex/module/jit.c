/*
 * jit.c - PTX becomes a CUBIN: the CUDA driver's linker compiles it, in the context of the GPU that
 * it is for.
 *
 * libomptarget takes CUBINs alone. On an H100 compiling takes 57 to 122 ms, and what comes out has
 * CUDA 13's header.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/jit.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "module/cache.h"

/* Of cuda.h. */
#define JIT_ERROR_LOG_BUFFER 5
#define JIT_ERROR_LOG_BUFFER_SIZE 6
#define JIT_INPUT_PTX 1

struct linker {
    int (*cuLinkCreate)(unsigned count, int *options, void **values, void **state);
    int (*cuLinkAddData)(void *state, int type, void *data, size_t size, const char *name,
                         unsigned count, int *options, void **values);
    int (*cuLinkComplete)(void *state, void **cubin, size_t *size);
    int (*cuLinkDestroy)(void *state);
    int (*cuCtxPushCurrent)(void *context);
    int (*cuCtxPopCurrent)(void **context);
    int (*cuDriverGetVersion)(int *version);
};

static int find(struct linker *linker)
{
    const struct rex_cuda_function functions[] = {
        {"cuLinkCreate_v2", "6.5", &linker->cuLinkCreate},
        {"cuLinkAddData_v2", "6.5", &linker->cuLinkAddData},
        {"cuLinkComplete", "5.5", &linker->cuLinkComplete},
        {"cuLinkDestroy", "5.5", &linker->cuLinkDestroy},
        {"cuCtxPushCurrent_v2", "4.0", &linker->cuCtxPushCurrent},
        {"cuCtxPopCurrent_v2", "4.0", &linker->cuCtxPopCurrent},
        {"cuDriverGetVersion", "2.2", &linker->cuDriverGetVersion},
    };
    return rex_cuda_find(functions, sizeof functions / sizeof *functions);
}

#define CUDA(function, ...) rex_cuda_record(linker->function(__VA_ARGS__), #function)

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

static int link_ptx(const struct linker *linker, const unsigned char *ptx, size_t size,
                    const char *name, unsigned char **cubin, size_t *cubin_size)
{
    char log[2048] = "";
    int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)}, *state = NULL, *made = NULL;
    size_t made_size = 0;
    int result = CUDA(cuLinkCreate, 2, options, values, &state);
    if (result != 0)
        return failed(result, log, name);
    /* The size counts the NUL. */
    result = CUDA(cuLinkAddData, state, JIT_INPUT_PTX, (void *)(uintptr_t)ptx, size + 1, name, 0,
                  NULL, NULL);
    if (result == 0)
        result = CUDA(cuLinkComplete, state, &made, &made_size);
    result = result != 0 ? failed(result, log, name) : copy_out(made, made_size, cubin, cubin_size);
    linker->cuLinkDestroy(state);
    return result;
}

static int link_on(const struct linker *linker, int gpu, const unsigned char *ptx, size_t size,
                   const char *name, unsigned char **cubin, size_t *cubin_size)
{
    void *context;
    if (rex_cuda_context_hold(gpu, &context) != 0)
        return rex_fail(REX_ECUDA, "device image %s: GPU %d, for compiling the PTX: %s", name, gpu,
                        rex_cuda_why());
    int result = REX_OK;
    if (CUDA(cuCtxPushCurrent, context) != 0)
        result = rex_fail(REX_ECUDA, "device image %s: GPU %d, for compiling the PTX: %s", name,
                          gpu, rex_cuda_why());
    else {
        result = link_ptx(linker, ptx, size, name, cubin, cubin_size);
        linker->cuCtxPopCurrent(&context);
    }
    rex_cuda_context_release(gpu);
    return result;
}

/* ---- the cache ------------------------------------------------------------------------------- */

/*
 * What the code depends on besides the PTX: the driver, by its number and by its file,
 * libcuda.so.580.95.05.
 */
static void name_driver(const struct linker *linker, char driver[REX_CACHE_MAKER_MAX])
{
    char path[PATH_MAX] = "";
    Dl_info info;
    void *address;
    int version = 0;
    memcpy(&address, &linker->cuLinkComplete, sizeof address);
    linker->cuDriverGetVersion(&version);
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL ||
        realpath(info.dli_fname, path) == NULL)
        path[0] = '\0';
    const char *slash = strrchr(path, '/');
    snprintf(driver, REX_CACHE_MAKER_MAX, "%d %.100s", version, slash != NULL ? slash + 1 : path);
}

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
    struct linker linker;
    struct timespec start;
    struct rex_cache_key key = {
        .source = ptx, .source_size = size, .architecture = rex_cuda_architecture(gpu)};
    if (find(&linker) != 0)
        return rex_fail(REX_ECUDA, "device image %s is PTX: %s", name, rex_cuda_why());
    name_driver(&linker, key.maker);
    if (rex_cache_load(&key, name, cubin, cubin_size) == 0)
        return REX_OK;
    clock_gettime(CLOCK_MONOTONIC, &start);
    rex_context_activate(key.architecture);
    *held = true;
    int result = link_on(&linker, gpu, ptx, size, name, cubin, cubin_size);
    if (result != REX_OK)
        return result;
    rex_log(REX_LOG_INFO, "device image %s: PTX compiled for sm_%u in %.0f ms", name,
            key.architecture, milliseconds_since(&start));
    rex_cache_store(&key, *cubin, *cubin_size);
    return REX_OK;
}
