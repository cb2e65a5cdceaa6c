/*
 * cubin.c - reads a CUBIN: its architecture, kernels with their parameters and limits, globals, and
 * symbols that keep state from one launch to the next.
 *
 * A CUBIN is an ELF file. A kernel is a function symbol whose `other` byte has the bit
 * STO_CUDA_ENTRY. The section `.nv.info.KERNEL` has an attribute for each parameter, and an
 * attribute for the launch bounds. `.nv.info` has the register counts of all kernels. The size of
 * `.nv.shared.KERNEL` is the size of the static shared memory. nvcc 13.0 writes this layout for
 * sm_75 to sm_120.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/cubin.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define STO_CUDA_ENTRY 0x10
#define STT_CUDA_OBJECT 13 /* type of globals with nvcc -rdc=true; STT_OBJECT without -rdc=true */
#define OSABI_CUDA_13 0x41
#define ABIVERSION_CUDA_13 8
#define MODE_IN_ENVIRONMENT 2 /* offset of the mode in KERNEL_kernel_environment (LLVM 18 to 23) */

#define INFO ".nv.info"
#define INFO_PREFIX ".nv.info."
#define SHARED_PREFIX ".nv.shared."

/*
 * An attribute in .nv.info is a format byte, an attribute byte and 2 more bytes. If the format byte
 * is FORMAT_SIZED, the 2 bytes are the size of the value, and the value follows. With any other
 * format byte, the 2 bytes are the value.
 */
#define FORMAT_SIZED 0x04
#define ATTRIBUTE_MAX_THREADS 0x05 /* u32 x, y, z */
#define ATTRIBUTE_PARAMETER \
    0x17 /* u32 index, u16 ordinal, u16 offset, u32 with the size in bits 18 to 31 */
#define ATTRIBUTE_REGISTERS 0x2f /* u32 symbol, u32 count */
/* u32 index, u16 ordinal, u16 offset, u16 size; used if a kernel has over 4 KiB of parameters */
#define ATTRIBUTE_LARGE_PARAMETER 0x45
#define PARAMETER_SIZE_SHIFT 18

struct attribute {
    unsigned kind;
    size_t size; /* 0 for a 2-byte value, which no reader uses */
    const unsigned char *value;
};

/*
 * Reads the attribute at *AT and moves *AT past it. Returns 1 for an attribute, 0 at the end, and
 * -1 if the attribute is truncated.
 */
static int next_attribute(const unsigned char **at, const unsigned char *end,
                          struct attribute *attribute)
{
    const unsigned char *head = *at;
    uint16_t size;
    if (end - head < 4)
        return head == end ? 0 : -1;
    memcpy(&size, head + 2, sizeof size);
    if (head[0] != FORMAT_SIZED)
        size = 0;
    if (end - head - 4 < size)
        return -1;
    *at = head + 4 + size;
    *attribute = (struct attribute){head[1], size, head + 4};
    return 1;
}

static uint32_t attribute_word(const struct attribute *attribute, size_t index)
{
    uint32_t value;
    memcpy(&value, attribute->value + index * sizeof value, sizeof value);
    return value;
}

/* ---- a kernel's parameters and launch bounds ------------------------------------------------- */

static bool is_parameter(const struct attribute *attribute)
{
    return attribute->size >= 12 &&
           (attribute->kind == ATTRIBUTE_PARAMETER || attribute->kind == ATTRIBUTE_LARGE_PARAMETER);
}

/*
 * Refuses the file. The reason is "the WHAT of kernel KERNEL WHY". WHAT is, for example,
 * "parameters".
 */
static int refuse_kernel(struct rex_elf *elf, const struct rex_image_symbol *kernel,
                         const char *what, const char *why)
{
    int length = rex_kernel_name_length(kernel->name);
    snprintf(elf->text, sizeof elf->text, "the %s of kernel \"%.*s\" %s", what,
             length < 300 ? length : 300, kernel->name, why);
    return rex_elf_refuse(elf, elf->text);
}

static int read_kernel_info(struct rex_view *view, struct rex_elf *elf, const Elf64_Shdr *info,
                            struct rex_image_symbol *kernel)
{
    const unsigned char *begin = elf->bytes + info->sh_offset, *at = begin,
                        *end = begin + info->sh_size;
    struct attribute attribute;
    size_t count = 0;
    int more;
    if (kernel->parameters != REX_PARAMETERS_UNKNOWN)
        return refuse_kernel(elf, kernel, "parameters", "are given twice");
    while ((more = next_attribute(&at, end, &attribute)) > 0)
        count += is_parameter(&attribute);
    if (more < 0)
        return refuse_kernel(elf, kernel, "attributes", "are cut off");
    kernel->parameters = (uint16_t)(count < REX_PARAMETERS_UNKNOWN ? count : 0);
    if (!rex_view_add_parameters(view, kernel->parameters, &kernel->first))
        return -1;
    struct rex_image_parameter *all = view->parameters;
    for (at = begin; next_attribute(&at, end, &attribute) > 0;) {
        if (attribute.kind == ATTRIBUTE_MAX_THREADS && attribute.size >= 12) {
            uint64_t threads = attribute_word(&attribute, 0);
            for (size_t i = 1; i < 3 && threads <= UINT32_MAX; i++)
                threads *= attribute_word(&attribute, i);
            kernel->max_threads = threads <= UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
        }
        if (!is_parameter(&attribute))
            continue;
        uint32_t place = attribute_word(&attribute, 1), shift = 0;
        if (attribute.kind == ATTRIBUTE_PARAMETER)
            shift = PARAMETER_SIZE_SHIFT;
        uint16_t ordinal = (uint16_t)place,
                 size = (uint16_t)(attribute_word(&attribute, 2) >> shift);
        if (ordinal >= kernel->parameters || size == 0 || all[kernel->first + ordinal].size != 0)
            return refuse_kernel(elf, kernel, "parameters", "are not numbered 0, 1, 2 and so on");
        all[kernel->first + ordinal] =
            (struct rex_image_parameter){.offset = (uint16_t)(place >> 16), .size = size};
    }
    /*
     * Code that copies arguments requires that each parameter begins at or after the end of the
     * previous parameter.
     */
    for (uint32_t i = kernel->first + 1; i < kernel->first + kernel->parameters; i++)
        if (all[i].offset < all[i - 1].offset + all[i - 1].size)
            return refuse_kernel(elf, kernel, "parameters", "overlap, or are out of order");
    return 0;
}

/* ---- symbols --------------------------------------------------------------------------------- */

unsigned rex_cubin_architecture(const void *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_CUDA)
        return 0;
    bool is_new = header.e_ident[EI_OSABI] == OSABI_CUDA_13 &&
                  header.e_ident[EI_ABIVERSION] >= ABIVERSION_CUDA_13;
    return (is_new ? header.e_flags >> 8 : header.e_flags) & 0xff;
}

/* Returns byte INTO of the global SYMBOL, or 0 if the file has no bytes for the global. */
static unsigned char byte_of_global(const struct rex_elf *elf, const Elf64_Sym *symbol,
                                    uint64_t into)
{
    Elf64_Shdr section;
    if (!rex_elf_section(elf, symbol->st_shndx, &section) || section.sh_type == SHT_NOBITS ||
        symbol->st_value >= section.sh_size || into >= section.sh_size - symbol->st_value)
        return 0;
    return elf->bytes[section.sh_offset + symbol->st_value + into];
}

static bool is_variable(const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_OBJECT || type == STT_CUDA_OBJECT;
}

/* ---- sections -------------------------------------------------------------------------------- */

int rex_cubin_read(struct rex_view *view, struct rex_elf *elf)
{
    Elf64_Shdr symbols, section;
    Elf64_Sym symbol;
    const char *name;
    uint64_t attributes = 0;
    if (!rex_elf_find_type(elf, SHT_SYMTAB, &symbols))
        return rex_elf_refuse(elf, "it has no symbols");
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++) {
        if (!rex_elf_symbol(elf, &symbols, i, &symbol, &name) || symbol.st_shndx == SHN_UNDEF ||
            *name == '\0')
            continue;
        bool is_kernel =
            ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & STO_CUDA_ENTRY);
        if (!is_kernel && !is_variable(&symbol))
            continue;
        const struct rex_image_symbol found = {
            .name = name,
            .kernel = is_kernel,
            .size = symbol.st_size,
            .parameters = REX_PARAMETERS_UNKNOWN,
            .exec_mode = is_kernel ? -1 : byte_of_global(elf, &symbol, 0),
            .environment_mode = is_kernel ? 0 : byte_of_global(elf, &symbol, MODE_IN_ENVIRONMENT)};
        rex_view_add(view, &found);
    }
    if (rex_view_index(view) != 0)
        return -1;
    for (size_t i = 0; rex_elf_section(elf, i, &section); i++) {
        name = rex_elf_section_name(elf, &section);
        struct rex_image_symbol *kernel = rex_view_kernel_of(view, name, SHARED_PREFIX, "");
        if (kernel != NULL)
            kernel->shared_memory =
                section.sh_size < UINT32_MAX ? (uint32_t)section.sh_size : UINT32_MAX;
        if (section.sh_type == SHT_NOBITS || rex_name_after(name, INFO) == NULL)
            continue;
        /*
         * If the sections of attributes together are larger than the file, they overlap. Refuse
         * such a file: each section could cover the whole file, and reading all sections would take
         * quadratic time.
         */
        attributes += section.sh_size;
        if (attributes > elf->size)
            return rex_elf_refuse(elf, "its attributes take more bytes than the file has");
        const unsigned char *at = elf->bytes + section.sh_offset, *end = at + section.sh_size;
        struct attribute attribute;
        const char *of;
        bool is_of_all = strcmp(name, INFO) == 0;
        while (is_of_all && next_attribute(&at, end, &attribute) > 0) {
            if (attribute.kind != ATTRIBUTE_REGISTERS || attribute.size < 8 ||
                !rex_elf_symbol(elf, &symbols, attribute_word(&attribute, 0), &symbol, &of))
                continue;
            kernel = rex_view_kernel(view, of, strlen(of));
            if (kernel != NULL)
                kernel->registers = attribute_word(&attribute, 1);
        }
        kernel = rex_view_kernel_of(view, name, INFO_PREFIX, "");
        if (kernel != NULL && read_kernel_info(view, elf, &section, kernel) != 0)
            return -1;
    }
    return 0;
}

/* ---- state kept from one launch to the next -------------------------------------------------- */

/* Returns true if NAME begins with one of PREFIXES. NULL ends the array PREFIXES. */
static bool begins_with_any(const char *name, const char *const *prefixes)
{
    while (*prefixes != NULL && rex_name_after(name, *prefixes) == NULL)
        prefixes++;
    return *prefixes != NULL;
}

/*
 * Returns true if the global NAME keeps no state: the global is librex's own, or only the host
 * reads it, or no code changes it (nvcc's string literals).
 */
static bool is_well_known(const char *name)
{
    static const char *const prefixes[] = {"rex_", "__omp_", "__unnamed_", "$str", NULL};
    /*
     * in a name, this ending stands after "_", or after the "." that rex_image_hide_modes() writes
     */
    static const char mode[] = "exec_mode";
    size_t length = strlen(name);
    return begins_with_any(name, prefixes) || strcmp(name, "omptarget_device_environment") == 0 ||
           (length >= sizeof mode && strcmp(name + length - strlen(mode), mode) == 0);
}

enum rex_state rex_cubin_state(const struct rex_elf *elf, char name[REX_STATE_NAME])
{
    /*
     * nvcc 13.0 and clang 19 put globals into .nv.global and .nv.global.init, and __constant__
     * globals into .nv.constant3. Treat each global as state, even if no code uses it:
     * .nv.constant4 has the addresses of all globals, so the file does not show which globals code
     * uses.
     */
    static const char *const sections[] = {".nv.global", ".nv.constant3", ".bss", ".data", NULL};
    Elf64_Shdr symbols, section;
    Elf64_Sym symbol;
    const char *found;
    if (!rex_elf_find_type(elf, SHT_SYMTAB, &symbols))
        return REX_STATE_NONE;
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++) {
        if (!rex_elf_symbol(elf, &symbols, i, &symbol, &found))
            continue;
        enum rex_state state = REX_STATE_NONE;
        bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
        if (is_variable(&symbol) && !is_well_known(found) &&
            rex_elf_section(elf, symbol.st_shndx, &section) &&
            begins_with_any(rex_elf_section_name(elf, &section), sections))
            state = REX_STATE_GLOBAL;
        else if (is_function && rex_name_after(found, "__kmpc_") != NULL)
            state = REX_STATE_RUNTIME;
        else if (is_function && symbol.st_shndx == SHN_UNDEF &&
                 (strcmp(found, "vprintf") == 0 || strcmp(found, "malloc") == 0 ||
                  strcmp(found, "free") == 0))
            state = REX_STATE_LIBRARY;
        if (state != REX_STATE_NONE) {
            snprintf(name, REX_STATE_NAME, "%s", found);
            return state;
        }
    }
    return REX_STATE_NONE;
}
