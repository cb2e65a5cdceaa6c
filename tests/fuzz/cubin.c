/* cubin.c - the reader of CUBINs, whatever machine the file says it is for. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>

#include "image/cubin.h"
#include "images.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    const uint16_t machine = EM_CUDA;
    uint8_t *copy = fuzz_copy(bytes, size);
    if (size >= sizeof(Elf64_Ehdr))
        memcpy(copy + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
    rex_cubin_architecture(copy, size);
    fuzz_images(copy, size);
    free(copy);
}
