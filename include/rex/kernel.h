/*
 * rex/kernel.h - the kernel side: one source for the GPU and for the host device.
 *
 *     #include <rex/kernel.h>
 *     REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
 *     {
 *         REX_FOR(i, n)
 *             y[i] += a * x[i];
 *     }
 *
 *     nvcc -cubin -arch=sm_90 -o rex_lib_nvidia.cubin axpy.cu      for a GPU
 *     rex-cc --images --device-compiler=clang axpy.cu              for a GPU by clang alone: PTX
 *     cc -x c -shared -fPIC -o rex_lib_host.so axpy.cu             for libomptarget's host device
 *     cc -x c -shared -fPIC -fopenmp -o rex_lib_host.so axpy.cu    with OpenMP: on several cores
 *
 * A parameter is a type in parentheses and a name. A kernel has up to 64 parameters; the list of a
 * kernel without parameters is `void`. The compiler refuses a type of more than 8 bytes. Instead
 * take the address of the value, `(const struct large *) p`, and use REX_FIRSTPRIVATE() in the
 * launch. The body is that of an inline function with these types. The kernel, whose parameters
 * have 8 bytes each, calls this function.
 *
 * The image has the kinds of the parameters. librex compares them with a launch's rows before the
 * kernel runs: a row of a wrong kind is REX_EPARAMS, unless another check refuses the launch first.
 *
 * The host device calls a kernel function once, for any grid. A kernel that is one REX_FOR() loop
 * runs each index once: on the host device, and on a GPU with any grid of one dimension. On a GPU
 * threads do not wait for each other between two such loops of a kernel.
 *
 * The source may be CUDA C++ or C11 with GNU extensions, and includes no header of the host side.
 * clang needs no CUDA toolkit: rex/clang.h then has names of CUDA. rex/reduce.h, which this
 * header includes, has sums, atomics and teams.
 *
 * Names that begin with rex_detail_ are reserved: these macros declare variables of such names, and
 * evaluate a kernel's expressions in their scope.
 *
 * librex checks nothing while a kernel runs.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * Guide: rex-kernels(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_KERNEL_H
#define REX_KERNEL_H

#if defined(__CUDA__) && !defined(__CUDACC__)
#include "rex/clang.h"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rex/kinds.h"
#include "rex/parameters.h"

#ifdef __CUDACC__
/** REX_ON_GPU: 1 if nvcc or clang compiles for a GPU, 0 in a host image. It can be used in #if. */
#define REX_ON_GPU 1
/** REX_DEVICE: written before the definition of a function that kernels call. */
#define REX_DEVICE static __device__ __forceinline__
#else
#define REX_ON_GPU 0
#define REX_DEVICE static inline __attribute__((__unused__))
#endif

/*
 * ---- Grid: indices and numbers of teams and threads -------------------------------------------
 *
 * A @dimension is 0 (x), 1 (y) or 2 (z). A team is CUDA's block. On the host device each index is 0
 * and each number is 1. So on the host device only the index of a REX_FOR_TEAMS() loop differs
 * between teams. A kernel in which each thread computes one element, without a loop, is correct
 * only on a GPU.
 */

#if REX_ON_GPU
#define REX_OF_DIMENSION(v, dimension) ((dimension) == 0 ? (v).x : (dimension) == 1 ? (v).y : (v).z)
#else
/* REX_OF_DIMENSION(v, dimension): x, y or z of @v, a dim3 of CUDA; always 0 on the host device. */
#define REX_OF_DIMENSION(v, dimension) ((void)(dimension), 0u)
#endif

/** rex_team(): returns the index of this team in @dimension. */
REX_DEVICE int64_t rex_team(int dimension)
{
    return (int64_t)REX_OF_DIMENSION(blockIdx, dimension);
}

/** rex_thread(): returns the index of this thread in its team, in @dimension. */
REX_DEVICE int64_t rex_thread(int dimension)
{
    return (int64_t)REX_OF_DIMENSION(threadIdx, dimension);
}

/** rex_num_teams(): returns the number of teams in @dimension; 1 on the host device. */
REX_DEVICE int64_t rex_num_teams(int dimension)
{
    return REX_ON_GPU ? (int64_t)REX_OF_DIMENSION(gridDim, dimension) : 1;
}

/** rex_num_threads(): returns a team's number of threads in @dimension; 1 on the host device. */
REX_DEVICE int64_t rex_num_threads(int dimension)
{
    return REX_ON_GPU ? (int64_t)REX_OF_DIMENSION(blockDim, dimension) : 1;
}

#undef REX_OF_DIMENSION

#if REX_ON_GPU
/*
 * REX_DETAIL_LOOP(i, n, first, step): a loop over the indices of one thread or one team: @first,
 * @first + @step and so on, below @n.
 */
#define REX_DETAIL_LOOP(i, n, first, step) for (int64_t i = (first); i < (int64_t)(n); i += (step))
/* REX_DETAIL_RULE: written before the declaration of a function that is never defined. */
#define REX_DETAIL_RULE __device__ int
#else
/* On the CPU the loop runs all indices. OpenMP's loop constructs require this form of the loop. */
#define REX_DETAIL_LOOP(i, n, first, step) for (int64_t i = 0; i < (int64_t)(n); i++)
#define REX_DETAIL_RULE int
#endif

/*
 * rex_detail_not_inside_REX_FOR(), rex_detail_not_inside_REX_FOR_TEAMS(): loops and barriers call
 * these functions in operands that are not evaluated. In the body of REX_FOR_TEAMS() a variable
 * hides the second function. In the body of most other loops a variable hides the first function. A
 * call of a hidden function is an error, and the compiler's message shows the function's name.
 */
REX_DETAIL_RULE rex_detail_not_inside_REX_FOR(void);
REX_DETAIL_RULE rex_detail_not_inside_REX_FOR_TEAMS(void);

/*
 * REX_DETAIL_ON_GRID: calls of both functions, for an operand that is not evaluated. All loops over
 * the whole grid except REX_GRID_STRIDE() have this operand, so the compiler refuses such a loop
 * inside REX_FOR() and REX_FOR_TEAMS().
 */
#define REX_DETAIL_ON_GRID (rex_detail_not_inside_REX_FOR() + rex_detail_not_inside_REX_FOR_TEAMS())
/*
 * REX_DETAIL_BODY(name, calls): head of a loop that runs the next statement once. In the statement
 * the loop's variable @name hides the function @name. @calls is the operand of __typeof__, and is
 * not evaluated.
 */
#define REX_DETAIL_BODY(name, calls) for (__typeof__(calls) name = 0; name == 0; name = 1)

#if !REX_ON_GPU && defined(_OPENMP)
#include "rex/openmp.h"
/*
 * REX_DETAIL_OPENMP(count, directive): applies OpenMP's @directive to the next loop, which has
 * @count indices. Without OpenMP the macro is empty.
 */
#define REX_DETAIL_OPENMP(count, directive) \
    REX_DETAIL_THREADED(count, REX_DETAIL_INDEX) _Pragma(directive)
/*
 * REX_DETAIL_FOR(name, calls, count, guess, directive, loops): applies OpenMP's @directive to
 * @loops. The loops have @count indices. Until a run has been timed, @guess is the assumed time of
 * one index in seconds. @name and @calls are the arguments of REX_DETAIL_BODY(), which stands
 * outside the loop of OpenMP. If REX_DETAIL_BODY() stood inside the loop, a break in the body would
 * leave only REX_DETAIL_BODY(), and OpenMP would not refuse the break.
 */
#define REX_DETAIL_FOR(name, calls, count, guess, directive, ...) \
    REX_DETAIL_BODY(name, calls)                                  \
    REX_DETAIL_THREADED(count, guess) _Pragma(directive) __VA_ARGS__
#else
#define REX_DETAIL_OPENMP(count, directive)
#define REX_DETAIL_FOR(name, calls, count, guess, directive, ...) \
    __VA_ARGS__ REX_DETAIL_BODY(name, calls)
#endif
/* REX_DETAIL_FOR_GRID(count, directive, loops): REX_DETAIL_FOR() for loops over the grid. */
#define REX_DETAIL_FOR_GRID(count, directive, ...)                                             \
    REX_DETAIL_FOR(rex_detail_not_inside_REX_FOR, REX_DETAIL_ON_GRID, count, REX_DETAIL_INDEX, \
                   directive, __VA_ARGS__)

/*
 * ---- Loops whose indices are shared among all threads of the grid -----------------------------
 *
 * The statement or block after a loop runs once for every index, with any number of teams and
 * threads. But the grid must not have more dimensions than the loop: threads along a further
 * dimension would run every index again. The indices are int64_t. Bounds are evaluated more than
 * once. Threads run the indices concurrently, in no defined order. So if the body writes a
 * variable, declare the variable inside the body.
 *
 * The body must not leave the loop with break, goto or return. With -fopenmp a compiler refuses
 * these statements in a host image, except in REX_GRID_STRIDE(). But clang does not refuse a break
 * in REX_FOR_2D() and REX_FOR_3D(). `continue` continues with the next index. On a grid of one
 * dimension every thread runs the loops over the other dimensions in full. A compiler refuses
 * REX_FOR(), REX_FOR_2D() and REX_FOR_3D() inside each other, but does not check functions that the
 * body calls.
 */

/**
 * REX_GRID_STRIDE(i, n, d): a loop over 0 <= i < n that strides by the whole grid in dimension @d:
 * 0, 1 or 2 for x, y or z. On the host device the macro is a plain loop, without OpenMP. No
 * compiler refuses this loop inside the other loops.
 */
#define REX_GRID_STRIDE(i, n, d)                                            \
    REX_DETAIL_LOOP(i, n, rex_team(d) * rex_num_threads(d) + rex_thread(d), \
                    rex_num_teams(d) * rex_num_threads(d))
/** REX_FOR(i, n): runs its body for every i in [0, n), in the grid's x dimension. */
#define REX_FOR(i, n)                                                           \
    REX_DETAIL_FOR_GRID(rex_detail_count(n),                                    \
                        "omp parallel for num_threads(rex_detail_run.threads)", \
                        REX_GRID_STRIDE(i, n, 0))
/**
 * REX_FOR_2D(i, ni, j, nj): runs its body for every pair (i, j). j, the faster index, uses the
 * grid's x dimension, and i uses y.
 */
#define REX_FOR_2D(i, ni, j, nj)                                                            \
    REX_DETAIL_FOR_GRID(rex_detail_count(ni) * rex_detail_count(nj),                        \
                        "omp parallel for num_threads(rex_detail_run.threads) collapse(2)", \
                        REX_GRID_STRIDE(i, ni, 1) REX_GRID_STRIDE(j, nj, 0))
/**
 * REX_FOR_3D(i, ni, j, nj, k, nk): runs its body for every triple (i, j, k). k, the fastest index,
 * uses the grid's x dimension, j uses y, and i uses z.
 */
#define REX_FOR_3D(i, ni, j, nj, k, nk)                                                     \
    REX_DETAIL_FOR_GRID(rex_detail_count(ni) * rex_detail_count(nj) * rex_detail_count(nk), \
                        "omp parallel for num_threads(rex_detail_run.threads) collapse(3)", \
                        REX_GRID_STRIDE(i, ni, 2) REX_GRID_STRIDE(j, nj, 1)                 \
                            REX_GRID_STRIDE(k, nk, 0))

#include "rex/reduce.h"

#ifdef __cplusplus
/*
 * REX_DEVICE_LINKAGE: C linkage and protected visibility. Code outside the image can find such a
 * symbol. A symbol of the host program with an equal name does not replace it.
 */
#define REX_DEVICE_LINKAGE extern "C" __attribute__((__visibility__("protected")))
#else
#define REX_DEVICE_LINKAGE extern __attribute__((__visibility__("protected")))
#endif

#include "rex/kernelform.h"

/*
 * ---- Globals of a device image ----------------------------------------------------------------
 *
 * Write REX_DEVICE_GLOBAL() and REX_DEVICE_GLOBAL_LINK() at file scope. rex/entry.h has the macros
 * for the host.
 */

#if REX_ON_GPU
/* No extern "C": nvcc would warn, and C++ does not change names of variables at file scope. */
#define REX_DEVICE_GLOBAL(type, name) __device__ type name
#else
/**
 * REX_DEVICE_GLOBAL(type, name): defines a global of the device image; an initialiser may follow.
 * REX_GLOBAL(name) must name a host variable of equal size. The macro writes `type name`, so an
 * array type needs a typedef.
 */
#define REX_DEVICE_GLOBAL(type, name)           \
    REX_DEVICE_LINKAGE type name;               \
    REX_DEVICE_ENTRY(name, &name, sizeof(type)) \
    type name
#endif

/* REX_POINTER_TO(type): the type of a pointer to @type; @type may be an array. */
#define REX_POINTER_TO(type) __typeof__(type) *
/**
 * REX_DEVICE_GLOBAL_LINK(type, name): defines the device's pointer to a global of
 * REX_GLOBAL_LINK(type, name). Kernels access the global by REX_DEVICE_LINKED(name).
 */
#define REX_DEVICE_GLOBAL_LINK(type, name) \
    REX_DEVICE_GLOBAL(REX_POINTER_TO(type), REX_JOIN(name, _decl_tgt_ref_ptr))
/**
 * REX_DEVICE_LINKED(name): the global of REX_DEVICE_GLOBAL_LINK(type, name), as an lvalue. A kernel
 * may use this lvalue only while the global is mapped.
 */
#define REX_DEVICE_LINKED(name) (*REX_JOIN(name, _decl_tgt_ref_ptr))

/*
 * ---- Kernels ----------------------------------------------------------------------------------
 *
 * These macros are heads of kernels; the body follows the macro. Write them at file scope, once for
 * each name in an image. REX_DEVICE_KERNEL() is for REX_KERNEL(name) of rex/entry.h. The macros
 * with STEM in their names, REX_DEVICE_PLAIN() and REX_DEVICE_ENV() take a stem. All other macros
 * take a name, and make the stem `name__` from the name. A *plain* kernel has the parameters of the
 * list. An *env* kernel has the runtime's parameter before the parameters of the list. The macros
 * with BOUNDS also take the arguments of CUDA's `__launch_bounds__`.
 */

/**
 * REX_DEVICE_KERNEL_STEM(S, parameters...): head of the plain kernel `Skernel__`; its body follows.
 * For the stem `axpy__` the kernel is the function `axpy__kernel__`.
 */
#define REX_DEVICE_KERNEL_STEM(S, ...) REX_DEVICE_PLAIN(S, , __VA_ARGS__)
/*
 * REX_DEVICE_PLAIN(S, bounds, parameters...): head of a plain kernel. @bounds is CUDA's
 * `__launch_bounds__(...)`, or empty.
 */
#define REX_DEVICE_PLAIN(S, bounds, ...)     \
    REX_DEVICE_FORM(S, 2, (void *)0, bounds, \
                    (REX_PARAMETER_LIST(void, REX_PARAMETER_SLOT, , __VA_ARGS__)), __VA_ARGS__)

/**
 * REX_DEVICE_KERNEL_ENV_STEM(S, parameters...): head of the env kernel `Skernel__`. Its body may
 * use the runtime's parameter, `void *rex_environment`: LLVM's launch environment, or -1.
 */
#define REX_DEVICE_KERNEL_ENV_STEM(S, ...) REX_DEVICE_ENV(S, , __VA_ARGS__)
/*
 * REX_DEVICE_ENV(S, bounds, parameters...): head of an env kernel. @bounds is CUDA's
 * `__launch_bounds__(...)`, or empty.
 */
#define REX_DEVICE_ENV(S, bounds, ...)                                                             \
    REX_DEVICE_FORM(S, 3, rex_environment, bounds,                                                 \
                    (void *rex_environment REX_PARAMETER_TAIL(REX_PARAMETER_SLOT, , __VA_ARGS__)), \
                    __VA_ARGS__)

/**
 * REX_DEVICE_KERNEL(name, parameters...): head of the function `name__kernel__`, which is the plain
 * kernel of REX_KERNEL(name). The body follows.
 */
#define REX_DEVICE_KERNEL(name, ...) REX_DEVICE_KERNEL_STEM(REX_JOIN(name, __), __VA_ARGS__)

/**
 * REX_DEVICE_KERNEL_BOUNDS(name, (max_threads, min_teams), parameters...): REX_DEVICE_KERNEL() for
 * launches of at most @max_threads threads in a team. @min_teams is the number of teams that should
 * be resident on a multiprocessor; it may be left out. The two numbers are CUDA's
 * `__launch_bounds__`, and have no effect in a host image.
 */
#define REX_DEVICE_KERNEL_BOUNDS(name, bounds, ...) \
    REX_DEVICE_KERNEL_BOUNDS_STEM(REX_JOIN(name, __), bounds, __VA_ARGS__)
/**
 * REX_DEVICE_KERNEL_BOUNDS_STEM(S, bounds, parameters...): REX_DEVICE_KERNEL_BOUNDS() for a stem.
 */
#define REX_DEVICE_KERNEL_BOUNDS_STEM(S, bounds, ...) \
    REX_DEVICE_PLAIN(S, __launch_bounds__ bounds, __VA_ARGS__)

/** REX_DEVICE_KERNEL_ENV(name, parameters...): head of the env kernel of REX_KERNEL(name). */
#define REX_DEVICE_KERNEL_ENV(name, ...) REX_DEVICE_KERNEL_ENV_STEM(REX_JOIN(name, __), __VA_ARGS__)
/**
 * REX_DEVICE_KERNEL_ENV_BOUNDS(name, (max_threads, min_teams), parameters...): head of an env
 * kernel with the bounds of REX_DEVICE_KERNEL_BOUNDS().
 */
#define REX_DEVICE_KERNEL_ENV_BOUNDS(name, bounds, ...) \
    REX_DEVICE_KERNEL_ENV_BOUNDS_STEM(REX_JOIN(name, __), bounds, __VA_ARGS__)
/**
 * REX_DEVICE_KERNEL_ENV_BOUNDS_STEM(S, bounds, parameters...): REX_DEVICE_KERNEL_ENV_BOUNDS() for a
 * stem.
 */
#define REX_DEVICE_KERNEL_ENV_BOUNDS_STEM(S, bounds, ...) \
    REX_DEVICE_ENV(S, __launch_bounds__ bounds, __VA_ARGS__)

#endif
