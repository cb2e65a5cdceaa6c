/*
 * module.c - finds the program's struct rex_module, which names the images that it would load.
 *
 * A symbol gives the place. In a stripped program, the module is found by two adjacent pointers, to
 * the begin and the end of the table of entries.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module.h"

#include <string.h>

#include "common/elfsymbols.h"
#include "common/memory.h"
#include "pointers.h"
#include "rex/inspect.h"
#include "rex/module.h"

#define BEGIN offsetof(struct rex_module, entries_begin)
#define SCAN_STEP ((uint64_t)4 << 20)

/*
 * Returns true if a module may begin at ADDRESS: the first word is the size of a module, and the
 * second word (the flags) is 0. clang's descriptors (struct __tgt_bin_desc and its images) also
 * point to the table, but begin with addresses.
 */
static bool has_size(const struct program *program, uint64_t address)
{
    enum { LEAST = offsetof(struct rex_module, image), MOST = 1024 };
    uint32_t words[2];
    uint64_t room;
    const unsigned char *bytes = elf_at(&program->file, (struct elf_place){0, address}, &room);
    if (bytes == NULL || room < sizeof words)
        return false;
    memcpy(words, bytes, sizeof words);
    return words[0] >= LEAST && words[0] <= MOST && words[0] % sizeof(void *) == 0 && words[1] == 0;
}

/* Returns true if the module at ADDRESS points to the first byte and to the end of TABLE. */
static bool is_module(const struct program *program, const struct table *table, uint64_t address)
{
    if (!has_size(program, address))
        return false;
    struct pointer pointers[2] = {{.at = {0, address + BEGIN}},
                                  {.at = {0, address + BEGIN + sizeof(void *)}}};
    pointers_resolve(program, pointers, 2);
    return pointers[0].target.kind == TARGET_PLACE &&
           pointers[0].target.place.offset == table->begin.offset &&
           pointers[1].target.kind == TARGET_PLACE &&
           pointers[1].target.place.offset == table->begin.offset + table->size;
}

/* Finds the module by a relocation that makes a pointer to the table. */
static bool find_by_relocation(const struct program *program, const struct table *table,
                               struct elf_place *place)
{
    struct elf_relocation relocation;
    Elf64_Shdr section;
    int tries = 16;
    for (size_t i = 1; rex_elf_section(&program->file.elf, i, &section); i++) {
        if (!(section.sh_flags & SHF_ALLOC))
            continue;
        for (size_t next = 0;
             tries > 0 && elf_next_relocation(&program->file, &section, &next, &relocation);)
            if (relocation.symbol == 0 && (uint64_t)relocation.addend == table->begin.offset &&
                relocation.offset >= BEGIN && tries-- > 0 &&
                is_module(program, table, relocation.offset - BEGIN)) {
                *place = (struct elf_place){0, relocation.offset - BEGIN};
                return true;
            }
    }
    return false;
}

/*
 * Finds the module in the sections of data. The module has two adjacent addresses: where TABLE
 * begins, and where TABLE ends.
 */
static bool find_in_data(const struct program *program, const struct table *table,
                         struct elf_place *place)
{
    uint64_t wanted[2] = {table->begin.offset, table->begin.offset + table->size};
    Elf64_Shdr section;
    for (size_t i = 1; rex_elf_section(&program->file.elf, i, &section); i++) {
        const unsigned char *bytes = rex_elf_section_bytes(&program->file.elf, &section);
        if (bytes == NULL ||
            (section.sh_flags & (SHF_ALLOC | SHF_WRITE)) != (SHF_ALLOC | SHF_WRITE))
            continue;
        for (uint64_t at = 0; at + sizeof wanted <= section.sh_size; at += sizeof *wanted) {
            if (at % SCAN_STEP == 0)
                elf_file_drop_pages(&program->file);
            if (memcmp(bytes + at, wanted, sizeof wanted) == 0 && section.sh_addr + at >= BEGIN &&
                has_size(program, section.sh_addr + at - BEGIN)) {
                *place = (struct elf_place){0, section.sh_addr + at - BEGIN};
                return true;
            }
        }
    }
    return false;
}

static bool find(const struct program *program, struct elf_place *place)
{
    if (program->module_at.kind == TARGET_PLACE) {
        *place = program->module_at.place;
        return true;
    }
    if (elf_is_object(&program->file) || program->table_count == 0)
        return false;
    return find_by_relocation(program, &program->tables[0], place) ||
           find_in_data(program, &program->tables[0], place);
}

static const char *string_of(const struct program *program, const struct pointer *pointer)
{
    const char *string = pointer->target.kind == TARGET_PLACE
                             ? elf_string_at(&program->file, pointer->target.place)
                             : NULL;
    return string != NULL && *string != '\0' ? string : NULL;
}

/* ---- images in the program ------------------------------------------------------------------- */

/* Adds the image of SIZE bytes at BEGIN. */
static void add_image(struct program *program, const struct pointer *begin, uint64_t size)
{
    struct module_names *module = &program->module;
    uint64_t room;
    const unsigned char *bytes = begin->target.kind == TARGET_PLACE
                                     ? elf_at(&program->file, begin->target.place, &room)
                                     : NULL;
    if (bytes == NULL || size == 0 || size > room)
        return;
    module->embedded =
        tool_grow(module->embedded, module->embedded_count, sizeof *module->embedded);
    module->embedded[module->embedded_count++] = (struct embedded){bytes, (size_t)size};
}

/* Returns the number of bytes from BEGIN to END; 0 if they are not places in one section. */
static uint64_t size_between(const struct pointer *begin, const struct pointer *end)
{
    if (begin->target.kind != TARGET_PLACE || end->target.kind != TARGET_PLACE ||
        begin->target.place.section != end->target.place.section)
        return 0;
    return end->target.place.offset - begin->target.place.offset;
}

static uint64_t number_in(const struct program *program, struct elf_place place, size_t offset)
{
    uint64_t number, room;
    place.offset += offset;
    const unsigned char *bytes = elf_at(&program->file, place, &room);
    if (bytes == NULL || room < sizeof number)
        return 0;
    memcpy(&number, bytes, sizeof number);
    return number;
}

enum { MOST_ROWS = 4096 };

/*
 * Adds the images of the rows from BEGIN to END. If ON_HOST is true, the images are for the CPU. If
 * ON_HOST is false, they are for GPUs.
 */
static void read_rows(struct program *program, const struct pointer *begin,
                      const struct pointer *end, bool on_host)
{
    uint64_t count = size_between(begin, end) / sizeof(struct rex_image_row);
    for (uint64_t i = 0; i < count && i < MOST_ROWS; i++) {
        struct elf_place row = begin->target.place;
        row.offset += i * sizeof(struct rex_image_row);
        struct pointer pointers[] = {{.at = row}, {.at = row}};
        pointers[1].at.offset += offsetof(struct rex_image_row, end);
        if (number_in(program, row, offsetof(struct rex_image_row, on_host)) != on_host)
            continue;
        pointers_resolve(program, pointers, 2);
        add_image(program, &pointers[0], size_between(&pointers[0], &pointers[1]));
    }
}

/* ---- the module ------------------------------------------------------------------------------ */

void module_find(struct program *program)
{
    struct elf_place place;
    if (!find(program, &place))
        return;
#define FIELD(name)                                                               \
    {                                                                             \
        .at = { place.section, place.offset + offsetof(struct rex_module, name) } \
    }
    struct pointer pointers[] = {FIELD(image_name), FIELD(host_image_name), FIELD(image),
                                 FIELD(image_end),  FIELD(images_begin),    FIELD(images_end)};
#undef FIELD
    /* The module of an older header ends before the last two fields. */
    bool has_rows = (number_in(program, place, 0) & UINT32_MAX) >= sizeof(struct rex_module);
    pointers_resolve(program, pointers, has_rows ? 6 : 4);
    program->module.found = true;
    program->module.image = string_of(program, &pointers[0]);
    program->module.host_image = string_of(program, &pointers[1]);
    if (has_rows)
        read_rows(program, &pointers[4], &pointers[5], false);
    if (program->module.embedded_count > 0)
        return;
    /* A module that a code generator wrote has either the size or the end of the image. */
    uint64_t size = size_between(&pointers[2], &pointers[3]);
    if (pointers[3].target.kind != TARGET_PLACE)
        size = number_in(program, place, offsetof(struct rex_module, image_size));
    add_image(program, &pointers[2], size);
    if (program->module.embedded_count > 0 || !has_rows)
        return;
    read_rows(program, &pointers[4], &pointers[5], true);
    program->module.embedded_on_host = true;
}
