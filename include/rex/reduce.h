/*
 * rex/reduce.h - work of several threads of a kernel: atomics, sums, minima, maxima, and teams that
 * share memory. rex/kernel.h includes it.
 *
 *     REX_DEVICE_KERNEL(dot, (int64_t) n, (const double *) x, (const double *) y, (double *) sum)
 *     {
 *         REX_FOR_SUM(i, n, sum, x[i] * y[i]);
 *     }
 *
 * All of these are correct on a GPU, and on the CPU with one thread or with OpenMP's threads.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * Guide: rex-kernels(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REDUCE_H
#define REX_REDUCE_H

#ifndef REX_KERNEL_H
#error "rex/reduce.h is a part of rex/kernel.h: include that"
#endif

/*
 * ---- Atomics: one value that many threads change ----------------------------------------------
 *
 * These functions change the value at @address atomically, and return the old value. The value's
 * type is float, double, or an int, long or long long, signed or unsigned. The value is in memory
 * that the kernel received. Do not rely on the functions to order accesses to other memory. Sums of
 * integers wrap around. A NaN is never stored as minimum or maximum. In C these functions are
 * macros.
 */

#if REX_ON_GPU
#define REX_ATOMIC_LOAD(address) (*(volatile const rex_word *)(address))
#define REX_ATOMIC_SWAP(address, last, next) atomicCAS((rex_word *)(address), (last), (next))
#else
/* A relaxed load: the compare-and-swap in REX_ATOMIC() checks the loaded value. */
#define REX_ATOMIC_LOAD(address) __atomic_load_n((const rex_word *)(address), __ATOMIC_RELAXED)
#define REX_ATOMIC_SWAP(address, last, next) \
    __sync_val_compare_and_swap((rex_word *)(address), (last), (next))
#endif

/*
 * Defines a function that sets *address to BETTER, an expression of the old value `was` and
 * `value`. If BETTER has the same bits as the old value, the function writes nothing. WORD is an
 * unsigned type of equal size.
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
#ifdef __cplusplus
/*
 * In C++ the functions for all types are overloads of one name. In C each function has a name of
 * its own, such as rex_detail_atomic_add_float().
 */
#define REX_ATOMIC_NAME(action, suffix) rex_atomic_##action
#else
#define REX_ATOMIC_NAME(action, suffix) rex_detail_atomic_##action##_##suffix
/*
 * REX_DETAIL_ATOMIC(function, address): the name of the function for the type that @address points
 * to. For a `float *` the name is @function with `_float` after it.
 */
#define REX_DETAIL_ATOMIC(function, address) \
    _Generic((address),                          \
        int *: function##_int,                   \
        unsigned *: function##_uint,             \
        long *: function##_long,                 \
        unsigned long *: function##_ulong,       \
        long long *: function##_llong,           \
        unsigned long long *: function##_ullong, \
        float *: function##_float,               \
        double *: function##_double)
/** rex_atomic_add(address, value): adds @value to *address. Returns the old value. */
#define rex_atomic_add(address, value) \
    REX_DETAIL_ATOMIC(rex_detail_atomic_add, address)((address), (value))
/**
 * rex_atomic_min(address, value): sets *address to @value if @value is less. Returns the old value.
 */
#define rex_atomic_min(address, value) \
    REX_DETAIL_ATOMIC(rex_detail_atomic_min, address)((address), (value))
/**
 * rex_atomic_max(address, value): sets *address to @value if @value is greater. Returns the old
 * value.
 */
#define rex_atomic_max(address, value) \
    REX_DETAIL_ATOMIC(rex_detail_atomic_max, address)((address), (value))
#endif
/*
 * Defines the functions that add, and that find the minimum and the maximum, for one type. Sums are
 * computed in the type NATIVE, which CUDA's atomicAdd() takes. For integers NATIVE is unsigned, so
 * that sums wrap around.
 */
#define REX_ATOMICS(suffix, type, word, native)                                     \
    REX_ATOMIC_SUM(REX_ATOMIC_NAME(add, suffix), type, word, native)                \
    REX_ATOMIC(REX_ATOMIC_NAME(min, suffix), type, word, value < was ? value : was) \
    REX_ATOMIC(REX_ATOMIC_NAME(max, suffix), type, word, value > was ? value : was)

/* Define rex_atomic_add(), rex_atomic_min() and rex_atomic_max() for each type. */
REX_ATOMICS(int, int, unsigned, unsigned)
REX_ATOMICS(uint, unsigned, unsigned, unsigned)
REX_ATOMICS(long, long, unsigned long long, unsigned long long)
REX_ATOMICS(ulong, unsigned long, unsigned long long, unsigned long long)
REX_ATOMICS(llong, long long, unsigned long long, unsigned long long)
REX_ATOMICS(ullong, unsigned long long, unsigned long long, unsigned long long)
REX_ATOMICS(float, float, unsigned, float)
REX_ATOMICS(double, double, unsigned long long, double)
#undef REX_ATOMICS
#undef REX_ATOMIC_NAME
#undef REX_ATOMIC_SUM
#undef REX_ATOMIC
#undef REX_ATOMIC_SWAP
#undef REX_ATOMIC_LOAD

#if REX_ON_GPU
/* rex_detail_number(): returns the number of this thread in its team. */
REX_DEVICE unsigned rex_detail_number(void)
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/*
 * rex_detail_lanes(): returns the number of lanes of this warp that have a thread. The last warp of
 * a team may have only its first lanes.
 */
REX_DEVICE unsigned rex_detail_lanes(void)
{
    unsigned left = blockDim.x * blockDim.y * blockDim.z - rex_detail_number() / 32 * 32;
    return left < 32 ? left : 32;
}

/*
 * REX_DETAIL_PUT(to, both, atomic): on a GPU the expression @both combines the values
 * rex_detail_mine of all threads of a warp. After that, the first thread of the warp calls the
 * function @atomic to combine the result with *to. On the CPU rex_detail_mine already has the
 * result of all threads of OpenMP. The thread that called the kernel combines this result with *to.
 */
#define REX_DETAIL_PUT(to, both, atomic)                                             \
    for (unsigned rex_detail_step = 16; rex_detail_step > 0; rex_detail_step /= 2) { \
        unsigned rex_detail_left = rex_detail_lanes();                               \
        unsigned rex_detail_mask = 0xffffffffu >> (32 - rex_detail_left);            \
        __typeof__(rex_detail_mine) rex_detail_one =                                 \
            __shfl_down_sync(rex_detail_mask, rex_detail_mine, rex_detail_step);     \
        if (rex_detail_number() % 32 + rex_detail_step < rex_detail_left)            \
            rex_detail_mine = (both);                                                \
    }                                                                                \
    if (rex_detail_number() % 32 == 0)                                               \
    atomic((to), rex_detail_mine)
#else
#define REX_DETAIL_PUT(to, both, atomic) atomic((to), rex_detail_mine)
#endif

/*
 * REX_DETAIL_REDUCE(i, n, to, first, expression, both, atomic, directive): runs a loop over every i
 * in [0, n). Each thread has a result, rex_detail_mine, which begins as @first. With OpenMP
 * rex_detail_mine begins as the initial value of the reduction clause, and OpenMP combines the
 * results of all threads with @first. At each index rex_detail_one is @expression, and
 * rex_detail_mine becomes @both. After the loop REX_DETAIL_PUT() combines the results with *to. The
 * program's expressions are evaluated in the scope of these two variables.
 */
#define REX_DETAIL_REDUCE(i, n, to, first, expression, both, atomic, directive) \
    do {                                                                        \
        (void)sizeof REX_DETAIL_ON_GRID;                                        \
        __typeof__(*(to) + 0) rex_detail_mine = (first);                        \
        REX_DETAIL_OPENMP(rex_detail_count(n), directive)                       \
        REX_GRID_STRIDE(i, n, 0)                                                \
        {                                                                       \
            __typeof__(*(to) + 0) rex_detail_one = (expression);                \
            rex_detail_mine = (both);                                           \
        }                                                                       \
        REX_DETAIL_PUT(to, both, atomic);                                       \
    } while (0)

/*
 * ---- Sum, minimum and maximum over all indices ------------------------------------------------
 *
 * @to is the address of the result, in memory that the kernel received. The type of the result is
 * one that rex_atomic_add() takes. The old value at @to is one operand, so set this value before
 * the launch: to 0 for a sum. @expression uses @i and must not leave the loop. The grid has one
 * dimension: threads along y or z would process every index again. All threads of a team must reach
 * the loop, as with a barrier. The order of additions is not defined: the last digits of a sum of
 * floats or doubles may differ from run to run. A sum has the type of the value at @to: a float
 * represents all integers only up to 2^24.
 */

/** REX_FOR_SUM(i, n, to, expression): adds to *to the sum of @expression for every i in [0, n). */
#define REX_FOR_SUM(i, n, to, expression)                                          \
    REX_DETAIL_REDUCE(                                                             \
        i, n, to, 0, expression, rex_detail_mine + rex_detail_one, rex_atomic_add, \
        "omp parallel for num_threads(rex_detail_run.threads) reduction(+ : rex_detail_mine)")
/** REX_FOR_MIN(i, n, to, expression): sets *to to the minimum of *to and every @expression. */
#define REX_FOR_MIN(i, n, to, expression)                                                    \
    REX_DETAIL_REDUCE(                                                                       \
        i, n, to, *(to), expression,                                                         \
        rex_detail_one < rex_detail_mine ? rex_detail_one : rex_detail_mine, rex_atomic_min, \
        "omp parallel for num_threads(rex_detail_run.threads) reduction(min : rex_detail_mine)")
/** REX_FOR_MAX(i, n, to, expression): sets *to to the maximum of *to and every @expression. */
#define REX_FOR_MAX(i, n, to, expression)                                                    \
    REX_DETAIL_REDUCE(                                                                       \
        i, n, to, *(to), expression,                                                         \
        rex_detail_one > rex_detail_mine ? rex_detail_one : rex_detail_mine, rex_atomic_max, \
        "omp parallel for num_threads(rex_detail_run.threads) reduction(max : rex_detail_mine)")

/*
 * rex_detail_not_before_REX_FOR_TEAMS(): REX_FOR_TEAMS() calls this function in an operand that is
 * not evaluated. REX_SHARED declares a type of this name, so that the compiler refuses a later
 * REX_FOR_TEAMS() in the block.
 */
REX_DETAIL_RULE rex_detail_not_before_REX_FOR_TEAMS(void);
/*
 * rex_detail_one_REX_SHARED_DYNAMIC(): REX_SHARED_DYNAMIC() calls this function in an operand that
 * is not evaluated, and declares a variable of this name. So the compiler refuses a second
 * REX_SHARED_DYNAMIC() in the block.
 */
REX_DETAIL_RULE rex_detail_one_REX_SHARED_DYNAMIC(void);

/*
 * ---- Teams: threads that share memory and wait for each other ---------------------------------
 *
 * Each team processes one part after another, and its threads share the elements of the part:
 *
 *     REX_FOR_TEAMS(part, parts)
 *     {
 *         REX_SHARED double left[256];
 *         REX_FOR_THREADS(i, 256)
 *             left[i] = x[256 * part + i];
 *         rex_barrier();
 *         ...
 *         rex_barrier();     before the next part overwrites this one
 *     }
 *
 * On the CPU a team is one thread, which runs REX_FOR_THREADS() in order, and a barrier does
 * nothing. With -fopenmp several teams may run concurrently, each on a thread of OpenMP.
 *
 * The grid has one dimension. All threads of the team must reach a barrier. Each index of REX_FOR()
 * and REX_FOR_THREADS() belongs to one thread. Inside these loops a compiler refuses barriers,
 * REX_SHARED, and all loops of this header and of rex/kernel.h. Each index of REX_FOR_TEAMS()
 * belongs to one team. Inside this loop a compiler refuses all these loops except
 * REX_FOR_THREADS(). A compiler does not refuse REX_GRID_STRIDE() in these loops, and does not
 * check functions that a body calls.
 */

/**
 * REX_FOR_TEAMS(i, n): runs its body for every i in [0, n). The teams in x share the indices, and
 * all threads of a team run the body. A variable that the body writes must be declared inside the
 * body. The body must not leave the loop with break, goto or return.
 */
#define REX_FOR_TEAMS(i, n)                                                       \
    REX_DETAIL_FOR(rex_detail_not_inside_REX_FOR_TEAMS,                           \
                   REX_DETAIL_ON_GRID + (*rex_detail_not_before_REX_FOR_TEAMS)(), \
                   rex_detail_count(n), REX_DETAIL_TEAM,                          \
                   "omp parallel for num_threads(rex_detail_run.threads)",        \
                   REX_DETAIL_LOOP(i, n, rex_team(0), rex_num_teams(0)))
/**
 * REX_FOR_THREADS(i, n): runs its body for every i in [0, n). The threads of the team share the
 * indices. Each thread has its own copy of a local variable that is declared outside the body,
 * unless the variable is a REX_SHARED variable. The body must not leave the loop with break, goto
 * or return.
 */
#define REX_FOR_THREADS(i, n)                                \
    REX_DETAIL_LOOP(i, n, rex_thread(0), rex_num_threads(0)) \
    REX_DETAIL_BODY(rex_detail_not_inside_REX_FOR, rex_detail_not_inside_REX_FOR())

/*
 * REX_DETAIL_SHARED: is written before a variable in the memory of a team. It declares a type whose
 * name is that of a function. If a REX_FOR_TEAMS() follows in the block, the compiler refuses that
 * loop.
 */
#define REX_DETAIL_SHARED                                                                   \
    typedef __typeof__(rex_detail_not_inside_REX_FOR()) rex_detail_not_before_REX_FOR_TEAMS \
        __attribute__((__unused__));
#if REX_ON_GPU
/**
 * REX_SHARED: is written before a variable in the body of REX_FOR_TEAMS(). Each team has one such
 * variable. On a GPU its memory is the same for all indices that the team runs. The variable is
 * uninitialised. If REX_SHARED is before the loop, a compiler refuses the loop.
 */
#define REX_SHARED REX_DETAIL_SHARED __shared__
/**
 * rex_barrier(): waits until all threads of the team have called it. After that each thread sees
 * the writes of the other threads.
 */
#define rex_barrier() ((void)sizeof(rex_detail_not_inside_REX_FOR()), __syncthreads())
/*
 * REX_DETAIL_DYNAMIC(type, count): declares rex_detail_dynamic, the team's dynamic shared memory.
 */
#define REX_DETAIL_DYNAMIC(type, count)                                                    \
    extern __shared__ __attribute__((__aligned__(16))) unsigned char rex_detail_dynamic[]; \
    (void)(count);
#else
#define REX_SHARED REX_DETAIL_SHARED
#define rex_barrier() ((void)sizeof(rex_detail_not_inside_REX_FOR()))
/*
 * Declares an array of variable length, which lives as long as the block. The pragmas turn off the
 * warning that ISO C++ has no such arrays.
 */
#define REX_DETAIL_DYNAMIC(type, count)                                                         \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wvla\"") __typeof__(type) \
        rex_detail_dynamic[(size_t)(count) + 1] __attribute__((__aligned__(16)));               \
    _Pragma("GCC diagnostic pop")
#endif

/**
 * REX_SHARED_DYNAMIC(type, name, count): declares @name, a pointer to @count elements of @type that
 * the team shares. Write REX_SHARED_DYNAMIC() where REX_SHARED is allowed, and at most once in a
 * kernel. On a GPU a second REX_SHARED_DYNAMIC() would use the memory of the first. The elements
 * are uninitialised and begin at a multiple of 16 bytes. On a GPU the launch provides the memory:
 * `dynamic_memory` of struct rex_launch_config must be at least @count * sizeof(type) bytes. On the
 * CPU the memory is on the stack.
 */
#define REX_SHARED_DYNAMIC(type, name, count)                                                    \
    REX_DETAIL_SHARED                                                                            \
    __attribute__((__unused__))                                                                  \
    const __typeof__(rex_detail_one_REX_SHARED_DYNAMIC()) rex_detail_one_REX_SHARED_DYNAMIC = 0; \
    REX_DETAIL_DYNAMIC(type, count)                                                              \
    __typeof__(type) *const name = (__typeof__(type) *)(void *)rex_detail_dynamic

#endif
