/*
 * open.c - reads a program: calls the readers of its parts in order.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "pointers.h"
#include "sites.h"
#include "symbols.h"
#include "tables.h"

static int refuse(struct program *program, const char *why)
{
    snprintf(program->file.why, sizeof program->file.why, "%s", why);
    return -1;
}

/*
 * Returns true if an object has only the intermediate code of gcc -flto. Such an object also has
 * the usual sections, but without -ffat-lto-objects the usual sections are empty.
 */
static bool is_intermediate(const struct elf_file *file)
{
    Elf64_Shdr section;
    bool intermediate = false;
    for (size_t i = 1; elf_is_object(file) && rex_elf_section(&file->elf, i, &section); i++) {
        if ((section.sh_flags & SHF_ALLOC) != 0 && section.sh_type != SHT_NOTE &&
            section.sh_size > 0)
            return false;
        intermediate |= strncmp(rex_elf_section_name(&file->elf, &section), ".gnu.lto_",
                                strlen(".gnu.lto_")) == 0;
    }
    return intermediate;
}

static int check_kind(struct program *program)
{
    const Elf64_Ehdr *header = &program->file.elf.header;
    if (header->e_machine == EM_CUDA)
        return refuse(program, "it is a CUBIN: give the program first, then its images");
    if (header->e_type != ET_REL && header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return refuse(program, "it is not a program, a shared object or an object file");
    if (is_intermediate(&program->file))
        return refuse(
            program,
            "it is only gcc's intermediate code (-flto), which is not checked: compile with "
            "-ffat-lto-objects, or "
            "check the linked program");
    return 0;
}

static int read_program(struct program *program)
{
    if (check_kind(program) != 0 || tables_find(program) != 0)
        return -1;
    symbols_read(program);
    tables_read(program);
    pointers_read(program);
    symbols_name(program);
    sites_find(program);
    module_find(program);
    elf_file_drop_pages(&program->file);
    return 0;
}

int program_view(struct program *program, const char *name, const void *bytes, size_t size)
{
    memset(program, 0, sizeof *program);
    program->path = name;
    return elf_file_view(&program->file, bytes, size) == 0 ? read_program(program) : -1;
}

int program_open(struct program *program, const char *path)
{
    memset(program, 0, sizeof *program);
    program->path = path;
    return elf_file_open(&program->file, path) == 0 ? read_program(program) : -1;
}

void program_close(struct program *program)
{
    free(program->module.embedded);
    free(program->tables);
    free(program->tables_by_place);
    free(program->entry_symbols_of_tables);
    free(program->rows);
    free(program->entry_symbols);
    free(program->keys);
    free(program->sites);
    elf_file_close(&program->file);
}
