/* Kernels whose image says more than their parameters: launch bounds, static shared memory, an exec_mode symbol. */
extern "C" __global__ void __launch_bounds__(256, 2) bounded(double *p)
{
    __shared__ double tile[128];
    tile[threadIdx.x & 127] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = tile[(threadIdx.x * 7) & 127];
}

extern "C" __global__ void unbounded(double *p, int n, short odd)
{
    p[n] += odd;
}

/* What clang writes for the modes "generic" and "SPMD"; REX writes 0 for all. */
extern "C" __device__ signed char bounded_exec_mode = 2;
extern "C" __device__ signed char unbounded_exec_mode = 0;
