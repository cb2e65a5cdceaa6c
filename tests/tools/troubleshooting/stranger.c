/* stranger.c - launches with a key that is in no entry. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex_kmp.h>
#include <rex/entry.h>

REX_KERNEL(plain);
char stranger__id__;

int launch(struct __tgt_kernel_arguments *args);
int launch(struct __tgt_kernel_arguments *args)
{
    return __tgt_target_kernel(-1, 1, 1, &stranger__id__, args);
}
