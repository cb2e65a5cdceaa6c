/*
 * cubin.c - read a CUBIN: kernels, their parameters, globals, architecture.
 *
 * A CUBIN is an ELF file. A kernel is a function symbol whose `other` byte has the bit STO_CUDA_ENTRY; `.nv.info.KERNEL` holds one
 * attribute for each parameter. Seen in the output of nvcc 13.0 for sm_75 to sm_120.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <string.h>

#include "view.h"

#define STO_CUDA_ENTRY 0x10
#define STT_CUDA_OBJECT 13 /* globals of nvcc -rdc=true; without it they are STT_OBJECT */
#define OSABI_CUDA_13 0x41
#define ABIVERSION_CUDA_13 8

#define INFO_PREFIX ".nv.info."

/* Attributes of .nv.info: a format byte, an attribute byte, then a 2-byte value, or a 2-byte size and that many bytes. */
#define FORMAT_SIZED 0x04
#define ATTRIBUTE_PARAMETER 0x17
#define PARAMETER_BYTES 12      /* u32 index, u16 ordinal, u16 offset, u32: size in bits 18 to 31 */
#define PARAMETER_SIZE_SHIFT 18

static unsigned architecture_of(const Elf64_Ehdr *header)
{
    int new_header = header->e_ident[EI_OSABI] == OSABI_CUDA_13 && header->e_ident[EI_ABIVERSION] >= ABIVERSION_CUDA_13;
    return new_header ? header->e_flags >> 8 & 0xff : header->e_flags & 0xff;
}

static void add_parameter(struct rex_symbol *kernel, const unsigned char *attribute)
{
    uint16_t ordinal;
    uint32_t packed;
    memcpy(&ordinal, attribute + 4, sizeof ordinal);
    memcpy(&packed, attribute + 8, sizeof packed);
    uint32_t size = packed >> PARAMETER_SIZE_SHIFT;
    if (kernel->parameters < REX_PARAMETERS_UNKNOWN - 1)
        kernel->parameters++;
    /* Attributes come last parameter first; the message names the first odd one. */
    if (size != 8 && (kernel->odd_size == 0 || ordinal < kernel->odd_index)) {
        kernel->odd_size = size;
        kernel->odd_index = ordinal;
    }
}

static int read_parameters(struct rex_symbol *kernel, struct rex_elf *elf, const Elf64_Shdr *info)
{
    const unsigned char *at = elf->bytes + info->sh_offset, *end = at + info->sh_size;
    kernel->parameters = 0;
    while (end - at >= 4) {
        uint16_t size;
        memcpy(&size, at + 2, sizeof size);
        const unsigned char *value = at + 4;
        if (at[0] != FORMAT_SIZED) {
            at = value;
            continue;
        }
        if (end - value < size)
            break;
        if (at[1] == ATTRIBUTE_PARAMETER && size >= PARAMETER_BYTES)
            add_parameter(kernel, value);
        at = value + size;
    }
    if (at == end)
        return 0;
    elf->why = "the parameters of a kernel are cut off";
    return -1;
}

static int add_symbol(struct rex_view *view, const Elf64_Sym *symbol, const char *name)
{
    struct rex_symbol found = {.name = name, .size = symbol->st_size, .parameters = REX_PARAMETERS_UNKNOWN};
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || *name == '\0')
        return 0;
    found.kernel = type == STT_FUNC && (symbol->st_other & STO_CUDA_ENTRY);
    return found.kernel || type == STT_OBJECT || type == STT_CUDA_OBJECT ? rex_view_add(view, &found) : 0;
}

int rex_cubin_read(struct rex_view *view, struct rex_elf *elf)
{
    Elf64_Shdr symbols, section;
    Elf64_Sym symbol;
    const char *name;
    view->architecture = architecture_of(&elf->header);
    if (rex_elf_find_type(elf, SHT_SYMTAB, &symbols) != 0) {
        elf->why = "it has no symbols";
        return -1;
    }
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++)
        if (rex_elf_symbol(elf, &symbols, i, &symbol, &name) == 0 && add_symbol(view, &symbol, name) != 0)
            return -1;
    if (rex_view_index(view) != 0)
        return -1;
    for (size_t i = 0; rex_elf_section(elf, i, &section) == 0; i++) {
        name = rex_elf_section_name(elf, &section);
        if (strncmp(name, INFO_PREFIX, strlen(INFO_PREFIX)) != 0 || section.sh_type == SHT_NOBITS)
            continue;
        struct rex_symbol *kernel = rex_view_find(view, name + strlen(INFO_PREFIX));
        if (kernel != NULL && kernel->kernel && read_parameters(kernel, elf, &section) != 0)
            return -1;
    }
    return 0;
}
