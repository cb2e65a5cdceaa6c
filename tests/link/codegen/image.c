/* image.c - a host image without rex/kernel.h, as rex-codegen(7) says.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <stdint.h>
struct row { void *address; char *name; size_t size; int32_t flags, reserved; };
#define KERNEL(stem)                                                                                                  \
    void stem##kernel__(uintptr_t n, double *x);                                                                      \
    static struct row stem##row __attribute__((section("omp_offloading_entries"), used, aligned(8))) =                \
        {(void *)(uintptr_t)stem##kernel__, (char *)(uintptr_t)#stem "kernel__", 0, 0, 0};                            \
    void stem##kernel__(uintptr_t n, double *x)                                                                       \
    {                                                                                                                 \
        for (uintptr_t i = 0; i < n; i++)                                                                             \
            x[i] *= 2;                                                                                                \
    }
KERNEL(OUT__1__scale__7__)
KERNEL(OUT__2__scale__9__)
KERNEL(OUT__3__scale__2__)
