#include <rex/kernel.h>

REX_DEVICE_KERNEL(add, (int64_t) n, (double) amount, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] = x[i] + amount;
}
