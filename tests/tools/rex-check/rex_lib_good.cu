#include "rex_nvidia.h"
#ifdef __cplusplus
extern "C" {
#endif
__device__ char OUT__1__main__9__kernel___exec_mode = 0;
__global__ void OUT__1__main__9__kernel__(double *a)
{
    a[0] = 1;
}
__global__ void __launch_bounds__(128) OUT__2__main__12__kernel__(int n);
__global__ void __launch_bounds__(128) OUT__2__main__12__kernel__(int n)
{
}
#ifdef __cplusplus
}
#endif
