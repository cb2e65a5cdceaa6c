/*
 * Lesson 1, the device side: one kernel.
 *
 * The Makefile compiles this file by a C compiler to rex_lib_host.so, which libomptarget's host
 * device runs. If nvcc is installed, it makes rex_lib_nvidia.cubin for a GPU. By hand, in the
 * folder of this file:
 *
 *     cc -x c -shared -fPIC -I../../include -o rex_lib_host.so kernels.cu
 *     nvcc -cubin -arch=sm_90 -I../../include -o rex_lib_nvidia.cubin kernels.cu
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/*
 * Each parameter is a type in parentheses and a name. Parameter i receives row i of the launch: a
 * value, or the address of the device's copy.
 */
REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    /* The grid's threads share the indices: each index runs once, on any number of threads. */
    REX_FOR(i, n)
        y[i] += a * x[i];
}
