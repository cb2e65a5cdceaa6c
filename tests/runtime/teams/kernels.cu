/*
 * Teams with memory of their own: of a fixed size, and of one that the launch says. Each kernel says which thread ran an index. Then what
 * all threads reduce together.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "teams.h"

/* The thread or team that runs an index; and a barrier where teams that wrongly had the same memory would meet. */
#if !REX_ON_GPU && defined(_OPENMP)
#include <sched.h>
extern int omp_get_thread_num(void);
#define WORKER omp_get_thread_num()
#define BARRIER (rex_barrier(), (void)sched_yield())
#else
#define WORKER (int)rex_team(0)
#define BARRIER rex_barrier()
#endif

/* The sum of each part, by halves. */
REX_DEVICE_KERNEL(sums, (int64_t) parts, (const int64_t *) x, (int64_t *) sums, (int *) worker)
{
    REX_FOR_TEAMS(part, parts) {
        REX_SHARED int64_t left[PART];
        REX_FOR_THREADS(i, PART)
            left[i] = x[part * PART + i];
        BARRIER;
        for (int64_t half = PART / 2; half > 0; half /= 2) {
            REX_FOR_THREADS(i, half)
                left[i] += left[i + half];
            BARRIER;
        }
        if (rex_thread(0) == 0)
            sums[part] = left[0], worker[part] = WORKER;
        BARRIER;
    }
}

/* Each row the other way round, in memory that the launch asks for; and where this began, below a multiple of 16. */
REX_DEVICE_KERNEL(turned, (int64_t) rows, (int64_t) length, (int64_t *) x, (int *) begins)
{
    REX_FOR_TEAMS(row, rows) {
        REX_SHARED_DYNAMIC(int64_t, kept, length);
        int64_t *here = x + row * length;
        REX_FOR_THREADS(i, length)
            kept[i] = here[i];
        BARRIER;
        REX_FOR_THREADS(i, length)
            here[i] = kept[length - 1 - i];
        if (rex_thread(0) == 0)
            begins[row] = (int)((uintptr_t)kept % 16);
        BARRIER;
    }
}

/* Sum, least and largest of X, by loops and by atomics. */
#define REDUCED(name, type)                                                         \
    REX_DEVICE_KERNEL(name, (int64_t) n, (const int64_t *) x, (type *) out)         \
    {                                                                               \
        REX_FOR_SUM(i, n, &out[0], (type)x[i]);                                     \
        REX_FOR_MIN(i, n, &out[1], (type)x[i]);                                     \
        REX_FOR_MAX(i, n, &out[2], (type)x[i]);                                     \
        REX_FOR(i, n) {                                                             \
            rex_atomic_add(&out[3], (type)x[i]);                                    \
            rex_atomic_min(&out[4], (type)x[i]);                                    \
            rex_atomic_max(&out[5], (type)x[i]);                                    \
        }                                                                           \
    }
REDUCED(reduced_int, int32_t)
REDUCED(reduced_unsigned, uint32_t)
REDUCED(reduced_long, int64_t)
REDUCED(reduced_unsigned_long, uint64_t)
REDUCED(reduced_float, float)
REDUCED(reduced_double, double)
