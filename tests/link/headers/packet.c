/* packet.c - a packet as REX fills it, from signed variables, or as LLVM does; functions declared again behind the include.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex_kmp.h>

#ifdef REX_PACKET_UNSIGNED
#define SIGNED(bits) uint##bits##_t
#else
#define SIGNED(bits) int##bits##_t
#endif
void rex_offload_init(void);
void rex_offload_fini(void);
int fill(SIGNED(32) n, SIGNED(64) trip, void *key, int (**init)(void));
int fill(SIGNED(32) n, SIGNED(64) trip, void *key, int (**init)(void))
{
    struct __tgt_kernel_arguments packet = {3, n, 0, 0, 0, 0, 0, 0, trip, 0, {n, 1, 1}, {n, 1, 1}, n};
    *init = rex_offload_init;
    if (rex_offload_init() != 0)
        return 1;
    rex_offload_fini();
    return __tgt_target_kernel(-1, 1, 1, key, &packet);
}
