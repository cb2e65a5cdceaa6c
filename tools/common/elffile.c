/*
 * elffile.c - map an ELF file; its sections, strings and memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/elffile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Names in made-up files may all be as long as the file: reading each of them would take the square
 * of its size.
 */
#define LONGEST_NAME 0x10000
#define MOST_SEGMENTS 1024
#define MOST_SECTIONS (1 << 22)

static int refuse(struct elf_file *file, const char *why)
{
    snprintf(file->why, sizeof file->why, "%s", why);
    return -1;
}

const void *elf_bytes(const struct elf_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset ? file->bytes + offset : NULL;
}

bool elf_is_object(const struct elf_file *file)
{
    return file->header.e_type == ET_REL;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int check_identity(struct elf_file *file)
{
    const unsigned char *identity = file->header.e_ident;
    if (file->size >= 8 && memcmp(file->bytes, "!<arch>\n", 8) == 0)
        return refuse(file, "it is an archive: give its members, which `ar x` extracts");
    if (file->size >= 4 && memcmp(file->bytes, "BC\xc0\xde", 4) == 0)
        return refuse(file, "it is LLVM's intermediate code (clang -flto), which is not looked "
                            "into: compile without -flto, or check the "
                            "linked program");
    if (file->size < SELFMAG || memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
        return refuse(file, "it is not an ELF file");
    if (file->size < sizeof file->header)
        return refuse(file, "it is cut off inside the ELF header");
    memcpy(&file->header, file->bytes, sizeof file->header);
    if (identity[EI_CLASS] != ELFCLASS64 || identity[EI_DATA] != ELFDATA2LSB)
        return refuse(file, "it is not a 64-bit little-endian ELF file");
    return 0;
}

/* Section 0 has the numbers that do not fit into the header: from 65280 sections on. */
static int count_sections(struct elf_file *file)
{
    const Elf64_Ehdr *header = &file->header;
    Elf64_Shdr first = {0};
    const void *bytes = elf_bytes(file, header->e_shoff, sizeof first);
    if (header->e_shoff == 0)
        return refuse(
            file,
            "it has no section table (removed by sstrip, or by strip --strip-section-headers?)");
    if (header->e_shentsize != sizeof first)
        return refuse(file, "its section headers are of an unknown size");
    if (bytes == NULL)
        return refuse(file, "it is cut off: its section table lies past the end");
    memcpy(&first, bytes, sizeof first);
    uint64_t count = header->e_shnum != 0 ? header->e_shnum : first.sh_size;
    if (count > (file->size - header->e_shoff) / sizeof first)
        return refuse(file, "it is cut off: its section table lies past the end");
    if (count > MOST_SECTIONS)
        return refuse(file, "it has more sections than any program");
    file->sections = (size_t)count;
    file->section_names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    return 0;
}

/* What stands in memory is looked for in all segments; programs have a dozen. */
static int check_segments(struct elf_file *file)
{
    return file->header.e_phnum > MOST_SEGMENTS
               ? refuse(file, "it has more segments than any program")
               : 0;
}

/*
 * The indices of sections that do not fit into a symbol; a file has one table of symbols that may
 * need them.
 */
static void find_extended(struct elf_file *file)
{
    Elf64_Shdr section;
    for (size_t i = 0; file->sections > SHN_LORESERVE && file->extended == 0 &&
                       elf_section(file, i, &section) == 0;
         i++)
        if (section.sh_type == SHT_SYMTAB_SHNDX)
            file->extended = i;
}

int elf_file_view(struct elf_file *file, const void *bytes, size_t size)
{
    memset(file, 0, sizeof *file);
    file->bytes = bytes;
    file->size = size;
    if (check_identity(file) != 0 || count_sections(file) != 0 || check_segments(file) != 0)
        return -1;
    find_extended(file);
    return 0;
}

/* Of a file that is none of these not even address space is wanted. */
static int check_start(struct elf_file *file, int descriptor)
{
    unsigned char start[sizeof file->header];
    ssize_t have = pread(descriptor, start, sizeof start, 0);
    if (have < 0)
        return refuse(file, strerror(errno));
    file->bytes = start;
    file->size = (size_t)have;
    int result = check_identity(file);
    file->bytes = NULL;
    return result;
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
        mapping_end(file->bytes, file->size);
    memset(file, 0, sizeof *file);
}

void elf_file_drop_pages(const struct elf_file *file)
{
    if (file->mapped)
        madvise((void *)(uintptr_t)file->bytes, file->size, MADV_DONTNEED);
}

/* ---- sections -------------------------------------------------------------------------------- */

int elf_section(const struct elf_file *file, size_t index, Elf64_Shdr *section)
{
    if (index >= file->sections)
        return -1;
    memcpy(section, file->bytes + file->header.e_shoff + index * sizeof *section, sizeof *section);
    return 0;
}

const unsigned char *elf_section_bytes(const struct elf_file *file, const Elf64_Shdr *section)
{
    return section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL
               ? NULL
               : elf_bytes(file, section->sh_offset, section->sh_size);
}

const char *elf_string(const struct elf_file *file, const Elf64_Shdr *strings, uint64_t offset)
{
    const char *bytes = (const char *)elf_section_bytes(file, strings);
    if (bytes == NULL || strings->sh_type != SHT_STRTAB || offset >= strings->sh_size)
        return NULL;
    uint64_t room = strings->sh_size - offset;
    return memchr(bytes + offset, '\0', room < LONGEST_NAME ? room : LONGEST_NAME) != NULL
               ? bytes + offset
               : NULL;
}

const char *elf_section_name(const struct elf_file *file, const Elf64_Shdr *section)
{
    Elf64_Shdr strings;
    const char *name = elf_section(file, file->section_names, &strings) == 0
                           ? elf_string(file, &strings, section->sh_name)
                           : NULL;
    return name != NULL ? name : "";
}

/* ---- memory ---------------------------------------------------------------------------------- */

int elf_compare_places(struct elf_place a, struct elf_place b)
{
    if (a.section != b.section)
        return a.section < b.section ? -1 : 1;
    return a.offset < b.offset ? -1 : a.offset > b.offset;
}

static const unsigned char *at_in_section(const struct elf_file *file, struct elf_place place,
                                          size_t *size)
{
    Elf64_Shdr section;
    const unsigned char *bytes =
        elf_section(file, place.section, &section) == 0 ? elf_section_bytes(file, &section) : NULL;
    if (bytes == NULL || place.offset >= section.sh_size)
        return NULL;
    *size = section.sh_size - place.offset;
    return bytes + place.offset;
}

const unsigned char *elf_at(const struct elf_file *file, struct elf_place place, size_t *size)
{
    if (elf_is_object(file))
        return at_in_section(file, place, size);
    for (size_t i = 0; i < file->header.e_phnum && file->header.e_phentsize == sizeof(Elf64_Phdr);
         i++) {
        Elf64_Phdr segment;
        const void *header =
            elf_bytes(file, file->header.e_phoff + i * sizeof segment, sizeof segment);
        if (header == NULL)
            return NULL;
        memcpy(&segment, header, sizeof segment);
        uint64_t into = place.offset - segment.p_vaddr;
        if (segment.p_type != PT_LOAD || place.offset < segment.p_vaddr || into >= segment.p_filesz)
            continue;
        *size = segment.p_filesz - into;
        return segment.p_offset <= UINT64_MAX - into
                   ? elf_bytes(file, segment.p_offset + into, *size)
                   : NULL;
    }
    return NULL;
}

const char *elf_string_at(const struct elf_file *file, struct elf_place place)
{
    size_t size;
    const char *string = (const char *)elf_at(file, place, &size);
    return string != NULL && memchr(string, '\0', size < LONGEST_NAME ? size : LONGEST_NAME) != NULL
               ? string
               : NULL;
}

const char *elf_machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"},
                 {EM_AARCH64, "aarch64"},
                 {EM_PPC64, "ppc64"},
                 {243, "riscv64"},
                 {EM_CUDA, "an NVIDIA GPU"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine)
            return names[i].name;
    return "another processor";
}
