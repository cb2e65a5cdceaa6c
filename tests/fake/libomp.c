/* libomp.c - what libomptarget and librex ask of libomp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>

int __kmpc_get_target_offload(void);
int __kmpc_get_target_offload(void)
{
    return 0;
}

int omp_get_default_device(void);
int omp_get_default_device(void)
{
    const char *number = getenv("OMP_DEFAULT_DEVICE");
    return number != NULL ? atoi(number) : 0;
}

/* The real one has it too: a tool that is none. */
void *ompt_start_tool(unsigned version, const char *runtime);
void *ompt_start_tool(unsigned version, const char *runtime)
{
    (void)version, (void)runtime;
    return NULL;
}
