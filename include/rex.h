/*
 * rex.h - librex in one include, for code that is written by hand.
 *
 * A complete first program. Host side, axpy.c:
 *
 *     #include <rex.h>
 *
 *     REX_KERNEL(axpy);                                     // 1. the kernel's name
 *
 *     int main(void)
 *     {
 *         static double x[1000], y[1000];
 *         int64_t n = 1000;
 *         double a = 2.0;
 *         return REX_LAUNCH_FOR(axpy, n,                    // 2. n iterations, on any grid
 *                               REX_VALUE(n), REX_VALUE(a), // 3. a clause for each parameter
 *                               REX_TO(x, n), REX_TOFROM(y, n));
 *     }
 *
 * Device side, axpy.cu, for the GPU and for the CPU:
 *
 *     #include <rex/kernel.h>
 *
 *     REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
 *     {
 *         REX_FOR(i, n)                                     // 4. every i once
 *             y[i] += a * x[i];
 *     }
 *
 * `rex-cc axpy.c axpy.cu -o axpy` builds both. Without rex-cc:
 *
 *     cc axpy.c $(pkg-config --cflags --libs rex)
 *     flags=$(pkg-config --cflags rex)
 *     nvcc $flags -cubin -arch=sm_90 -o rex_lib_nvidia.cubin axpy.cu                # for a GPU
 *     cc $flags -O2 -fopenmp -x c -shared -fPIC -o rex_lib_host.so axpy.cu          # for the CPU
 *
 * Generated code does not need this include. These headers have the ABI itself:
 *
 * - `rex_kmp.h`: libomptarget's calls, such as __tgt_target_kernel(), with checks of their
 *   arguments; register_cubin(); the `__kmpc_*` functions.
 * - `rex/abi.h`: the structs of libomptarget's calls. rex_kmp.h includes it.
 *
 * rex.h includes these headers, listed in the order in which a program needs them:
 *
 * - `rex/entry.h`: names of kernels, REX_KERNEL(), and of variables, REX_GLOBAL().
 * - `rex/map.h`: the arguments of launches, written like OpenMP's map clauses.
 * - `rex/launch.h`: launches, and data that stays on the device between them.
 * - `rex/device.h`: devices, their memory, and pinned host memory.
 * - `rex/error.h`: errors of calls.
 * - `rex/module.h`: modules: a program's kernels and its image.
 * - `rex/binary.h`: this binary's module, its start and its end.
 * - `rex/configure.h`: settings, the log, the libomptarget that is bound.
 * - `rex/queue.h`: launches and copies that do not wait; events; graphs.
 * - `rex/detail.h`, by rex/map.h: parts of macros, and functions for programs with a module of
 *   their own. It includes rex/arguments.h, rex/parameters.h and rex/kinds.h.
 *
 * rex.h does not include:
 *
 * - `rex/kernel.h`: the kernel side, for kernel sources only. It includes `rex/reduce.h`: sums,
 *   minima, maxima and atomics.
 * - `rex/interop.h`: streams of other libraries, and copies between devices.
 * - `rex/library.h`: kernels by name, from images without entries.
 * - `rex/inspect.h`: for tools: the contents of an image, and the choices of librex on this
 *   machine.
 *
 * Rules for all headers:
 *
 * - **Results.** Most functions that can fail return an integer or a pointer. After a failure the
 *   integer is a negative `enum rex_error`, the pointer is NULL, and a path is "". rex_last_error()
 *   then returns the reason. After success the integer is 0, or the number that the function
 *   computes. A function that answers a question returns a `bool`, or 1, 0 or a negative error. A
 *   function that returns `void`, `bool` or `size_t` reports a failure by rex_last_error() alone.
 *   The comment of a function lists its own errors, and `enum rex_error` those that all functions
 *   have.
 * - **Output parameters** come before the inputs, as in memcpy(). An object that the call makes
 *   comes first: rex_queue_create(&queue, ...), rex_graph_end(&graph, queue). If the call fails,
 *   no output parameter changes, except memory to which the call copies. As an exception,
 *   rex_queue_stream() has its outputs last. A queue comes before the memory that a copy writes:
 *   rex_queue_copy_from(queue, to, ...).
 * - **Device numbers** run from 0; -1 is the default device. librex returns them as `int` and takes
 *   them as `int64_t`. A number that is too large for an `int` is never truncated.
 * - **Names.** The headers reserve names that begin with rex_, REX_, __rex_ and __tgt_, and the
 *   names ident, ident_t and __cubin_desc. rex_kmp.h also reserves register_cubin and names that
 *   begin with kmp or __kmpc_. rex/kernel.h also has names of CUDA and OpenMP.
 *   Parameters and struct fields have ordinary words as names. If a macro of the program is such a
 *   word, define the macro after the include.
 *
 * Everything here is since 0.2 unless it says otherwise. Guide: librex(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_H
#define REX_H

#include "rex/binary.h"
#include "rex/configure.h"
#include "rex/device.h"
#include "rex/entry.h"
#include "rex/error.h"
#include "rex/launch.h"
#include "rex/map.h"
#include "rex/module.h"
#include "rex/queue.h"

#endif
