/* The kernels of host.c, as an image for the CPU. */
#include "rex/kernel.h"

#ifndef STALE
REX_DEVICE_KERNEL(axpy, rex_arg n, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] = 1;
}
#else
REX_DEVICE_KERNEL(axpi, rex_arg n, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] = 1;
}
#endif

REX_DEVICE_KERNEL(scale, rex_arg n, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] *= 2;
}

#ifdef GLOBAL
struct table {
    double value[4];
};
REX_DEVICE_GLOBAL(struct table, table);
#endif
