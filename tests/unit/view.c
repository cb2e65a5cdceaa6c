/*
 * view.c - looking into device images: real CUBINs and PTX of nvcc 13, host images of this build,
 * and what becomes of them where bytes are others. tests/golden/messages/inspect.txt has what is
 * found, and why it is refused.
 *
 * Bytes that are hostile in any other way: tests/fuzz.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/list.h"
#include "image/ptx.h"
#include "images.h"

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
        /* with signatures, which are no symbols of the view: -O3 and -rdc=true of nvcc */
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

/* A kernel's own shared memory is the same for each GPU: from sm_90 on nvcc counts a KiB more. */
TEST(test_own_memory)
{
    static const char *const files[] = {LIMITS, "tests/data/limits_sm_75.cubin"};
    for (size_t i = 0; i < COUNT(files); i++) {
        struct rex_view view;
        size_t size;
        unsigned char *bytes = read_bytes(files[i], &size);
        assert_int_equal(rex_view_open_within(&view, bytes, size, SIZE_MAX, files[i]), REX_OK);
        assert_int_equal(rex_view_own_memory(&view, rex_view_find(&view, "bounded")), 1024);
        assert_int_equal(rex_view_own_memory(&view, rex_view_find(&view, "unbounded")), 0);
        rex_view_close(&view);
        free(bytes);
    }
}

/* ---- CUBINs that were changed ---------------------------------------------------------------- */

TEST(test_changes)
{
    tell_changes("tests/data/changes/view.txt");
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

/* DECLARATION behind a kernel; before it, it says the same. */
static void told_beside_kernel(const char *declaration)
{
    char behind[4096], before[4096];
    int size = snprintf(behind, sizeof behind, HEAD ".entry k(){ret;}%s", declaration);
    snprintf(before, sizeof before, HEAD "%s.entry k(){ret;}", declaration);
    char *facts = facts_of(behind, (size_t)size), *others = facts_of(before, (size_t)size);
    char *differs = difference(facts, others);
    assert_string_equal(differs, "");
    told_declared(".entry k(){ret;}%s", declaration);
    free(differs);
    free(others);
    free(facts);
}

/* Each line of the file: a word that says what the text is, and the text. */
TEST(test_ptx)
{
    char line[2048], all[2048];
    FILE *file = fopen("tests/data/changes/ptx.txt", "r");
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
        else
            told_beside_kernel(text);
    }
    fclose(file);
}

/* A mark of a kernel is found, however long the kernel's name is. */
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

/* A compressed image may take so many bytes: a byte less is refused, wherever it is missing. */
TEST(test_most_bytes)
{
    static const char text[] = HEAD ".entry k(.param .u64 a){ret;}";
    const size_t needed = strlen(text) + sizeof(struct rex_image_symbol) +
                          sizeof(struct rex_view_name) + sizeof(struct rex_image_parameter);
    struct rex_view view;
    for (size_t most = 0; most < needed; most++)
        assert_int_equal(rex_view_open_within(&view, text, strlen(text), most, "x.image"),
                         REX_EIMAGE);
    refuses(rex_last_error_code(), "a byte less");
    assert_int_equal(rex_view_open_within(&view, text, strlen(text), needed, "x.image"), REX_OK);
    assert_non_null(rex_view_find(&view, "k"));
    rex_view_close(&view);
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

/* Relocations of as many bytes as the file, and one more; those that the loader does not see count for
 * nothing. */
TEST(test_host_relocations)
{
    struct image image = image_in(HOST);
    Elf64_Shdr *text = section_of(&image, ".text"), *comment = section_of(&image, ".comment");
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

/* ---- names ----------------------------------------------------------------------------------- */

TEST(test_nearest)
{
    static const char *const names[] = {"axpy__kernel__", "gemm__kernel__", "apxy__kernel__",
                                        "narrow_first__kernel__", "table"};
    static const char *const asked[] = {
        "axpi__kernel__",        "gemn__kernel__", "stencil__kernel__",
        "narow_first__kernel__", "tables",         "something else entirely",
        "axpy__kernel__",        "apxy__kernel__", "axxy__kernel__"};
    for (size_t i = 0; i < COUNT(asked); i++)
        says("%s: %s", asked[i], rex_nearest_name(asked[i], names, COUNT(names)));
    assert_null(rex_nearest_name("axpy", names, 0));
    static const char *const none[] = {NULL, "axpy_kernel"};
    assert_string_equal(rex_nearest_name("axpi_kernel", none, COUNT(none)), none[1]);
    NO_RESULT(rex_nearest_name(NULL, names, 1));
    assert_null(rex_nearest_name("axpy", NULL, 0)); /* which is no error */
    NO_RESULT(rex_nearest_name("axpy", NULL, 1));
}
