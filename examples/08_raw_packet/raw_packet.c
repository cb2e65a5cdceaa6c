/*
 * Lesson 8: the launch of lesson 1, with nothing hidden: the columns and the packet by hand.
 *
 * This is what an OpenMP compiler writes for
 *
 *     #pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
 *     for (int64_t i = 0; i < n; i++)
 *         y[i] += a * x[i];
 *
 * once the directive is gone: a key and a table entry for the kernel, four columns that say what the kernel needs, a
 * packet around them, and one call. The loop itself is in kernels.cu.
 *
 * Run it:  make && $(make -s print-O)/examples/08_raw_packet/08_raw_packet
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex_kmp.h"

#include <stdio.h>

enum {
    COUNT = 100000,
    TEAMS = 64,
    THREADS = 128
};

/* Bits of a map type. They are libomptarget's, the same in every LLVM release. */
enum {
    MAP_TO = 0x1,         /* copy to the device before the kernel runs */
    MAP_FROM = 0x2,       /* copy back after it has run */
    MAP_PARAMETER = 0x20, /* this row becomes a parameter of the kernel */
    MAP_LITERAL = 0x100   /* the row is the value itself, not an address: nothing is copied */
};

/*
 * The host key. Its value means nothing; its address is the kernel's identity on the host, and no other object can have
 * that address. Launches name the kernel by it.
 */
char axpy__id__ = 0;

/*
 * The entry: one row of a table that the linker puts together from all objects in this section. It says that the key
 * above stands for the function "axpy__kernel__" of the device image. Size 0 means a kernel (a global variable has its
 * size here). Nothing in the program names the entry, so `used` keeps gcc -flto from dropping it.
 */
struct __tgt_offload_entry axpy__omp_offload_entry__ __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    &axpy__id__, "axpy__kernel__", 0, 0, 0};

static int axpy(int64_t n, double a, double *x, double *y)
{
    /*
     * Scalars travel by value, as the 8 bytes of a pointer. Each is packed once, and the same value goes into the
     * columns `base` and `begin`.
     */
    void *packed_n = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *packed_a = rex_pack_literal_arg_bytes(&a, sizeof a);
    int64_t bytes = n * (int64_t)sizeof *x;

    /*
     * Four columns; row i of each describes the kernel's parameter i, in order. `base` is where the variable begins and
     * `begin` where the part to be mapped begins; they differ for an array section such as x[10:20].
     */
    void *base[] = {packed_n, packed_a, x, y};
    void *begin[] = {packed_n, packed_a, x, y};
    int64_t sizes[] = {sizeof n, sizeof a, bytes, bytes};
    int64_t types[] = {MAP_PARAMETER | MAP_LITERAL, MAP_PARAMETER | MAP_LITERAL, MAP_PARAMETER | MAP_TO,
                       MAP_PARAMETER | MAP_TO | MAP_FROM};

    /* The packet, filled by position: its layout is fixed, and generated code does not spell out the names. */
    struct __tgt_kernel_arguments args = {
        3,               /* Version: librex replaces it by what the LLVM release in use needs */
        4,               /* NumArgs: rows in the columns */
        base,            /* ArgsBase */
        begin,           /* Args */
        sizes,           /* ArgSizes */
        types,           /* ArgTypes */
        NULL,            /* ArgNames: only for messages */
        NULL,            /* ArgMappers: no user-defined mappers */
        n,               /* Tripcount: iterations of the loop, a hint */
        0,               /* Flags: wait until the kernel is done */
        {TEAMS, 1, 1},   /* Teams: blocks in x, y, z */
        {THREADS, 1, 1}, /* Threads of a block in x, y, z */
        0                /* DynCGroupMem: no dynamic shared memory */
    };

    /*
     * The launch. -1 is the default device. rex_kmp.h turns this name into its own wrapper, which fits a copy of the
     * packet to the LLVM release and adds the source location that the real function wants first. All copies that the
     * rows ask for happen inside. 0 is success, -1 means "run the host version", less is an error.
     */
    return __tgt_target_kernel(-1, TEAMS, THREADS, &axpy__id__, &args);
}

/* All values are small whole numbers, so the results are exact and can be compared with ==. */
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

    /* Finds LLVM's libomptarget, reads the device image that lies beside this program, and registers both. */
    if (rex_offload_init() != 0)
        return 1; /* the reason is on stderr already */
    if (axpy(COUNT, a, x, y) != 0)
        return 1;
    rex_offload_fini();

    int64_t wrong = count_wrong(COUNT, a, x, y);
    printf("axpy: y[%d] = %g, %lld of %d values wrong\n", COUNT - 1, y[COUNT - 1], (long long)wrong, COUNT);
    return wrong != 0;
}
