/*
 * elffile.h - a file that librex's ELF reader looks at: executables, shared objects, objects; any
 * number of sections.
 *
 * For tools. The bytes may be hostile: every read is checked, a broken part reads as if it were not
 * there. Nothing is copied, and long sweeps drop pages as they go, so that a file of any size
 * needs little memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_ELFFILE_H
#define TOOLS_ELFFILE_H

#include <time.h>

#include "common/mapping.h"
#include "image/elf.h"

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

struct elf_file {
    struct rex_elf elf;
    Elf64_Shdr extended; /* indices of sections that do not fit into a symbol; all 0: none */
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

/* Whether it is an object before the link, whose addresses count from its sections. */
bool elf_is_object(const struct elf_file *file);

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
 * The bytes from PLACE to the end of its section; their number in *SIZE. NULL where the file has
 * none.
 */
const unsigned char *elf_at(const struct elf_file *file, struct elf_place place, uint64_t *size);

/* The string at PLACE, NULL if it does not end there. */
const char *elf_string_at(const struct elf_file *file, struct elf_place place);

/* The name of a processor: a constant, or NUMBER with its number. */
#define ELF_MACHINE_MAX 32
const char *elf_machine_name(unsigned machine, char number[ELF_MACHINE_MAX]);

#endif
