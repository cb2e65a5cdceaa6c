__global__ void OUT__1__main__9__kernel__(double *a)
{
}

extern "C" {
__global__ void OUT__2__main__13__kernel__(double *a)
{
}
__global__ void OUT__2__main__13__kernel__(double *a, int n)
{
}
}
