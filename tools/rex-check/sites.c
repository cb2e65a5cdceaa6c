/*
 * sites.c - finds launch sites: code and data that refer to a host key. Counts all launch sites,
 * and lists the sites whose key is in no entry.
 *
 * Objects have a relocation for every reference. A linked file has relocations for data, and for
 * code only with --emit-relocs. If there are no relocations for code, code.c searches for
 * instructions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "sites.h"

#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "common/elfsymbols.h"
#include "common/memory.h"
#include "pointers.h"
#include "stem.h"

/*
 * Returns the number to add to the addend of a relocation of TYPE whose symbol is a section. On
 * x86-64, a relative address of 4 bytes counts from the byte after these 4 bytes. So the addend is
 * 4 less than the offset in the section.
 */
static uint64_t bias(const struct elf_file *file, uint32_t type)
{
    enum { PC32 = 2, PLT32 = 4 };
    return file->elf.header.e_machine == EM_X86_64 && (type == PC32 || type == PLT32) ? 4 : 0;
}

/*
 * Counts the relocation at PLACE as a launch site if it refers to a host key. If the key is in no
 * entry of the file, adds a struct site to PROGRAM.
 */
static void try_site(struct program *program, const struct elf_symbols *symbols,
                     struct elf_relocation relocation, struct elf_place place, const char *section)
{
    struct elf_symbol symbol = {0};
    const char *stem;
    size_t length;
    bool named = relocation.symbol != 0 && elf_symbol(symbols, relocation.symbol, &symbol) == 0 &&
                 symbol.type != STT_SECTION;
    if (named) {
        if (!name_stem(symbol.name, KEY_SUFFIX, &stem, &length) || length == 0)
            return;
        program->launch_sites++;
        if (!symbol.defined) {
            program_add_site(program, symbol.name, true, place, section);
            return;
        }
        relocation.addend = 0;
    } else
        relocation.addend =
            (int64_t)((uint64_t)relocation.addend + bias(symbols->file, relocation.type));
    struct target target = pointer_target(&relocation, symbols);
    const struct key *key =
        target.kind == TARGET_PLACE ? program_key_at(program, target.place) : NULL;
    program->launch_sites += key != NULL && !named;
    if (key != NULL && !key->in_entry)
        program_add_site(program, key->name, false, place, section);
}

static void read_section(struct program *program, const Elf64_Shdr *section, const char *name,
                         uint64_t *budget)
{
    struct elf_relocation relocation;
    struct elf_symbols symbols = {.file = &program->file};
    elf_symbols_of(&program->file, section->sh_link, &symbols);
    for (size_t next = 0;
         *budget > 0 && elf_next_relocation(&program->file, section, &next, &relocation);
         --*budget) {
        struct elf_place place = {elf_is_object(&program->file) ? section->sh_info : 0,
                                  relocation.offset};
        if (program_table_at(program, place) == NO_TABLE)
            try_site(program, &symbols, relocation, place, name);
    }
}

/*
 * Returns true if the relocations of SECTION may be launch sites. References from debugging
 * information to keys are not launch sites. *NAME becomes the name of the section that contains the
 * references. If SECTION has the loader's relocations of a linked file, which are for all sections,
 * *NAME becomes NULL.
 */
static bool may_launch(const struct program *program, const Elf64_Shdr *section, const char **name)
{
    Elf64_Shdr target;
    *name = NULL;
    if (section->sh_type != SHT_RELA)
        return false;
    if (!elf_is_object(&program->file) && section->sh_flags & SHF_ALLOC)
        return true;
    if (!rex_elf_section(&program->file.elf, section->sh_info, &target) ||
        !(target.sh_flags & SHF_ALLOC))
        return false;
    *name = rex_elf_section_name(&program->file.elf, &target);
    return true;
}

/* ---- which function -------------------------------------------------------------------------- */

static int compare_sites(const void *a, const void *b)
{
    const struct site *one = a, *other = b;
    return elf_compare_places(one->place, other->place);
}

/*
 * Returns the index of the first launch site from INDEX on that has no function yet. If there is
 * none, returns the number of launch sites. NEXT[i] is i if site i has no function. Otherwise
 * NEXT[i] is a larger index, at which the search goes on. NEXT has one element more than there are
 * sites. The value of this last element is its own index.
 */
static size_t unnamed_from(size_t *next, size_t index)
{
    while (next[index] != index) {
        next[index] = next[next[index]];
        index = next[index];
    }
    return index;
}

/*
 * Sets the function of each launch site that lies in FUNCTION and has no function yet. Functions of
 * a forged file may overlap.
 */
static void name_sites_in(struct program *program, const struct elf_symbol *function, size_t *next)
{
    size_t low = 0, high = program->site_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (elf_compare_places(program->sites[middle].place, function->place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (low = unnamed_from(next, low); low < program->site_count; low = unnamed_from(next, low)) {
        struct site *site = &program->sites[low];
        if (site->place.section != function->place.section ||
            site->place.offset - function->place.offset >= function->size)
            break;
        site->function = function->name;
        site->into = site->place.offset - function->place.offset;
        next[low] = low + 1;
    }
}

static void name_functions(struct program *program)
{
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    bool full;
    size_t *next = tool_alloc(program->site_count + 1, sizeof *next);
    for (size_t i = 0; i <= program->site_count; i++)
        next[i] = i;
    qsort(program->sites, program->site_count, sizeof *program->sites, compare_sites);
    bool more =
        elf_symbols_of(&program->file, elf_symbol_table(&program->file, &full), &symbols) == 0;
    while (more && elf_next_symbol(&symbols, &symbol))
        if (symbol.defined && symbol.type == STT_FUNC)
            name_sites_in(program, &symbol, next);
    free(next);
}

void sites_find(struct program *program)
{
    uint64_t budget = program->file.elf.size / sizeof(Elf64_Rela);
    Elf64_Shdr section;
    const char *name;
    for (size_t i = 1; rex_elf_section(&program->file.elf, i, &section); i++)
        if (may_launch(program, &section, &name)) {
            program->relocations |= name != NULL;
            read_section(program, &section, name, &budget);
        }
    if (!program->relocations && program->file.elf.header.e_machine == EM_X86_64)
        code_find_sites(program);
    if (program->site_count > 0)
        name_functions(program);
}
