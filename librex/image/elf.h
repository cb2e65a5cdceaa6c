/*
 * elf.h - reads an ELF64 file in memory, in place and never outside it.
 *
 * The tools also link elf.c, so elf.c needs nothing but libc.
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

/* The e_machine value of the processor that this library is compiled for. */
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
    size_t sections; /* number of sections, even if the ELF header has no room for the number */
    size_t section_names; /* index of the section with the sections' names */
    const char *why;      /* reason why the file was not opened, or why a reader refused it */
    char text[448];       /* room for a reason that has a name or a number */
};

/*
 * These functions check the file. Each function checks more than the function before it:
 * - rex_elf_identify() checks the ELF header. It fills ->header even if it refuses the class or the
 *   byte order.
 * - rex_elf_view() also finds the sections.
 * - rex_elf_open() also checks that every section and segment lies in the file, as a device image
 *   needs.
 *
 * BYTES must outlive ELF. Each function returns 0, or -1 with the reason in ->why.
 */
int rex_elf_identify(struct rex_elf *elf, const void *bytes, size_t size);
int rex_elf_view(struct rex_elf *elf, const void *bytes, size_t size);
int rex_elf_open(struct rex_elf *elf, const void *bytes, size_t size);

/* Sets ->why to WHY, the reason why the file cannot be used. Returns -1. */
int rex_elf_refuse(struct rex_elf *elf, const char *why);

/* Returns the SIZE bytes at file OFFSET, or NULL if the file does not have all of them. */
const unsigned char *rex_elf_bytes(const struct rex_elf *elf, uint64_t offset, uint64_t size);

/*
 * Copies section header INDEX, or program header INDEX. The functions copy, because the header may
 * be misaligned in the file. They return false if INDEX is too large, or if the program header is
 * not in the file.
 */
bool rex_elf_section(const struct rex_elf *elf, size_t index, Elf64_Shdr *section);
bool rex_elf_segment(const struct rex_elf *elf, size_t index, Elf64_Phdr *segment);

/* Returns the bytes of SECTION, or NULL if the file has no bytes for it. */
const unsigned char *rex_elf_section_bytes(const struct rex_elf *elf, const Elf64_Shdr *section);

/* Returns the name of SECTION, or "" if it has no name or rex_elf_string() refuses the name. */
const char *rex_elf_section_name(const struct rex_elf *elf, const Elf64_Shdr *section);

/* Finds the first section, or segment, of TYPE. Returns false if there is none. */
bool rex_elf_find_type(const struct rex_elf *elf, uint32_t type, Elf64_Shdr *section);
bool rex_elf_find_segment(const struct rex_elf *elf, uint32_t type, Elf64_Phdr *segment);

/*
 * rex_elf_string() returns the string at OFFSET of the string table STRINGS.
 * rex_elf_string_within() returns the string at BYTES, which may be NULL; ROOM is the number of
 * bytes that may be read at BYTES. Both functions return NULL if no NUL ends the string in the
 * table or in the ROOM bytes. They return NULL if the string is longer than 4095 bytes.
 */
const char *rex_elf_string(const struct rex_elf *elf, const Elf64_Shdr *strings, uint64_t offset);
const char *rex_elf_string_within(const unsigned char *bytes, uint64_t room);

/*
 * Returns the bytes at ADDRESS of a linked file, or NULL if the file has no bytes for ADDRESS.
 * *ROOM becomes the number of bytes from ADDRESS to the end of the section that has ADDRESS.
 */
const unsigned char *rex_elf_at(const struct rex_elf *elf, uint64_t address, uint64_t *room);

/*
 * rex_elf_symbols() returns the number of symbols in the table SYMBOLS. rex_elf_symbol() copies
 * symbol INDEX and sets *NAME, which is "" for a symbol without a name. rex_elf_symbol() returns
 * false if the file does not have the whole symbol.
 */
size_t rex_elf_symbols(const Elf64_Shdr *symbols);
bool rex_elf_symbol(const struct rex_elf *elf, const Elf64_Shdr *symbols, size_t index,
                    Elf64_Sym *symbol, const char **name);

/*
 * Copies row INDEX of the table in SECTION. A row has SIZE bytes. TYPE is SHT_DYNAMIC, SHT_RELA or
 * the type of a symbol table. Returns false if SECTION is not of TYPE, or has no row INDEX.
 */
bool rex_elf_row(const struct rex_elf *elf, const Elf64_Shdr *section, uint32_t type, size_t index,
                 void *row, size_t size);

#endif
