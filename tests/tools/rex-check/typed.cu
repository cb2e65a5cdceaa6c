/* typed.cu - a kernel with a parameter of TYPE.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>
REX_DEVICE_KERNEL(plain, (TYPE) value, (uint64_t *) out) { *out = (uint64_t)value; }
