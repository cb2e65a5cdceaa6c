/* elffile.c - the ELF reader of the tools: everything that it can be asked. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "common/elfsymbols.h"

#include "fuzz.h"

static void ask_at(const struct elf_file *file, struct elf_place place)
{
    uint64_t size = 0;
    const unsigned char *bytes = elf_at(file, place, &size);
    const char *string = elf_string_at(file, place);
    if (bytes != NULL)
        FUZZ_CHECK(size > 0 && bytes >= file->elf.bytes && size <= file->elf.size - (size_t)(bytes - file->elf.bytes));
    if (string != NULL)
        fuzz_read_string(string);
}

static void ask_symbols(const struct elf_file *file, size_t section)
{
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    if (elf_symbols_of(file, section, &symbols) != 0)
        return;
    while (elf_next_symbol(&symbols, &symbol)) {
        fuzz_read_string(symbol.name);
        ask_at(file, symbol.place);
    }
    FUZZ_CHECK(elf_symbol(&symbols, symbols.count, &symbol) != 0);
}

static void ask_section(const struct elf_file *file, size_t index, const Elf64_Shdr *section)
{
    struct elf_relocation relocation;
    const unsigned char *bytes = rex_elf_section_bytes(&file->elf, section);
    uint8_t *copy = bytes != NULL ? fuzz_copy(bytes, section->sh_size) : NULL;
    free(copy);
    fuzz_read_string(rex_elf_section_name(&file->elf, section));
    ask_symbols(file, index);
    for (size_t next = 0; elf_next_relocation(file, section, &next, &relocation);)
        ask_at(file, (struct elf_place){section->sh_info, relocation.offset});
    ask_at(file, (struct elf_place){elf_is_object(file) ? index : 0, section->sh_addr});
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct elf_file file;
    Elf64_Shdr section;
    bool full;
    if (elf_file_view(&file, bytes, size) != 0) {
        FUZZ_CHECK(*file.why != '\0');
        return;
    }
    /* Made-up sections may all be the whole file. */
    for (size_t i = 0; i < 256 && rex_elf_section(&file.elf, i, &section); i++)
        ask_section(&file, i, &section);
    elf_symbol_table(&file, &full);
    elf_file_close(&file);
}
