/* The one kernel of transfers.c: bytes that tell which rank wrote them. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(fill, rex_arg packed_count, rex_arg packed_seed, unsigned char *bytes)
{
    int64_t seed = rex_arg_int(packed_seed);
    REX_FOR(i, rex_arg_int(packed_count))
        bytes[i] = (unsigned char)(seed + i % 251);
}
