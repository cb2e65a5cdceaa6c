/* Loops over one to three dimensions, arguments of every kind, a global, an env kernel. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

struct small {
    int16_t a, b;
    float c;
};

REX_DEVICE_GLOBAL(int64_t, launches) = 100;

REX_DEVICE_KERNEL(one, rex_arg n, int64_t *cells)
{
    REX_FOR(i, rex_arg_int(n))
        cells[i] += i + 1;
}

REX_DEVICE_KERNEL(two, rex_arg ni, rex_arg nj, int64_t *cells)
{
    REX_FOR_2D(i, rex_arg_int(ni), j, rex_arg_int(nj))
        cells[i * rex_arg_int(nj) + j] += 1000 * i + j;
}

REX_DEVICE_KERNEL(three, rex_arg ni, rex_arg nj, rex_arg nk, int64_t *cells)
{
    REX_FOR_3D(i, rex_arg_int(ni), j, rex_arg_int(nj), k, rex_arg_int(nk))
        cells[(i * rex_arg_int(nj) + j) * rex_arg_int(nk) + k] += 1000000 * i + 1000 * j + k;
}

REX_DEVICE_KERNEL(arguments, rex_arg i, rex_arg f, rex_arg d, rex_arg s, double *out)
{
    struct small small;
    REX_ARG_COPY(small, s);
    if (rex_team(0) + rex_thread(0) == 0) {
        out[0] = rex_arg_int32(i);
        out[1] = (double)rex_arg_float(f);
        out[2] = rex_arg_double(d);
        out[3] = small.a + small.b + (double)small.c;
        out[4] = (double)launches++;
    }
}

REX_DEVICE_KERNEL_ENV(environment, rex_arg n, int64_t *cells)
{
    REX_FOR(i, rex_arg_int(n))
        cells[i] -= i;
}

REX_DEVICE_KERNEL(nothing, void)
{
}

/* Sums, least and largest values of each type, and atomics beside them. */
#define REDUCTIONS(type, at)                                                                  \
    do {                                                                                      \
        type *mine = (type *)(out + 6 * (at));                                                \
        REX_FOR_SUM(i, count, &mine[0], (type)i);                                             \
        REX_FOR_MIN(i, count, &mine[1], (type)(count - i));                                   \
        REX_FOR_MAX(i, count, &mine[2], (type)(i % 1000));                                    \
        REX_FOR(i, count) {                                                                   \
            rex_atomic_add(&mine[3], (type)(i % 3));                                          \
            rex_atomic_min(&mine[4], (type)(i / 2 + 5));                                      \
            rex_atomic_max(&mine[5], (type)(i / 2));                                          \
        }                                                                                     \
    } while (0)

/* At each number of OUT begin six values, of whatever size. */
REX_DEVICE_KERNEL(reductions, rex_arg n, double *out)
{
    int64_t count = rex_arg_int(n);
    REDUCTIONS(int, 0);
    REDUCTIONS(unsigned, 1);
    REDUCTIONS(long, 2);
    REDUCTIONS(unsigned long, 3);
    REDUCTIONS(long long, 4);
    REDUCTIONS(unsigned long long, 5);
    REDUCTIONS(double, 6);
}

/* Teams in a loop, with memory of their own: each row the other way round. */
REX_DEVICE_KERNEL(turned, rex_arg rows, int64_t *cells)
{
    REX_SHARED int64_t row[130];
    REX_FOR_TEAMS(i, rex_arg_int(rows)) {
        REX_FOR_THREADS(k, 130)
            row[k] = cells[i * 130 + k];
        rex_barrier();
        REX_FOR_THREADS(k, 130)
            cells[i * 130 + k] = row[129 - k];
        rex_barrier();
    }
}
