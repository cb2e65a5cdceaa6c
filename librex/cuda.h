/* cuda.h - the CUDA driver, opened at run time. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_INTERNAL_CUDA_H
#define REX_INTERNAL_CUDA_H

#include <stddef.h>

/* Number of NVIDIA GPUs that this process may use; 0 also where there is no driver: rex_cuda_why() then says why. */
int rex_cuda_devices(void);
const char *rex_cuda_why(void);

/* Compute capability of device NUMBER as an SM number (90), 0 if it cannot be told. */
unsigned rex_cuda_architecture(int number);

#endif
