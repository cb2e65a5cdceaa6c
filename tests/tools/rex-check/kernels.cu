/* The kernels of host.c, as an image for the CPU. */
#include "rex/kernel.h"

#ifndef STALE
REX_DEVICE_KERNEL(axpy, (int64_t) n, (double *) y)
{
    REX_FOR(i, n)
        y[i] = 1;
}
#else
REX_DEVICE_KERNEL(axpi, (int64_t) n, (double *) y)
{
    REX_FOR(i, n)
        y[i] = 1;
}
#endif

REX_DEVICE_KERNEL(scale, (int64_t) n, (double *) y)
{
    REX_FOR(i, n)
        y[i] *= 2;
}

#ifdef GLOBAL
struct table {
    double value[4];
};
REX_DEVICE_GLOBAL(struct table, table);
#endif
