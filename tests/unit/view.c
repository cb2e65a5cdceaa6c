/*
 * view.c - looking into device images: real CUBINs of nvcc 13 for five architectures, host images of this build, and
 * what is neither.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <link.h>

#include "common.h"

#include "image/cubin.h"
#include "image/elf.h"
#include "image/open.h"
#include "image/ptx.h"
#include "rex/configure.h"
#include "rex_kmp.h"

#define HOST TEST_BUILD "/tests/fake/host.so"
#define PACKED_HOST TEST_BUILD "/tests/fake/host_relr.so"

static const struct {
    unsigned architecture;
    const char *file;
} cubins[] = {
    {75, "tests/data/sm_75.cubin"},   {80, "tests/data/sm_80.cubin"},   {90, "tests/data/sm_90.cubin"},
    {100, "tests/data/sm_100.cubin"}, {120, "tests/data/sm_120.cubin"},
};

/* The error of opening SIZE bytes; 0 where they are taken. */
static int error_of(const void *bytes, size_t size)
{
    struct rex_view view;
    int result = rex_view_open(&view, bytes, size, "x.image");
    if (result == 0)
        rex_view_close(&view);
    return result;
}

static void refused(const void *bytes, size_t size, const char *because);

/* The header of the section NAME among BYTES. */
static Elf64_Shdr *section_of(unsigned char *bytes, size_t size, const char *name)
{
    struct rex_elf elf;
    Elf64_Shdr section;
    assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
    for (size_t i = 0; rex_elf_section(&elf, i, &section) == 0; i++)
        if (strcmp(rex_elf_section_name(&elf, &section), name) == 0)
            return (Elf64_Shdr *)(void *)(bytes + elf.header.e_shoff) + i;
    fail_msg("no section %s", name);
    return NULL;
}

/* ---- CUBINs ------------------------------------------------------------------------------------------------------ */

static void check_kernel(const struct rex_view *view, const char *name, uint16_t parameters, uint16_t odd_index,
                         uint32_t odd_size)
{
    const struct rex_image_symbol *kernel = rex_view_find(view, name);
    if (kernel == NULL)
        fail_msg("no %s", name);
    assert_true(kernel->kernel);
    assert_int_equal(kernel->exec_mode, -1);
    assert_int_equal(kernel->parameters, parameters);
    assert_int_equal(kernel->odd_size, odd_size);
    if (odd_size > 0)
        assert_int_equal(kernel->odd_index, odd_index);
}

TEST(test_cubins)
{
    for (size_t i = 0; i < COUNT(cubins); i++) {
        struct rex_view view;
        size_t size;
        unsigned char *bytes = read_bytes(cubins[i].file, &size);
        assert_int_equal(rex_view_open(&view, bytes, size, cubins[i].file), 0);
        assert_int_equal(view.kind, REX_IMAGE_CUBIN);
        assert_int_equal(view.architecture, cubins[i].architecture);
        check_kernel(&view, "plain__kernel__", 2, 0, 0);
        check_kernel(&view, "env__kernel__", 3, 0, 0);
        check_kernel(&view, "none__kernel__", 0, 0, 0);
        check_kernel(&view, "narrow__kernel__", 4, 1, 4); /* the first of two */
        check_kernel(&view, "narrow_first__kernel__", 3, 0, 4);
        check_kernel(&view, "wide__kernel__", 2, 0, 16);
        const struct rex_image_symbol *table = rex_view_find(&view, "table");
        assert_non_null(table);
        assert_false(table->kernel);
        assert_int_equal(table->size, 32);
        assert_null(rex_view_find(&view, "plain__kernel"));
        assert_null(rex_view_find(&view, ""));
        rex_view_close(&view);
        free(bytes);
    }
}

static void check_parameter(const struct rex_view *view, const char *kernel, size_t index, uint16_t offset, uint16_t size)
{
    const struct rex_image_symbol *found = rex_view_find(view, kernel);
    assert_in_range(index, 0, found->parameters - 1);
    assert_int_equal(found->parameter[index].offset, offset);
    assert_int_equal(found->parameter[index].size, size);
}

/* The marks that rex/kernel.h made before there were signatures, at a byte for each kernel: nvcc's -O3 and -rdc=true with the linker left
 * them. */
TEST(test_marks)
{
    static const char *const files[] = {"tests/data/marked_sm_75.cubin", "tests/data/marked_sm_90.cubin", "tests/data/marked_sm_120.cubin",
                                        "tests/data/marked_rdc_sm_90.cubin", "tests/data/sm_90.cubin"};
    static const struct {
        const char *kernel, *mark;
    } marks[] = {{"plain__kernel__", "rex_plain_plain__kernel__"},
                 {"none__kernel__", "rex_plain_none__kernel__"},
                 {"env__kernel__", "rex_env_env__kernel__"}};
    for (size_t i = 0; i < COUNT(files); i++) {
        struct rex_view view;
        size_t size;
        unsigned char *bytes = read_bytes(files[i], &size);
        bool marked = i + 1 < COUNT(files);
        assert_int_equal(rex_view_open(&view, bytes, size, files[i]), 0);
        for (size_t j = 0; j < COUNT(marks); j++) {
            const struct rex_image_symbol *kernel = rex_view_find(&view, marks[j].kernel),
                                          *mark = rex_view_find(&view, marks[j].mark);
            assert_int_equal(kernel->plain, marked && j < 2);
            assert_int_equal(kernel->env, marked && j == 2);
            assert_int_equal(mark != NULL, marked);
            assert_true(mark == NULL || (!mark->kernel && mark->size == 1));
        }
        assert_false(rex_view_find(&view, "table")->plain);
        rex_view_close(&view);
        free(bytes);
    }
}

static void check_limits(const struct rex_view *view, unsigned reserved)
{
    const struct rex_image_symbol *bounded = rex_view_find(view, "bounded"), *unbounded = rex_view_find(view, "unbounded");
    assert_int_equal(bounded->max_threads, 256);
    assert_int_equal(bounded->shared_memory, 1024 + reserved);
    assert_int_equal(rex_view_own_memory(view, bounded), 1024);
    assert_int_equal(rex_view_own_memory(view, unbounded), 0);
    assert_int_equal(bounded->exec_mode, 2);
    assert_in_range(bounded->registers, 2, 255);
    assert_int_equal(unbounded->max_threads, 0);
    assert_int_equal(unbounded->exec_mode, 0);
    check_parameter(view, "bounded", 0, 0, 8);
    check_parameter(view, "unbounded", 0, 0, 8);
    check_parameter(view, "unbounded", 1, 8, 4);
    check_parameter(view, "unbounded", 2, 12, 2);
    assert_int_equal(unbounded->parameters, 3);
    assert_null(rex_view_find(view, "bounded_exec_mode")->parameter);
}

/* How clang wants its kernels launched, from LLVM 18 on. */
TEST(test_environments)
{
    struct rex_view view;
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/environments_sm_90.cubin", &size);
    assert_int_equal(rex_view_open(&view, bytes, size, "environments"), 0);
    assert_int_equal(rex_view_find(&view, "generic")->environment_size, 48);
    assert_int_equal(rex_view_find(&view, "generic")->environment_mode, 1);
    assert_int_equal(rex_view_find(&view, "spmd")->environment_mode, 2);
    assert_int_equal(rex_view_find(&view, "misshapen")->environment_size, 20);
    assert_int_equal(rex_view_find(&view, "misshapen")->exec_mode, -1);
    rex_view_close(&view);
    free(bytes);
}

/*
 * As users see it: what an image says of a kernel beside its parameters. From sm_90 on nvcc reserves a KiB of shared
 * memory.
 */
TEST(test_limits)
{
    static const struct {
        const char *file;
        unsigned architecture, reserved;
    } images[] = {{"tests/data/limits_sm_75.cubin", 75, 0},
                  {"tests/data/limits_sm_90.cubin", 90, 1024},
                  {"tests/data/limits_sm_120.cubin", 120, 1024}};
    for (size_t i = 0; i < COUNT(images); i++) {
        struct rex_image_list *list = NULL;
        struct rex_image_view *view = NULL;
        size_t size;
        unsigned char *bytes = read_bytes(images[i].file, &size);
        assert_int_equal(rex_image_list_open(&list, bytes, size, images[i].file), 0);
        assert_int_equal(rex_image_view_open(&view, list, 0, images[i].file), 0);
        rex_image_list_close(list);
        assert_int_equal(view->kind, REX_IMAGE_CUBIN);
        assert_int_equal(view->architecture, images[i].architecture);
        assert_int_equal(view->symbol_count, 4);
        for (size_t j = 0; j < view->symbol_count; j++)
            assert_ptr_equal(rex_image_view_find(view, view->symbols[j].name), &view->symbols[j]);
        check_limits((const struct rex_view *)view, images[i].reserved);
        assert_int_equal(view->entry_count, 0);
        rex_image_view_close(view);
        free(bytes);
    }
}

/* A parameter that is numbered twice, or past the last one, is refused. */
TEST(test_misnumbered_parameters)
{
    static const unsigned char first[] = {0x04, 0x17, 12, 0, 0, 0, 0, 0, 0, 0};
    size_t size, refused = 0;
    unsigned char *bytes = read_bytes("tests/data/limits_sm_90.cubin", &size);
    for (size_t i = 0; i + 16 <= size; i++) {
        if (memcmp(bytes + i, first, sizeof first) != 0)
            continue;
        for (unsigned char ordinal = 1; ordinal < 4; ordinal++, refused++) {
            bytes[i + 8] = ordinal;
            assert_int_equal(error_of(bytes, size), REX_EIMAGE);
            assert_non_null(strstr(rex_last_error(), "not numbered from 0 on"));
        }
        bytes[i + 8] = 0;
    }
    assert_int_equal(refused, 6);
    assert_int_equal(error_of(bytes, size), 0);
    free(bytes);
}

TEST(test_view_arguments)
{
    struct rex_view view;
    size_t size;
    unsigned char *bytes = read_bytes(cubins[0].file, &size);
    assert_int_equal(rex_view_open(&view, "", 0, "x"), REX_EIMAGE);
    assert_int_equal(rex_view_open(&view, "text", 4, "x"), REX_EIMAGE);
    assert_int_equal(rex_view_open(&view, bytes, size, "x"), 0);
    assert_null(rex_image_view_find(NULL, "x"));
    assert_string_equal(rex_last_error(), "rex_image_view_find: the view is NULL");
    assert_null(rex_image_view_find(&view.shown, NULL));
    assert_string_equal(rex_last_error(), "rex_image_view_find: the name is NULL");
    assert_null(rex_image_view_find(&view.shown, "no such kernel"));
    rex_view_close(&view);
    rex_image_view_close(NULL);
    free(bytes);
}

/* ---- CUBINs that were changed ------------------------------------------------------------------------------------ */

/* What VIEW says of KERNEL. */
static const char *facts_of(const struct rex_view *view, const char *kernel)
{
    static char facts[256];
    const struct rex_image_symbol *symbol = rex_view_find(view, kernel);
    if (symbol == NULL)
        return "none";
    snprintf(facts, sizeof facts, "%u threads, %u registers, %u shared, mode %d, %u parameters", symbol->max_threads, symbol->registers,
             symbol->shared_memory, symbol->exec_mode, symbol->parameters);
    return facts;
}

struct change {
    size_t at, width;
    uint64_t value;
};

/* Places in tests/data/limits_sm_90.cubin: symbols of 24 bytes, attributes with a head of 4 bytes. */
enum {
    SYMBOLS = 1200, NO_NAME = SYMBOLS + 13 * 24, MODE = SYMBOLS + 7 * 24, BOUNDED = SYMBOLS + 17 * 24,
    REGISTERS = 2084, PARAMETER = 2300, THREADS = 2340, MODE_BYTE = 3456, INFO_SIZE = 5216, /* of .nv.info.bounded */
    ST_INFO = 4, ST_OTHER = 5, ST_SHNDX = 6, ST_VALUE = 8, KIND = 1, LENGTH = 2, WORD_0 = 4, WORD_1 = 8, WORD_2 = 12
};

/* What a changed image tells of the kernel "bounded"; or, behind a colon, why it is refused. */
static void check_bounded(size_t number, const unsigned char *bytes, size_t size, const char *facts)
{
    struct rex_view view;
    if (facts[0] == ':') {
        refused(bytes, size, facts);
        return;
    }
    assert_int_equal(rex_view_open(&view, bytes, size, "changed"), 0);
    if (strcmp(facts_of(&view, "bounded"), facts) != 0)
        fail_msg("case %zu: %s", number, facts_of(&view, "bounded"));
    assert_null(rex_view_find(&view, ""));
    rex_view_close(&view);
}

/* What is read of the kernel "bounded" where bytes are others. */
TEST(test_changed_bytes)
{
    static const struct {
        struct change changes[3];
        const char *facts; /* or the end of the error */
    } cases[] = {
        {{{0, 0, 0}}, "256 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{REGISTERS + WORD_1, 4, 0x12345678}}, "256 threads, 305419896 registers, 2048 shared, mode 2, 1 parameters"},
        {{{REGISTERS + WORD_0, 4, 16}}, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"}, /* of the other kernel */
        {{{REGISTERS + WORD_0, 4, 19}}, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"}, /* of no kernel */
        {{{REGISTERS + WORD_0, 4, 7}}, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"},  /* of a global */
        {{{REGISTERS + WORD_0, 4, 20}}, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"}, /* of no symbol */
        {{{REGISTERS + LENGTH, 2, 7}}, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"},
        {{{REGISTERS + LENGTH, 2, 4}}, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"},
        {{{REGISTERS + KIND, 1, 0x2e}}, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"},
        {{{REGISTERS, 1, 3}}, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"},
        {{{THREADS + WORD_0, 4, 7}, {THREADS + WORD_1, 4, 11}, {THREADS + WORD_2, 4, 13}},
         "1001 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{THREADS + WORD_0, 4, 65536}, {THREADS + WORD_1, 4, 65535}},
         "4294901760 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{THREADS + WORD_0, 4, 65536}, {THREADS + WORD_1, 4, 65536}},
         "4294967295 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{THREADS + WORD_0, 4, UINT32_MAX}, {THREADS + WORD_1, 4, 2}, {THREADS + WORD_2, 4, 0}},
         "4294967295 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{THREADS + WORD_0, 4, UINT32_MAX}, {THREADS + WORD_2, 4, 0}},
         "0 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        /* A byte less, up to where another attribute seems to end. */
        {{{THREADS + LENGTH, 2, 11}, {INFO_SIZE, 8, 87}}, "0 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{PARAMETER + LENGTH, 2, 11}, {INFO_SIZE, 8, 87}}, "0 threads, 12 registers, 2048 shared, mode 2, 0 parameters"},
        {{{THREADS + LENGTH, 2, 8}}, "0 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{THREADS + KIND, 1, 6}}, "0 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{PARAMETER + LENGTH, 2, 8}}, "256 threads, 12 registers, 2048 shared, mode 2, 0 parameters"},
        {{{PARAMETER + KIND, 1, 0x16}}, "256 threads, 12 registers, 2048 shared, mode 2, 0 parameters"},
        {{{PARAMETER + WORD_2, 4, 1 << 18}}, "256 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{PARAMETER + WORD_2, 4, (1 << 18) - 1}}, ": the parameters of a kernel are not numbered from 0 on, once each"},
        {{{MODE_BYTE, 1, 255}}, "256 threads, 12 registers, 2048 shared, mode 255, 1 parameters"},
        {{{MODE + ST_VALUE, 8, 1}}, "256 threads, 12 registers, 2048 shared, mode 0, 1 parameters"},
        {{{MODE + ST_SHNDX, 2, 20}}, "256 threads, 12 registers, 2048 shared, mode 0, 1 parameters"}, /* which has no bytes */
        {{{MODE + ST_SHNDX, 2, 99}}, "256 threads, 12 registers, 2048 shared, mode 0, 1 parameters"}, /* no section */
        {{{MODE + ST_SHNDX, 2, SHN_UNDEF}}, "256 threads, 12 registers, 2048 shared, mode -1, 1 parameters"},
        {{{MODE + ST_INFO, 1, 13}}, "256 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {{{MODE + ST_INFO, 1, 12}}, "256 threads, 12 registers, 2048 shared, mode -1, 1 parameters"},
        {{{BOUNDED + ST_OTHER, 1, 0}}, "none"},
        {{{BOUNDED + ST_INFO, 1, 0x10}}, "none"},
        {{{BOUNDED + ST_INFO, 1, 0x11}}, "0 threads, 0 registers, 0 shared, mode -1, 65535 parameters"}, /* a global */
        {{{BOUNDED + ST_SHNDX, 2, SHN_UNDEF}}, "none"},
        {{{NO_NAME + ST_INFO, 1, 0x11}, {NO_NAME + ST_SHNDX, 2, 18}}, "256 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
    };
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/limits_sm_90.cubin", &size), *changed = malloc(size);
    assert_non_null(changed);
    for (size_t i = 0; i < COUNT(cases); i++) {
        memcpy(changed, bytes, size);
        for (size_t j = 0; j < 3; j++)
            memcpy(changed + cases[i].changes[j].at, &cases[i].changes[j].value, cases[i].changes[j].width);
        check_bounded(i, changed, size, cases[i].facts);
    }
    free(changed);
    free(bytes);
}

/* More than 4 KiB of parameters have an attribute of their own, with 16 bits for the size. */
TEST(test_large_parameter)
{
    static const struct change changes[] = {{PARAMETER + KIND, 1, 0x45}, {PARAMETER + WORD_2, 4, 0x05004e20}};
    struct rex_view view;
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/limits_sm_90.cubin", &size);
    for (size_t i = 0; i < COUNT(changes); i++)
        memcpy(bytes + changes[i].at, &changes[i].value, changes[i].width);
    assert_int_equal(rex_view_open(&view, bytes, size, "changed"), 0);
    assert_string_equal(facts_of(&view, "bounded"), "256 threads, 12 registers, 2048 shared, mode 2, 1 parameters");
    assert_int_equal(rex_view_find(&view, "bounded")->odd_size, 20000);
    check_parameter(&view, "bounded", 0, 0, 20000);
    rex_view_close(&view);
    free(bytes);
}

/* The same for headers of sections: TYPE, NAME and SIZE, where they are not those of the file. */
TEST(test_changed_sections)
{
    static const char cut[] = ": the attributes of a kernel are cut off", many[] = ": its attributes take more bytes than the file has",
                      as_ever[] = "256 threads, 12 registers, 2048 shared, mode 2, 1 parameters";
    enum { ALL = 6416, ATTRIBUTES = 72 + 100 + 88 }; /* bytes of the file */
    static const struct {
        const char *section, *name; /* NULL: its own */
        uint32_t type;              /* 0: its own */
        uint64_t offset, size;      /* UINT64_MAX: its own */
        const char *facts;
    } cases[] = {
        {".nv.info.bounded", NULL, 0, UINT64_MAX, 87, cut},
        {".nv.info.bounded", NULL, 0, UINT64_MAX, 84, cut},
        {".nv.info.bounded", NULL, 0, UINT64_MAX, 83, cut},
        {".nv.info.bounded", NULL, 0, UINT64_MAX, 81, cut},
        {".nv.info.bounded", NULL, 0, UINT64_MAX, 80, as_ever},
        {".nv.info.bounded", NULL, 0, UINT64_MAX, 68, as_ever}, /* the last one has no bytes of its own */
        {".nv.info.bounded", NULL, 0, UINT64_MAX, 67, cut},
        {".nv.info.bounded", NULL, 0, UINT64_MAX, 48, "0 threads, 12 registers, 2048 shared, mode 2, 1 parameters"},
        {".nv.info.bounded", NULL, 0, UINT64_MAX, 0, "0 threads, 12 registers, 2048 shared, mode 2, 0 parameters"},
        {".nv.info.bounded", NULL, SHT_NOBITS, UINT64_MAX, UINT64_MAX, "0 threads, 12 registers, 2048 shared, mode 2, 65535 parameters"},
        {".nv.info.unbounded", ".nv.info.bounded", 0, UINT64_MAX, UINT64_MAX, ": the parameters of a kernel are given twice"},
        {".nv.info", NULL, 0, UINT64_MAX, 12, as_ever},
        {".nv.info", NULL, 0, UINT64_MAX, 11, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"},
        {".nv.info", NULL, SHT_NOBITS, UINT64_MAX, UINT64_MAX, "256 threads, 0 registers, 2048 shared, mode 2, 1 parameters"},
        {".nv.shared.bounded", NULL, 0, UINT64_MAX, 0xfffffffe, "256 threads, 12 registers, 4294967294 shared, mode 2, 1 parameters"},
        {".nv.shared.bounded", NULL, 0, UINT64_MAX, 1ull << 32, "256 threads, 12 registers, 4294967295 shared, mode 2, 1 parameters"},
        {".nv.shared.bounded", ".nv.info", 0, UINT64_MAX, ALL, "256 threads, 12 registers, 0 shared, mode 2, 1 parameters"},
        {".debug_frame", ".nv.info", 0, 0, ALL - ATTRIBUTES, as_ever},
        {".debug_frame", ".nv.info", 0, 0, ALL - ATTRIBUTES + 1, many},
        {".symtab", NULL, SHT_PROGBITS, UINT64_MAX, UINT64_MAX, ": it has no symbols"},
    };
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/limits_sm_90.cubin", &size), *changed = malloc(size);
    assert_non_null(changed);
    assert_int_equal(size, ALL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        memcpy(changed, bytes, size);
        Elf64_Shdr *section = section_of(changed, size, cases[i].section);
        uint32_t name = section_of(changed, size, cases[i].name != NULL ? cases[i].name : cases[i].section)->sh_name;
        section->sh_name = name;
        section->sh_type = cases[i].type != 0 ? cases[i].type : section->sh_type;
        section->sh_offset = cases[i].offset != UINT64_MAX ? cases[i].offset : section->sh_offset;
        section->sh_size = cases[i].size != UINT64_MAX ? cases[i].size : section->sh_size;
        check_bounded(i, changed, size, cases[i].facts);
    }
    free(changed);
    free(bytes);
}

/* Environments that are too large for a number, or end where their mode would be. Places are those of the file. */
TEST(test_changed_environments)
{
    enum { GENERIC = 1296 + 7 * 24, SPMD = 1296 + 9 * 24, ST_SIZE = 16, BYTES = 4096, ENVIRONMENTS = 96 };
    static const struct {
        struct change change;
        const char *kernel;
        uint32_t size;
        int mode;
    } cases[] = {
        {{GENERIC + ST_SIZE, 8, 0xfffffffe}, "generic", 0xfffffffe, 1}, {{GENERIC + ST_SIZE, 8, UINT32_MAX}, "generic", UINT32_MAX, 1},
        {{GENERIC + ST_SIZE, 8, 1ull << 32}, "generic", UINT32_MAX, 1}, {{BYTES + 2, 1, 7}, "generic", 48, 7},
        {{BYTES + 1, 1, 7}, "generic", 48, 1},                          {{BYTES + 3, 1, 7}, "generic", 48, 1},
        {{SPMD + ST_VALUE, 8, ENVIRONMENTS - 3}, "spmd", 48, 9},        {{SPMD + ST_VALUE, 8, ENVIRONMENTS - 2}, "spmd", 48, 0},
        {{SPMD + ST_VALUE, 8, ENVIRONMENTS}, "spmd", 48, 0},            {{SPMD + ST_VALUE, 8, UINT64_MAX - 1}, "spmd", 48, 0},
    };
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/environments_sm_90.cubin", &size), *changed = malloc(size);
    assert_non_null(changed);
    bytes[BYTES + ENVIRONMENTS - 1] = 9;
    bytes[BYTES + ENVIRONMENTS] = 10;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_view view;
        memcpy(changed, bytes, size);
        memcpy(changed + cases[i].change.at, &cases[i].change.value, cases[i].change.width);
        assert_int_equal(rex_view_open(&view, changed, size, "changed"), 0);
        const struct rex_image_symbol *kernel = rex_view_find(&view, cases[i].kernel);
        assert_int_equal(kernel->environment_size, cases[i].size);
        assert_int_equal(kernel->environment_mode, cases[i].mode);
        rex_view_close(&view);
    }
    free(changed);
    free(bytes);
}

/* The older header says the architecture in its low byte. */
TEST(test_older_header)
{
    struct rex_view view;
    size_t size;
    unsigned char *bytes = read_bytes(cubins[2].file, &size);
    const uint32_t flags = 0x007f5c5a;
    static const struct {
        unsigned char osabi, version;
        unsigned architecture;
    } headers[] = {{0x41, 8, 0x5c}, {0x41, 9, 0x5c}, {0x41, 7, 90}, {0x33, 8, 90}, {0x33, 7, 90}};
    memcpy(bytes + offsetof(Elf64_Ehdr, e_flags), &flags, sizeof flags);
    for (size_t i = 0; i < COUNT(headers); i++) {
        bytes[EI_OSABI] = headers[i].osabi;
        bytes[EI_ABIVERSION] = headers[i].version;
        assert_int_equal(rex_view_open(&view, bytes, size, "older"), 0);
        assert_int_equal(view.architecture, headers[i].architecture);
        rex_view_close(&view);
    }
    /* The header is enough to tell it. */
    assert_int_equal(rex_cubin_architecture(bytes, sizeof(Elf64_Ehdr)), 90);
    assert_int_equal(rex_cubin_architecture(bytes, sizeof(Elf64_Ehdr) - 1), 0);
    bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_X86_64;
    assert_int_equal(rex_cubin_architecture(bytes, size), 0);
    free(bytes);
}

/* ---- PTX --------------------------------------------------------------------------------------------------------- */

TEST(test_ptx)
{
    struct rex_view view;
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/sm_90.ptx", &size);
    assert_int_equal(rex_view_open(&view, bytes, size, "sm_90.ptx"), 0);
    assert_int_equal(view.kind, REX_IMAGE_PTX);
    assert_int_equal(view.architecture, 90);
    assert_int_equal(view.count, 7);
    check_kernel(&view, "plain__kernel__", 2, 0, 0);
    check_kernel(&view, "env__kernel__", 3, 0, 0);
    check_kernel(&view, "none__kernel__", 0, 0, 0);
    check_kernel(&view, "narrow__kernel__", 4, 1, 4);
    check_kernel(&view, "narrow_first__kernel__", 3, 0, 4);
    check_kernel(&view, "wide__kernel__", 2, 0, 16);
    check_parameter(&view, "narrow__kernel__", 2, 12, 4);
    check_parameter(&view, "narrow__kernel__", 3, 16, 8);
    check_parameter(&view, "wide__kernel__", 0, 0, 16);
    check_parameter(&view, "wide__kernel__", 1, 16, 8);
    assert_int_equal(rex_view_find(&view, "table")->size, 32);
    assert_false(rex_view_find(&view, "table")->kernel);
    rex_view_close(&view);
    free(bytes);
}

/* What else the language has: comments, bounds, aligned pointers, arrays of arrays, what other files define. */
TEST(test_ptx_language)
{
    static const char text[] = "/* .version */ // no\n.version 8.7\n.target sm_100f, debug\n.address_size 64\n"
                               ".extern .global .align 4 .b8 elsewhere[4];\n"
                               ".const .align 4 .b8 coefficients[2][3] = {1, 2, 3, 4, 5, 6};\n"
                               ".visible .global .attribute(.managed) .f64 one = 0d3FF0000000000000;\n"
                               ".func (.param .b32 r) helper(.param .b64 x)\n{ .reg .b32 %r<2>; ret; }\n"
                               ".visible .entry bounded(.param .u64 .ptr .global .align 16 p, .param .f16x2 h)\n"
                               ".maxntid 16, 8, 2\n.minnctapersm 2\n{ { } bra $L; /* } */ }\n"
                               ".entry/**/bare\n.reqntid 64\n{ ret; }\n.weak .entry declared(.param.b32 a);\n"
                               ".entry large(.param .b8 a[65535], .param .b8 b){ ret; }\n.entry larger(.param .b8 a[65536]){ ret; }\n"
                               ".entry twice\n.maxntid 16, 2\n.reqntid 8\n{ ret; }\n"
                               ".file 1 \"a { b.cu\"\n.visible .entry last(){ret;}";
    struct rex_view view;
    assert_int_equal(rex_view_open(&view, text, sizeof text - 1, "text"), 0);
    assert_int_equal(view.architecture, 100);
    assert_int_equal(view.count, 9);
    check_kernel(&view, "large", 1, 0, 65535);
    check_parameter(&view, "large", 0, 0, 65535);
    check_kernel(&view, "larger", 0, 0, 0);
    assert_int_equal(rex_view_find(&view, "twice")->max_threads, 8);
    check_kernel(&view, "bounded", 2, 1, 4);
    check_parameter(&view, "bounded", 1, 8, 4);
    check_kernel(&view, "bare", 0, 0, 0);
    check_kernel(&view, "declared", 1, 0, 4);
    check_kernel(&view, "last", 0, 0, 0);
    assert_int_equal(rex_view_find(&view, "bounded")->max_threads, 256);
    assert_int_equal(rex_view_find(&view, "bare")->max_threads, 64);
    assert_int_equal(rex_view_find(&view, "coefficients")->size, 6);
    assert_int_equal(rex_view_find(&view, "one")->size, 8);
    assert_null(rex_view_find(&view, "elsewhere"));
    rex_view_close(&view);
    /* What should be a number and is none counts as 0: it says nothing. */
    static const char no_numbers[] =
        ".version 9.0\n.target sm_90\n.global .b8 bytes[n][4];\n.entry odd(.param .align x .b8 p[q], .param .u64 r)\n"
        ".maxntid 3x\n{ ret; }\n";
    assert_int_equal(rex_view_open(&view, no_numbers, sizeof no_numbers - 1, "no numbers"), 0);
    assert_int_equal(rex_view_find(&view, "bytes")->size, 0);
    assert_int_equal(rex_view_find(&view, "odd")->max_threads, 0);
    check_parameter(&view, "odd", 0, 0, 0);
    check_parameter(&view, "odd", 1, 0, 8);
    rex_view_close(&view);
    /* A kernel without a name is none. */
    static const char *const nameless[] = {".version 9.0\n.target sm_90\n.entry",
                                           ".version 9.0\n.target sm_90\n.entry (.param .u64 a) { ret; }"};
    for (size_t i = 0; i < COUNT(nameless); i++) {
        assert_int_equal(rex_view_open(&view, nameless[i], strlen(nameless[i]), "nameless"), 0);
        assert_int_equal(view.count, 0);
        rex_view_close(&view);
    }
    assert_int_equal(error_of(".version 9.0\n.target foo", 24), REX_EIMAGE);
    assert_int_equal(error_of(".version 9.0\n", 13), REX_EIMAGE);
}

/* How many bytes a declaration says, up to what no number holds; and where its parameters lie. */
TEST(test_ptx_declarations)
{
    static const struct {
        const char *declaration;
        uint64_t size;
    } cases[] = {
        {".u8 x", 1},
        {".s16 x", 2},
        {".b128 x", 16},
        {".bf16 x", 2},
        {".bf16x2 x", 4},
        {".u8x2 x", 2},
        {".b1000 x", 125},
        {".b10000 x", 0},
        {".bfb16 x", 0},
        {".b16x3 x", 0},
        {".b16y2 x", 0},
        {".b16xx2 x", 0},
        {".x16 x", 0},
        {".b8 x[7][11][13]", 1001},
        {".b8 x[4294967294]", 4294967294},
        {".b8 x[4294967296]", 4294967295},
        {".b8 x[42949672955]", 4294967295},
        {".b8 x[42949672965]", 0},
        {".b8 x[65535][65537]", 4294967295},
        {".b8 x[65536][65535]", 4294901760},
        {".b8 x[65536][65536]", 4294967295},
        {".b8 x[0]", 0},
        {".b8 x[9_]", 0},
        {".attribute(.managed, .unified(1, 2)) .b32 x", 4},
        {".align 32 .b8 x[3]", 3},
        {".b8 /*/ y[2] */ x[3] // z[4]", 3},
        {"/* . */.b8/**/x/", 1},
    };
    static const char parameters[] = ".version 8.0\n.target sm_75\n} .entry first(.param .b8 a, .param .u64 b){ret;}\n"
                                     ".entry second(.param .b8 a, .param .align 16 .b8 p[3], .param .u16 h, "
                                     ".param .u64 .ptr .global .align 32 q, .param .b32 z, .param .align 0 .b8 y, .param .b8 n[0], .param .u64 e)"
                                     ".maxntid 7, 11, 13 .minnctapersm 2 {ret;}\n"
                                     ".entry third(.param .u64 u).maxntid 65536, 65536, 2{ret;}.entry fourth().reqntid 65535, 65537{ret;}\n"
                                     ".entry fifth().maxntid {ret;}.entry sixth().maxntid 3, {ret;}";
    static const uint16_t offsets[] = {0, 16, 20, 24, 32, 36, 37, 40};
    struct rex_view view;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        int length = snprintf(text, sizeof text, ".version 8.0\n.target sm_75\n.global %s\n;", cases[i].declaration);
        assert_int_equal(rex_view_open(&view, text, (size_t)length, "declaration"), 0);
        if (rex_view_find(&view, "x") == NULL || rex_view_find(&view, "x")->size != cases[i].size)
            fail_msg("%s", cases[i].declaration);
        assert_int_equal(view.count, 1);
        rex_view_close(&view);
    }
    static const char names[] = ".version 8.0\n.target sm_75\n.global .b8 ab16[3];.global .align 4 .b32 us;\n";
    assert_int_equal(rex_view_open(&view, names, sizeof names - 1, "names like types"), 0);
    assert_int_equal(rex_view_find(&view, "ab16")->size, 3);
    assert_int_equal(rex_view_find(&view, "us")->size, 4);
    rex_view_close(&view);
    assert_int_equal(rex_view_open(&view, parameters, sizeof parameters - 1, "parameters"), 0);
    check_kernel(&view, "first", 2, 0, 1);
    check_kernel(&view, "second", 8, 0, 1);
    for (size_t i = 0; i < COUNT(offsets); i++)
        assert_int_equal(rex_view_find(&view, "second")->parameter[i].offset, offsets[i]);
    check_kernel(&view, "third", 1, 0, 0);
    check_parameter(&view, "first", 1, 8, 8);
    check_parameter(&view, "third", 0, 0, 8);
    static const struct {
        const char *kernel;
        uint32_t threads;
    } threads[] = {{"first", 0}, {"second", 1001}, {"third", UINT32_MAX}, {"fourth", UINT32_MAX}, {"fifth", 1}, {"sixth", 3}};
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(rex_view_find(&view, threads[i].kernel)->max_threads, threads[i].threads);
    rex_view_close(&view);
}

/* What is PTX, and for which GPU, by its first bytes. */
TEST(test_ptx_targets)
{
    static const struct {
        const char *text;
        unsigned architecture;
        char suffix;
    } cases[] = {
        {".version 8.0 .target sm_9", 9, 0},        {".version 8.0\n.target sm_90\n", 90, 0},   {".version 8.0 .target sm_90a", 90, 'a'},
        {".version 8.0 .target sm_100f", 100, 'f'}, {".version 8.0 .target sm_120, debug", 120, 0}, {".version 8.0 .target sm_90b", 0, 0},
        {".version 8.0 .target sm_", 0, 0},         {".version 8.0 .target sm_a", 0, 0},        {".version 8.0 .target sm_0", 0, 0},
        {".version 8.0 .target smx90", 0, 0},       {".version 8.0 .target", 0, 0},             {".version 8.0", 0, 0},
        {".version", 0, 0},                         {".version 8.0 .targets sm_90", 0, 0},      {".versions 8.0 .target sm_90", 0, 0},
        {".version 8.0 x .target sm_90", 0, 0},     {"", 0, 0},                                 {"x .version 8.0 .target sm_90", 0, 0},
    };
    static const char end[] = ".version 8.0 .target sm_";
    char text[REX_PTX_HEAD + 64];
    unsigned architecture;
    char suffix;
    for (size_t i = 0; i < COUNT(cases); i++) {
        architecture = 0;
        suffix = 'x';
        if (rex_ptx_is(cases[i].text, strlen(cases[i].text), &architecture, &suffix) != (cases[i].architecture > 0))
            fail_msg("%s", cases[i].text);
        if (cases[i].architecture == 0)
            continue;
        assert_int_equal(architecture, cases[i].architecture);
        assert_int_equal(suffix, cases[i].suffix);
    }
    /* The head ends between two digits, or before them. */
    memset(text, ' ', sizeof text);
    for (size_t i = 0; i <= 2; i++) {
        memset(text, ' ', sizeof text);
        memcpy(text + REX_PTX_HEAD - strlen(end) - i, end, strlen(end));
        memcpy(text + REX_PTX_HEAD - i, "75", 2);
        assert_int_equal(rex_ptx_is(text, sizeof text, &architecture, &suffix), i > 0);
        assert_true(i == 0 || architecture == (i == 1 ? 7 : 75));
    }
}

/* Symbols KERNEL_exec_mode, as nvcc and clang write them, before the kernel and behind it. */
TEST(test_ptx_exec_modes)
{
    static const struct {
        const char *global;
        int mode;
    } cases[] = {{".visible .global .align 1 .u8 k_exec_mode = 1;", 1},
                 {".weak .protected .global .align 1 .u8 k_exec_mode = 0x3U;", 3},
                 {".global .align 1 .u8 k_exec_mode;", 0},
                 {".global .align 4 .u32 k_exec_mode = 258;", 2},
                 {".global .align 1 .b8 k_exec_mode[2] = {02, 5};", 2},
                 {".global .align 1 .s8 k_exec_mode = -1;", 255},
                 {".global .align 8 .u64 k_exec_mode = table;", -1},
                 {".global .align 8 .f64 k_exec_mode = 0d3FF0000000000000;", -1},
                 {".global .align 8 .u64 k_exec_mode = 123456789012345678901234;", -1},
                 {".global .align 8 .u64 k_exec_mode = 00000000000000000000007;", 7},
                 {".global .align 8 .u64 k_exec_mode = 000000000000000000000007;", -1},
                 {".global .align 8 .u64 k_exec_mode = 5UU;", -1},
                 {".global .align 1 .s8 k_exec_mode[2] = {-2, 5};", 254},
                 {".extern .global .align 1 .u8 k_exec_mode;", -1},
                 {".global .align 1 .u8 l_exec_mode = 1;", -1}};
    static const char cut[] = ".version 8.0\n.target sm_75\n.entry k(){}.global .u8 k_exec_mode =";
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        const char *global = cases[i / 2].global, *kernel = ".entry k(){ret;}";
        struct rex_view view;
        char text[256];
        int length = snprintf(text, sizeof text, ".version 8.0\n.target sm_75\n%s\n%s\n", i % 2 ? kernel : global,
                              i % 2 ? global : kernel);
        assert_int_equal(rex_view_open(&view, text, (size_t)length, "text"), 0);
        if (rex_view_find(&view, "k")->exec_mode != cases[i / 2].mode)
            fail_msg("%s: %d", global, rex_view_find(&view, "k")->exec_mode);
        for (size_t j = 0; j < view.count; j++)
            assert_true(view.symbols[j].kernel || view.symbols[j].exec_mode == -1);
        rex_view_close(&view);
    }
    /* Cut off where a number would come. */
    assert_int_equal(error_of(cut, sizeof cut - 1), 0);
}

/* What is told by the name of a symbol, whichever comes first; of a kernel's name no more than 1023 bytes are compared. */
TEST(test_ptx_names)
{
    static const char marks[] = ".version 8.0\n.target sm_75\n.global .b8 rex_env_k[1];\n.entry k(.param .u64 e){ret;}\n"
                                ".global .b8 rex_plain_l[1];\n.entry l(){ret;}\n.entry m(){ret;}\n.global .b8 rex_plain_n[1];\n.global .b8 n[1];";
    struct rex_view view;
    char name[1025], text[4096];
    assert_int_equal(rex_view_open(&view, marks, sizeof marks - 1, "marks"), 0);
    assert_true(rex_view_find(&view, "k")->env && !rex_view_find(&view, "k")->plain);
    assert_true(rex_view_find(&view, "l")->plain && !rex_view_find(&view, "l")->env);
    assert_true(!rex_view_find(&view, "m")->plain && !rex_view_find(&view, "m")->env);
    assert_true(!rex_view_find(&view, "n")->plain && !rex_view_find(&view, "n")->env);
    rex_view_close(&view);
    for (size_t length = 1023; length <= 1024; length++) {
        memset(name, 'k', length);
        name[length] = '\0';
        int size = snprintf(text, sizeof text, ".version 8.0\n.target sm_75\n.entry %s(){ret;}\n.global .u8 %s_exec_mode = 1;\n", name, name);
        assert_int_equal(rex_view_open(&view, text, (size_t)size, "a long name"), 0);
        assert_int_equal(rex_view_find(&view, name)->exec_mode, length == 1023 ? 1 : -1);
        rex_view_close(&view);
    }
}

/* No byte more than may be taken: for each symbol and its name, each parameter, and PTX itself. */
TEST(test_overfull)
{
    static const char text[] = ".version 8.0\n.target sm_75\n.global .b8 g[4];\n"
                               ".entry _Z15rex_signature_kP9rex_kindsIJLj0ELj1ELj1ELj1EEE(){ret;}\n"
                               ".entry k(.param .u64 a, .param .u64 b, .param .u64 c){ret;}\n";
    struct rex_view view;
    size_t size, count = 0;
    unsigned char *cubin = read_bytes("tests/data/sm_90.cubin", &size);
    const size_t symbol = sizeof *view.symbols + sizeof *view.names, parameter = sizeof *view.parameters;
    rex_configure(REX_OPTION_LOG, "off");
    for (int kind = 0; kind < 2; kind++) {
        const void *bytes = kind == 0 ? (const void *)text : cubin;
        size_t length = kind == 0 ? sizeof text - 1 : size, taken = 0;
        for (size_t most = 0;; most++) {
            int result = rex_view_open_within(&view, bytes, length, most, "x.image");
            if (result == REX_OK) {
                taken = most;
                break;
            }
            assert_int_equal(result, REX_EIMAGE);
            assert_string_equal(rex_last_error(), "device image x.image cannot be used: it is compressed, and unpacks to more kernels and "
                                                  "globals than so few bytes may");
            count++;
        }
        assert_int_equal(taken, kind == 0 ? sizeof text + 3 * symbol + 3 * parameter : view.count * symbol + view.parameter_count * parameter);
        assert_int_equal(view.parameter_count, kind == 0 ? 3 : 14);
        assert_true(kind != 0 || (view.count == 2 && rex_view_find(&view, "k")->signature));
        rex_view_close(&view);
    }
    rex_configure(REX_OPTION_LOG, NULL);
    assert_true(count > 0);
    free(cubin);
}

/* So many parameters that their number would mean that it is unknown. */
TEST(test_ptx_parameters)
{
    static const char head[] = ".version 9.0\n.target sm_90\n.entry many(", one[] = ".param .b8 a[n],";
    enum { COUNT_OF_ALL = REX_PARAMETERS_UNKNOWN + 2 };
    char *text = malloc(sizeof head + COUNT_OF_ALL * sizeof one + 32), *end;
    struct rex_view view;
    assert_non_null(text);
    end = stpcpy(text, head);
    for (int i = 0; i < COUNT_OF_ALL; i++)
        end = stpcpy(end, one);
    strcpy(end - 1, "){ ret; }");
    assert_int_equal(rex_view_open(&view, text, strlen(text), "many"), 0);
    check_kernel(&view, "many", REX_PARAMETERS_UNKNOWN - 1, 0, 0);
    rex_view_close(&view);
    free(text);
}

TEST(test_ptx_damaged)
{
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/sm_90.ptx", &size);
    uint64_t random = 1;
    struct rex_view view;
    rex_configure(REX_OPTION_LOG, "off");
    for (size_t i = 0; i < size + 4000; i++) {
        size_t length = i < size ? i : size, at = (size_t)(random >> 33) % size;
        unsigned char *exact = malloc(length + 1), saved = bytes[at];
        assert_non_null(exact);
        if (i >= size)
            bytes[at] = (unsigned char)"(){}[],;\"/*. \n0x"[random >> 20 & 15];
        memcpy(exact + 1, bytes, length);
        if (rex_view_open(&view, exact + 1, length, "damaged") == 0)
            rex_view_close(&view);
        bytes[at] = saved;
        random = random * 6364136223846793005u + 1442695040888963407u;
        free(exact);
    }
    rex_configure(REX_OPTION_LOG, NULL);
    free(bytes);
}

/* ---- host images ------------------------------------------------------------------------------------------------- */

/* Offset in memory of the section NAME of FILE. */
static uint64_t address_of_section(const unsigned char *bytes, size_t size, const char *name, uint64_t *length)
{
    struct rex_elf elf;
    Elf64_Shdr section;
    assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
    assert_int_equal(rex_elf_find(&elf, name, &section), 0);
    *length = section.sh_size;
    return section.sh_addr;
}

/* The loader's opinion: the rows as they are in memory, relocated. */
static void check_positions(const char *file)
{
    struct rex_view view;
    struct link_map *map;
    size_t size;
    uint64_t length;
    unsigned char *bytes = read_bytes(file, &size);
    assert_int_equal(rex_view_open(&view, bytes, size, file), 0);
    assert_int_equal(view.position_count, 4);
    void *image = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (image == NULL)
        fail_msg("%s", dlerror());
    assert_int_equal(dlinfo(image, RTLD_DI_LINKMAP, &map), 0);
    const struct __tgt_offload_entry *rows = (const struct __tgt_offload_entry *)(uintptr_t)(
        map->l_addr + address_of_section(bytes, size, "omp_offloading_entries", &length));
    assert_int_equal(length, 4 * sizeof *rows);
    for (size_t i = 0; i < view.position_count; i++) {
        assert_string_equal(view.positions[i], rows[i].name);
        assert_ptr_equal(rows[i].addr, dlsym(image, rows[i].name));
    }
    dlclose(image);
    rex_view_close(&view);
    free(bytes);
}

/* The bytes CHANGED have all that WHOLE has. */
static void expect_same(const struct rex_view *whole, const unsigned char *changed, size_t size)
{
    struct rex_view view;
    assert_int_equal(rex_view_open(&view, changed, size, "changed"), 0);
    assert_int_equal(view.count, whole->count);
    for (uint32_t i = 0; i < view.count; i++) {
        assert_string_equal(view.symbols[i].name, whole->symbols[i].name);
        assert_int_equal(view.symbols[i].parameters, whole->symbols[i].parameters);
    }
    assert_int_equal(view.position_count, whole->position_count);
    for (size_t i = 0; i < view.position_count; i++)
        assert_string_equal(view.positions[i], whole->positions[i]);
    rex_view_close(&view);
}

/* The strings lie in the first section of the memory, or in the last one: those on the other side are in none, as it says. */
TEST(test_ends_of_memory)
{
    size_t size;
    unsigned char *bytes = read_bytes(HOST, &size), *changed = malloc(size);
    struct rex_view whole;
    Elf64_Ehdr header;
    uint64_t length, strings = address_of_section(bytes, size, ".rodata", &length);
    assert_non_null(changed);
    memcpy(&header, bytes, sizeof header);
    assert_int_equal(rex_view_open(&whole, bytes, size, HOST), 0);
    assert_true(whole.position_count == 4 && whole.count > 0);
    for (int last = 0; last < 2; last++) {
        memcpy(changed, bytes, size);
        for (size_t i = 0; i < header.e_shnum; i++) {
            Elf64_Shdr section;
            unsigned char *at = changed + header.e_shoff + i * sizeof section;
            memcpy(&section, at, sizeof section);
            if (last ? section.sh_addr > strings && section.sh_type == SHT_PROGBITS : section.sh_addr < strings)
                section.sh_flags &= ~(Elf64_Xword)SHF_ALLOC;
            memcpy(at, &section, sizeof section);
        }
        expect_same(&whole, changed, size);
    }
    rex_view_close(&whole);
    free(changed);
    free(bytes);
}

/* The headers of sections need not be in the order of their addresses. */
TEST(test_sections_in_another_order)
{
    size_t size, places[2] = {0, 0};
    unsigned char *bytes = read_bytes(HOST, &size), *changed = read_bytes(HOST, &size);
    struct rex_view whole;
    Elf64_Ehdr header;
    Elf64_Shdr section;
    uint64_t length, strings = address_of_section(bytes, size, ".rodata", &length);
    uint64_t begin = address_of_section(bytes, size, ".init", &length);
    memcpy(&header, bytes, sizeof header);
    for (size_t i = 1; i < header.e_shnum; i++) {
        memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_addr == strings || section.sh_addr == begin)
            places[section.sh_addr == strings] = header.e_shoff + i * sizeof section;
    }
    assert_true(places[0] != 0 && places[1] != 0);
    for (size_t i = 0; i < 2; i++)
        memcpy(changed + places[i], bytes + places[1 - i], sizeof section);
    assert_int_equal(rex_view_open(&whole, bytes, size, HOST), 0);
    assert_true(whole.position_count == 4 && whole.count > 0);
    expect_same(&whole, changed, size);
    rex_view_close(&whole);
    free(changed);
    free(bytes);
}

TEST(test_host_image)
{
    struct rex_view view;
    size_t size;
    unsigned char *bytes = read_bytes(HOST, &size);
    assert_int_equal(rex_view_open(&view, bytes, size, HOST), 0);
    assert_int_equal(view.kind, REX_IMAGE_HOST);
    check_kernel(&view, "plain__kernel__", 2, 0, 0);
    check_parameter(&view, "plain__kernel__", 1, 8, 8);
    check_kernel(&view, "none__kernel__", 0, 0, 0);
    assert_false(rex_view_find(&view, "plain__kernel__")->env);
    assert_true(rex_view_find(&view, "env__kernel__")->env);
    assert_false(rex_view_find(&view, "none__kernel__")->env);
    assert_int_equal(rex_view_find(&view, "table")->size, 32);
    assert_false(rex_view_find(&view, "table")->kernel);
    assert_int_equal(rex_view_find(&view, "table")->exec_mode, -1);
    assert_int_equal(rex_view_find(&view, "table")->parameters, REX_PARAMETERS_UNKNOWN);
    assert_string_equal(rex_view_find(&view, "plain__kernel__")->call, "rex_call_plain__kernel__");
    assert_string_equal(rex_view_find(&view, "env__kernel__")->call, "rex_call_env__kernel__");
    assert_string_equal(rex_view_find(&view, "none__kernel__")->call, "rex_call_none__kernel__");
    assert_null(rex_view_find(&view, "table")->call);
    /* No signature, no function that calls another, nothing that other libraries define. */
    assert_int_equal(view.count, 4);
    rex_view_close(&view);
    rex_view_close(&view);
    free(bytes);
    check_positions(HOST);
}

/* ---- host images that were changed ------------------------------------------------------------------------------- */

/* The dynamic symbol NAME. */
static Elf64_Sym *symbol_of(unsigned char *bytes, size_t size, const char *name)
{
    struct rex_elf elf;
    Elf64_Shdr symbols;
    Elf64_Sym symbol;
    const char *found;
    assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
    assert_int_equal(rex_elf_find_type(&elf, SHT_DYNSYM, &symbols), 0);
    for (size_t i = 0; i < rex_elf_symbols(&symbols); i++)
        if (rex_elf_symbol(&elf, &symbols, i, &symbol, &found) == 0 && strcmp(found, name) == 0)
            return (Elf64_Sym *)(void *)(bytes + symbols.sh_offset) + i;
    fail_msg("no symbol %s", name);
    return NULL;
}

/* A symbol that is of another type, without a name, or elsewhere, is no kernel, and calls none. */
TEST(test_host_symbols)
{
    static const struct {
        const char *symbol;
        int type; /* -1: defined elsewhere; -2: without a name */
        size_t count;
        bool kernel, call; /* of plain__kernel__ */
    } cases[] = {
        {"plain__kernel__", STT_FUNC, 4, true, true},     {"plain__kernel__", STT_OBJECT, 4, false, false},
        {"plain__kernel__", STT_NOTYPE, 4, false, false}, {"plain__kernel__", STT_TLS, 3, false, false},
        {"plain__kernel__", -1, 3, false, false},         {"plain__kernel__", -2, 3, false, false},
        {"rex_call_plain__kernel__", -1, 4, true, false}, {"rex_call_plain__kernel__", -2, 4, true, false},
        {"rex_call_plain__kernel__", STT_OBJECT, 4, true, true},
    };
    size_t size;
    unsigned char *bytes = read_bytes(HOST, &size);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_view view;
        Elf64_Sym *symbol = symbol_of(bytes, size, cases[i].symbol), saved = *symbol;
        if (cases[i].type == -1)
            symbol->st_shndx = SHN_UNDEF;
        else if (cases[i].type == -2)
            symbol->st_name = 0;
        else
            symbol->st_info = ELF64_ST_INFO(STB_GLOBAL, cases[i].type);
        assert_int_equal(rex_view_open(&view, bytes, size, "symbols"), 0);
        const struct rex_image_symbol *plain = rex_view_find(&view, "plain__kernel__");
        if (view.count != cases[i].count || (plain != NULL && plain->kernel) != cases[i].kernel ||
            (plain != NULL && plain->call != NULL) != cases[i].call)
            fail_msg("case %zu", i);
        assert_null(rex_view_find(&view, ""));
        assert_null(rex_view_find(&view, "strchr"));
        rex_view_close(&view);
        *symbol = saved;
    }
    free(bytes);
}

/* A signature whose numbers are not all in one section says nothing; the kernel is there all the same. */
TEST(test_host_signatures)
{
    static const char signature[] = "rex_signature_plain__kernel__", text[] = "0(rex_arg value, uint64_t *out)";
    enum { UNKNOWN = REX_PARAMETERS_UNKNOWN };
    size_t size;
    unsigned char *bytes = read_bytes(HOST, &size);
    Elf64_Sym *symbol = symbol_of(bytes, size, signature), saved = *symbol;
    Elf64_Shdr *section = section_of(bytes, size, ".rodata");
    const uint64_t begin = section->sh_addr, end = begin + section->sh_size, room = end - saved.st_value;
    const struct {
        uint64_t value, size;
        uint16_t section;
        uint64_t parameters;
    } cases[] = {
        {saved.st_value, saved.st_size, saved.st_shndx, 2},
        {saved.st_value, saved.st_size, SHN_UNDEF, UNKNOWN},
        {saved.st_value, room / 2 * 2, saved.st_shndx, room / 2 - 1},
        {saved.st_value, room + 1, saved.st_shndx, UNKNOWN},
        {saved.st_value, room + 2, saved.st_shndx, UNKNOWN},
        {saved.st_value, saved.st_size - 1, saved.st_shndx, UNKNOWN},
        {saved.st_value, saved.st_size - 2, saved.st_shndx, 1},
        {saved.st_value, 2, saved.st_shndx, 0},
        {saved.st_value, 0, saved.st_shndx, UNKNOWN},
        {begin, saved.st_size, saved.st_shndx, 2},
        {begin - 1, saved.st_size, saved.st_shndx, UNKNOWN},
        {0, saved.st_size, saved.st_shndx, UNKNOWN},
        {UINT64_MAX, saved.st_size, saved.st_shndx, UNKNOWN},
    };
    memcpy(bytes + section->sh_offset, bytes + section->sh_offset + (saved.st_value - begin), saved.st_size);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_view view;
        symbol->st_value = cases[i].value;
        symbol->st_size = cases[i].size;
        symbol->st_shndx = cases[i].section;
        assert_int_equal(rex_view_open(&view, bytes, size, "signatures"), 0);
        const struct rex_image_symbol *plain = rex_view_find(&view, "plain__kernel__");
        if (plain->signature != (cases[i].parameters != UNKNOWN) || plain->parameters != cases[i].parameters)
            fail_msg("case %zu", i);
        assert_true(rex_view_find(&view, "env__kernel__")->signature && rex_view_find(&view, "none__kernel__")->signature);
        rex_view_close(&view);
    }
    /* An empty section at the same address takes nothing away. */
    *symbol = saved;
    symbol->st_value = begin;
    Elf64_Shdr *empty = section_of(bytes, size, ".comment"), comment = *empty;
    struct rex_view view;
    empty->sh_flags = SHF_ALLOC;
    empty->sh_addr = begin;
    empty->sh_size = 0;
    assert_int_equal(rex_view_open(&view, bytes, size, "an empty section"), 0);
    assert_true(rex_view_find(&view, "plain__kernel__")->signature);
    rex_view_close(&view);
    *empty = comment;
    /* librex 0.1 wrote a text. */
    memcpy(bytes + section->sh_offset, text, sizeof text);
    for (uint64_t length = 1; length <= sizeof text; length++) {
        symbol->st_size = length;
        if (length == 1)
            assert_int_equal(error_of(bytes, size), 0);
        else
            refused(bytes, size, ": it was compiled with rex/kernel.h of librex 0.1: rebuild it");
    }
    /* All together as many bytes as the file, and one more. */
    *symbol = saved;
    uint64_t others = symbol_of(bytes, size, "rex_signature_env__kernel__")->st_size + symbol_of(bytes, size, "rex_signature_none__kernel__")->st_size;
    symbol->st_size = size - others;
    assert_int_equal(error_of(bytes, size), 0);
    symbol->st_size++;
    refused(bytes, size, ": its signatures take more bytes than the file has");
    symbol->st_size = size / 2;
    symbol_of(bytes, size, "rex_signature_env__kernel__")->st_size = size / 2;
    refused(bytes, size, ": its signatures take more bytes than the file has");
    free(bytes);
}

static void compare_kernels(const struct rex_view *whole, const struct rex_view *view)
{
    assert_int_equal(view->count, whole->count);
    for (uint32_t i = 0; i < whole->count; i++) {
        const struct rex_image_symbol *one = &whole->symbols[i], *other = rex_view_find(view, one->name);
        assert_non_null(other);
        assert_true(one->kernel == other->kernel && one->plain == other->plain && one->env == other->env);
        assert_int_equal(one->signature, other->signature);
        assert_int_equal(one->parameters, other->parameters);
        assert_int_equal(one->exec_mode, other->exec_mode);
        assert_int_equal(one->environment_size, other->environment_size);
        assert_int_equal(one->call != NULL, other->call != NULL);
    }
}

/* Each symbol is the first one in turn, and the last one: there is one more in front, which is none. */
TEST(test_symbols_in_another_order)
{
    static const char *const files[] = {HOST, "tests/data/signed_sm_90.cubin", "tests/data/limits_sm_90.cubin",
                                        "tests/data/environments_sm_90.cubin"};
    for (size_t file = 0; file < COUNT(files); file++) {
        struct rex_view whole, view;
        struct rex_elf elf;
        Elf64_Shdr table;
        size_t size;
        unsigned char *bytes = read_bytes(files[file], &size), *changed = read_bytes(files[file], &size);
        assert_int_equal(rex_view_open(&whole, bytes, size, files[file]), 0);
        assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
        assert_int_equal(rex_elf_find_type(&elf, file == 0 ? SHT_DYNSYM : SHT_SYMTAB, &table), 0);
        Elf64_Sym *symbols = (Elf64_Sym *)(void *)(changed + table.sh_offset), saved;
        size_t count = rex_elf_symbols(&table);
        assert_true(count > 10);
        for (size_t i = 2; i < 2 * count - 1; i++) {
            size_t place = i < count ? 1 : count - 1, other = i < count ? i : i - count + 1;
            memcpy(changed, bytes, size);
            saved = symbols[place];
            symbols[place] = symbols[other];
            symbols[other] = saved;
            assert_int_equal(rex_view_open(&view, changed, size, "changed"), 0);
            compare_kernels(&whole, &view);
            rex_view_close(&view);
        }
        rex_view_close(&whole);
        free(changed);
        free(bytes);
    }
}

/* The last relocation of BYTES that stores the name of an entry. */
static Elf64_Rela *last_name(unsigned char *bytes, const Elf64_Shdr *relocations, const Elf64_Shdr *entries)
{
    Elf64_Rela *all = (Elf64_Rela *)(void *)(bytes + relocations->sh_offset), *found = NULL;
    for (size_t i = 0; i < relocations->sh_size / sizeof *all; i++)
        if (all[i].r_offset >= entries->sh_addr && all[i].r_offset < entries->sh_addr + entries->sh_size && all[i].r_offset % 32 ==
            (entries->sh_addr + offsetof(struct __tgt_offload_entry, name)) % 32)
            found = &all[i];
    assert_non_null(found);
    return found;
}

/* Names of entries that relocations do not give, or that lie where no string is. */
TEST(test_host_entries)
{
    static const char nameless[] = ": an entry of its section omp_offloading_entries has no name",
                      odd[] = ": the length of its section omp_offloading_entries is no multiple of an entry's 32 bytes",
                      many[] = ": its relocations take more bytes than the file has";
    size_t size;
    unsigned char *bytes = read_bytes(HOST, &size);
    Elf64_Shdr *entries = section_of(bytes, size, "omp_offloading_entries"), *relocations = section_of(bytes, size, ".rela.dyn"),
               *text = section_of(bytes, size, ".text"), *comment = section_of(bytes, size, ".comment"), saved = *entries, plt = {0};
    struct rex_elf elf;
    Elf64_Rela *last = last_name(bytes, relocations, entries), relocation = *last;
    assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
    if (rex_elf_find(&elf, ".rela.plt", &plt) != 0) /* it is there, if the image calls a function elsewhere */
        plt.sh_size = 0;
    memset(bytes + entries->sh_offset, 0, entries->sh_size);
    /* Up to the one that the last name is in. */
    const uint64_t all = relocations->sh_size, end = (uint64_t)((unsigned char *)(last + 1) - bytes) - relocations->sh_offset;
    relocations->sh_size = end;
    assert_int_equal(error_of(bytes, size), 0);
    relocations->sh_size = end - 1;
    refused(bytes, size, nameless);
    relocations->sh_size = all;
    /* A symbol that is not there; no section; one without bytes; a string that does not end in it. */
    last->r_info = ELF64_R_INFO(100000, ELF64_R_TYPE(relocation.r_info));
    refused(bytes, size, nameless);
    *last = relocation;
    last->r_addend = 1;
    refused(bytes, size, nameless);
    last->r_addend = (Elf64_Sxword)section_of(bytes, size, ".bss")->sh_addr;
    refused(bytes, size, nameless);
    last->r_addend = (Elf64_Sxword)(text->sh_addr + text->sh_size - 1);
    bytes[text->sh_offset + text->sh_size - 1] = 'x';
    refused(bytes, size, nameless);
    *last = relocation;
    /* One that stores just behind the table, or in front of it, or another member, gives no name. */
    static const int64_t places[] = {32, -128, 1, -8, 8};
    for (size_t i = 0; i < COUNT(places); i++) {
        last->r_offset = relocation.r_offset + (uint64_t)places[i];
        refused(bytes, size, nameless);
    }
    *last = relocation;
    assert_int_equal(error_of(bytes, size), 0);
    entries->sh_size++;
    refused(bytes, size, odd);
    *entries = saved;
    entries->sh_type = SHT_NOBITS;
    refused(bytes, size, odd);
    *entries = saved;
    /* As many bytes as the file, and one more; those that the loader does not see count for nothing. */
    text->sh_type = comment->sh_type = SHT_RELA;
    text->sh_offset = comment->sh_offset = 0;
    comment->sh_size = size;
    text->sh_size = size - relocations->sh_size - plt.sh_size;
    assert_int_equal(error_of(bytes, size), 0);
    text->sh_size++;
    refused(bytes, size, many);
    free(bytes);
}

/* Linkers differ in whether they leave the address in place as well; without it the relocations have to tell. */
TEST(test_positions_from_relocations)
{
    struct rex_elf elf;
    struct rex_view before, after;
    Elf64_Shdr section;
    size_t size;
    unsigned char *bytes = read_bytes(HOST, &size), *copy = read_bytes(HOST, &size);
    assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
    assert_int_equal(rex_elf_find(&elf, "omp_offloading_entries", &section), 0);
    memset(copy + section.sh_offset, 0, section.sh_size);
    assert_int_equal(rex_view_open(&before, bytes, size, HOST), 0);
    assert_int_equal(rex_view_open(&after, copy, size, HOST), 0);
    assert_int_equal(after.position_count, 4);
    for (size_t i = 0; i < after.position_count; i++)
        assert_string_equal(after.positions[i], before.positions[i]);
    rex_view_close(&before);
    rex_view_close(&after);
    free(bytes);
    free(copy);
}

TEST(test_packed_relocations)
{
    if (access(PACKED_HOST, R_OK) != 0) {
        print_message("skip: this linker has no -z pack-relative-relocs\n");
        skip();
    }
    check_positions(PACKED_HOST);
}

/* A shared object without a table of its own: kernels by name alone. */
TEST(test_host_image_without_table)
{
    struct rex_view view;
    size_t size;
    unsigned char *bytes = read_bytes(TEST_BUILD "/tests/fake/19/libomp.so.5", &size);
    assert_int_equal(rex_view_open(&view, bytes, size, "libomp"), 0);
    assert_int_equal(view.position_count, 0);
    assert_true(rex_view_find(&view, "omp_get_default_device")->kernel);
    check_kernel(&view, "omp_get_default_device", REX_PARAMETERS_UNKNOWN, 0, 0);
    rex_view_close(&view);
    free(bytes);
}

/* ---- what is refused, and in which words ------------------------------------------------------------------------- */

static void refused(const void *bytes, size_t size, const char *because)
{
    assert_int_equal(error_of(bytes, size), REX_EIMAGE);
    if (strstr(rex_last_error(), because) == NULL)
        fail_msg("no \"%s\" in \"%s\"", because, rex_last_error());
    assert_non_null(strstr(rex_last_error(), "x.image"));
}

static void refused_file(const char *file, const char *because)
{
    size_t size;
    unsigned char *bytes = read_bytes(file, &size);
    refused(bytes, size, because);
    free(bytes);
}

TEST(test_refused_kinds)
{
    size_t size;
    unsigned char *bytes = read_bytes(HOST, &size);
    const uint16_t another_machine = 0xf3, program = ET_EXEC, none = 0;
    refused("", 0, "is empty");
    refused("x", 1, "not an ELF file");
    refused("\x7f" "EL", 3, "not an ELF file");
    refused("\x7f" "ELF", 4, "truncated inside the ELF header");
    refused_file("tests/data/sm_90.fatbin", "it is a fatbin, and what is asked for is one of the images in it");
    refused_file("tests/data/two.offload", "it is an OffloadBinary, and what is asked for is one of the images in it");
    refused_file("tests/data/kernels.cu", "not an ELF file");

    memcpy(bytes + offsetof(Elf64_Ehdr, e_machine), &another_machine, 2);
    refused(bytes, size, "for another processor");
    free(bytes);
    bytes = read_bytes(HOST, &size);
    memcpy(bytes + offsetof(Elf64_Ehdr, e_type), &program, 2);
    refused(bytes, size, "link it with -shared");
    free(bytes);
    refused_file("/proc/self/exe", "link it with -shared");
    bytes = read_bytes(HOST, &size);
    bytes[EI_CLASS] = ELFCLASS32;
    refused(bytes, size, "64-bit little-endian");
    bytes[EI_CLASS] = ELFCLASS64;
    memcpy(bytes + offsetof(Elf64_Ehdr, e_shnum), &none, 2);
    refused(bytes, size, "no section table");
    free(bytes);
}

/* Where the last byte is that something refers to; what follows is padding. */
static size_t used_bytes(const unsigned char *bytes, size_t size)
{
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    size_t end = header.e_shoff + (size_t)header.e_shnum * sizeof(Elf64_Shdr);
    size_t segments = header.e_phoff + (size_t)header.e_phnum * sizeof(Elf64_Phdr);
    if (segments > end)
        end = segments;
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL && section.sh_offset + section.sh_size > end)
            end = section.sh_offset + section.sh_size;
    }
    return end < size ? end : size;
}

/* Every cut that takes a byte which something refers to. Copied, so that AddressSanitizer sees a read behind the cut.
 */
TEST(test_truncated)
{
    static const char *const files[] = {"tests/data/sm_75.cubin", "tests/data/sm_90.cubin", "tests/data/sm_120.cubin",
                                        HOST};
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t size, taken = 0;
        unsigned char *bytes = read_bytes(files[i], &size);
        size_t used = used_bytes(bytes, size);
        for (size_t cut = 0; cut < size; cut += 64) {
            unsigned char *copy = malloc(cut + 1);
            assert_non_null(copy);
            memcpy(copy, bytes, cut);
            unsigned char *exact = realloc(copy, cut > 0 ? cut : 1);
            assert_non_null(exact);
            int error = error_of(exact, cut);
            if (cut < used && error != REX_EIMAGE)
                fail_msg("%s cut to %zu of %zu bytes: %d", files[i], cut, size, error);
            taken += error == 0;
            free(exact);
        }
        /* The files end with what they use: nothing was let through. */
        assert_int_equal(used, size);
        assert_int_equal(taken, 0);
        free(bytes);
    }
}

/* A header that is marked as unused may point anywhere. */
TEST(test_unused_sections)
{
    static const char *const files[] = {"tests/data/limits_sm_90.cubin", HOST};
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t size;
        unsigned char *bytes = read_bytes(files[i], &size);
        Elf64_Ehdr header;
        memcpy(&header, bytes, sizeof header);
        for (size_t k = 0; k < header.e_shnum; k++) {
            unsigned char *copy = malloc(size), *place = copy + header.e_shoff + k * sizeof(Elf64_Shdr);
            Elf64_Shdr section;
            assert_non_null(copy);
            memcpy(copy, bytes, size);
            memcpy(&section, place, sizeof section);
            section.sh_type = SHT_NULL;
            section.sh_offset = 1ull << 46;
            memcpy(place, &section, sizeof section);
            error_of(copy, size);
            free(copy);
        }
        free(bytes);
    }
}

/* ---- the nearest name -------------------------------------------------------------------------------------------- */

enum { LONGEST = 255 };

/* COUNT letters, of which the ones before the last differ from those of another FIRST; and an end that all have. */
static const char *long_name(size_t count, char first, char last)
{
    static char names[4][LONGEST + 64];
    static size_t next;
    char *name = names[next++ % COUNT(names)];
    memset(name, 'x', count);
    name[0] = first;
    name[count - 1] = last;
    strcpy(name + count, "__kernel__");
    return name;
}

static const char *nearest_of(const char *name, const char *other)
{
    return rex_nearest_name(name, &other, 1);
}

/* Up to 255 letters are compared, apart from the common end. */
TEST(test_nearest)
{
    const char *const names[] = {"axpy__kernel__", "gemm__kernel__", "apxy__kernel__"};
    assert_ptr_equal(rex_nearest_name("axpi__kernel__", names, COUNT(names)), names[0]);
    assert_ptr_equal(rex_nearest_name("gemn__kernel__", names, COUNT(names)), names[1]);
    assert_null(rex_nearest_name("stencil__kernel__", names, COUNT(names)));
    assert_null(rex_nearest_name("axpy", names, 0));
    assert_null(rex_nearest_name(NULL, names, 1));
    assert_string_equal(rex_last_error(), "rex_nearest_name: the name is NULL");
    assert_null(rex_nearest_name("axpy", NULL, 0)); /* which is no error */
    assert_string_equal(rex_last_error(), "rex_nearest_name: the name is NULL");
    assert_null(rex_nearest_name("axpy", NULL, 1));
    assert_string_equal(rex_last_error(), "rex_nearest_name: the array of names is NULL");
    assert_non_null(nearest_of(long_name(LONGEST, 'a', 'a'), long_name(LONGEST, 'b', 'b')));
    assert_non_null(nearest_of(long_name(LONGEST - 1, 'a', 'a'), long_name(LONGEST, 'b', 'b')));
    assert_null(nearest_of(long_name(LONGEST + 1, 'a', 'a'), long_name(LONGEST, 'b', 'b')));
    assert_null(nearest_of(long_name(LONGEST, 'a', 'a'), long_name(LONGEST + 1, 'b', 'b')));
}

/* ---- hostile bytes ----------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* What a registration does with a view: all names, all positions. */
static void use(const struct rex_view *view)
{
    size_t letters = 0;
    for (size_t i = 0; i < view->count; i++) {
        letters += strlen(view->symbols[i].name);
        assert_non_null(rex_view_find(view, view->symbols[i].name));
    }
    for (size_t i = 0; i < view->position_count; i++)
        letters += strlen(view->positions[i]);
    assert_true(letters < SIZE_MAX);
    rex_view_nearest(view, "plain__kernel_", true);
}

static void mutate(unsigned char *bytes, size_t size)
{
    static const uint64_t values[] = {
        0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX - 63, 1ull << 63};
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    uint64_t changes = 1 + next_random() % 4;
    while (changes-- > 0) {
        uint64_t value = next_random() % 2 ? values[next_random() % COUNT(values)] : next_random();
        size_t width = (size_t)1 << next_random() % 4, at = next_random() % size;
        /* Half of them in the headers, where they do most. */
        if (next_random() % 2)
            at = header.e_shoff + next_random() % ((size_t)header.e_shnum * sizeof(Elf64_Shdr));
        if (next_random() % 8 == 0)
            at = next_random() % sizeof header;
        if (at < size)
            memcpy(bytes + at, &value, width < size - at ? width : size - at);
    }
}

TEST(test_mutations_never_crash)
{
    static const char *const files[] = {"tests/data/sm_75.cubin",
                                        "tests/data/sm_90.cubin",
                                        "tests/data/sm_120.cubin",
                                        HOST,
                                        PACKED_HOST,
                                        TEST_BUILD "/tests/fake/19/libomptarget.so.19"};
    int taken = 0, refusals = 0;
    setenv("REX_LOG", "off", 1);
    random_state = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t size;
        if (access(files[i], R_OK) != 0)
            continue; /* the linker has no packed relocations */
        unsigned char *bytes = read_bytes(files[i], &size), *copy = malloc(size);
        assert_non_null(copy);
        for (int round = 0; round < 3000; round++) {
            struct rex_view view;
            memcpy(copy, bytes, size);
            mutate(copy, size);
            int result = rex_view_open(&view, copy, size, "mutated");
            taken += result == 0;
            refusals += result == REX_EIMAGE;
            assert_true(result == 0 || result == REX_EIMAGE || result == REX_ENOMEM);
            if (result == 0) {
                use(&view);
                rex_view_close(&view);
            }
        }
        free(copy);
        free(bytes);
    }
    unsetenv("REX_LOG");
    print_message("%d mutations taken, %d refused\n", taken, refusals);
    assert_true(taken > 1000 && refusals > 1000); /* else they are too wild or too tame to say anything */
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Of symbols with one name the first is found; names with one hash are told from each other. */
TEST(test_equal_names)
{
    static const char *const names[] = {"8yn0iYCKYHlIj4-BwPqk", "x", "x", "GReLUrM4wMqfg9yzV3KQ", "x", "8yn0iYCKYHlIj4-BwPqk"};
    for (size_t count = 1; count <= COUNT(names); count++) {
        struct rex_view view = {.most = SIZE_MAX};
        for (size_t i = 0; i < count; i++) {
            const struct rex_image_symbol symbol = {.name = names[i], .size = 10 + i};
            assert_int_equal(rex_view_add(&view, &symbol), 0);
        }
        assert_int_equal(rex_view_index(&view), 0);
        assert_int_equal(rex_view_find(&view, names[0])->size, 10);
        assert_true(count < 2 || rex_view_find(&view, "x")->size == 11);
        assert_true(count < 4 ? rex_view_find(&view, names[3]) == NULL : rex_view_find(&view, names[3])->size == 13);
        assert_null(rex_view_find(&view, "y"));
        rex_view_close(&view);
    }
}

TEST(test_nearest_name)
{
    struct rex_view view;
    size_t size;
    unsigned char *bytes = read_bytes(cubins[2].file, &size);
    char long_name[600];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_int_equal(rex_view_open(&view, bytes, size, "x"), 0);
    assert_string_equal(rex_view_nearest(&view, "plian__kernel__", true), "plain__kernel__");
    assert_string_equal(rex_view_nearest(&view, "narow_first__kernel__", true), "narrow_first__kernel__");
    assert_string_equal(rex_view_nearest(&view, "tables", false), "table");
    assert_null(rex_view_nearest(&view, "something else entirely", true));
    assert_null(rex_view_nearest(&view, long_name, true));
    rex_view_close(&view);
    free(bytes);
}
