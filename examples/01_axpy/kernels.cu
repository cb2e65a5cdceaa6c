/*
 * Lesson 1, the device side: one kernel.
 *
 * The Makefile compiles this file twice: a C compiler makes rex_lib_host.so, which libomptarget's host device runs, and
 * nvcc, where there is one, makes rex_lib_nvidia.cubin for a GPU. By hand:
 *
 *     cc -x c -shared -fPIC -Iinclude -o rex_lib_host.so kernels.cu
 *     nvcc -cubin -arch=sm_90 -Iinclude -o rex_lib_nvidia.cubin kernels.cu
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/*
 * Defines the function `axpy__kernel__`, the name in the host's entry. Parameter i is row i of the host's columns, and
 * every one is 8 bytes wide: an address (of the device's copy), or a scalar packed into a rex_arg.
 */
REX_DEVICE_KERNEL(axpy, rex_arg packed_n, rex_arg packed_a, const double *x, double *y)
{
    int64_t n = rex_arg_int(packed_n);
    double a = rex_arg_double(packed_a);
    /* Every index once, shared among all threads of the grid, however many were launched. */
    REX_FOR(i, n)
        y[i] += a * x[i];
}
