/*
 * elffile.c - maps an ELF file; finds its sections, strings and memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/elffile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int refuse(struct elf_file *file, const char *why)
{
    snprintf(file->why, sizeof file->why, "%s", why);
    return -1;
}

bool elf_is_object(const struct elf_file *file)
{
    return file->elf.header.e_type == ET_REL;
}

/* ---- opening --------------------------------------------------------------------------------- */

/*
 * Checks the header before the file is mapped, so that a file of another kind takes no address
 * space.
 */
static int check_identity(struct elf_file *file, const void *bytes, size_t size)
{
    if (size >= 8 && memcmp(bytes, "!<arch>\n", 8) == 0)
        return refuse(file,
                      "it is an archive: extract its members with `ar x`, and give the members");
    if (size >= 4 && memcmp(bytes, "BC\xc0\xde", 4) == 0)
        return refuse(
            file,
            "it is LLVM's intermediate code (clang -flto), which is not checked: compile without "
            "-flto, or check the "
            "linked program");
    return rex_elf_identify(&file->elf, bytes, size) == 0 ? 0 : refuse(file, file->elf.why);
}

int elf_file_view(struct elf_file *file, const void *bytes, size_t size)
{
    memset(file, 0, sizeof *file);
    if (check_identity(file, bytes, size) != 0)
        return -1;
    if (rex_elf_view(&file->elf, bytes, size) != 0)
        return refuse(file, file->elf.why);
    /* A file has only one table of extended section indices, so one search at opening is enough. */
    if (file->elf.sections <= SHN_LORESERVE ||
        !rex_elf_find_type(&file->elf, SHT_SYMTAB_SHNDX, &file->extended))
        memset(&file->extended, 0, sizeof file->extended);
    return 0;
}

static int check_start(struct elf_file *file, int descriptor)
{
    unsigned char start[sizeof(Elf64_Ehdr)];
    ssize_t have = pread(descriptor, start, sizeof start, 0);
    return have >= 0 ? check_identity(file, start, (size_t)have) : refuse(file, strerror(errno));
}

static int map(struct elf_file *file, int descriptor, const struct stat *status)
{
    if (check_start(file, descriptor) != 0)
        return -1;
    size_t size = (size_t)status->st_size;
    const void *bytes = mapping_make(descriptor, status, file->why);
    if (bytes == NULL)
        return -1;
    if (elf_file_view(file, bytes, size) != 0) {
        mapping_end(bytes, size);
        return -1;
    }
    file->changed = status->st_mtim;
    file->mapped = true;
    return 0;
}

int elf_file_open(struct elf_file *file, const char *path)
{
    struct stat status;
    memset(file, 0, sizeof *file);
    int descriptor = mapping_open(path, &status, file->why);
    if (descriptor < 0)
        return -1;
    int result = map(file, descriptor, &status);
    close(descriptor);
    return result;
}

void elf_file_close(struct elf_file *file)
{
    if (file->mapped)
        mapping_end(file->elf.bytes, file->elf.size);
    memset(file, 0, sizeof *file);
}

void elf_file_drop_pages(const struct elf_file *file)
{
    if (file->mapped)
        madvise((void *)(uintptr_t)file->elf.bytes, file->elf.size, MADV_DONTNEED);
}

/* ---- memory ---------------------------------------------------------------------------------- */

int elf_compare_places(struct elf_place a, struct elf_place b)
{
    if (a.section != b.section)
        return a.section < b.section ? -1 : 1;
    return a.offset < b.offset ? -1 : a.offset > b.offset;
}

static const unsigned char *at_in_section(const struct rex_elf *elf, struct elf_place place,
                                          uint64_t *size)
{
    Elf64_Shdr section;
    const unsigned char *bytes =
        rex_elf_section(elf, place.section, &section) ? rex_elf_section_bytes(elf, &section) : NULL;
    if (bytes == NULL || place.offset >= section.sh_size)
        return NULL;
    *size = section.sh_size - place.offset;
    return bytes + place.offset;
}

const unsigned char *elf_at(const struct elf_file *file, struct elf_place place, uint64_t *size)
{
    return elf_is_object(file) ? at_in_section(&file->elf, place, size)
                               : rex_elf_at(&file->elf, place.offset, size);
}

const char *elf_string_at(const struct elf_file *file, struct elf_place place)
{
    uint64_t size = 0;
    const unsigned char *bytes = elf_at(file, place, &size);
    return rex_elf_string_within(bytes, size);
}

const char *elf_machine_name(unsigned machine, char number[ELF_MACHINE_MAX])
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"}, {EM_AARCH64, "aarch64"},   {EM_PPC64, "ppc64"},
                 {EM_386, "i386"},      {EM_ARM, "32-bit ARM"},    {EM_RISCV, "riscv64"},
                 {EM_S390, "S/390"},    {EM_CUDA, "an NVIDIA GPU"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine)
            return names[i].name;
    snprintf(number, ELF_MACHINE_MAX, "machine number %u", machine);
    return number;
}
