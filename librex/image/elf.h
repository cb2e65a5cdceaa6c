/*
 * elf.h - an ELF64 file in memory, read in place and never outside it.
 *
 * The tools read programs with it, too: it needs nothing but libc.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ELF_H
#define REX_INTERNAL_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

/* e_machine of the processor that this library is compiled for. */
#if defined(__x86_64__)
#define REX_HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define REX_HOST_MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define REX_HOST_MACHINE EM_PPC64
#else
#error "librex: libomptarget has no host device for this processor"
#endif

struct rex_elf {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr header;
    size_t sections;      /* number of them, also where it does not fit into the header */
    size_t section_names; /* index of the table of their names */
    const char *why;      /* why it was not opened, or a reader refused */
};

/*
 * Each is 0, or -1 with ->why, and does more than the one before it: check the ELF header, which
 * ->header has also of a file for another class of machines; find the sections; check where every
 * section and segment lies, as in a device image. BYTES must outlive the view.
 */
int rex_elf_identify(struct rex_elf *elf, const void *bytes, size_t size);
int rex_elf_view(struct rex_elf *elf, const void *bytes, size_t size);
int rex_elf_open(struct rex_elf *elf, const void *bytes, size_t size);

/* Why the file cannot be used. Returns -1. */
int rex_elf_refuse(struct rex_elf *elf, const char *why);

/* SIZE bytes at file OFFSET, NULL if they are not all there. */
const unsigned char *rex_elf_bytes(const struct rex_elf *elf, uint64_t offset, uint64_t size);

/*
 * Section, or program header, INDEX, copied out, since a file's alignment is not to be trusted.
 * False: none.
 */
bool rex_elf_section(const struct rex_elf *elf, size_t index, Elf64_Shdr *section);
bool rex_elf_segment(const struct rex_elf *elf, size_t index, Elf64_Phdr *segment);

/* The bytes of SECTION; NULL where it has none in the file. */
const unsigned char *rex_elf_section_bytes(const struct rex_elf *elf, const Elf64_Shdr *section);

/* Name of SECTION; "" if it has none, or one that rex_elf_string() refuses. */
const char *rex_elf_section_name(const struct rex_elf *elf, const Elf64_Shdr *section);

/* First section, or segment, of TYPE. False: there is none. */
bool rex_elf_find_type(const struct rex_elf *elf, uint32_t type, Elf64_Shdr *section);
bool rex_elf_find_segment(const struct rex_elf *elf, uint32_t type, Elf64_Phdr *segment);

/*
 * The string at OFFSET of string table STRINGS, or that at BYTES, which may be NULL, of ROOM bytes
 * at most. NULL if it does not end there, or is longer than any name.
 */
const char *rex_elf_string(const struct rex_elf *elf, const Elf64_Shdr *strings, uint64_t offset);
const char *rex_elf_string_within(const unsigned char *bytes, uint64_t room);

/*
 * The bytes of a linked file for ADDRESS, *ROOM up to the end of their section; NULL: there are
 * none.
 */
const unsigned char *rex_elf_at(const struct rex_elf *elf, uint64_t address, uint64_t *room);

/*
 * Symbols: number in the table SYMBOLS; the one at INDEX, its name in *NAME, "" as that of a
 * section. False: it is not all there.
 */
size_t rex_elf_symbols(const Elf64_Shdr *symbols);
bool rex_elf_symbol(const struct rex_elf *elf, const Elf64_Shdr *symbols, size_t index,
                    Elf64_Sym *symbol, const char **name);

/*
 * Row INDEX, of SIZE bytes, of the table in SECTION, which is of this TYPE: SHT_DYNAMIC, SHT_RELA.
 * False: there is none.
 */
bool rex_elf_row(const struct rex_elf *elf, const Elf64_Shdr *section, uint32_t type, size_t index,
                 void *row, size_t size);

#endif
