/*
 * Kernels with the symbol by which clang tells LLVM 18 and later how to launch them: generic and SPMD, of the size that 18 to 22 want, and one of
 * another size.
 */
struct environment {
    unsigned char state_machine, nested, mode;
    int limits[6];
    void *place, *dynamic;
};
extern "C" __device__ struct environment generic_kernel_environment = {1, 1, 1, {0}, 0, 0};
extern "C" __device__ struct environment spmd_kernel_environment = {0, 0, 2, {0}, 0, 0};
extern "C" __device__ int misshapen_kernel_environment[5] = {0};

extern "C" __global__ void generic(void *environment, double *p)
{
    p[blockIdx.x] = environment != 0;
}

extern "C" __global__ void spmd(void *environment, double *p)
{
    p[blockIdx.x] = environment != 0;
}

extern "C" __global__ void misshapen(void *environment, double *p)
{
    p[blockIdx.x] = environment != 0;
}
