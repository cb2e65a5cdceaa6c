/*
 * Lesson 13: all parts of a launch, by hand and by macros.
 *
 * An OpenMP compiler generates such code for
 *
 *     #pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
 *     for (int64_t i = 0; i < n; i++)
 *         y[i] += a * x[i];
 *
 * A key and a table entry stand for the kernel. Four columns describe its arguments, and a packet
 * holds the columns. One call launches the kernel. axpy() writes all of this by hand. scale()
 * launches another kernel with macros: they make all names out of one stem, and the columns.
 *
 * Run it:  make && $(make -s print-O)/examples/13_raw_packet/13_raw_packet
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex_kmp.h>

#include <stdio.h>

enum { COUNT = 100000, TEAMS = 64, THREADS = 128 };

/*
 * The host key. Its value has no meaning. Its address, which no other object has, identifies the
 * kernel on the host, and launches name the kernel by it.
 */
char axpy__id__ = 0;

/*
 * The entry: one row of a table that the linker collects from all objects in this section. It ties
 * the key to the function "axpy__kernel__" of the device image. Size 0 means a kernel; the entry of
 * a global variable has the variable's size. `used` keeps gcc -flto from dropping the entry.
 */
struct __tgt_offload_entry axpy__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
        &axpy__id__, (char *)"axpy__kernel__", 0, 0, 0};

static int axpy(int64_t n, double a, double *x, double *y)
{
    /* A scalar is passed by value, packed into the 8 bytes of a pointer. */
    void *packed_n = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *packed_a = rex_pack_literal_arg_bytes(&a, sizeof a);
    int64_t bytes = n * (int64_t)sizeof *x;

    /*
     * Four columns; row i of each describes parameter i. `base` is where the variable begins, and
     * `begin` where the mapped part begins: they differ for an array section such as x[10:20]. A
     * type marks the row as a parameter, and as a value (LITERAL) or with a direction of its copy.
     */
    void *base[] = {packed_n, packed_a, x, y};
    void *begin[] = {packed_n, packed_a, x, y};
    int64_t sizes[] = {sizeof n, sizeof a, bytes, bytes};
    int64_t types[] = {
        REX_MAP_TARGET_PARAM | REX_MAP_LITERAL, REX_MAP_TARGET_PARAM | REX_MAP_LITERAL,
        REX_MAP_TARGET_PARAM | REX_MAP_TO, REX_MAP_TARGET_PARAM | REX_MAP_TOFROM};

    /* The packet, filled by position, as generated code does. */
    struct __tgt_kernel_arguments args = {
        3,               /* Version: librex replaces it by one that the LLVM release takes */
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
     * The launch, on the default device, -1. rex_kmp.h replaces the name by its wrapper, which
     * checks the launch. If libomptarget launches, the wrapper adapts a copy of the packet to the
     * LLVM release and adds a source location. The call copies the arrays, too. It returns 0, -1 if
     * the host version is to run, or less for an error.
     */
    return __tgt_target_kernel(-1, TEAMS, THREADS, &axpy__id__, &args);
}

/* Makes key scale__id__ and entry scale__omp_offload_entry__, which names "scale__kernel__". */
REX_KERNEL(scale);

static int scale(int64_t n, double a, double *y)
{
    REX_MAP(map, REX_VALUE(n), REX_VALUE(a), REX_TOFROM(y, n)); /* four columns, as in axpy() */
    struct __tgt_kernel_arguments args = rex_packet(REX_MAP_ARGUMENTS(map), TEAMS, THREADS);
    args.Tripcount = n;
    return __tgt_target_kernel(-1, TEAMS, THREADS, REX_KERNEL_ID(scale), &args);
}

int main(void)
{
    static double x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = i;
        y[i] = 1.0;
    }
    /* Finds LLVM's libomptarget, and registers and loads the image beside this program. */
    int error = rex_offload_init();
    if (error == 0)
        error = axpy(COUNT, 2.0, x, y);
    if (error == 0)
        error = scale(COUNT, 3.0, y);
    if (error == -1) /* not an error, so librex prints nothing */
        fputs("13_raw_packet: there is no device to launch on\n", stderr);
    if (error != 0)
        return 1;
    printf("LLVM %d: %s\n", rex_runtime_release(), rex_runtime_path());
    printf("image:   %s (%s)\n", rex_module_image_path(&rex_this_module),
           rex_on_host() ? "CPU" : "GPU");
    if (rex_offload_fini() != 0)
        return 1;

    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != 3.0 * (2.0 * i + 1.0); /* small whole numbers: exact */
    printf("y[%d] = %g, %d of %d values wrong\n", COUNT - 1, y[COUNT - 1], wrong, COUNT);
    return wrong != 0;
}
