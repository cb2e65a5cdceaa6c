/*
 * elf.c - no reader of ELF images reads past a table: each section of real images, and each table of headers, is put at the end of the
 * file in turn, where the memory ends too, and says the same there as before.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <sys/mman.h>

#include "common.h"

#include "image/elf.h"
#include "image/open.h"

static const char *const files[] = {TEST_BUILD "/tests/fake/host.so", TEST_BUILD "/tests/fake/host_relr.so", "tests/data/sm_75.cubin",
                                    "tests/data/marked_sm_90.cubin", "tests/data/sm_120.cubin"};

/* ---- memory that ends where an image ends -------------------------------------------------------------------------------------------- */

struct guarded {
    unsigned char *bytes;
    size_t size;
    void *pages;
    size_t length;
};

/* The image and MORE bytes. Behind them is a page that cannot be read. */
static struct guarded guarded_copy(const unsigned char *image, size_t size, size_t more)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + more + page - 1) / page * page;
    struct guarded copy = {.size = size + more, .length = room + page};
    copy.pages = mmap(NULL, copy.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(copy.pages, MAP_FAILED);
    assert_int_equal(mprotect((char *)copy.pages + room, page, PROT_NONE), 0);
    copy.bytes = (unsigned char *)copy.pages + room - copy.size;
    memcpy(copy.bytes, image, size);
    return copy;
}

/* The image with the SIZE bytes at FROM once more at its end. */
static struct guarded moved(const unsigned char *image, size_t image_size, uint64_t from, uint64_t size)
{
    struct guarded copy = guarded_copy(image, image_size, size);
    memcpy(copy.bytes + image_size, image + from, size);
    return copy;
}

static void let_go(struct guarded *copy)
{
    assert_int_equal(munmap(copy->pages, copy->length), 0);
}

/* ---- what a view says --------------------------------------------------------------------------------------------------------------- */

static void compare_symbols(const struct rex_view *one, const struct rex_view *other)
{
    assert_int_equal(one->count, other->count);
    for (size_t i = 0; i < one->count; i++) {
        const struct rex_image_symbol *a = &one->symbols[i], *b = &other->symbols[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->size, b->size);
        assert_int_equal(a->kernel, b->kernel);
        assert_int_equal(a->parameters, b->parameters);
        assert_int_equal(a->odd_size, b->odd_size);
        assert_int_equal(a->plain, b->plain);
        assert_int_equal(a->env, b->env);
    }
}

static void compare(const struct rex_view *expected, const struct guarded *image, const char *what)
{
    struct rex_view view;
    if (rex_view_open(&view, image->bytes, image->size, "moved") != 0)
        fail_msg("%s at the end: %s", what, rex_last_error());
    compare_symbols(expected, &view);
    assert_int_equal(expected->position_count, view.position_count);
    for (size_t i = 0; i < view.position_count; i++)
        assert_string_equal(expected->positions[i], view.positions[i]);
    rex_view_close(&view);
}

/* ---- each table at the end ---------------------------------------------------------------------------------------------------------- */

static void move_section(const struct rex_view *expected, const struct rex_elf *elf, size_t index)
{
    Elf64_Shdr section;
    assert_int_equal(rex_elf_section(elf, index, &section), 0);
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS || section.sh_size == 0)
        return;
    struct guarded copy = moved(elf->bytes, elf->size, section.sh_offset, section.sh_size);
    const char *name = rex_elf_section_name(elf, &section);
    section.sh_offset = elf->size;
    memcpy(copy.bytes + elf->header.e_shoff + index * sizeof section, &section, sizeof section);
    compare(expected, &copy, name);
    let_go(&copy);
}

static void move_section_headers(const struct rex_view *expected, const struct rex_elf *elf)
{
    struct guarded copy = moved(elf->bytes, elf->size, elf->header.e_shoff, elf->header.e_shnum * sizeof(Elf64_Shdr));
    Elf64_Ehdr header = elf->header;
    header.e_shoff = elf->size;
    memcpy(copy.bytes, &header, sizeof header);
    compare(expected, &copy, "section headers");
    let_go(&copy);
}

static void move_program_headers(const struct rex_view *expected, const struct rex_elf *elf)
{
    struct guarded copy = moved(elf->bytes, elf->size, elf->header.e_phoff, elf->header.e_phnum * sizeof(Elf64_Phdr));
    Elf64_Ehdr header = elf->header;
    header.e_phoff = elf->size;
    memcpy(copy.bytes, &header, sizeof header);
    compare(expected, &copy, "program headers");
    let_go(&copy);
}

TEST(test_tables_at_the_end)
{
    for (size_t i = 0; i < COUNT(files); i++) {
        struct rex_view view;
        struct rex_elf elf;
        size_t size;
        if (access(files[i], R_OK) != 0)
            continue; /* this linker has no -z pack-relative-relocs */
        unsigned char *bytes = read_bytes(files[i], &size);
        assert_int_equal(rex_view_open(&view, bytes, size, files[i]), 0);
        assert_true(view.count > 0);
        assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
        for (size_t section = 0; section < rex_elf_sections(&elf); section++)
            move_section(&view, &elf, section);
        move_section_headers(&view, &elf);
        move_program_headers(&view, &elf);
        rex_view_close(&view);
        free(bytes);
    }
}

/* ---- relocations --------------------------------------------------------------------------------------------------------------------- */

/* Each address of the image itself as that of a symbol, and what lies between. Their number. */
static int name_symbols(struct guarded *copy, const struct rex_elf *elf, const Elf64_Shdr *table)
{
    Elf64_Shdr symbols;
    Elf64_Sym symbol;
    const char *name;
    int changed = 0;
    assert_int_equal(rex_elf_section(elf, table->sh_link, &symbols), 0);
    for (uint64_t at = 0; at < table->sh_size; at += sizeof(Elf64_Rela)) {
        Elf64_Rela relocation;
        uint64_t index = 1 + at / sizeof relocation % (rex_elf_symbols(&symbols) - 1);
        memcpy(&relocation, elf->bytes + table->sh_offset + at, sizeof relocation);
        if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_RELATIVE)
            continue;
        assert_int_equal(rex_elf_symbol(elf, &symbols, index, &symbol, &name), 0);
        relocation.r_info = ELF64_R_INFO(index, R_X86_64_64);
        relocation.r_addend -= (Elf64_Sxword)symbol.st_value;
        memcpy(copy->bytes + table->sh_offset + at, &relocation, sizeof relocation);
        changed++;
    }
    return changed;
}

/* Names of entries are found by relocations of either kind. */
TEST(test_relocations_by_symbol)
{
    struct rex_view view;
    struct rex_elf elf;
    Elf64_Shdr table;
    size_t size;
    unsigned char *bytes = read_bytes(TEST_BUILD "/tests/fake/host.so", &size);
    assert_int_equal(rex_view_open(&view, bytes, size, "host.so"), 0);
    assert_true(view.position_count > 0);
    assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
    assert_int_equal(rex_elf_find_type(&elf, SHT_RELA, &table), 0);
    struct guarded copy = guarded_copy(bytes, size, 0);
    if (name_symbols(&copy, &elf, &table) > 0) /* else this machine's relocations are others */
        compare(&view, &copy, "relocations by symbol");
    let_go(&copy);
    rex_view_close(&view);
    free(bytes);
}

/* ---- sizes of headers ---------------------------------------------------------------------------------------------------------------- */

static void refused(const unsigned char *bytes, size_t size, const Elf64_Ehdr *header, const char *why)
{
    struct rex_elf elf;
    struct guarded copy = guarded_copy(bytes, size, 0);
    memcpy(copy.bytes, header, sizeof *header);
    assert_int_equal(rex_elf_open(&elf, copy.bytes, copy.size), -1);
    assert_non_null(strstr(elf.why, why));
    let_go(&copy);
}

TEST(test_sizes_of_headers)
{
    static const uint16_t wrong_program[] = {0, 1, sizeof(Elf64_Phdr) - 1, sizeof(Elf64_Phdr) + 1, 2 * sizeof(Elf64_Phdr), 65535},
                          wrong_section[] = {0, 1, sizeof(Elf64_Shdr) - 1, sizeof(Elf64_Shdr) + 1, 2 * sizeof(Elf64_Shdr), 65535};
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/sm_90.cubin", &size);
    Elf64_Ehdr right, header;
    memcpy(&right, bytes, sizeof right);
    assert_true(right.e_phnum > 0 && right.e_shnum > 0);
    for (size_t i = 0; i < COUNT(wrong_program); i++) {
        header = right;
        header.e_phentsize = wrong_program[i];
        refused(bytes, size, &header, "program headers are of an unknown size");
        header = right;
        header.e_shentsize = wrong_section[i];
        refused(bytes, size, &header, "section headers are of an unknown size");
    }
    free(bytes);
}

/* Tables that end one byte, and one header, behind the file. */
TEST(test_headers_past_the_end)
{
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/sm_90.cubin", &size);
    Elf64_Ehdr right, header;
    memcpy(&right, bytes, sizeof right);
    const uint64_t past[] = {1, sizeof(Elf64_Phdr), sizeof(Elf64_Shdr), size};
    for (size_t i = 0; i < COUNT(past); i++) {
        header = right;
        header.e_phoff = size - right.e_phnum * sizeof(Elf64_Phdr) + past[i];
        refused(bytes, size, &header, "program headers lie past the end");
        header = right;
        header.e_shoff = size - right.e_shnum * sizeof(Elf64_Shdr) + past[i];
        refused(bytes, size, &header, "section table lies past the end");
    }
    free(bytes);
}

/* Each segment that is loaded lies in the file; of others nobody asks. */
TEST(test_segments)
{
    size_t size, loaded = 0;
    unsigned char *bytes = read_bytes(TEST_BUILD "/tests/fake/host.so", &size);
    Elf64_Ehdr header;
    struct rex_elf elf;
    memcpy(&header, bytes, sizeof header);
    for (size_t i = 0; i < header.e_phnum; i++) {
        unsigned char *place = bytes + header.e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr right, segment;
        memcpy(&right, place, sizeof right);
        loaded += right.p_type == PT_LOAD;
        for (uint64_t more = 0; more < 2; more++) {
            segment = right;
            segment.p_filesz = size - right.p_offset + more;
            memcpy(place, &segment, sizeof segment);
            bool refuses = right.p_type == PT_LOAD && more > 0;
            assert_int_equal(rex_elf_open(&elf, bytes, size), refuses ? -1 : 0);
            if (refuses)
                assert_string_equal(elf.why, "it is truncated: a segment lies past the end");
        }
        memcpy(place, &right, sizeof right);
    }
    assert_true(loaded > 1);
    free(bytes);
}

/* What is asked for behind the last section, symbol or string is not there. */
TEST(test_ends_of_tables)
{
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/sm_90.cubin", &size);
    struct rex_elf elf;
    Elf64_Shdr section, symbols, strings;
    Elf64_Sym symbol;
    const char *name;
    assert_int_equal(rex_elf_open(&elf, bytes, sizeof elf.header), -1);
    assert_string_equal(elf.why, "it is truncated: its section table lies past the end");
    assert_int_equal(rex_elf_open(&elf, bytes, sizeof elf.header - 1), -1);
    assert_string_equal(elf.why, "it is truncated inside the ELF header");
    assert_int_equal(rex_elf_open(&elf, bytes, SELFMAG - 1), -1);
    assert_string_equal(elf.why, "it is not an ELF file");
    assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
    assert_int_equal(rex_elf_section(&elf, rex_elf_sections(&elf), &section), -1);
    assert_int_equal(rex_elf_section(&elf, rex_elf_sections(&elf) - 1, &section), 0);
    assert_int_equal(rex_elf_find_type(&elf, 12345, &section), -1);
    assert_int_equal(rex_elf_find(&elf, ".no.such.section", &section), -1);
    assert_int_equal(rex_elf_find_type(&elf, SHT_SYMTAB, &symbols), 0);
    size_t count = rex_elf_symbols(&symbols);
    assert_int_equal(rex_elf_symbol(&elf, &symbols, count - 1, &symbol, &name), 0);
    assert_int_equal(rex_elf_symbol(&elf, &symbols, count, &symbol, &name), -1);
    symbols.sh_size -= 1;
    assert_int_equal(rex_elf_symbols(&symbols), count - 1);
    symbols.sh_link = (Elf64_Word)rex_elf_sections(&elf);
    assert_int_equal(rex_elf_symbol(&elf, &symbols, 1, &symbol, &name), -1);
    for (uint64_t width = sizeof symbol - 1; width <= sizeof symbol + 1; width++) {
        symbols.sh_entsize = width;
        assert_int_equal(rex_elf_symbols(&symbols), width == sizeof symbol ? count - 1 : 0);
    }
    /* Strings begin in their table and end there. */
    assert_int_equal(rex_elf_find(&elf, ".strtab", &strings), 0);
    bytes[strings.sh_offset + strings.sh_size - 1] = '\0';
    bytes[strings.sh_offset + strings.sh_size - 2] = 'z';
    assert_string_equal(rex_elf_string(&elf, &strings, strings.sh_size - 2), "z");
    assert_string_equal(rex_elf_string(&elf, &strings, strings.sh_size - 1), "");
    assert_null(rex_elf_string(&elf, &strings, strings.sh_size));
    bytes[strings.sh_offset + strings.sh_size - 1] = 'z';
    assert_null(rex_elf_string(&elf, &strings, strings.sh_size - 1));
    strings.sh_size = size - strings.sh_offset + 1;
    assert_null(rex_elf_string(&elf, &strings, 1));
    strings.sh_size--;
    assert_non_null(rex_elf_string(&elf, &strings, 1));
    strings.sh_type = SHT_PROGBITS;
    assert_null(rex_elf_string(&elf, &strings, 1));
    /* Names of up to 4095 bytes. */
    char *text = malloc(REX_ELF_LONGEST_NAME + 1);
    assert_non_null(text);
    memset(text, 'n', REX_ELF_LONGEST_NAME + 1);
    text[REX_ELF_LONGEST_NAME] = '\0';
    assert_null(rex_elf_string_within(text, REX_ELF_LONGEST_NAME + 1));
    assert_ptr_equal(rex_elf_string_within(text + 1, REX_ELF_LONGEST_NAME), text + 1);
    assert_null(rex_elf_string_within(text + 1, REX_ELF_LONGEST_NAME - 1));
    free(text);
    free(bytes);
}

/* Entries of a dynamic section, as many as are in it whole; another section has none. */
TEST(test_dynamic_entries)
{
    size_t size;
    unsigned char *bytes = read_bytes(TEST_BUILD "/tests/fake/host.so", &size);
    struct rex_elf elf;
    Elf64_Shdr dynamic;
    Elf64_Dyn entry;
    assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
    assert_int_equal(rex_elf_find_type(&elf, SHT_DYNAMIC, &dynamic), 0);
    size_t count = dynamic.sh_size / sizeof entry;
    assert_true(count > 2);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rex_elf_dynamic(&elf, &dynamic, i, &entry), 0);
        assert_memory_equal(&entry, bytes + dynamic.sh_offset + i * sizeof entry, sizeof entry);
    }
    assert_int_equal(rex_elf_dynamic(&elf, &dynamic, count, &entry), -1);
    dynamic.sh_size -= 1;
    assert_int_equal(rex_elf_dynamic(&elf, &dynamic, count - 2, &entry), 0);
    assert_int_equal(rex_elf_dynamic(&elf, &dynamic, count - 1, &entry), -1);
    dynamic.sh_type = SHT_NOBITS;
    assert_int_equal(rex_elf_dynamic(&elf, &dynamic, 0, &entry), -1);
    free(bytes);
}
