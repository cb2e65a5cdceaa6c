#include "rex/kernel.h"

extern "C" __global__ void OUT__1__main__9__kernel__(int n, const double *x, double *y)
{
    y[0] += n * x[0];
}

REX_DEVICE_KERNEL(by_macro, (int32_t) n, (double *) y)
{
    REX_FOR(i, n)
        y[i] += 1;
}
