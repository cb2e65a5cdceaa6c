/*
 * elffile.h - a view of an ELF file for tools: executables, shared objects and objects, with any
 * number of sections.
 *
 * The bytes may be hostile: every read is checked, and a broken part reads as if it were absent.
 * Nothing is copied. A loop over a large part of the file drops the pages that it has read, so that
 * a file of any size needs little memory.
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
    /*
     * header of the section SHT_SYMTAB_SHNDX; zeros if the file has no such section or does not
     * need it. The section has the section indices that do not fit into the 16 bits of a symbol.
     */
    Elf64_Shdr extended;
    struct timespec changed;
    bool mapped;
    char why[MAPPING_WHY]; /* reason why opening failed */
};

/*
 * elf_file_open() maps the file at PATH. elf_file_view() uses the SIZE bytes at BYTES, which must
 * outlive FILE. Both return 0, or -1 with the reason in FILE->why.
 */
int elf_file_open(struct elf_file *file, const char *path);
int elf_file_view(struct elf_file *file, const void *bytes, size_t size);
void elf_file_close(struct elf_file *file);

/* Frees the memory of the pages that were read. Pages are read again when they are needed. */
void elf_file_drop_pages(const struct elf_file *file);

/*
 * Returns true for an object file (.o), which is not linked yet. Its addresses are offsets in
 * sections.
 */
bool elf_is_object(const struct elf_file *file);

/*
 * A place in memory. In an object file the place is a section and an offset in the section. In a
 * linked file `section` is 0, and `offset` is an address. elf_compare_places() orders places by
 * section, then by offset.
 */
struct elf_place {
    size_t section;
    uint64_t offset;
};
int elf_compare_places(struct elf_place a, struct elf_place b);

/*
 * Returns the bytes from PLACE to the end of its section, and stores their number in *SIZE. Returns
 * NULL if the file has no bytes at PLACE.
 */
const unsigned char *elf_at(const struct elf_file *file, struct elf_place place, uint64_t *size);

/* Returns the string at PLACE, or NULL if no NUL ends the string in its section. */
const char *elf_string_at(const struct elf_file *file, struct elf_place place);

/*
 * Returns the name of the processor MACHINE. If the processor is unknown, writes a text with its
 * number to NUMBER, and returns NUMBER.
 */
#define ELF_MACHINE_MAX 32
const char *elf_machine_name(unsigned machine, char number[ELF_MACHINE_MAX]);

#endif
