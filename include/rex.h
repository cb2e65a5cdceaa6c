/*
 * rex.h - librex in one include, for code that is written by hand.
 *
 * A first program, whole. Host side, axpy.c:
 *
 *     #include <rex.h>
 *     REX_KERNEL(axpy);                                        // 1. one kernel, one identity            rex/entry.h
 *
 *     int main(void)
 *     {
 *         static double x[1000], y[1000];
 *         double a = 2.0;
 *         if (rex_offload_init() != 0)                         // 2. find libomptarget, register the image  rex/offload.h
 *             return 1;                                        //    (the reason is on stderr already)
 *         void *bits = rex_pack_literal_arg_bytes(&a, sizeof a);
 *         void *base[] = {(void *)1000, bits, x, y};           // 3. four columns: base, begin, size, type
 *         int64_t size[] = {8, 8, sizeof x, sizeof y};
 *         int64_t type[] = {0x120, 0x120, 0x21, 0x23};         //    0x20 parameter, 0x100 literal, 1 to, 2 from
 *         struct __tgt_kernel_arguments args = {3, 4, base, base, size, type, NULL, NULL, 1000, 0,
 *                                               {8, 1, 1}, {128, 1, 1}, 0};
 *         return __tgt_target_kernel(-1, 8, 128, REX_KERNEL_ID(axpy), &args);       // 4. launch       rex_kmp.h
 *     }
 *
 * Device side, axpy.cu, which nvcc makes a CUBIN and a C compiler a host image:
 *
 *     #include <rex/kernel.h>                                  // 5. kernels                             rex/kernel.h
 *     REX_DEVICE_KERNEL(axpy, rex_arg n, rex_arg a, const double *x, double *y)
 *     {
 *         REX_FOR(i, rex_arg_int(n))
 *             y[i] += rex_arg_double(a) * x[i];
 *     }
 *
 * Build:
 *
 *     cc axpy.c $(pkg-config --cflags --libs rex)
 *     nvcc -cubin -arch=sm_90 -o rex_lib_nvidia.cubin axpy.cu            # for a GPU
 *     cc -x c -shared -fPIC -o rex_lib_host.so axpy.cu                   # for the host device
 *
 * Headers, in learning order: rex/entry.h, rex/offload.h, rex_kmp.h, rex/kernel.h (kernel sources only).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_H
#define REX_H

#include "rex/device.h"
#include "rex/entry.h"
#include "rex/launch.h"
#include "rex/map.h"
#include "rex/module.h"
#include "rex/offload.h"
#include "rex/queue.h"

#endif
