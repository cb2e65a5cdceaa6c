/*
 * elf.h - a view of an ELF64 file in memory that never reads outside it, and the reader of host
 * images.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ELF_H
#define REX_INTERNAL_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/view.h"

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
    const char *why; /* why rex_elf_open() or a reader refused */
};

/*
 * Check the headers, and where every section and segment lies. 0, or -1 with ->why. BYTES must
 * outlive the view.
 */
int rex_elf_open(struct rex_elf *elf, const void *bytes, size_t size);

/* Why the file cannot be used. Returns -1. */
int rex_elf_refuse(struct rex_elf *elf, const char *why);

/* Section INDEX, copied out, since a file's alignment is not to be trusted. False: none. */
bool rex_elf_section(const struct rex_elf *elf, size_t index, Elf64_Shdr *section);

/* Name of SECTION; "" if it has none, or one that rex_elf_string() refuses. */
const char *rex_elf_section_name(const struct rex_elf *elf, const Elf64_Shdr *section);

/* First section of TYPE. False: there is none. */
bool rex_elf_find_type(const struct rex_elf *elf, uint32_t type, Elf64_Shdr *section);

/*
 * The string at OFFSET of string table STRINGS. NULL if it does not end inside the table, or is
 * longer than any name.
 */
const char *rex_elf_string(const struct rex_elf *elf, const Elf64_Shdr *strings, uint64_t offset);

/*
 * Symbols: number in the table SYMBOLS; the one at INDEX, its name in *NAME. False: it is not all
 * there.
 */
size_t rex_elf_symbols(const Elf64_Shdr *symbols);
bool rex_elf_symbol(const struct rex_elf *elf, const Elf64_Shdr *symbols, size_t index,
                    Elf64_Sym *symbol, const char **name);

/* Entry INDEX of DYNAMIC, a section of type SHT_DYNAMIC. False: there is none. */
bool rex_elf_dynamic(const struct rex_elf *elf, const Elf64_Shdr *dynamic, size_t index,
                     Elf64_Dyn *entry);

/* ---- host images ----------------------------------------------------------------------------- */

/*
 * Fill VIEW with the symbols and entries of the host image. 0, or -1 with ELF->why, which is NULL
 * where memory ran out or the view is overfull.
 */
int rex_host_image_read(struct rex_view *view, struct rex_elf *elf);

#endif
