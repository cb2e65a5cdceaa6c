/*
 * rex/clang.h - CUDA's own names, for a clang that compiles kernels without the CUDA toolkit. For
 * such a compiler rex/kernel.h includes this header. The command below makes PTX, which the CUDA
 * driver compiles. With the option -### rex-cc shows the commands of clang and does not run them.
 *
 *     rex-cc --images --device-compiler=clang axpy.cu
 *
 * These names have nvcc's meanings: the keywords, `threadIdx` and the like, barriers, fences,
 * exchanges in a warp, atomics, bits of integers, memcpy(), memset(), printf(), assert(), and the
 * functions of <math.h> that rex/clangmath.h lists, for double and float. A function that a GPU
 * computes exactly by one instruction, or by a few, needs no library. The other functions (exp,
 * sin, pow and so on) need the toolkit's libdevice. The compiler refuses them unless the command
 * defines REX_LIBDEVICE. Such a command must also link libdevice, as rex-cc does. Vector types
 * (`float4`), textures, cooperative groups and launches by <<<>>> need the CUDA toolkit.
 *
 * Everything here is since 0.2.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_CLANG_H
#define REX_CLANG_H

#ifndef REX_KERNEL_H
#error "rex/clang.h is a part of rex/kernel.h: include that"
#endif

/* ---- Keywords ------------------------------------------------------------------------------- */

/**
 * __CUDACC__, __host__, __device__, __global__, __shared__, __constant__, __forceinline__,
 * __launch_bounds__: names that nvcc defines or knows.
 */
#define __CUDACC__ 1
#define __host__ __attribute__((__host__))
#define __device__ __attribute__((__device__))
#define __global__ __attribute__((__global__))
#define __shared__ __attribute__((__shared__))
#define __constant__ __attribute__((__constant__))
#define __forceinline__ __inline__ __attribute__((__always_inline__))
#define __launch_bounds__(...) __attribute__((__launch_bounds__(__VA_ARGS__)))

/* clang's own header: threadIdx, blockIdx, blockDim, gridDim, warpSize. */
#include <__clang_cuda_builtin_vars.h>
#include <stddef.h>

#define REX_CUDA static __device__ __forceinline__
/* An attribute of a function. If code calls the function, the compiler reports the error TEXT. */
#define REX_REFUSED(text) __attribute__((__diagnose_if__(true, text, "error")))

/* ---- The C library -------------------------------------------------------------------------- */

/** memcpy(): copies bytes, as in C. */
REX_CUDA void *memcpy(void *to, const void *from, size_t bytes)
{
    return __builtin_memcpy(to, from, bytes);
}

/** memset(): fills bytes, as in C. */
REX_CUDA void *memset(void *to, int value, size_t bytes)
{
    return __builtin_memset(to, value, bytes);
}

extern "C" {
/**
 * printf(): prints, as nvcc's printf() does. clang turns each call into a call to the driver's
 * vprintf().
 */
__device__ int printf(const char *, ...);
/** __assertfail(): the driver's function for a failed assertion. */
__device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t)
    __attribute__((__noreturn__));
/** __assert_fail(): the function that the C library's assert() calls. */
REX_CUDA void __assert_fail(const char *text, const char *name, unsigned row, const char *function)
{
    __assertfail(text, name, row, function, 1);
}
}

/* ---- Threads -------------------------------------------------------------------------------- */

/** __syncwarp(): waits until all @lanes of the warp have called this function. */
REX_CUDA void __syncwarp(unsigned lanes = 0xffffffffu)
{
    __asm__ volatile("bar.warp.sync %0;" : : "r"(lanes) : "memory");
}

/**
 * __threadfence_block(): for the other threads of the team, the thread's writes before the call
 * precede its writes after the call.
 */
REX_CUDA void __threadfence_block(void)
{
    __nvvm_membar_cta();
}

/**
 * __threadfence(): for all threads of the GPU, the thread's writes before the call precede its
 * writes after the call.
 */
REX_CUDA void __threadfence(void)
{
    __nvvm_membar_gl();
}

/**
 * __threadfence_system(): for the CPU and all GPUs, the thread's writes before the call precede its
 * writes after the call.
 */
REX_CUDA void __threadfence_system(void)
{
    __nvvm_membar_sys();
}

/** __activemask(): returns the lanes of the warp that run this call together. */
REX_CUDA unsigned __activemask(void)
{
    unsigned lanes;
    __asm__ volatile("activemask.b32 %0;" : "=r"(lanes));
    return lanes;
}

/** __ballot_sync(): returns the set of those @lanes in which @wanted is not 0. */
REX_CUDA unsigned __ballot_sync(unsigned lanes, int wanted)
{
    unsigned result;
    __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                     : "=r"(result)
                     : "r"(wanted), "r"(lanes));
    return result;
}

/** __any_sync(): returns 1 if @wanted is not 0 in at least one of @lanes, else 0. */
REX_CUDA int __any_sync(unsigned lanes, int wanted)
{
    return __ballot_sync(lanes, wanted) != 0;
}

/** __all_sync(): returns 1 if @wanted is not 0 in all of @lanes, else 0. */
REX_CUDA int __all_sync(unsigned lanes, int wanted)
{
    return __ballot_sync(lanes, !wanted) == 0;
}

/*
 * Defines a function that returns a value of another lane in the calling lane's group of WIDTH
 * lanes. If LIMIT is 31, reads stop at the last lane of the group. A function that reads from
 * earlier lanes has the LIMIT 0: reads stop at the first lane.
 */
#define REX_SHUFFLE(name, instruction, position, limit)                                       \
    REX_CUDA unsigned rex_##name(unsigned lanes, unsigned bits, unsigned position, int width) \
    {                                                                                         \
        unsigned result, packed = (32 - (unsigned)width) << 8 | (limit);                      \
        __asm__ volatile("shfl.sync." instruction ".b32 %0, %1, %2, %3, %4;"                  \
                         : "=r"(result)                                                       \
                         : "r"(bits), "r"(position), "r"(packed), "r"(lanes));                \
        return result;                                                                        \
    }                                                                                         \
    template <class type>                                                                     \
    REX_CUDA type name(unsigned lanes, type value, unsigned position, int width = 32)         \
    {                                                                                         \
        static_assert(__is_arithmetic(type),                                                  \
                      #name "() exchanges only numbers: pass an arithmetic type");            \
        unsigned bits[(sizeof value + 3) / 4] = {0};                                          \
        __builtin_memcpy(bits, &value, sizeof value);                                         \
        for (unsigned i = 0; i < sizeof bits / 4; i++)                                        \
            bits[i] = rex_##name(lanes, bits[i], position, width);                            \
        __builtin_memcpy(&value, bits, sizeof value);                                         \
        return value;                                                                         \
    }
/**
 * __shfl_sync(), __shfl_up_sync(), __shfl_down_sync(), __shfl_xor_sync(): return a value of another
 * lane; the value has any arithmetic type.
 */
REX_SHUFFLE(__shfl_sync, "idx", lane, 31)
REX_SHUFFLE(__shfl_up_sync, "up", step, 0)
REX_SHUFFLE(__shfl_down_sync, "down", step, 31)
REX_SHUFFLE(__shfl_xor_sync, "bfly", lane, 31)
#undef REX_SHUFFLE

/* ---- Atomics -------------------------------------------------------------------------------- */

#define REX_ATOMIC_DO(name, type, operation)           \
    REX_CUDA type name(type *at, type value)           \
    {                                                  \
        /* Relaxed, like CUDA's atomics. */            \
        return operation(at, value, __ATOMIC_RELAXED); \
    }
#define REX_ATOMICS_OF(type)                                                                     \
    REX_ATOMIC_DO(atomicAdd, type, __atomic_fetch_add)                                           \
    REX_ATOMIC_DO(atomicMin, type, __atomic_fetch_min)                                           \
    REX_ATOMIC_DO(atomicMax, type, __atomic_fetch_max)                                           \
    REX_ATOMIC_DO(atomicAnd, type, __atomic_fetch_and)                                           \
    REX_ATOMIC_DO(atomicOr, type, __atomic_fetch_or)                                             \
    REX_ATOMIC_DO(atomicXor, type, __atomic_fetch_xor)                                           \
    REX_ATOMIC_DO(atomicExch, type, __atomic_exchange_n)                                         \
    REX_CUDA type atomicCAS(type *at, type was, type value)                                      \
    {                                                                                            \
        /* Relaxed, like CUDA's atomics. */                                                      \
        __atomic_compare_exchange_n(at, &was, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return was;                                                                              \
    }
/**
 * atomicAdd(), atomicMin(), atomicMax(), atomicAnd(), atomicOr(), atomicXor(), atomicExch(),
 * atomicCAS(): for int, unsigned, long long and unsigned long long.
 */
REX_ATOMICS_OF(int)
REX_ATOMICS_OF(unsigned)
REX_ATOMICS_OF(long long)
REX_ATOMICS_OF(unsigned long long)
#undef REX_ATOMICS_OF
#undef REX_ATOMIC_DO

/** atomicSub(): for int. */
REX_CUDA int atomicSub(int *at, int value)
{
    /* Relaxed, like CUDA's atomics. */
    return __atomic_fetch_sub(at, value, __ATOMIC_RELAXED);
}

/** atomicSub(): for unsigned. */
REX_CUDA unsigned atomicSub(unsigned *at, unsigned value)
{
    /* Relaxed, like CUDA's atomics. */
    return __atomic_fetch_sub(at, value, __ATOMIC_RELAXED);
}

/*
 * clang 18 and later add floats and doubles by a scoped builtin. Earlier clang releases use a
 * builtin for NVIDIA GPUs.
 */
#if __has_builtin(__scoped_atomic_fetch_add)
#define REX_ATOMIC_FLOATING(type, builtin)                                                    \
    REX_CUDA type atomicAdd(type *at, type value)                                             \
    {                                                                                         \
        /* Relaxed, like CUDA's atomics. */                                                   \
        return __scoped_atomic_fetch_add(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); \
    }
#else
#define REX_ATOMIC_FLOATING(type, builtin)        \
    REX_CUDA type atomicAdd(type *at, type value) \
    {                                             \
        return builtin(at, value);                \
    }
#endif
/** atomicAdd(): for float and double. */
REX_ATOMIC_FLOATING(float, __nvvm_atom_add_gen_f)
REX_ATOMIC_FLOATING(double, __nvvm_atom_add_gen_d)
#undef REX_ATOMIC_FLOATING

/* ---- Integers ------------------------------------------------------------------------------- */

#define REX_BITS(name, type, expression) \
    REX_CUDA int name(type bits)         \
    {                                    \
        return (expression);             \
    }
/**
 * __popc(), __popcll(): number of bits that are 1. __clz(), __clzll(): number of leading zeros.
 * __ffs(), __ffsll(): position of the lowest bit that is 1, counted from 1; 0 if there is none.
 */
REX_BITS(__popc, unsigned, __builtin_popcount(bits))
REX_BITS(__popcll, unsigned long long, __builtin_popcountll(bits))
REX_BITS(__clz, int, bits == 0 ? 32 : __builtin_clz((unsigned)bits))
REX_BITS(__clzll, long long, bits == 0 ? 64 : __builtin_clzll((unsigned long long)bits))
REX_BITS(__ffs, int, __builtin_ffs(bits))
REX_BITS(__ffsll, long long, __builtin_ffsll(bits))
#undef REX_BITS

#define REX_ABSOLUTE(name, type)           \
    REX_CUDA type name(type value)         \
    {                                      \
        return value < 0 ? -value : value; \
    }
REX_ABSOLUTE(abs, int)
REX_ABSOLUTE(abs, long)
REX_ABSOLUTE(abs, long long)
REX_ABSOLUTE(labs, long)
REX_ABSOLUTE(llabs, long long)
#undef REX_ABSOLUTE

#define REX_LEAST_MOST(type)          \
    REX_CUDA type min(type x, type y) \
    {                                 \
        return y < x ? y : x;         \
    }                                 \
    REX_CUDA type max(type x, type y) \
    {                                 \
        return x < y ? y : x;         \
    }
REX_LEAST_MOST(int)
REX_LEAST_MOST(unsigned)
REX_LEAST_MOST(long)
REX_LEAST_MOST(unsigned long)
REX_LEAST_MOST(long long)
REX_LEAST_MOST(unsigned long long)
#undef REX_LEAST_MOST

/**
 * __ldg(): reads *@from by a plain load. clang reads through the read-only cache if the kernel's
 * parameter is a const and restrict pointer.
 */
template <class type> REX_CUDA type __ldg(const type *from)
{
    return *from;
}

#include "rex/clangmath.h"

#undef REX_REFUSED
#undef REX_CUDA

#endif
