/*
 * elffile.h - an ELF file of 64 bits, mapped and read in place: executables, shared objects,
 * objects; any number of sections.
 *
 * For tools. The bytes may be hostile: every read is checked, a broken part reads as if it were not
 * there. Nothing is copied, and long sweeps drop pages as they go, so that a file of any size
 * needs little memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_ELFFILE_H
#define TOOLS_ELFFILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/mapping.h"

#ifndef SHT_RELR
#define SHT_RELR 19
#endif
#ifndef EM_CUDA
#define EM_CUDA 190
#endif

struct elf_file {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr header;
    size_t sections;      /* number of them, also where it does not fit into the header */
    size_t section_names; /* index of the table of their names */
    /*
     * index of the table with those indices of sections that do not fit into a symbol, 0: there is
     * none
     */
    size_t extended;
    struct timespec changed;
    bool mapped;
    char why[MAPPING_WHY]; /* why opening failed */
};

/* Map the file at PATH, or look at SIZE BYTES that outlive the view. 0, or -1 with ->why. */
int elf_file_open(struct elf_file *file, const char *path);
int elf_file_view(struct elf_file *file, const void *bytes, size_t size);
void elf_file_close(struct elf_file *file);

/* Drop the pages that were read; they are read again when needed. */
void elf_file_drop_pages(const struct elf_file *file);

/* SIZE bytes at file OFFSET, NULL if they are not all there. */
const void *elf_bytes(const struct elf_file *file, uint64_t offset, uint64_t size);

/* Whether it is an object before the link, whose addresses count from its sections. */
bool elf_is_object(const struct elf_file *file);

/* Section INDEX. 0, or -1: there is none. */
int elf_section(const struct elf_file *file, size_t index, Elf64_Shdr *section);

/* The bytes of SECTION; NULL where it has none in the file. */
const unsigned char *elf_section_bytes(const struct elf_file *file, const Elf64_Shdr *section);

/* The name of SECTION, "" if it has none. */
const char *elf_section_name(const struct elf_file *file, const Elf64_Shdr *section);

/* The string at OFFSET of the string table STRINGS, NULL if it does not end inside it. */
const char *elf_string(const struct elf_file *file, const Elf64_Shdr *strings, uint64_t offset);

/*
 * A place in memory: a section and an offset in objects, section 0 and an address in what is
 * linked. Places order by section, then offset.
 */
struct elf_place {
    size_t section;
    uint64_t offset;
};
int elf_compare_places(struct elf_place a, struct elf_place b);

/*
 * The bytes from PLACE to the end of its section (objects) or segment; their number in *SIZE. NULL
 * where the file has none.
 */
const unsigned char *elf_at(const struct elf_file *file, struct elf_place place, size_t *size);

/* The string at PLACE, NULL if it does not end there. */
const char *elf_string_at(const struct elf_file *file, struct elf_place place);

/* The name of a processor, as one would say it. */
const char *elf_machine_name(unsigned machine);

#endif
