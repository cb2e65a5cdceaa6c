/*
 * Lesson 9: the program of lesson 8, with what is the same for every kernel taken over by rex.h.
 *
 * REX_KERNEL(axpy) writes the key and the entry, REX_KERNEL_ID(axpy) is the key's address, and the packet is filled by
 * name, so that what is zero need not be written. The calls and the columns are those of lesson 8.
 *
 * Run it:  make && $(make -s print-O)/examples/09_raw_macros/09_raw_macros
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex_kmp.h>

#include <stdio.h>

enum {
    COUNT = 100000,
    TEAMS = 64,
    THREADS = 128
};

/* Map types of the rows below; lesson 8 explains the bits. */
enum {
    LITERAL = 0x120,
    TO = 0x21,
    TOFROM = 0x23
};

/* Key `axpy__id__`, entry `axpy__omp_offload_entry__`, kernel symbol "axpy__kernel__": they cannot drift apart. */
REX_KERNEL(axpy);

static int axpy(int64_t n, double a, double *x, double *y)
{
    void *packed_n = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *packed_a = rex_pack_literal_arg_bytes(&a, sizeof a);
    int64_t bytes = n * (int64_t)sizeof *x;
    /* No array section here: base and begin are the same, so one array serves as both columns. */
    void *address[] = {packed_n, packed_a, x, y};
    int64_t sizes[] = {sizeof n, sizeof a, bytes, bytes};
    int64_t types[] = {LITERAL, LITERAL, TO, TOFROM};
    struct __tgt_kernel_arguments args = {
        .Version = 3,
        .NumArgs = sizeof types / sizeof types[0],
        .ArgsBase = address,
        .Args = address,
        .ArgSizes = sizes,
        .ArgTypes = types,
        .Tripcount = n,
        .Teams = {TEAMS, 1, 1},
        .Threads = {THREADS, 1, 1},
    };
    return __tgt_target_kernel(-1, TEAMS, THREADS, REX_KERNEL_ID(axpy), &args);
}

static int64_t count_wrong(int64_t n, double a, const double *x, const double *y)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++)
        if (y[i] != a * x[i] + 1.0)
            wrong++;
    return wrong;
}

int main(void)
{
    static double x[COUNT], y[COUNT];
    const double a = 2.0;
    for (int64_t i = 0; i < COUNT; i++) {
        x[i] = (double)i;
        y[i] = 1.0;
    }
    if (rex_offload_init() != 0 || axpy(COUNT, a, x, y) != 0)
        return 1;

    /* The LLVM that answered, and its image, which lesson 8 does not print. */
    printf("LLVM %d: %s\n", rex_runtime_release(), rex_runtime_path());
    printf("image:   %s (%s)\n", rex_module_image_path(&rex_this_module), rex_on_host() ? "CPU" : "GPU");
    rex_offload_fini();

    int64_t wrong = count_wrong(COUNT, a, x, y);
    printf("axpy: y[%d] = %g, %lld of %d values wrong\n", COUNT - 1, y[COUNT - 1], (long long)wrong, COUNT);
    return wrong != 0;
}
