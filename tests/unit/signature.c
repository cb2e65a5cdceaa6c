/*
 * signature.c - what a kernel's signature tells: the text in a host image, the mangled name in a CUBIN and PTX, and both in real images.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include "image/open.h"
#include "image/signature.h"

/* A view of one kernel, "k"; PARAMETERS as a CUBIN's reader finds them, 16 bytes each. */
static void open_view(struct rex_image_view *view, enum rex_image_kind kind, uint16_t parameters)
{
    const struct rex_image_symbol kernel = {.name = "k", .kernel = true, .parameters = parameters, .exec_mode = -1};
    *view = (struct rex_image_view){.kind = kind, .most = SIZE_MAX};
    assert_int_equal(rex_view_add(view, &kernel), 0);
    if (parameters != REX_PARAMETERS_UNKNOWN)
        assert_int_equal(rex_view_add_parameters(view, parameters, &view->symbols[0].first), 0);
    for (size_t i = 0; i < view->parameter_count; i++)
        view->parameters[i] = (struct rex_image_parameter){.offset = (uint16_t)(16 * i), .size = 16};
    assert_int_equal(rex_view_index(view), 0);
}

/* The parameters of VIEW's kernel, as messages print them, are WANTED; NULL: it has no signature. */
static void check_view(struct rex_image_view *view, const char *what, const char *wanted)
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

static void test_text(void **state)
{
    static const struct {
        const char *text, *list;
    } cases[] = {
        {"0(rex_arg n, rex_arg_f64 a, const double *x, double *y)", "(rex_arg, rex_arg_f64, pointer, pointer)"},
        {"1(rex_arg n)", "(pointer, rex_arg)"},
        {"0(void)", "()"},
        {"1(void)", "(pointer)"},
        {"1()", "(pointer)"},
        {"0()", "()"},
        {"0(void *x)", "(pointer)"},
        {"0(const rex_arg_b a, volatile rex_arg_i8 b, rex_arg_u16 const c)", "(rex_arg_b, rex_arg_i8, rex_arg_u16)"},
        {"0(double *__restrict__ const x, int y[restrict 4], int64_t **z)", "(pointer, pointer, pointer)"},
        {"0(void (*function)(int, int), rex_arg n)", "(pointer, rex_arg)"},
        {"0(uint64_t a, unsigned long b, size_t c, long unsigned int d)", "(rex_arg, rex_arg, rex_arg, rex_arg)"},
        {"0(int a, short b, unsigned char c, long long d, unsigned e, _Bool f, int16_t)",
         "(value of 4 bytes, value of 2 bytes, value of 1 byte, value of 8 bytes, value of 4 bytes, value of 1 byte, value of 2 bytes)"},
        {"0(float f, const double d)", "(floating point of 4 bytes, floating point of 8 bytes)"},
        {"0(long a, signed long b, long long unsigned c, char d, signed e, unsigned short f)",
         "(value of 8 bytes, value of 8 bytes, value of 8 bytes, value of 1 byte, value of 4 bytes, value of 2 bytes)"},
        /* up to six words, without the qualifiers */
        {"0(unsigned signed long long int const n)", "(value of 8 bytes)"},
        {"0(unsigned signed long long int int n, rex_arg m)", "(?, rex_arg)"},
        {"0(unsigned signed long long int n m *p, rex_arg m)", "(pointer, rex_arg)"},
        /* never guessed */
        {"0(my_arg a, struct pair p, struct pair *q, enum e f, long double g)", "(?, ?, pointer, ?, ?)"},
        {"0(__typeof__(int *) p, __typeof__(int) *q, T &r, f g(int))", "(?, pointer, ?, ?)"},
        {"0(vec<int, 2> v, vec<int *, 2> *w, [[maybe_unused]] rex_arg n)", "(?, pointer, rex_arg)"},
        {"0(int *&r, int &s, int x{}, int y = 3, int *&&t)", "(?, ?, ?, ?, ?)"},
        {"0(rex_arg n __attribute__((unused)), __attribute__ ((unused)) int *q)", "(rex_arg, pointer)"},
        /* no signatures */
        {"", NULL},
        {"2(rex_arg n)", NULL},
        {"0", NULL},
        {"0(", NULL},
        {"0(rex_arg n", NULL},
        {"0(rex_arg n,", NULL},
        {"0(rex_arg n))", NULL},
        {"0(int (*f", NULL},
        {"0(int [", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_image_view view;
        open_view(&view, REX_IMAGE_HOST, REX_PARAMETERS_UNKNOWN);
        assert_int_equal(rex_signature_read_text(&view, "k", cases[i].text), 0);
        assert_int_equal(rex_signature_read_text(&view, "another", cases[i].text), 0);
        check_view(&view, cases[i].text, cases[i].list);
    }
}

/* As many words as have an offset, and one more, of which nothing is told. */
static void test_many_words(void **state)
{
    enum { MOST = UINT16_MAX / 8 };
    static const char one[] = "rex_arg n,";
    (void)state;
    for (size_t count = MOST; count <= MOST + 1; count++) {
        char *text = malloc(2 + count * strlen(one) + 1), *end;
        struct rex_image_view view;
        assert_non_null(text);
        end = stpcpy(text, "0(");
        for (size_t i = 0; i < count; i++)
            end = stpcpy(end, one);
        end[-1] = ')';
        open_view(&view, REX_IMAGE_HOST, REX_PARAMETERS_UNKNOWN);
        assert_int_equal(rex_signature_read_text(&view, "k", text), 0);
        const struct rex_image_symbol *kernel = rex_view_find(&view, "k");
        assert_int_equal(kernel->signature, count == MOST);
        assert_int_equal(kernel->parameters, count == MOST ? MOST : REX_PARAMETERS_UNKNOWN);
        if (count == MOST)
            assert_int_equal(view.parameters[kernel->first + MOST - 1].offset, 8 * (MOST - 1));
        rex_view_close(&view);
        free(text);
    }
}

static void test_is_mangled(void **state)
{
    (void)state;
    assert_true(rex_signature_is_mangled("_Z15rex_signature_kP9rex_kinds"));
    assert_false(rex_signature_is_mangled("_Z14rex_signature_kP9rex_kinds"));
    assert_false(rex_signature_is_mangled("_Z13rex_signature_kP9rex_kinds"));
    assert_true(rex_signature_is_mangled("_Z15rex_signature_k"));
    assert_false(rex_signature_is_mangled("_Z16rex_signature_k"));
}

/* A view that takes no more bytes. */
static void test_no_room(void **state)
{
    struct rex_image_view view;
    (void)state;
    open_view(&view, REX_IMAGE_HOST, REX_PARAMETERS_UNKNOWN);
    view.most = view.taken + 2 * sizeof *view.parameters;
    assert_int_equal(rex_signature_read_text(&view, "k", "0(int a, int b, int c)"), -1);
    assert_true(view.overfull && !rex_view_find(&view, "k")->signature);
    view.overfull = false;
    assert_int_equal(rex_signature_read_text(&view, "k", "1(int b)"), 0);
    check_view(&view, "1(int b)", "(pointer, value of 4 bytes)");
}

static void test_mangled(void **state)
{
    static const struct {
        const char *name, *list;
        uint16_t parameters;
    } cases[] = {
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj2ELj14ELj1EEE", "(rex_arg, rex_arg_f64, pointer)", 3},
        {"_Z15rex_signature_kP9rex_kindsIJLj1ELj2EEE", "(pointer, rex_arg)", 2},
        {"_Z15rex_signature_kP9rex_kindsIJLj0EEE", "()", 0},
        {"_ZN5inner15rex_signature_kEP9rex_kindsIJLj0ELj1EEE", "(pointer)", 1},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj4099ELj1028ELj16ELj3EEE", "(value of 16 bytes, floating point of 4 bytes, ?, ?)", 4},
        /* as many parameters as the kernel has */
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj2EEE", NULL, 2},
        {"_Z15rex_signature_kP9rex_kindsIJLj1ELj2EEE", NULL, 1},
        /* no signatures */
        {"_Z15rex_signature_kP9rex_kindsIJLj2ELj2EEE", NULL, 1},
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
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_image_view view;
        open_view(&view, REX_IMAGE_CUBIN, cases[i].parameters);
        rex_signature_read_mangled(&view, cases[i].name);
        check_view(&view, cases[i].name, cases[i].list);
    }
}

/* A signature with a parameter that is wider than the image's is dropped, whole, and so is one before it; the log names the parameter. */
static void test_too_wide(void **state)
{
    static const struct {
        const char *name;
        uint16_t size;
        const char *list;
    } cases[] = {
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj1027ELj1028EEE", 4, "(value of 4 bytes, floating point of 4 bytes)"},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj1027ELj1284EEE", 4, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj1048579ELj1028EEE", 4, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj1ELj1028EEE", 4, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj0ELj2ELj14EEE", 7, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj1ELj1027EEE", 4, NULL},
        {"_Z15rex_signature_kP9rex_kindsIJLj1ELj1027EEE", 8, "(pointer, value of 4 bytes)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_image_view view;
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
static void test_long_list(void **state)
{
    static struct rex_image_parameter parameters[500];
    char list[REX_SIGNATURE_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(parameters); i++)
        parameters[i].kind = REX_KIND_POINTER;
    rex_signature_print(parameters, COUNT(parameters), list);
    assert_in_range(strlen(list), REX_SIGNATURE_MAX - 20, REX_SIGNATURE_MAX - 1);
    assert_string_equal(list + strlen(list) - 15, ", pointer, ...)");
    assert_string_equal(rex_kind_name(REX_KIND_BOOL), "rex_arg_b");
    assert_string_equal(rex_kind_name(REX_KIND_BOOL + 1), "?");
}

static void check_kernel(const struct rex_image_view *view, const char *name, const char *wanted)
{
    char list[REX_SIGNATURE_MAX];
    const struct rex_image_symbol *kernel = rex_view_find(view, name);
    assert_non_null(kernel);
    assert_true(kernel->signature);
    rex_signature_print(view->parameters + kernel->first, kernel->parameters, list);
    assert_string_equal(list, wanted);
}

/* nvcc's -O3, -rdc=true with the linker, and its PTX; a host image of this build. They add no kernel and no global to those that a list
 * shows. */
static void test_images(void **state)
{
    static const char *const files[] = {"tests/data/signed_sm_75.cubin",  "tests/data/signed_sm_90.cubin",
                                        "tests/data/signed_sm_120.cubin", "tests/data/signed_rdc_sm_90.cubin",
                                        "tests/data/signed_sm_90.ptx",    TEST_BUILD "/tests/fake/host.so"};
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        struct rex_image_view view;
        size_t size;
        unsigned char *bytes = read_bytes(files[i], &size);
        assert_int_equal(rex_view_open(&view, bytes, size, files[i]), 0);
        check_kernel(&view, "plain__kernel__", "(rex_arg, pointer)");
        check_kernel(&view, "env__kernel__", "(pointer, rex_arg, pointer)");
        check_kernel(&view, "none__kernel__", "()");
        assert_true(rex_view_find(&view, "env__kernel__")->env);
        assert_true(rex_view_find(&view, "none__kernel__")->plain);
        if (view.kind != REX_IMAGE_HOST) {
            check_kernel(&view, "narrow__kernel__", "(pointer, value of 4 bytes, floating point of 4 bytes, floating point of 8 bytes)");
            check_kernel(&view, "narrow_first__kernel__", "(value of 4 bytes, rex_arg, pointer)");
            check_kernel(&view, "wide__kernel__", "(value of 16 bytes, pointer)");
            assert_int_equal(view.count, 7);
        }
        for (size_t j = 0; j < view.count; j++)
            assert_null(strstr(view.symbols[j].name, "rex_"));
        rex_view_close(&view);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),    cmocka_unit_test(test_many_words), cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_is_mangled),
        cmocka_unit_test(test_mangled), cmocka_unit_test(test_long_list),  cmocka_unit_test(test_images),
        cmocka_unit_test(test_too_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
