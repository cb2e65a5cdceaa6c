/* extent.c - how much of a large file is read: never less than the images in it take. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/extent.h"

#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"
#include "image/elf.h"
#include "image/list.h"

#define LARGE ((off_t)17 << 20)

/* Sections of an ELF file, and images of a file that has several, lie inside the first EXTENT bytes. */
static void check(const uint8_t *bytes, size_t size, size_t extent)
{
    struct rex_elf elf;
    Elf64_Shdr section;
    struct rex_list list;
    for (size_t i = 0; rex_elf_open(&elf, bytes, size) == 0 && rex_elf_section(&elf, i, &section) == 0; i++)
        FUZZ_CHECK(section.sh_type == SHT_NOBITS || section.sh_offset + section.sh_size <= extent);
    if (rex_list_open(&list, bytes, size, "bytes") != REX_OK)
        return;
    for (size_t i = 0; i < list.count && !list.plain; i++)
        FUZZ_CHECK(list.entries[i].item.offset + list.entries[i].item.stored <= extent);
    rex_list_close(&list);
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    char why[128] = "";
    int fd = open(fuzz_file(0, bytes, size), O_RDWR | O_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, LARGE) == 0);
    size_t extent = rex_image_extent(fd, (size_t)LARGE, why, sizeof why);
    FUZZ_CHECK(extent > 0 && extent <= (size_t)LARGE);
    check(bytes, size, extent);
    close(fd);
}
