/* told.c - kernels that are declared with their parameters.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex.h>
#ifndef LIST
#define LIST (const uint64_t) value, (uint64_t *restrict) out
#endif
struct strange;
REX_KERNEL(plain, LIST);
REX_KERNEL_STEM(env__, (uint64_t) value, (struct strange *) out);
REX_KERNEL(none, void);
