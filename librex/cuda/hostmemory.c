/*
 * hostmemory.c - memory of the host that the driver knows, and all other.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/hostmemory.h"

#include <stdint.h>

#include "base/thread.h"
#include "cuda/driver.h"

#define POINTER_MEMORY_TYPE 2 /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */

bool rex_is_ordinary_memory_now(const void *address)
{
    int type = 0;
    return rex_driver.cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, (uintptr_t)address) ==
           REX_CUDA_INVALID_VALUE;
}

/*
 * The driver is asked once for each stretch of 2 MiB and thread, as long as that stays in one of
 * these. An answer may grow old: memory that was pinned since is copied by the processor, which is
 * slower and as right.
 */
#define STRETCH_SHIFT 21
#define STRETCHES 64

bool rex_is_ordinary_memory(const void *address)
{
    uintptr_t *ordinary = rex_part(REX_PART_ORDINARY, STRETCHES * sizeof *ordinary); /* plus 1 */
    uintptr_t stretch = (uintptr_t)address >> STRETCH_SHIFT;
    uintptr_t *known = ordinary != NULL ? &ordinary[stretch % STRETCHES] : NULL;
    if (known != NULL && *known == stretch + 1)
        return true;
    if (!rex_is_ordinary_memory_now(address))
        return false;
    if (known != NULL)
        *known = stretch + 1;
    return true;
}
