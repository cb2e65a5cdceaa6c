#include "rex/kernel.h"

REX_DEVICE_KERNEL_BOUNDS(first, (64), (double *) a)
{
    a[0] = 2;
}
extern "C" __global__ __launch_bounds__(64, 1) void second__kernel__(void) {}
