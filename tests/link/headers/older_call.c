/* older_call.c - the older output of REX, with the call of register_cubin().
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex_kmp.h>
struct __tgt_offload_entry table[1];
void begin(void);
void begin(void)
{
    __cubin_desc = register_cubin("rex_lib_nvidia.cubin", &table[0], &table[1]);
}
