/*
 * rex/reduce.h - what threads of a kernel do together: atomics, sums, smallest and largest values,
 * and teams that share memory. rex/kernel.h includes it.
 *
 *     REX_DEVICE_KERNEL(dot, rex_arg n, const double *x, const double *y, double *sum)
 *     {
 *         REX_FOR_SUM(i, rex_arg_int(n), sum, x[i] * y[i]);
 *     }
 *
 * Each of them is right on a GPU, on the CPU by one thread and on the CPU by OpenMP's threads.
 *
 * Everything here is since 0.1 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REDUCE_H
#define REX_REDUCE_H

#ifndef REX_KERNEL_H
#error "rex/reduce.h is a part of rex/kernel.h: include that"
#endif

#include "rex/detail_push.h"

/*
 * ---- Atomics ----------------------------------------------------------------------------------
 *
 * rex_atomic_add(address, value), rex_atomic_min(address, value) and rex_atomic_max(address, value)
 * change *address, whatever other threads do to it by these functions, and return what it was. It
 * is an int, unsigned, long, unsigned long, long long, unsigned long long or double in the memory
 * that the kernel was given. They order nothing else. min and max never store a NaN.
 */

#if REX_ON_GPU
#define REX_ATOMIC_LOAD(address) (*(volatile const rex_word *)(address))
#define REX_ATOMIC_SWAP(address, last, next) atomicCAS((rex_word *)(address), (last), (next))
#else
/* Relaxed: a first guess, which the compare-and-swap below looks at again. */
#define REX_ATOMIC_LOAD(address) __atomic_load_n((const rex_word *)(address), __ATOMIC_RELAXED)
#define REX_ATOMIC_SWAP(address, last, next) \
    __sync_val_compare_and_swap((rex_word *)(address), (last), (next))
#endif

/*
 * A function that makes *address what BETTER says, an expression of `was` and `value`, unless that
 * changes nothing. WORD is an unsigned type of as many bytes.
 */
#define REX_ATOMIC(function, type, word, better)                                         \
    REX_DEVICE type function(type *address, type value)                                  \
    {                                                                                    \
        typedef word __attribute__((__may_alias__)) rex_word;                            \
        rex_word last, next, seen = REX_ATOMIC_LOAD(address);                            \
        type was, wanted;                                                                \
        do {                                                                             \
            last = seen;                                                                 \
            memcpy(&was, &last, sizeof was);                                             \
            wanted = (better);                                                           \
            memcpy(&next, &wanted, sizeof next);                                         \
        } while (next != last && (seen = REX_ATOMIC_SWAP(address, last, next)) != last); \
        return was;                                                                      \
    }
#if REX_ON_GPU
#define REX_ATOMIC_SUM(function, type, word, native)              \
    REX_DEVICE type function(type *address, type value)           \
    {                                                             \
        return (type)atomicAdd((native *)address, (native)value); \
    }
#else
#define REX_ATOMIC_SUM(function, type, word, native) \
    REX_ATOMIC(function, type, word, (type)((native)was + (native)value))
#endif
/* Three functions of a type; the hardware adds NATIVE, whose sums wrap around. */
#define REX_ATOMICS(suffix, type, word, native)                                \
    REX_ATOMIC_SUM(rex_atomic_add_##suffix, type, word, native)                \
    REX_ATOMIC(rex_atomic_min_##suffix, type, word, value < was ? value : was) \
    REX_ATOMIC(rex_atomic_max_##suffix, type, word, value > was ? value : was)

/** rex_atomic_add_int, rex_atomic_min_int, rex_atomic_max_int. */
REX_ATOMICS(int, int, unsigned, unsigned)
/** rex_atomic_add_uint, rex_atomic_min_uint, rex_atomic_max_uint. */
REX_ATOMICS(uint, unsigned, unsigned, unsigned)
/** rex_atomic_add_long, rex_atomic_min_long, rex_atomic_max_long. */
REX_ATOMICS(long, long, unsigned long long, unsigned long long)
/** rex_atomic_add_ulong, rex_atomic_min_ulong, rex_atomic_max_ulong. */
REX_ATOMICS(ulong, unsigned long, unsigned long long, unsigned long long)
/** rex_atomic_add_llong, rex_atomic_min_llong, rex_atomic_max_llong. */
REX_ATOMICS(llong, long long, unsigned long long, unsigned long long)
/** rex_atomic_add_ullong, rex_atomic_min_ullong, rex_atomic_max_ullong. */
REX_ATOMICS(ullong, unsigned long long, unsigned long long, unsigned long long)
/** rex_atomic_add_double, rex_atomic_min_double, rex_atomic_max_double. */
REX_ATOMICS(double, double, unsigned long long, double)
#undef REX_ATOMICS
#undef REX_ATOMIC_SUM
#undef REX_ATOMIC
#undef REX_ATOMIC_SWAP
#undef REX_ATOMIC_LOAD

#ifdef __cplusplus
#define REX_ATOMICS(suffix, type)                             \
    REX_DEVICE type rex_atomic_add(type *address, type value) \
    {                                                         \
        return rex_atomic_add_##suffix(address, value);       \
    }                                                         \
    REX_DEVICE type rex_atomic_min(type *address, type value) \
    {                                                         \
        return rex_atomic_min_##suffix(address, value);       \
    }                                                         \
    REX_DEVICE type rex_atomic_max(type *address, type value) \
    {                                                         \
        return rex_atomic_max_##suffix(address, value);       \
    }
/** rex_atomic_add(), rex_atomic_min(), rex_atomic_max() of an int. */
REX_ATOMICS(int, int)
/** rex_atomic_add(), rex_atomic_min(), rex_atomic_max() of an unsigned. */
REX_ATOMICS(uint, unsigned)
/** rex_atomic_add(), rex_atomic_min(), rex_atomic_max() of a long. */
REX_ATOMICS(long, long)
/** rex_atomic_add(), rex_atomic_min(), rex_atomic_max() of an unsigned long. */
REX_ATOMICS(ulong, unsigned long)
/** rex_atomic_add(), rex_atomic_min(), rex_atomic_max() of a long long. */
REX_ATOMICS(llong, long long)
/** rex_atomic_add(), rex_atomic_min(), rex_atomic_max() of an unsigned long long. */
REX_ATOMICS(ullong, unsigned long long)
/** rex_atomic_add(), rex_atomic_min(), rex_atomic_max() of a double. */
REX_ATOMICS(double, double)
#undef REX_ATOMICS
#else
/** REX_ATOMIC_OF(function, address): the function for the type at @address. */
#define REX_ATOMIC_OF(function, address)         \
    _Generic((address),                          \
        int *: function##_int,                   \
        unsigned *: function##_uint,             \
        long *: function##_long,                 \
        unsigned long *: function##_ulong,       \
        long long *: function##_llong,           \
        unsigned long long *: function##_ullong, \
        double *: function##_double)
/** rex_atomic_add(address, value): *address += value; what it was. */
#define rex_atomic_add(address, value) REX_ATOMIC_OF(rex_atomic_add, address)((address), (value))
/** rex_atomic_min(address, value): *address becomes value where that is less; what it was. */
#define rex_atomic_min(address, value) REX_ATOMIC_OF(rex_atomic_min, address)((address), (value))
/** rex_atomic_max(address, value): *address becomes value where that is more; what it was. */
#define rex_atomic_max(address, value) REX_ATOMIC_OF(rex_atomic_max, address)((address), (value))
#endif

/*
 * ---- Over all indices -------------------------------------------------------------------------
 *
 * @to is the address of the result, an int, unsigned, long, unsigned long, long long, unsigned long
 * long or double in memory that the kernel was given, which has a value before: 0, or the largest
 * or smallest there is. @expression uses @i and may not leave the loop. All threads of a team must
 * come to it, as to a barrier. In what order numbers are added is not defined, so that the last
 * digits of a sum of doubles differ from run to run.
 */

#if REX_ON_GPU
/** rex_number_in_team(): number of this thread among those of its team. */
REX_DEVICE unsigned rex_number_in_team(void)
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/** rex_lanes(): which lanes of this warp have a thread, a bit for each. */
REX_DEVICE unsigned rex_lanes(void)
{
    unsigned behind = blockDim.x * blockDim.y * blockDim.z - rex_number_in_team() / 32 * 32;
    return behind >= 32 ? 0xffffffffu : (1u << behind) - 1;
}

/** rex_has_lane(): whether the lane @step behind this thread's has a thread. */
REX_DEVICE bool rex_has_lane(unsigned step)
{
    unsigned lane = rex_number_in_team() % 32 + step;
    return lane < 32 && (rex_lanes() >> lane & 1) != 0;
}

/**
 * REX_FOR_ALL(i, n, to, first, expression, together, atomic, loop): what the threads of a warp have
 * found is put together, and the first of them puts it to *to.
 */
#define REX_FOR_ALL(i, n, to, first, expression, together, atomic, loop)                       \
    do {                                                                                       \
        rex_not_inside_REX_FOR();                                                              \
        __typeof__(*(to) + 0) rex_mine = (first);                                              \
        REX_GRID_STRIDE(i, n, 0)                                                               \
        {                                                                                      \
            __typeof__(*(to) + 0) rex_one = (expression);                                      \
            together(rex_mine, rex_one);                                                       \
        }                                                                                      \
        for (unsigned rex_step = 16; rex_step > 0; rex_step /= 2) {                            \
            __typeof__(*(to) + 0) rex_one = __shfl_down_sync(rex_lanes(), rex_mine, rex_step); \
            if (rex_has_lane(rex_step))                                                        \
                together(rex_mine, rex_one);                                                   \
        }                                                                                      \
        if (rex_number_in_team() % 32 == 0)                                                    \
            atomic((to), rex_mine);                                                            \
    } while (0)
#else
#define REX_FOR_ALL(i, n, to, first, expression, together, atomic, loop) \
    do {                                                                 \
        rex_not_inside_REX_FOR();                                        \
        __typeof__(*(to) + 0) rex_mine = (first);                        \
        loop for (int64_t i = 0; i < (int64_t)(n); i++)                  \
        {                                                                \
            __typeof__(*(to) + 0) rex_one = (expression);                \
            together(rex_mine, rex_one);                                 \
        }                                                                \
        atomic((to), rex_mine);                                          \
    } while (0)
#endif

#if !REX_ON_GPU && defined(_OPENMP)
/** REX_LOOP_SUM: what makes a loop OpenMP's, each of whose threads has a rex_mine of its own. */
#define REX_LOOP_SUM _Pragma("omp parallel for reduction(+ : rex_mine)")
/** REX_LOOP_MIN: likewise. */
#define REX_LOOP_MIN _Pragma("omp parallel for reduction(min : rex_mine)")
/** REX_LOOP_MAX: likewise. */
#define REX_LOOP_MAX _Pragma("omp parallel for reduction(max : rex_mine)")
#else
#define REX_LOOP_SUM
#define REX_LOOP_MIN
#define REX_LOOP_MAX
#endif

/** REX_TOGETHER_SUM(mine, one): puts @one to @mine. */
#define REX_TOGETHER_SUM(mine, one) (mine) += (one)
/** REX_TOGETHER_MIN(mine, one): likewise. */
#define REX_TOGETHER_MIN(mine, one) (mine) = (one) < (mine) ? (one) : (mine)
/** REX_TOGETHER_MAX(mine, one): likewise. */
#define REX_TOGETHER_MAX(mine, one) (mine) = (one) > (mine) ? (one) : (mine)

/** REX_FOR_SUM(i, n, to, expression): adds to *to the sum of @expression for every i in [0, n). */
#define REX_FOR_SUM(i, n, to, expression) \
    REX_FOR_ALL(i, n, to, 0, expression, REX_TOGETHER_SUM, rex_atomic_add, REX_LOOP_SUM)
/** REX_FOR_MIN(i, n, to, expression): *to becomes the least @expression, where one is less. */
#define REX_FOR_MIN(i, n, to, expression) \
    REX_FOR_ALL(i, n, to, *(to), expression, REX_TOGETHER_MIN, rex_atomic_min, REX_LOOP_MIN)
/** REX_FOR_MAX(i, n, to, expression): *to becomes the largest @expression, where one is more. */
#define REX_FOR_MAX(i, n, to, expression) \
    REX_FOR_ALL(i, n, to, *(to), expression, REX_TOGETHER_MAX, rex_atomic_max, REX_LOOP_MAX)

/*
 * ---- Teams ------------------------------------------------------------------------------------
 *
 * A kernel whose teams each do a part: REX_FOR_TEAMS over the parts, in it REX_FOR_THREADS over
 * what a part consists of, with memory that the team shares. On the CPU there is one team of one
 * thread, which has nobody to wait for, so that both mean the same: a barrier is nothing there and
 * REX_SHARED a local variable. All threads of the team come to a barrier, and to no barrier inside
 * of REX_FOR, whose indices belong to no team: there a compiler refuses it, and a sum, minimum or
 * maximum, unless it is in a function that the body calls.
 */

/** REX_FOR_TEAMS(i, n): for every i in [0, n), shared among the teams; each runs it as a whole. */
#define REX_FOR_TEAMS(i, n) for (int64_t i = rex_team(0); i < (int64_t)(n); i += rex_num_teams(0))
/** REX_FOR_THREADS(i, n): for every i in [0, n), shared among the threads of the team. */
#define REX_FOR_THREADS(i, n) \
    for (int64_t i = rex_thread(0); i < (int64_t)(n); i += rex_num_threads(0))

#if REX_ON_GPU
/** REX_SHARED: in front of a variable of a kernel: one for each team. It has no value at first. */
#define REX_SHARED __shared__
/** rex_barrier(): waits until all threads of the team are here, and see what the others wrote. */
#define rex_barrier() (rex_not_inside_REX_FOR(), __syncthreads())
#else
#define REX_SHARED
#define rex_barrier() rex_not_inside_REX_FOR()
#endif

#include "rex/detail_pop.h"

#endif
