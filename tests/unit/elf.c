/*
 * elf.c - the reader of ELF files: tables that end where the file does, and headers that say what
 * cannot be.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <sys/mman.h>

#include "images.h"

MESSAGES("inspect");

#define CUBIN "tests/data/sm_90.cubin"

/* ---- each table at the end ------------------------------------------------------------------- */

/*
 * The SIZE bytes at *OFFSET of the image, a member of a header in it, once more behind the file,
 * and *OFFSET leads there. A page that cannot be read follows. The facts of the image stay the
 * same.
 */
static void move(struct image *image, uint64_t *offset, uint64_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), all = image->size + size,
           room = (all + page - 1) / page * page;
    unsigned char *pages = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                  *bytes = pages + room - all;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + room, page, PROT_NONE), 0);
    memcpy(bytes + image->size, image->bytes + *offset, size);
    *offset = image->size;
    memcpy(bytes, image->bytes, image->size);
    char *facts = facts_of(bytes, all), *one = strchr(facts, '\n'),
         *other = strchr(image->facts, '\n'); /* the first line has the length */
    assert_string_equal(one, other);
    free(facts);
    assert_int_equal(munmap(pages, room + page), 0);
    memcpy(image->bytes, image->kept, image->size);
}

TEST(test_tables_at_the_end)
{
    static const char *const files[] = {HOST, PACKED_HOST, "tests/data/sm_75.cubin",
                                        "tests/data/typed_sm_90.cubin", "tests/data/sm_120.cubin"};
    for (size_t i = 0; i < COUNT(files); i++) {
        if (access(files[i], R_OK) != 0)
            continue; /* this linker has no -z pack-relative-relocs */
        struct image image = image_in(files[i]);
        for (size_t k = 0; k < header_of(&image)->e_shnum; k++) {
            Elf64_Shdr *section = section_at(&image, k);
            if (section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS)
                continue;
            move(&image, &section->sh_offset, section->sh_size);
            /* One of no bytes may lie at the end, too. */
            if (section->sh_type == SHT_NOTE) {
                section->sh_size = 0;
                move(&image, &section->sh_offset, 0);
            }
        }
        move(&image, &header_of(&image)->e_shoff, header_of(&image)->e_shnum * sizeof(Elf64_Shdr));
        move(&image, &header_of(&image)->e_phoff, header_of(&image)->e_phnum * sizeof(Elf64_Phdr));
        close_image(&image);
    }
}

/* Names of entries are found by relocations of either kind: each address of the image itself as
 * that of a symbol, and what lies between. */
TEST(test_relocations_by_symbol)
{
    struct image image = image_in(HOST);
    const Elf64_Shdr *table = table_of(&image, SHT_RELA),
                     *symbols = section_at(&image, table->sh_link);
    Elf64_Rela *relocations = bytes_of(&image, table);
    for (size_t i = 0; i < table->sh_size / sizeof *relocations; i++) {
        uint64_t index = 1 + i % (symbols->sh_size / sizeof(Elf64_Sym) - 1);
        if (ELF64_R_TYPE(relocations[i].r_info) != R_X86_64_RELATIVE)
            continue; /* on other machines all */
        relocations[i].r_info = ELF64_R_INFO(index, R_X86_64_64);
        relocations[i].r_addend -=
            (Elf64_Sxword)((Elf64_Sym *)bytes_of(&image, symbols))[index].st_value;
    }
    changed(&image, "relocations by symbol");
    close_image(&image);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* Each segment that is loaded lies in the file; others may lie anywhere. */
TEST(test_segments)
{
    struct image image = image_in(HOST);
    size_t loaded = 0;
    for (size_t i = 0; i < header_of(&image)->e_phnum; i++) {
        Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(image.bytes + header_of(&image)->e_phoff) + i;
        for (uint64_t more = 0; more < 2; more++) {
            segment->p_filesz = image.size - segment->p_offset + more;
            char *facts = facts_of(image.bytes, image.size);
            bool refused = segment->p_type == PT_LOAD && more > 0;
            assert_int_equal(strstr(facts, "it is truncated: a segment lies past the end") != NULL,
                             refused);
            loaded += refused;
            free(facts);
        }
        memcpy(image.bytes, image.kept, image.size);
    }
    assert_true(loaded > 1);
    close_image(&image);
}

TEST(test_changes)
{
    tell_changes("tests/data/changes/elf.txt");
}
