#include "rex/kernel.h"

extern "C" __global__ void __launch_bounds__(128) OUT__1__main__9__kernel__(double *a)
{
    a[0] = 1;
}

extern "C" __global__ void only_declared(double *a);

REX_DEVICE_KERNEL(by_macro, (double *) a)
{
    a[0] = 2;
}
