/* A kernel whose registers allow no block of 1024 threads: all values are there before the first is written back. */
extern "C" __global__ void many_registers(double *p)
{
    double value[40];
#pragma unroll
    for (int i = 0; i < 40; i++)
        value[i] = p[threadIdx.x + 1024 * i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 40; i++)
        p[threadIdx.x + 1024 * (39 - i)] = value[i] * value[(7 * i) % 40];
}
