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
