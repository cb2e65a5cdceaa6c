/*
 * state.c - what a CUBIN keeps from one launch to the next, and what it asks of its runtime.
 *
 * Globals lie in .nv.global and .nv.global.init, those that are __constant__ in .nv.constant3. Seen
 * in the output of nvcc 13.0 and of clang 19. Whether code refers to one cannot be told: the table
 * .nv.constant4 has the addresses of all.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/state.h"

#include <stdio.h>
#include <string.h>

#define STT_CUDA_OBJECT 13

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);
    return length > end && strcmp(name + length - end, suffix) == 0;
}

#define MODE_SUFFIX "exec_mode" /* behind a "_", or what librex has put in its place */

/* nvcc's names of string literals, of an assertion's for one: nobody writes there. */
static bool is_literal(const char *name)
{
    return begins_with(name, "__unnamed_") || begins_with(name, "$str");
}

/* For libomptarget on the host, or for nobody. */
static bool is_well_known(const char *name)
{
    return begins_with(name, "rex_") || begins_with(name, "__omp_") ||
           strcmp(name, "omptarget_device_environment") == 0 || ends_with(name, MODE_SUFFIX);
}

static bool is_in_global_memory(const struct rex_elf *elf, const Elf64_Sym *symbol)
{
    Elf64_Shdr section;
    if (rex_elf_section(elf, symbol->st_shndx, &section) != 0)
        return false;
    const char *name = rex_elf_section_name(elf, &section);
    return begins_with(name, ".nv.global") || begins_with(name, ".nv.constant3") ||
           begins_with(name, ".bss") || begins_with(name, ".data");
}

static enum rex_state state_of(const struct rex_elf *elf, const Elf64_Sym *symbol, const char *name)
{
    static const char *const library[] = {"vprintf", "malloc", "free"};
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (type == STT_FUNC && begins_with(name, "__kmpc_"))
        return REX_STATE_RUNTIME;
    for (size_t i = 0; type == STT_FUNC && i < sizeof library / sizeof *library; i++)
        if (symbol->st_shndx == SHN_UNDEF && strcmp(name, library[i]) == 0)
            return REX_STATE_LIBRARY;
    return (type == STT_OBJECT || type == STT_CUDA_OBJECT) && !is_well_known(name) &&
                   !is_literal(name) && is_in_global_memory(elf, symbol)
               ? REX_STATE_GLOBAL
               : REX_STATE_NONE;
}

enum rex_state rex_cubin_state(const struct rex_elf *elf, char name[REX_STATE_NAME])
{
    Elf64_Shdr symbols;
    Elf64_Sym symbol;
    const char *found;
    if (rex_elf_find_type(elf, SHT_SYMTAB, &symbols) != 0)
        return REX_STATE_NONE;
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++) {
        enum rex_state state = rex_elf_symbol(elf, &symbols, i, &symbol, &found) == 0
                                   ? state_of(elf, &symbol, found)
                                   : REX_STATE_NONE;
        if (state == REX_STATE_NONE)
            continue;
        snprintf(name, REX_STATE_NAME, "%s", found);
        return state;
    }
    return REX_STATE_NONE;
}
