/* hostimage.c - the reader of images for the host device. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>

#include "image/elf.h"
#include "images.h"
#include "module/hostneeds.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    const uint16_t machine = REX_HOST_MACHINE, type = ET_DYN;
    uint8_t *copy = fuzz_copy(bytes, size);
    if (size >= sizeof(Elf64_Ehdr)) {
        memcpy(copy + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
        memcpy(copy + offsetof(Elf64_Ehdr, e_type), &type, sizeof type);
    }
    fuzz_images(copy, size);
    rex_host_limit_threads(copy, size);
    rex_host_check_symbols(copy, size, "image");
    free(copy);
}
