/* Loops over one to three dimensions, arguments of every kind, a global, an env kernel. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

struct small {
    int16_t a, b;
    float c;
};

REX_DEVICE_GLOBAL(int64_t, launches) = 100;

REX_DEVICE_KERNEL(one, (int64_t) n, (int64_t *) cells)
{
    REX_FOR(i, n)
        cells[i] += i + 1;
}

REX_DEVICE_KERNEL(two, (int64_t) ni, (int64_t) nj, (int64_t *) cells)
{
    REX_FOR_2D(i, ni, j, nj)
        cells[i * nj + j] += 1000 * i + j;
}

REX_DEVICE_KERNEL(three, (int64_t) ni, (int64_t) nj, (int64_t) nk, (int64_t *) cells)
{
    REX_FOR_3D(i, ni, j, nj, k, nk)
        cells[(i * nj + j) * nk + k] += 1000000 * i + 1000 * j + k;
}

REX_DEVICE_KERNEL(arguments, (int32_t) i, (float) f, (double) d, (struct small) s, (double *) out)
{
    if (rex_team(0) + rex_thread(0) == 0) {
        out[0] = i;
        out[1] = (double)f;
        out[2] = d;
        out[3] = s.a + s.b + (double)s.c;
        out[4] = (double)launches++;
    }
}

REX_DEVICE_KERNEL_ENV(environment, (int64_t) n, (int64_t *) cells)
{
    REX_FOR(i, n)
        cells[i] -= i;
}

REX_DEVICE_KERNEL(nothing, void)
{
}

/* Sums, least and largest values of each type, and atomics beside them. */
#define REDUCTIONS(type, at, count)                                                           \
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
REX_DEVICE_KERNEL(reductions, (int64_t) count, (double *) out)
{
    REDUCTIONS(int, 0, count);
    REDUCTIONS(unsigned, 1, count);
    REDUCTIONS(long, 2, count);
    REDUCTIONS(unsigned long, 3, count);
    REDUCTIONS(long long, 4, count);
    REDUCTIONS(unsigned long long, 5, count);
    REDUCTIONS(double, 6, count);
    REDUCTIONS(float, 7, count / 10); /* whose sum is exact in a float */
}

/* Variables and parameters of names that librex's macros once had for their own; beside them what is evaluated in a macro. */
REX_DEVICE_KERNEL(names, (int64_t) rex_cells, (int64_t) rex_mine, (int64_t) rex_one, (int64_t) rex_arguments, (int64_t *) out)
{
    const int64_t rex_step = 10, rex_lanes = 100;
    REX_FOR_SUM(i, rex_cells, out + rex_one - 7, rex_mine + rex_one + rex_step + rex_lanes);
    REX_FOR_MIN(i, rex_cells, &out[rex_one - 6], rex_mine - rex_one + i);
    REX_FOR_MAX(i, rex_cells, &out[rex_mine - 1], rex_mine - rex_one - i + rex_step * rex_lanes + rex_arguments);
}

/* Teams in a loop, with memory of their own: each row the other way round. */
REX_DEVICE_KERNEL(turned, (int64_t) rows, (int64_t *) cells)
{
    REX_FOR_TEAMS(i, rows) {
        REX_SHARED int64_t row[130];
        REX_FOR_THREADS(k, 130)
            row[k] = cells[i * 130 + k];
        rex_barrier();
        REX_FOR_THREADS(k, 130)
            cells[i * 130 + k] = row[129 - k];
        rex_barrier();
    }
}
