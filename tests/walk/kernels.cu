/*
 * kernels.cu - what the walk launches: sums of whole numbers, so that a model of the arrays says what comes out.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#ifdef __CUDA_ARCH__
#define ATOMIC_ADD(at, value) atomicAdd((unsigned long long *)(at), (unsigned long long)(value))
#else
#define ATOMIC_ADD(at, value) __atomic_fetch_add(at, value, __ATOMIC_RELAXED)
#endif

struct walk_record {
    int64_t count;
    int64_t *data;
    int64_t tail;
};

/* Both forms, of which LLVM 18 runs the second alone. */
REX_DEVICE_KERNEL(walk_add, (int64_t) n, (int64_t) a, (const int64_t *) x, (int64_t *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}

REX_DEVICE_KERNEL(walk_nothing, void)
{
}

REX_DEVICE_KERNEL_ENV(walk_set, (int64_t) n, (int64_t) a, (int64_t *) y)
{
    REX_FOR(i, n)
        y[i] = a + i;
}

REX_DEVICE_KERNEL(walk_sum, (int64_t) n, (const struct walk_record *) record)
{
    REX_FOR(i, n)
        record->data[i] += record->count;
}

/* OBJECT is firstprivate: four numbers. */
REX_DEVICE_KERNEL(walk_object, (const int64_t *) object, (int64_t *) y)
{
    REX_FOR(i, 4)
        y[i] += object[i];
}

/* Of several threads, which need no order. */
REX_DEVICE_KERNEL(walk_share, (int64_t) n, (int64_t) a, (const int64_t *) x, (int64_t *) y)
{
    REX_FOR(i, n)
        ATOMIC_ADD(&y[i], a * x[i]);
}

REX_DEVICE_KERNEL(walk_share_record, (int64_t) n, (int64_t) a, (const struct walk_record *) record, (int64_t *) y)
{
    REX_FOR(i, n)
        ATOMIC_ADD(&y[i], a * record->data[i]);
}
