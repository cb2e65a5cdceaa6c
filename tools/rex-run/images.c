/*
 * images.c - finds the device images that clang put into a program or a library: whole ELF files,
 * by themselves or in an OffloadBinary. clang does not compress an OffloadBinary by default.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "images.h"

#include <string.h>

#include "common/elffile.h"

/*
 * Returns true if the file has a table of offload entries, of any clang. Only a file with such a
 * table is searched for images.
 */
static bool has_entries(const struct elf_file *file)
{
    Elf64_Shdr section;
    for (size_t i = 0; rex_elf_section(&file->elf, i, &section); i++) {
        const char *name = rex_elf_section_name(&file->elf, &section);
        if (strcmp(name, "omp_offloading_entries") == 0 ||
            strcmp(name, "llvm_offload_entries") == 0)
            return true;
    }
    return false;
}

/* Returns the machine of the image at BYTES; EM_NONE if there is no image. */
static unsigned machine_of(const unsigned char *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return EM_NONE;
    memcpy(&header, bytes, sizeof header);
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ehsize == sizeof header
               ? header.e_machine
               : EM_NONE;
}

static bool has_image(const struct elf_file *file, unsigned machine)
{
    const unsigned char *at = file->elf.bytes + SELFMAG, *end = file->elf.bytes + file->elf.size;
    while ((at = memmem(at, (size_t)(end - at), ELFMAG, SELFMAG)) != NULL) {
        if (machine_of(at, (size_t)(end - at)) == machine)
            return true;
        at += SELFMAG;
    }
    return false;
}

bool is_for_cpu_alone(const char *path)
{
    struct elf_file file;
    if (elf_file_open(&file, path) != 0)
        return false;
    bool alone = has_entries(&file) && has_image(&file, file.elf.header.e_machine) &&
                 !has_image(&file, EM_CUDA);
    elf_file_close(&file);
    return alone;
}
