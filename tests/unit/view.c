/*
 * view.c - looking into device images: real CUBINs and PTX of nvcc 13, host images of this build,
 * and what becomes of them where bytes are others. tests/golden/messages/inspect.txt has what is
 * found, and why it is refused.
 *
 * Bytes that are hostile in any other way: tests/fuzz.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/ptx.h"
#include "images.h"
#include "rex/abi.h"

MESSAGES("inspect");

/* ---- files as they are ----------------------------------------------------------------------- */

TEST(test_files)
{
    static const char *const files[][2] = {
        {"sm_90.cubin"},
        {"sm_75.cubin", "sm_90.cubin"},
        {"sm_80.cubin", "sm_90.cubin"},
        {"sm_100.cubin", "sm_90.cubin"},
        {"sm_120.cubin", "sm_90.cubin"},
        {"sm_90.ptx"},
        /* the marks that rex/kernel.h made before there were signatures, with nvcc's -O3 and
           -rdc=true */
        {"marked_sm_90.cubin", "sm_90.cubin"},
        {"marked_sm_75.cubin", "marked_sm_90.cubin"},
        {"marked_sm_120.cubin", "marked_sm_90.cubin"},
        {"marked_rdc_sm_90.cubin", "marked_sm_90.cubin"},
        /* signatures of librex 0.1 and of this one; they are no symbols of the view */
        {"signed_sm_90.cubin"},
        {"signed_sm_75.cubin", "signed_sm_90.cubin"},
        {"signed_sm_120.cubin", "signed_sm_90.cubin"},
        {"signed_rdc_sm_90.cubin", "signed_sm_90.cubin"},
        {"signed_sm_90.ptx"},
        {"typed_sm_90.cubin"},
        {"typed_sm_75.cubin", "typed_sm_90.cubin"},
        {"typed_sm_120.cubin", "typed_sm_90.cubin"},
        {"typed_rdc_sm_90.cubin", "typed_sm_90.cubin"},
        {"typed_sm_90.ptx"},
        /* how clang wants kernels launched; bounds; from sm_90 on nvcc reserves a KiB of shared
           memory */
        {"environments_sm_90.cubin"},
        {"limits_sm_90.cubin"},
        {"limits_sm_75.cubin", "limits_sm_90.cubin"},
        {"limits_sm_120.cubin", "limits_sm_90.cubin"},
        {"kernels.cu"},
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        char file[64], other[64];
        snprintf(file, sizeof file, "tests/data/%s", files[i][0]);
        snprintf(other, sizeof other, "tests/data/%s", files[i][1] != NULL ? files[i][1] : "");
        if (files[i][1] != NULL)
            told_beside(file, other);
        else
            told_file(file);
    }
    told_file(HOST);
    told_file("/proc/self/exe");
}

/* Names of entries by the other kind of relocations. */
TEST(test_packed_relocations)
{
    if (access(PACKED_HOST, R_OK) != 0) {
        print_message("skip: this linker has no -z pack-relative-relocs\n");
        skip();
    }
    struct image packed = image_in(PACKED_HOST), host = image_in(HOST);
    assert_string_equal(packed.facts, host.facts);
    close_image(&packed);
    close_image(&host);
}

/* A shared object without a table of its own: kernels by name alone. */
TEST(test_host_image_without_table)
{
    struct image image = image_in(TEST_BUILD "/tests/fake/19/libomp.so.5");
    says("%.*s", (int)strcspn(same_line(image.facts, "omp_get_default_device:"), "\n"),
         same_line(image.facts, "omp_get_default_device:"));
    assert_null(strstr(image.facts, "\nrow of "));
    close_image(&image);
}

/* ---- CUBINs that were changed ---------------------------------------------------------------- */

/* Places in LIMITS: symbols of 24 bytes, attributes with a head of 4 bytes. */
enum { SYMBOLS = 1200, MODE = SYMBOLS + 7 * 24, NO_NAME = SYMBOLS + 13 * 24 };
enum { BOUNDED = SYMBOLS + 17 * 24, MODE_BYTE = 3456, INFO_SIZE = 5216 }; /* of .nv.info.bounded */
enum { REGISTERS = 2084, PARAMETER = 2300, THREADS = 2340 };
enum { ST_INFO = 4, ST_OTHER = 5, ST_SHNDX = 6, ST_VALUE = 8, ST_SIZE = 16 };
enum { KIND = 1, LENGTH = 2, WORD_0 = 4, WORD_1 = 8, WORD_2 = 12 };

struct change {
    const char *what;
    struct patch patches[3];
};

static void tell_changes(const char *file, const struct change *changes, size_t count)
{
    struct image image = image_in(file);
    for (size_t i = 0; i < count; i++) {
        apply(&image, changes[i].patches, COUNT(changes[i].patches));
        changed(&image, "%s", changes[i].what);
    }
    close_image(&image);
}

TEST(test_changed_bytes)
{
    static const struct change changes[] = {
        {"none", {{0, 0, 0}}},
        {"registers", {{REGISTERS + WORD_1, 4, 0x12345678}}},
        {"registers of the other kernel", {{REGISTERS + WORD_0, 4, 16}}},
        {"of no kernel", {{REGISTERS + WORD_0, 4, 19}}},
        {"of a global", {{REGISTERS + WORD_0, 4, 7}}},
        {"of no symbol", {{REGISTERS + WORD_0, 4, 20}}},
        {"registers, shorter", {{REGISTERS + LENGTH, 2, 7}}},
        {"registers, half as long", {{REGISTERS + LENGTH, 2, 4}}},
        {"not of registers", {{REGISTERS + KIND, 1, 0x2e}}},
        {"registers, of another format", {{REGISTERS, 1, 3}}},
        {"threads in three directions",
         {{THREADS + WORD_0, 4, 7}, {THREADS + WORD_1, 4, 11}, {THREADS + WORD_2, 4, 13}}},
        {"nearly too many threads", {{THREADS + WORD_0, 4, 65536}, {THREADS + WORD_1, 4, 65535}}},
        {"too many threads", {{THREADS + WORD_0, 4, 65536}, {THREADS + WORD_1, 4, 65536}}},
        {"far too many, and none",
         {{THREADS + WORD_0, 4, UINT32_MAX}, {THREADS + WORD_1, 4, 2}, {THREADS + WORD_2, 4, 0}}},
        {"none in the third direction",
         {{THREADS + WORD_0, 4, UINT32_MAX}, {THREADS + WORD_2, 4, 0}}},
        /* a byte less, up to where another attribute seems to end */
        {"threads, a byte less", {{THREADS + LENGTH, 2, 11}, {INFO_SIZE, 8, 87}}},
        {"a parameter, a byte less", {{PARAMETER + LENGTH, 2, 11}, {INFO_SIZE, 8, 87}}},
        {"threads, shorter", {{THREADS + LENGTH, 2, 8}}},
        {"not of threads", {{THREADS + KIND, 1, 6}}},
        {"a parameter, shorter", {{PARAMETER + LENGTH, 2, 8}}},
        {"no parameter", {{PARAMETER + KIND, 1, 0x16}}},
        {"the least size of a parameter", {{PARAMETER + WORD_2, 4, 1 << 18}}},
        {"a size below it", {{PARAMETER + WORD_2, 4, (1 << 18) - 1}}},
        /* more than 4 KiB of parameters have an attribute of their own, with 16 bits for the size
         */
        {"a large parameter", {{PARAMETER + KIND, 1, 0x45}, {PARAMETER + WORD_2, 4, 0x05004e20}}},
        {"the mode", {{MODE_BYTE, 1, 255}}},
        {"the mode, elsewhere", {{MODE + ST_VALUE, 8, 1}}},
        {"the mode, where no bytes are", {{MODE + ST_SHNDX, 2, 20}}},
        {"the mode, in no section", {{MODE + ST_SHNDX, 2, 99}}},
        {"the mode, undefined", {{MODE + ST_SHNDX, 2, SHN_UNDEF}}},
        {"the mode, of a processor's type", {{MODE + ST_INFO, 1, 13}}},
        {"the mode, of another type", {{MODE + ST_INFO, 1, 12}}},
        {"a kernel that is not marked as one", {{BOUNDED + ST_OTHER, 1, 0}}},
        {"a kernel of no type", {{BOUNDED + ST_INFO, 1, 0x10}}},
        {"a global in its place", {{BOUNDED + ST_INFO, 1, 0x11}}},
        {"an undefined kernel", {{BOUNDED + ST_SHNDX, 2, SHN_UNDEF}}},
        {"a global without a name", {{NO_NAME + ST_INFO, 1, 0x11}, {NO_NAME + ST_SHNDX, 2, 18}}},
    };
    tell_changes(LIMITS, changes, COUNT(changes));
}

/* Environments that are too large for a number, or end where their mode would be. */
TEST(test_changed_environments)
{
    enum { GENERIC = 1296 + 7 * 24, SPMD = 1296 + 9 * 24, BYTES = 4096, ALL = 96 };
    static const struct change changes[] = {
        {"nearly too large", {{GENERIC + ST_SIZE, 8, 0xfffffffe}}},
        {"as large as can be", {{GENERIC + ST_SIZE, 8, UINT32_MAX}}},
        {"too large", {{GENERIC + ST_SIZE, 8, 1ull << 32}}},
        {"another mode", {{BYTES + 2, 1, 7}}},
        {"the byte before it", {{BYTES + 1, 1, 7}}},
        {"the byte behind it", {{BYTES + 3, 1, 7}}},
        {"the mode is the last byte", {{SPMD + ST_VALUE, 8, ALL - 3}, {BYTES + ALL - 1, 2, 0xa09}}},
        {"and the one behind", {{SPMD + ST_VALUE, 8, ALL - 2}, {BYTES + ALL - 1, 2, 0xa09}}},
        {"at the end", {{SPMD + ST_VALUE, 8, ALL}}},
        {"past all numbers", {{SPMD + ST_VALUE, 8, UINT64_MAX - 1}}},
    };
    tell_changes("tests/data/environments_sm_90.cubin", changes, COUNT(changes));
}

/* Headers of sections: another name, type, offset or size, where these are not KEPT. */
TEST(test_changed_sections)
{
    static const uint64_t KEPT = UINT64_MAX;
    enum { ALL = 6416, ATTRIBUTES = 72 + 100 + 88 }; /* bytes of the file */
    static const struct {
        const char *section, *name;
        uint32_t type;
        uint64_t offset, size;
    } cases[] = {
        {".nv.info.bounded", NULL, 0, KEPT, 87},
        {".nv.info.bounded", NULL, 0, KEPT, 84},
        {".nv.info.bounded", NULL, 0, KEPT, 83},
        {".nv.info.bounded", NULL, 0, KEPT, 81},
        {".nv.info.bounded", NULL, 0, KEPT, 80},
        {".nv.info.bounded", NULL, 0, KEPT, 68}, /* the last one has no bytes of its own */
        {".nv.info.bounded", NULL, 0, KEPT, 67},
        {".nv.info.bounded", NULL, 0, KEPT, 48},
        {".nv.info.bounded", NULL, 0, KEPT, 0},
        {".nv.info.bounded", NULL, SHT_NOBITS, KEPT, KEPT},
        {".nv.info.unbounded", ".nv.info.bounded", 0, KEPT, KEPT},
        {".nv.info", NULL, 0, KEPT, 12},
        {".nv.info", NULL, 0, KEPT, 11},
        {".nv.info", NULL, SHT_NOBITS, KEPT, KEPT},
        {".nv.shared.bounded", NULL, 0, KEPT, 0xfffffffe},
        {".nv.shared.bounded", NULL, 0, KEPT, 1ull << 32},
        {".nv.shared.bounded", ".nv.info", 0, KEPT, ALL},
        {".debug_frame", ".nv.info", 0, 0, ALL - ATTRIBUTES},
        {".debug_frame", ".nv.info", 0, 0, ALL - ATTRIBUTES + 1},
        {".symtab", NULL, SHT_PROGBITS, KEPT, KEPT},
    };
    struct image image = image_in(LIMITS);
    assert_int_equal(image.size, ALL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        Elf64_Shdr *section = section_of(&image, cases[i].section);
        section->sh_name =
            section_of(&image, cases[i].name != NULL ? cases[i].name : cases[i].section)->sh_name;
        section->sh_type = cases[i].type != 0 ? cases[i].type : section->sh_type;
        section->sh_offset = cases[i].offset != KEPT ? cases[i].offset : section->sh_offset;
        section->sh_size = cases[i].size != KEPT ? cases[i].size : section->sh_size;
        changed(&image, "%s as %s of type %u, %lld bytes at %lld", cases[i].section, cases[i].name,
                cases[i].type, (long long)cases[i].size, (long long)cases[i].offset);
    }
    close_image(&image);
}

/* A parameter that is numbered twice, or past the last one; one that lies over another, or
 * elsewhere. */
TEST(test_misplaced_parameters)
{
    static const struct {
        uint16_t ordinal, offset, new_ordinal, new_offset;
    } cases[] = {{0, 0, 1, 0},  {0, 0, 2, 0},      {0, 0, 3, 0},  {3, 16, 3, 16},   {3, 16, 3, 15},
                 {3, 16, 3, 0}, {3, 16, 3, 65535}, {0, 0, 0, 16}, {0, 0, 0, 65535}, {2, 12, 2, 20}};
    struct image image = image_in("tests/data/sm_90.cubin");
    for (size_t i = 0; i < COUNT(cases); i++) {
        const uint16_t wanted[] = {0x1704, 12, 0, 0, cases[i].ordinal, cases[i].offset};
        for (size_t at = 0; at + sizeof wanted <= image.size; at++)
            if (memcmp(image.bytes + at, wanted, sizeof wanted) == 0) {
                memcpy(image.bytes + at + 8, &cases[i].new_ordinal, 2);
                memcpy(image.bytes + at + 10, &cases[i].new_offset, 2);
            }
        changed(&image, "parameter %u at %u is number %u at %u", cases[i].ordinal, cases[i].offset,
                cases[i].new_ordinal, cases[i].new_offset);
    }
    close_image(&image);
}

/* The older header says the architecture in its low byte. */
TEST(test_older_header)
{
    static const unsigned char headers[][2] = {
        {0x41, 8}, {0x41, 9}, {0x41, 7}, {0x33, 8}, {0x33, 7}};
    struct image image = image_in("tests/data/sm_90.cubin");
    for (size_t i = 0; i < COUNT(headers); i++) {
        header_of(&image)->e_flags = 0x007f5c5a;
        image.bytes[EI_OSABI] = headers[i][0];
        image.bytes[EI_ABIVERSION] = headers[i][1];
        changed(&image, "header %#x of version %u", headers[i][0], headers[i][1]);
    }
    header_of(&image)->e_flags = 0;
    changed(&image, "no architecture");
    /* The header is enough to tell what it is. */
    const size_t lengths[] = {100, sizeof(Elf64_Ehdr), sizeof(Elf64_Ehdr) - 1};
    for (size_t i = 0; i < COUNT(lengths); i++)
        told("its beginning", image.bytes, lengths[i]);
    close_image(&image);
}

/* ---- PTX ------------------------------------------------------------------------------------- */

static void told_ptx(const char *text)
{
    told(strlen(text) < 200 ? text : "a long text", text, strlen(text));
}

/* "\\n" becomes the end of a line. */
static void end_lines(char *text)
{
    for (char *at = text; (at = strstr(at, "\\n")) != NULL;) {
        *at = '\n';
        memmove(at + 1, at + 2, strlen(at + 1));
    }
}

/* Each line of the file: a word that says what the text is, and the text. */
TEST(test_ptx)
{
    char line[2048], all[2048];
    FILE *file = fopen("tests/unit/ptx.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *text = line + strcspn(line, " ") + 1;
        if (*line == '\0' || *line == '#')
            continue;
        end_lines(text);
        snprintf(all, sizeof all, *line == 'b' ? HEAD "%s" : "%s", text);
        if (*line == 'a' || *line == 'b')
            told_ptx(all);
        else if (*line == 'g')
            told_declared(".global %s\n;", text);
        else {
            told_declared(".entry k(){ret;}%s", text);
            told_declared("%s.entry k(){ret;}", text);
        }
    }
    fclose(file);
}

/* No more than 1023 bytes of a kernel's name are compared. */
TEST(test_ptx_long_names)
{
    char name[1025], text[4096];
    for (int length = 1023; length <= 1024; length++) {
        memset(name, 'k', sizeof name);
        snprintf(text, sizeof text, HEAD ".entry %.*s(){ret;}\n.global .u8 %.*s_exec_mode = 1;\n",
                 length, name, length, name);
        told_ptx(text);
    }
}

/* So many parameters that their number would mean that it is unknown. */
TEST(test_ptx_parameters)
{
    static const char head[] = HEAD ".entry many(", one[] = ".param .b8 a[n],";
    enum { COUNT_OF_ALL = REX_PARAMETERS_UNKNOWN + 2 };
    char *text = malloc(sizeof head + COUNT_OF_ALL * sizeof one + 32), *end;
    assert_non_null(text);
    end = stpcpy(text, head);
    for (int i = 0; i < COUNT_OF_ALL; i++)
        end = stpcpy(end, one);
    strcpy(end - 1, "){ ret; }");
    told("very many parameters", text, strlen(text));
    free(text);
}

/* The head, which tells the GPU, ends between two digits, or before them. */
TEST(test_ptx_head)
{
    static const char end[] = ".version 8.0 .target sm_";
    char text[REX_PTX_HEAD + 64], what[32];
    for (size_t i = 0; i <= 2; i++) {
        memset(text, ' ', sizeof text);
        memcpy(text + REX_PTX_HEAD - strlen(end) - i, end, strlen(end));
        memcpy(text + REX_PTX_HEAD - i, "75", 2);
        snprintf(what, sizeof what, "%zu digits in the head", i);
        told(what, text, sizeof text);
    }
}

/* ---- host images ----------------------------------------------------------------------------- */

/* Sections that are in memory or not, and their order; and what linkers leave in place beside the
 * relocations. */
TEST(test_host_sections)
{
    struct image image = image_in(HOST);
    const uint64_t strings = section_of(&image, ".rodata")->sh_addr;
    for (int last = 0; last < 2; last++) {
        for (size_t i = 0; i < header_of(&image)->e_shnum; i++) {
            Elf64_Shdr *section = section_at(&image, i);
            if (last ? section->sh_addr > strings && section->sh_type == SHT_PROGBITS
                     : section->sh_addr < strings)
                section->sh_flags &= ~(Elf64_Xword)SHF_ALLOC;
        }
        changed(&image, last ? "the strings are in the last section of the memory"
                             : "the strings are in its first section");
    }
    Elf64_Shdr *one = section_of(&image, ".rodata"), *other = section_of(&image, ".init"),
               saved = *one;
    *one = *other;
    *other = saved;
    changed(&image, "sections in another order");
    memset(bytes_of(&image, section_of(&image, "omp_offloading_entries")), 0, 128);
    changed(&image, "names in the relocations alone");
    close_image(&image);
}

/* A symbol that is of another type, without a name, or elsewhere, is no kernel, and calls none. */
TEST(test_host_symbols)
{
    static const struct {
        const char *symbol;
        int type; /* -1: defined elsewhere; -2: without a name */
    } cases[] = {{"plain__kernel__", STT_FUNC},
                 {"plain__kernel__", STT_OBJECT},
                 {"plain__kernel__", STT_NOTYPE},
                 {"plain__kernel__", STT_TLS},
                 {"plain__kernel__", -1},
                 {"plain__kernel__", -2},
                 {"rex_call_plain__kernel__", -1},
                 {"rex_call_plain__kernel__", -2},
                 {"rex_call_plain__kernel__", STT_OBJECT}};
    struct image image = image_in(HOST);
    for (size_t i = 0; i < COUNT(cases); i++) {
        Elf64_Sym *symbol = symbol_of(&image, cases[i].symbol);
        symbol->st_shndx = cases[i].type == -1 ? SHN_UNDEF : symbol->st_shndx;
        symbol->st_name = cases[i].type == -2 ? 0 : symbol->st_name;
        symbol->st_info = cases[i].type >= 0 ? ELF64_ST_INFO(STB_GLOBAL, cases[i].type)
                                             : symbol->st_info;
        changed(&image, "%s of type %d", cases[i].symbol, cases[i].type);
    }
    close_image(&image);
}

/* A signature whose numbers are not all in one section says nothing; the kernel is there all the
 * same. */
TEST(test_host_signatures)
{
    enum { TAIL = 64 };
    static const uint16_t numbers[TAIL / 2] = {2, 9, 9, 9, [30] = 2};
    static const char text[] = "0(rex_arg value, uint64_t *out)"; /* as librex 0.1 wrote it */
    static const struct {
        const char *what;
        uint64_t value, size;
    } cases[] = {
        {"all of it", PLACE, 8},
        {"a byte less", PLACE, 7},
        {"a number less", PLACE, 6},
        {"a number alone", PLACE, 2},
        {"nothing", PLACE, 0},
        {"up to the end", PLACE + 2 * 30, 4},
        {"a byte more", PLACE + 2 * 30, 5},
        {"a number more", PLACE + 2 * 30, 6},
        {"before the section", PLACE - 1, 8},
        {"nowhere", 0, 8},
        {"past all numbers", UINT64_MAX, 8},
    };
    struct image image = host_with_tail(numbers, sizeof numbers);
    for (size_t i = 0; i < COUNT(cases); i++) {
        sign(&image, cases[i].value, cases[i].size);
        changed(&image, "%s", cases[i].what);
    }
    sign(&image, PLACE, 8);
    symbol_of(&image, "rex_signature_plain__kernel__")->st_shndx = SHN_UNDEF;
    changed(&image, "elsewhere");
    /* An empty section at the same address takes nothing away. */
    *section_of(&image,
                ".comment") = (Elf64_Shdr){.sh_name = section_of(&image, ".comment")->sh_name,
                                           .sh_flags = SHF_ALLOC,
                                           .sh_addr = PLACE};
    sign(&image, PLACE, 8);
    changed(&image, "beside an empty section");
    /* All together as many bytes as the file, and one more. */
    uint64_t others = symbol_of(&image, "rex_signature_env__kernel__")->st_size +
                      symbol_of(&image, "rex_signature_none__kernel__")->st_size;
    for (uint64_t more = 0; more < 2; more++) {
        sign(&image, PLACE, image.size - others + more);
        changed(&image, "%llu more than the file", (unsigned long long)more);
    }
    sign(&image, PLACE, image.size / 2);
    symbol_of(&image, "rex_signature_env__kernel__")->st_size = image.size / 2;
    changed(&image, "two halves of the file");
    close_image(&image);
    image = host_with_tail(text, sizeof text);
    for (uint64_t length = 1; length <= 3; length++) {
        sign(&image, PLACE, length);
        changed(&image, "%llu bytes of a text", (unsigned long long)length);
    }
    close_image(&image);
}

/* Each symbol is the first one in turn, and the last one: there is one more in front, which is
 * none. */
TEST(test_symbols_in_another_order)
{
    static const char *const files[] = {HOST, "tests/data/signed_sm_90.cubin", LIMITS,
                                        "tests/data/environments_sm_90.cubin"};
    for (size_t file = 0; file < COUNT(files); file++) {
        struct image whole = image_in(files[file]);
        if (file > 0)
            section_of(&whole, ".nv.info")->sh_type =
                SHT_NOBITS; /* registers: kernels by the numbers of their symbols */
        struct image image = image_of(whole.bytes, whole.size);
        const Elf64_Shdr *table = table_of(&image, file == 0 ? SHT_DYNSYM : SHT_SYMTAB);
        Elf64_Sym *symbols = bytes_of(&image, table), saved;
        size_t count = table->sh_size / sizeof saved;
        assert_true(count > 10);
        for (size_t i = 2; i < 2 * count - 1; i++) {
            size_t place = i < count ? 1 : count - 1, other = i < count ? i : i - count + 1;
            saved = symbols[place];
            symbols[place] = symbols[other];
            symbols[other] = saved;
            char *facts = facts_of(image.bytes, image.size), *text = difference(image.facts, facts);
            assert_string_equal(text, "");
            free(text);
            free(facts);
            memcpy(image.bytes, image.kept, image.size);
        }
        close_image(&image);
        close_image(&whole);
    }
}

/* The last relocation that stores the name of an entry. */
static Elf64_Rela *last_name(const struct image *image)
{
    const Elf64_Shdr *relocations = section_of(image, ".rela.dyn"),
                     *entries = section_of(image, "omp_offloading_entries");
    Elf64_Rela *all = bytes_of(image, relocations), *found = NULL;
    for (size_t i = 0; i < relocations->sh_size / sizeof *all; i++)
        if (all[i].r_offset - entries->sh_addr < entries->sh_size &&
            (all[i].r_offset - entries->sh_addr) % 32 == offsetof(struct __tgt_offload_entry, name))
            found = &all[i];
    assert_non_null(found);
    return found;
}

/* Names of entries that relocations do not give, or that lie where no string is. */
TEST(test_host_entries)
{
    struct image image = image_in(HOST);
    Elf64_Shdr *entries = section_of(&image, "omp_offloading_entries"),
               *relocations = section_of(&image, ".rela.dyn"), *text = section_of(&image, ".text"),
               *comment = section_of(&image, ".comment");
    Elf64_Rela *last = last_name(&image);
    memset(image.kept + entries->sh_offset, 0,
           entries->sh_size); /* else some linkers leave the names in place as well */
    memset(image.bytes + entries->sh_offset, 0, entries->sh_size);
    relocations->sh_size = (uint64_t)((unsigned char *)(last + 1) - image.bytes) -
                           relocations->sh_offset;
    changed(&image, "relocations up to the last name");
    relocations->sh_size = (uint64_t)((unsigned char *)(last + 1) - image.bytes) -
                           relocations->sh_offset - 1;
    changed(&image, "a byte less");
    last->r_info = ELF64_R_INFO(100000, ELF64_R_TYPE(last->r_info));
    changed(&image, "a symbol that is not there");
    last->r_addend = 1;
    changed(&image, "in no section");
    last->r_addend = (Elf64_Sxword)section_of(&image, ".bss")->sh_addr;
    changed(&image, "in one without bytes");
    last->r_addend = (Elf64_Sxword)(text->sh_addr + text->sh_size - 1);
    image.bytes[text->sh_offset + text->sh_size - 1] = 'x';
    changed(&image, "a string that does not end");
    static const int64_t places[] = {32, -128, 1, -8, 8};
    for (size_t i = 0; i < COUNT(places); i++) {
        last->r_offset += (uint64_t)places[i];
        changed(&image, "stored %lld bytes further", (long long)places[i]);
    }
    entries->sh_size++;
    changed(&image, "a byte more of entries");
    entries->sh_type = SHT_NOBITS;
    changed(&image, "entries without bytes");
    /* As many bytes as the file, and one more; those that the loader does not see count for
     * nothing. */
    uint64_t others = 0;
    for (size_t i = 0; i < header_of(&image)->e_shnum; i++)
        others += section_at(&image, i)->sh_type == SHT_RELA ? section_at(&image, i)->sh_size : 0;
    for (uint64_t more = 0; more < 2; more++) {
        text->sh_type = comment->sh_type = SHT_RELA;
        text->sh_offset = comment->sh_offset = 0;
        comment->sh_size = image.size;
        text->sh_size = image.size - others + more;
        changed(&image, "relocations of %llu bytes more than the file", (unsigned long long)more);
    }
    close_image(&image);
}

/* Files of other kinds. */
TEST(test_refused_kinds)
{
    struct image image = image_in(HOST);
    header_of(&image)->e_machine = 0xf3;
    changed(&image, "for another processor");
    header_of(&image)->e_type = ET_EXEC;
    changed(&image, "a program");
    image.bytes[EI_CLASS] = ELFCLASS32;
    changed(&image, "of 32 bits");
    header_of(&image)->e_shnum = 0;
    changed(&image, "without sections");
    table_of(&image, SHT_DYNSYM)->sh_type = SHT_PROGBITS;
    changed(&image, "without dynamic symbols");
    close_image(&image);
}

/* ---- names ----------------------------------------------------------------------------------- */

TEST(test_nearest)
{
    static const char *const names[] = {"axpy__kernel__", "gemm__kernel__", "apxy__kernel__",
                                        "narrow_first__kernel__", "table"};
    static const char *const asked[] = {
        "axpi__kernel__",        "gemn__kernel__", "stencil__kernel__",
        "narow_first__kernel__", "tables",         "something else entirely"};
    for (size_t i = 0; i < COUNT(asked); i++)
        says("%s: %s", asked[i], rex_nearest_name(asked[i], names, COUNT(names)));
    assert_null(rex_nearest_name("axpy", names, 0));
    NO_RESULT(rex_nearest_name(NULL, names, 1));
    assert_null(rex_nearest_name("axpy", NULL, 0)); /* which is no error */
    NO_RESULT(rex_nearest_name("axpy", NULL, 1));
}

/* The first of symbols with one name is found; the others have its hash. */
TEST(test_equal_names)
{
    told_ptx(HEAD ".global .b8 _8yn0iYCKYHlIj4[10];.global .b8 x[11];.global .b8 x[12];.entry "
                  "x(){ret;}.global .b8 _8yn0iYCKYHlIj4[13];");
}
