/*
 * mlir.c - a program around code that MLIR has lowered. It calls the lowered function, and checks
 * the result. Then it compares the time of a launch with that of a plain call of the CUDA driver.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../runtime/mlir.h"

/* Memrefs of two dimensions and of one, as llvm.emit_c_interface passes them. */
struct matrix {
    float *allocated, *aligned;
    int64_t offset, size[2], stride[2];
};
struct cell {
    float *allocated, *aligned;
    int64_t offset, size, stride;
};

/* The function of program.mlir. */
void _mlir_ciface_product_and_sum(struct matrix *a, struct matrix *b, struct matrix *c,
                                  struct cell *total);

static int failed(const char *what)
{
    const char *message;
    int code = rex_mlir_error(&message);
    if (code != 0)
        fprintf(stderr, "%s: error %d: %s\n", what, code, message);
    return code != 0;
}

static int64_t n = 512;

static struct matrix new_matrix(int seed)
{
    float *cells = calloc((size_t)(n * n), sizeof *cells);
    if (cells == NULL)
        exit(1);
    for (int64_t i = 0; seed != 0 && i < n * n; i++)
        cells[i] = (float)((i * seed) % 7 - 3);
    return (struct matrix){cells, cells, 0, {n, n}, {n, 1}};
}

/* Compares with a serial product. Small whole numbers have exact sums in any order of additions. */
static int check(const struct matrix *a, const struct matrix *b, const struct matrix *c,
                 float total)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            float expected = 0, found = c->aligned[i * n + j];
            for (int64_t k = 0; k < n; k++)
                expected += a->aligned[i * n + k] * b->aligned[k * n + j];
            sum += expected;
            if (expected != found) {
                fprintf(stderr, "c[%lld][%lld] is %g instead of %g\n", (long long)i, (long long)j,
                        (double)found, (double)expected);
                return 1;
            }
        }
    if (fabs((double)total - sum) > 1e-6 * fabs(sum) + 1) {
        fprintf(stderr, "the sum is %g instead of %g\n", (double)total, sum);
        return 1;
    }
    printf("%lld x %lld: the product is right, and its sum %g\n", (long long)n, (long long)n, sum);
    return 0;
}

/* ---- times ----------------------------------------------------------------------------------- */

#define LAUNCHES 20000

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static const char empty[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                            ".visible .entry empty(.param .u64 a, .param .u64 b)\n{\n\tret;\n}\n";

static double time_librex(struct rex_queue *stream, struct mlir_function *function)
{
    uint64_t a = 1, b = 2;
    void *arguments[] = {&a, &b};
    double begin = now();
    for (int i = 0; i < LAUNCHES; i++)
        mgpuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL, 2);
    mgpuStreamSynchronize(stream);
    return (now() - begin) / LAUNCHES;
}

/* Returns the driver's function NAME, or exits. librex has loaded the driver. */
static void *in_driver(const char *name)
{
    static void *driver;
    if (driver == NULL)
        driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *found = driver != NULL ? dlsym(driver, name) : NULL;
    if (found == NULL) {
        fprintf(stderr, "the driver has no %s\n", name);
        exit(1);
    }
    return found;
}

#define DRIVER(name, ...)     \
    int (*name)(__VA_ARGS__); \
    *(void **)(void *)&(name) = in_driver(#name)

/* Returns the microseconds of a launch in librex's context, or -1 if a call fails. */
static double time_driver(void)
{
    DRIVER(cuDevicePrimaryCtxRetain, void **context, int device);
    DRIVER(cuCtxSetCurrent, void *context);
    DRIVER(cuModuleLoadData, void **module, const void *image);
    DRIVER(cuModuleGetFunction, void **function, void *module, const char *name);
    DRIVER(cuStreamCreate, void **stream, unsigned flags);
    DRIVER(cuStreamSynchronize, void *stream);
    DRIVER(cuLaunchKernel, void *function, unsigned, unsigned, unsigned, unsigned, unsigned,
           unsigned, unsigned, void *stream, void **arguments, void **extra);
    uint64_t a = 1, b = 2;
    void *context, *module, *function, *stream, *arguments[] = {&a, &b};
    if (cuDevicePrimaryCtxRetain(&context, 0) != 0 || cuCtxSetCurrent(context) != 0 ||
        cuModuleLoadData(&module, empty) != 0 ||
        cuModuleGetFunction(&function, module, "empty") != 0 || cuStreamCreate(&stream, 1) != 0)
        return -1;
    double begin = now();
    for (int i = 0; i < LAUNCHES; i++)
        if (cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL) != 0)
            return -1;
    return cuStreamSynchronize(stream) == 0 ? (now() - begin) / LAUNCHES : -1;
}

static int compare_times(void)
{
    struct mlir_module *module = mgpuModuleLoadJIT((void *)(uintptr_t)empty, 2);
    struct mlir_function *function = mgpuModuleGetFunction(module, "empty");
    struct rex_queue *stream = mgpuStreamCreate();
    double ours[3], theirs[3];
    for (int i = 0; i < 3; i++) {
        ours[i] = time_librex(stream, function);
        theirs[i] = time_driver();
    }
    for (int i = 0; i < 3; i++)
        printf("a launch: %.2f us by mgpuLaunchKernel, %.2f us by cuLaunchKernel\n", ours[i],
               theirs[i]);
    mgpuStreamDestroy(stream);
    mgpuModuleUnload(module);
    return failed("times");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        n = atoll(argv[1]);
    if (failed("loading MLIR's module"))
        return 1;
    struct matrix a = new_matrix(3), b = new_matrix(5), c = new_matrix(0);
    float sum = 0;
    struct cell total = {&sum, &sum, 0, 1, 1};
    for (int i = 0; i < 3; i++) {
        double begin = now();
        sum = 0;
        _mlir_ciface_product_and_sum(&a, &b, &c, &total);
        printf("product and sum, copies included: %.0f us\n", now() - begin);
    }
    int result = failed("product and sum");
    if (result == 0)
        result = check(&a, &b, &c, sum);
    if (result == 0)
        result = compare_times();
    free(a.allocated);
    free(b.allocated);
    free(c.allocated);
    return result;
}
