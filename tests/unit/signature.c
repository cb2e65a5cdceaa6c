/*
 * signature.c - what a kernel's signature tells: the numbers in a host image, the mangled name in a CUBIN and PTX, and both in real images.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include "image/open.h"
#include "image/signature.h"

/* A view of one kernel, "k"; PARAMETERS as a CUBIN's reader finds them, 16 bytes each. */
static void open_view(struct rex_view *view, enum rex_image_kind kind, uint16_t parameters)
{
    const struct rex_image_symbol kernel = {.name = "k", .kernel = true, .parameters = parameters, .exec_mode = -1};
    *view = (struct rex_view){.kind = kind, .most = SIZE_MAX};
    assert_int_equal(rex_view_add(view, &kernel), 0);
    if (parameters != REX_PARAMETERS_UNKNOWN)
        assert_int_equal(rex_view_add_parameters(view, parameters, &view->symbols[0].first), 0);
    for (size_t i = 0; i < view->parameter_count; i++)
        view->parameters[i] = (struct rex_image_parameter){.offset = (uint16_t)(16 * i), .size = 16};
    assert_int_equal(rex_view_index(view), 0);
}

/* The parameters of VIEW's kernel, as messages print them, are WANTED; NULL: it has no signature. */
static void check_view(struct rex_view *view, const char *what, const char *wanted)
{
    char list[REX_SIGNATURE_MAX] = "none";
    const struct rex_image_symbol *kernel = rex_view_find(view, "k");
    if (kernel->signature)
        rex_signature_print(view->parameters + kernel->first, kernel->parameters, list);
    if (strcmp(list, wanted != NULL ? wanted : "none") != 0)
        fail_msg("%s: %s", what, list);
    assert_true(kernel->signature ? kernel->env != kernel->plain : !kernel->env && !kernel->plain);
    rex_view_close(view);
}

static int read_numbers(struct rex_view *view, const char *name, const uint16_t *numbers, size_t size)
{
    return rex_signature_read_numbers(view, name, (const char *)numbers, size);
}

TEST(test_numbers)
{
    static const struct {
        uint16_t numbers[20];
        size_t size;
        const char *list;
    } cases[] = {
        {{2, 11, 14, 1, 1}, 10, "(int64_t, double, pointer, pointer)"},
        {{3, 11}, 4, "(pointer, int64_t)"},
        {{2}, 2, "()"},
        {{3}, 2, "(pointer)"},
        {{2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x803, 0x103},
         28,
         "(int8_t, uint8_t, int16_t, uint16_t, int, unsigned, int64_t, uint64_t, float, double, bool, struct of 8 bytes, struct of 1 byte)"},
        /* what has no meaning, or none for this kind, is unknown or left out */
        {{2, 0, 3, 4, 16, 255}, 12, "(?, ?, ?, ?, ?)"},
        {{2, 0x801, 0x10e, 0x400f}, 8, "(pointer, double, bool)"},
                /* of librex 0.1: parameters that were no rex_arg took any value of their width */
        {{0, 2, 0x403, 0x804, 14, 1, 3}, 14, "(value, value of 4 bytes, value of 8 bytes, double, pointer, value)"},
        {{1, 2}, 4, "(pointer, value)"},
        /* no signatures */
        {{0}, 0, NULL},
        {{2}, 1, NULL},
        {{4}, 2, NULL},
        {{UINT16_MAX, 1}, 4, NULL},
        {{2, 11}, 3, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_view view;
        char what[20];
        snprintf(what, sizeof what, "case %zu", i);
        open_view(&view, REX_IMAGE_HOST, REX_PARAMETERS_UNKNOWN);
        assert_int_equal(read_numbers(&view, "k", cases[i].numbers, cases[i].size), 0);
        assert_int_equal(read_numbers(&view, "another", cases[i].numbers, cases[i].size), 0);
        check_view(&view, what, cases[i].list);
    }
}

/* As many words as have an offset, and one more, of which nothing is told. */
TEST(test_many_words)
{
    enum { MOST = UINT16_MAX / 8 };
    static uint16_t numbers[MOST + 2] = {2};
    for (size_t i = 1; i < COUNT(numbers); i++)
        numbers[i] = REX_KIND_I64;
    for (size_t count = MOST; count <= MOST + 1; count++) {
        struct rex_view view;
        open_view(&view, REX_IMAGE_HOST, REX_PARAMETERS_UNKNOWN);
        assert_int_equal(read_numbers(&view, "k", numbers, (1 + count) * sizeof *numbers), 0);
        const struct rex_image_symbol *kernel = rex_view_find(&view, "k");
        assert_int_equal(kernel->signature, count == MOST);
        assert_int_equal(kernel->parameters, count == MOST ? MOST : REX_PARAMETERS_UNKNOWN);
        if (count == MOST)
            assert_int_equal(view.parameters[kernel->first + MOST - 1].offset, 8 * (MOST - 1));
        rex_view_close(&view);
    }
}

TEST(test_is_mangled)
{
    assert_true(rex_signature_is_mangled("_Z15rex_signature_kP9rex_kinds"));
    assert_false(rex_signature_is_mangled("_Z14rex_signature_kP9rex_kinds"));
    assert_false(rex_signature_is_mangled("_Z13rex_signature_kP9rex_kinds"));
    assert_true(rex_signature_is_mangled("_Z15rex_signature_k"));
    assert_false(rex_signature_is_mangled("_Z16rex_signature_k"));
}

/* A view that takes no more bytes. */
TEST(test_no_room)
{
    struct rex_view view;
    open_view(&view, REX_IMAGE_HOST, REX_PARAMETERS_UNKNOWN);
    view.most = view.taken + 2 * sizeof *view.parameters;
    assert_int_equal(read_numbers(&view, "k", (const uint16_t[]){2, 9, 9, 9}, 8), -1);
    assert_true(view.overfull && !rex_view_find(&view, "k")->signature);
    view.overfull = false;
    assert_int_equal(read_numbers(&view, "k", (const uint16_t[]){3, 9}, 4), 0);
    check_view(&view, "an int", "(pointer, int)");
}

TEST(test_mangled)
{
    static const struct {
        const char *name, *list;
        uint16_t parameters;
    } cases[] = {
        {"_Z15rex_signature_kP9rex_kindsIJLj2ELj11ELj14ELj1EEE", "(int64_t, double, pointer)", 3},
        {"_Z15rex_signature_kP9rex_kindsIJLj3ELj11EEE", "(pointer, int64_t)", 2},
        {"_Z15rex_signature_kP9rex_kindsIJLj2EEE", "()", 0},
        {"_ZN5inner15rex_signature_kEP9rex_kindsIJLj2ELj1EEE", "(pointer)", 1},
        {"_Z15rex_signature_kP9rex_kindsIJLj2ELj2051ELj1028ELj16ELj3EEE", "(struct of 8 bytes, ?, ?, ?)", 4},
        /* of librex 0.1 */
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj2ELj14ELj1EEE", "(value, double, pointer)", 3},
        {"_Z15rex_signature_kP9rex_kindsIJLj1ELj2EEE", "(pointer, value)", 2},
        {"_Z15rex_signature_kP9rex_kindsIJLj0EEE", "()", 0},
        {"_ZN5inner15rex_signature_kEP9rex_kindsIJLj0ELj1EEE", "(pointer)", 1},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj4099ELj1028ELj16ELj3EEE", "(value of 16 bytes, value of 4 bytes, ?, value)", 4},
        /* as many parameters as the kernel has */
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj2EEE", NULL, 2},
        {"_Z15rex_signature_kP9rex_kindsIJLj1ELj2EEE", NULL, 1},
        /* no signatures */
        {"_Z15rex_signature_kP9rex_kindsIJLj4ELj2EEE", NULL, 1},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj2EE", NULL, 1},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj2EEEv", NULL, 1},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj2", NULL, 1},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELi2EEE", NULL, 1},
        {"_Z15rex_signature_kP9rex_kindsIJEE", NULL, 0},
        {"_Z15rex_signature_kP9rex_others", NULL, 1},
        {"_Z15rex_signature_kP9rex_others", NULL, 2},
        {"_Y15rex_signature_kP9rex_kindsIJLj0ELj2EEE", NULL, 1},
        {"_Z16rex_signature_kP9rex_kindsIJLj0ELj2EEE", NULL, 1},
        {"_Z99rex_signature_kP9rex_kindsIJLj0EEE", NULL, 0},
        {"_Z14rex_signature_kP9rex_kindsIJLj0EEE", NULL, 0},
        {"_Zrex_signature_kP9rex_kindsIJLj0EEE", NULL, 0},
        {"rex_signature_kP9rex_kindsIJLj0EEE", NULL, 0},
        {"_Z15rex_signature_k", NULL, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_view view;
        open_view(&view, REX_IMAGE_CUBIN, cases[i].parameters);
        rex_signature_read_mangled(&view, cases[i].name);
        check_view(&view, cases[i].name, cases[i].list);
    }
}

/* A signature with a parameter that is wider than the image's is dropped, whole, and so is one before it; the log names the parameter. */
TEST(test_too_wide)
{
    static const struct {
        const char *name;
        uint16_t size;
        const char *list;
    } cases[] = {
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj1027ELj1028EEE", 4, "(value of 4 bytes, value of 4 bytes)"},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj1027ELj1284EEE", 4, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj1048579ELj1028EEE", 4, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj1ELj1028EEE", 4, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj2ELj14EEE", 7, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj2ELj11ELj13EEE", 7, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj2ELj9ELj13EEE", 7, "(int, float)"},
        {"_Z15rex_signature_kP9rex_kindsIJLj1ELj1027EEE", 4, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj1ELj1027EEE", 8, "(pointer, value of 4 bytes)"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_view view;
        open_view(&view, REX_IMAGE_PTX, 2);
        rex_signature_read_mangled(&view, "_Z15rex_signature_kP9rex_kindsIJLj0ELj2ELj2EEE");
        assert_true(rex_view_find(&view, "k")->signature);
        view.parameters[0].size = view.parameters[1].size = cases[i].size;
        rex_signature_read_mangled(&view, cases[i].name);
        for (size_t k = 0; k < 2 && cases[i].list == NULL; k++)
            assert_true(view.parameters[k].kind == REX_KIND_UNKNOWN && view.parameters[k].width == 0);
        check_view(&view, cases[i].name, cases[i].list);
    }
}

/* The list in a message ends, however many parameters there are. */
TEST(test_long_list)
{
    static struct rex_image_parameter parameters[500];
    char list[REX_SIGNATURE_MAX];
    for (size_t i = 0; i < COUNT(parameters); i++)
        parameters[i].kind = REX_KIND_POINTER;
    rex_signature_print(parameters, COUNT(parameters), list);
    assert_in_range(strlen(list), REX_SIGNATURE_MAX - 20, REX_SIGNATURE_MAX - 1);
    assert_string_equal(list + strlen(list) - 15, ", pointer, ...)");
    assert_string_equal(rex_kind_name(REX_KIND_BOOL), "bool");
    assert_string_equal(rex_kind_name(REX_KIND_BOOL + 1), "?");
    assert_string_equal(rex_kind_name(REX_KIND_VALUE + 1), "?");
}

static void check_kernel(const struct rex_view *view, const char *name, const char *wanted)
{
    char list[REX_SIGNATURE_MAX];
    const struct rex_image_symbol *kernel = rex_view_find(view, name);
    assert_non_null(kernel);
    assert_true(kernel->signature);
    rex_signature_print(view->parameters + kernel->first, kernel->parameters, list);
    assert_string_equal(list, wanted);
}

/* nvcc's -O3, -rdc=true with the linker, and its PTX, by librex 0.1 and by this one; a host image of this build. They add no kernel and no
 * global to those that a list shows. */
TEST(test_images)
{
    static const char *const files[] = {
        "tests/data/signed_sm_75.cubin", "tests/data/signed_sm_90.cubin",  "tests/data/signed_sm_120.cubin", "tests/data/signed_rdc_sm_90.cubin",
        "tests/data/signed_sm_90.ptx",   "tests/data/typed_sm_75.cubin",   "tests/data/typed_sm_90.cubin",   "tests/data/typed_sm_120.cubin",
        "tests/data/typed_rdc_sm_90.cubin", "tests/data/typed_sm_90.ptx", TEST_BUILD "/tests/fake/host.so"};
    for (size_t i = 0; i < COUNT(files); i++) {
        struct rex_view view;
        size_t size;
        unsigned char *bytes = read_bytes(files[i], &size);
        bool old = strstr(files[i], "/signed_") != NULL;
        assert_int_equal(rex_view_open(&view, bytes, size, files[i]), 0);
        check_kernel(&view, "plain__kernel__", old ? "(value, pointer)" : "(uint64_t, pointer)");
        check_kernel(&view, "env__kernel__", old ? "(pointer, value, pointer)" : "(pointer, uint64_t, pointer)");
        check_kernel(&view, "none__kernel__", "()");
        assert_true(rex_view_find(&view, "env__kernel__")->env);
        assert_true(rex_view_find(&view, "none__kernel__")->plain);
        if (view.kind != REX_IMAGE_HOST && old) {
            check_kernel(&view, "narrow__kernel__", "(pointer, value of 4 bytes, value of 4 bytes, value of 8 bytes)");
            check_kernel(&view, "narrow_first__kernel__", "(value of 4 bytes, value, pointer)");
            check_kernel(&view, "wide__kernel__", "(value of 16 bytes, pointer)");
            assert_int_equal(view.count, 7);
        } else if (view.kind != REX_IMAGE_HOST) {
            check_kernel(&view, "kinds__kernel__",
                         "(int8_t, uint8_t, int16_t, uint16_t, int, unsigned, int64_t, uint64_t, float, double, bool, struct of 3 bytes, "
                         "unsigned, pointer)");
            assert_false(rex_view_find(&view, "narrow__kernel__")->signature);
            assert_int_equal(view.count, 8);
        }
        for (size_t j = 0; j < view.count; j++)
            assert_null(strstr(view.symbols[j].name, "rex_"));
        rex_view_close(&view);
        free(bytes);
    }
}
