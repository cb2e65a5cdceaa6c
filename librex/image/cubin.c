/*
 * cubin.c - read a CUBIN: kernels, their parameters and limits, globals, architecture.
 *
 * A CUBIN is an ELF file. A kernel is a function symbol whose `other` byte has the bit
 * STO_CUDA_ENTRY; `.nv.info.KERNEL` holds one attribute for each parameter and one for its launch
 * bounds, `.nv.info` the registers of all, and `.nv.shared.KERNEL` is as large as its static shared
 * memory. Seen in the output of nvcc 13.0 for sm_75 to sm_120.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/cubin.h"

#include <string.h>

#include "image/signature.h"

#define STO_CUDA_ENTRY 0x10
#define STT_CUDA_OBJECT 13 /* globals of nvcc -rdc=true; without it they are STT_OBJECT */
#define OSABI_CUDA_13 0x41
#define ABIVERSION_CUDA_13 8

#define INFO ".nv.info"
#define INFO_PREFIX ".nv.info."
#define SHARED_PREFIX ".nv.shared."

/*
 * Attributes of .nv.info: a format byte, an attribute byte, then a 2-byte value, or a 2-byte size
 * and that many bytes.
 */
#define FORMAT_SIZED 0x04
#define ATTRIBUTE_MAX_THREADS 0x05 /* u32 x, y, z */
#define ATTRIBUTE_PARAMETER \
    0x17 /* u32 index, u16 ordinal, u16 offset, u32: size in bits 18 to 31 */
#define ATTRIBUTE_REGISTERS 0x2f /* u32 symbol, u32 count */
/* u32 index, u16 ordinal, u16 offset, u16 size; in a kernel with more than 4 KiB of parameters */
#define ATTRIBUTE_LARGE_PARAMETER 0x45
#define PARAMETER_SIZE_SHIFT 18

struct attribute {
    unsigned kind;
    size_t size;
    const unsigned char *value;
};

/* The sized attribute at or after *AT, and *AT past it. 1, 0 at the end, or -1: it is cut off. */
static int next_attribute(const unsigned char **at, const unsigned char *end,
                          struct attribute *attribute)
{
    while (end - *at >= 4) {
        const unsigned char *head = *at;
        uint16_t size;
        memcpy(&size, head + 2, sizeof size);
        if (head[0] != FORMAT_SIZED)
            size = 0;
        if (end - head - 4 < size)
            return -1;
        *at = head + 4 + size;
        *attribute = (struct attribute){head[1], size, head + 4};
        if (head[0] == FORMAT_SIZED)
            return 1;
    }
    return *at == end ? 0 : -1;
}

static uint32_t word(const struct attribute *attribute, size_t index)
{
    uint32_t value;
    memcpy(&value, attribute->value + index * sizeof value, sizeof value);
    return value;
}

static int cut_off(struct rex_elf *elf)
{
    elf->why = "the attributes of a kernel are cut off";
    return -1;
}

/* ---- a kernel's parameters and launch bounds ------------------------------------------------- */

static bool is_parameter(const struct attribute *attribute)
{
    return attribute->size >= 12 &&
           (attribute->kind == ATTRIBUTE_PARAMETER || attribute->kind == ATTRIBUTE_LARGE_PARAMETER);
}

static int count_parameters(struct rex_elf *elf, const Elf64_Shdr *info,
                            struct rex_image_symbol *kernel)
{
    const unsigned char *at = elf->bytes + info->sh_offset, *end = at + info->sh_size;
    struct attribute attribute;
    int more;
    kernel->parameters = 0;
    while ((more = next_attribute(&at, end, &attribute)) > 0)
        if (is_parameter(&attribute) && kernel->parameters < REX_PARAMETERS_UNKNOWN - 1)
            kernel->parameters++;
    return more == 0 ? 0 : cut_off(elf);
}

static int set_parameter(struct rex_view *view, struct rex_image_symbol *kernel,
                         const struct attribute *attribute)
{
    uint16_t ordinal = (uint16_t)word(attribute, 1), offset = (uint16_t)(word(attribute, 1) >> 16);
    uint32_t shift = attribute->kind == ATTRIBUTE_PARAMETER ? PARAMETER_SIZE_SHIFT : 0;
    uint16_t size = (uint16_t)(word(attribute, 2) >> shift);
    if (ordinal >= kernel->parameters || size == 0 ||
        view->parameters[kernel->first + ordinal].size != 0)
        return -1;
    view->parameters[kernel->first + ordinal] =
        (struct rex_image_parameter){.offset = offset, .size = size};
    /* Attributes come last parameter first; the message names the first odd one. */
    if (size != 8 && (kernel->odd_size == 0 || ordinal < kernel->odd_index)) {
        kernel->odd_size = size;
        kernel->odd_index = ordinal;
    }
    return 0;
}

/* Code that copies arguments relies on this: a parameter begins behind the one before it. */
static int check_offsets(const struct rex_view *view, struct rex_elf *elf,
                         const struct rex_image_symbol *kernel)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < kernel->parameters; i++) {
        const struct rex_image_parameter *parameter = &view->parameters[kernel->first + i];
        if (parameter->offset < end) {
            elf->why = "the parameters of a kernel overlap, or are out of order";
            return -1;
        }
        end = (uint32_t)parameter->offset + parameter->size;
    }
    return 0;
}

static uint32_t threads(const struct attribute *bounds)
{
    uint64_t product = word(bounds, 0);
    for (size_t i = 1; i < 3 && product <= UINT32_MAX; i++)
        product *= word(bounds, i);
    return product <= UINT32_MAX ? (uint32_t)product : UINT32_MAX;
}

static int read_kernel(struct rex_view *view, struct rex_elf *elf, const Elf64_Shdr *info,
                       struct rex_image_symbol *kernel)
{
    const unsigned char *at = elf->bytes + info->sh_offset, *end = at + info->sh_size;
    struct attribute attribute;
    if (kernel->parameters != REX_PARAMETERS_UNKNOWN) {
        elf->why = "the parameters of a kernel are given twice";
        return -1;
    }
    if (count_parameters(elf, info, kernel) != 0 ||
        rex_view_add_parameters(view, kernel->parameters, &kernel->first) != 0)
        return -1;
    while (next_attribute(&at, end, &attribute) > 0) {
        if (attribute.kind == ATTRIBUTE_MAX_THREADS && attribute.size >= 12)
            kernel->max_threads = threads(&attribute);
        if (!is_parameter(&attribute) || set_parameter(view, kernel, &attribute) == 0)
            continue;
        elf->why = "the parameters of a kernel are not numbered from 0 on, once each";
        return -1;
    }
    return check_offsets(view, elf, kernel);
}

/* ---- symbols --------------------------------------------------------------------------------- */

static unsigned architecture_of(const Elf64_Ehdr *header)
{
    int new_header = header->e_ident[EI_OSABI] == OSABI_CUDA_13 &&
                     header->e_ident[EI_ABIVERSION] >= ABIVERSION_CUDA_13;
    return new_header ? header->e_flags >> 8 & 0xff : header->e_flags & 0xff;
}

unsigned rex_cubin_architecture(const void *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == EM_CUDA
               ? architecture_of(&header)
               : 0;
}

static bool is_global(const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && (type == STT_OBJECT || type == STT_CUDA_OBJECT);
}

static int add_symbol(struct rex_view *view, const Elf64_Sym *symbol, const char *name)
{
    struct rex_image_symbol found = {.name = name,
                                     .size = symbol->st_size,
                                     .parameters = REX_PARAMETERS_UNKNOWN,
                                     .exec_mode = -1};
    if (symbol->st_shndx == SHN_UNDEF || *name == '\0')
        return 0;
    found.kernel =
        ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & STO_CUDA_ENTRY);
    if (found.kernel && rex_signature_is_mangled(name))
        return 0;
    return found.kernel || is_global(symbol) ? rex_view_add(view, &found) : 0;
}

/* Byte INTO of a global; 0 where it lies in no bytes of the file. */
static unsigned char byte_of(const struct rex_elf *elf, const Elf64_Sym *symbol, uint64_t into)
{
    Elf64_Shdr section;
    if (rex_elf_section(elf, symbol->st_shndx, &section) != 0 || section.sh_type == SHT_NOBITS ||
        symbol->st_value >= section.sh_size || into >= section.sh_size - symbol->st_value)
        return 0;
    return elf->bytes[section.sh_offset + symbol->st_value + into];
}

#define MODE_IN_ENVIRONMENT 2 /* behind two other bytes (LLVM 18 to 23) */

static void read_modes(struct rex_view *view, const struct rex_elf *elf, const Elf64_Sym *symbol,
                       const char *name)
{
    struct rex_image_symbol *kernel;
    if (!is_global(symbol))
        return;
    if ((kernel = rex_view_kernel_of(view, name, REX_EXEC_MODE_SUFFIX)) != NULL)
        kernel->exec_mode = byte_of(elf, symbol, 0);
    if ((kernel = rex_view_kernel_of(view, name, REX_ENVIRONMENT_SUFFIX)) != NULL) {
        kernel->environment_size =
            symbol->st_size < UINT32_MAX ? (uint32_t)symbol->st_size : UINT32_MAX;
        kernel->environment_mode = byte_of(elf, symbol, MODE_IN_ENVIRONMENT);
    }
}

/* ---- the rest of the sections ---------------------------------------------------------------- */

static void read_registers(struct rex_view *view, const struct rex_elf *elf, const Elf64_Shdr *info,
                           const Elf64_Shdr *symbols)
{
    const unsigned char *at = elf->bytes + info->sh_offset, *end = at + info->sh_size;
    struct attribute attribute;
    Elf64_Sym symbol;
    const char *name;
    while (next_attribute(&at, end, &attribute) > 0) {
        if (attribute.kind != ATTRIBUTE_REGISTERS || attribute.size < 8 ||
            rex_elf_symbol(elf, symbols, word(&attribute, 0), &symbol, &name) != 0)
            continue;
        struct rex_image_symbol *kernel = rex_view_find(view, name);
        if (kernel != NULL && kernel->kernel)
            kernel->registers = word(&attribute, 1);
    }
}

/*
 * Sections that lie over each other are in no CUBIN; all of them over the whole file would take the
 * square of its size to read.
 */
static int check_attributes(struct rex_elf *elf)
{
    uint64_t total = 0;
    Elf64_Shdr section;
    for (size_t i = 0; rex_elf_section(elf, i, &section) == 0; i++)
        if (section.sh_type != SHT_NOBITS &&
            strncmp(rex_elf_section_name(elf, &section), INFO, strlen(INFO)) == 0)
            total += section.sh_size;
    if (total <= elf->size)
        return 0;
    elf->why = "its attributes take more bytes than the file has";
    return -1;
}

static int read_section(struct rex_view *view, struct rex_elf *elf, const Elf64_Shdr *section,
                        const Elf64_Shdr *symbols)
{
    const char *name = rex_elf_section_name(elf, section);
    struct rex_image_symbol *kernel = rex_view_kernel_after(view, name, SHARED_PREFIX);
    if (kernel != NULL)
        kernel->shared_memory =
            section->sh_size < UINT32_MAX ? (uint32_t)section->sh_size : UINT32_MAX;
    if (section->sh_type == SHT_NOBITS)
        return 0;
    if (strcmp(name, INFO) == 0)
        read_registers(view, elf, section, symbols);
    kernel = rex_view_kernel_after(view, name, INFO_PREFIX);
    return kernel != NULL ? read_kernel(view, elf, section, kernel) : 0;
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
        if (rex_elf_symbol(elf, &symbols, i, &symbol, &name) == 0 &&
            add_symbol(view, &symbol, name) != 0)
            return -1;
    if (rex_view_index(view) != 0 || check_attributes(elf) != 0)
        return -1;
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++)
        if (rex_elf_symbol(elf, &symbols, i, &symbol, &name) == 0)
            read_modes(view, elf, &symbol, name);
    for (size_t i = 0; rex_elf_section(elf, i, &section) == 0; i++)
        if (read_section(view, elf, &section, &symbols) != 0)
            return -1;
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++)
        if (rex_elf_symbol(elf, &symbols, i, &symbol, &name) == 0)
            rex_signature_read_mangled(view, name);
    return 0;
}
