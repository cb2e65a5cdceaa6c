/*
 * signature.c - what a kernel's signature tells: the numbers in a host image, and the mangled name
 * in a CUBIN and in PTX. Those of real images: unit/view.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/view.h"
#include "images.h"
#include "rex/configure.h"

MESSAGES("inspect");

TEST(test_numbers)
{
    static const struct {
        const char *what;
        uint16_t numbers[16];
        size_t size;
    } cases[] = {
        {"plain", {2, 11, 14, 1, 1}, 10},
        {"env", {3, 11}, 4},
        {"plain, none", {2}, 2},
        {"env, none", {3}, 2},
        {"every kind", {2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x803, 0x103}, 28},
        /* what has no meaning, or none for this kind, is unknown or left out */
        {"no kinds", {2, 0, 3, 4, 16, 255}, 12},
        {"sizes of other kinds", {2, 0x801, 0x10e, 0x400f}, 8},
        {"no number", {2}, 0},
        {"half a number", {2}, 1},
        {"a form too low", {1}, 2},
        {"another form", {4}, 2},
        {"a form past all", {UINT16_MAX, 1}, 4},
        {"one and a half", {2, 11}, 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct image image = host_with_tail(cases[i].numbers, sizeof cases[i].numbers);
        sign(&image, PLACE, cases[i].size);
        changed(&image, "%s", cases[i].what);
        close_image(&image);
    }
}

/* As many words as have an offset, and one more, of which nothing is told; nor of as many as would
 * mean that the number is unknown. */
TEST(test_many_words)
{
    enum { MOST = UINT16_MAX / 8 };
    static const size_t counts[] = {MOST, MOST + 1, REX_PARAMETERS_UNKNOWN};
    static uint16_t numbers[1 + REX_PARAMETERS_UNKNOWN] = {2};
    for (size_t i = 1; i < COUNT(numbers); i++)
        numbers[i] = REX_KIND_I64;
    struct image image = host_with_tail(numbers, sizeof numbers);
    for (size_t i = 0; i < COUNT(counts); i++) {
        sign(&image, PLACE, (1 + counts[i]) * sizeof *numbers);
        changed(&image, "%zu words", counts[i]);
    }
    close_image(&image);
}

#define MANGLED "_Z15rex_signature_kP9rex_kindsIJ"
#define BASE MANGLED "Lj2ELj9ELj9EEE"

/* NAME as that of a function, and a kernel k of COUNT parameters of SIZE bytes, 16 from one to the
 * next. */
static void told_mangled(const char *name, int count, int size, const char *more)
{
    char format[1024] = ".entry %s(){ret;}.entry k(";
    for (int i = 0; i < count; i++)
        sprintf(format + strlen(format), "%s.param .align 16 .b8 p%d[%d]", i > 0 ? ", " : "", i,
                size);
    strcat(strcat(format, "){ret;}"), more);
    told_declared(format, name);
}

TEST(test_mangled)
{
    static const struct {
        const char *name;
        int parameters;
    } cases[] = {
        {MANGLED "Lj2ELj11ELj14ELj1EEE", 3},
        {MANGLED "Lj3ELj11EEE", 2},
        {MANGLED "Lj2EEE", 0},
        {"_ZN5inner15rex_signature_kEP9rex_kindsIJLj2ELj1EEE", 1},
        {MANGLED "Lj2ELj2051ELj1028ELj16ELj3EEE", 4},
        /* as many parameters as the kernel has */
        {MANGLED "Lj2ELj11EEE", 2},
        {MANGLED "Lj3ELj11EEE", 1},
        /* no signatures */
        {MANGLED "Lj1ELj11EEE", 1},
        {MANGLED "Lj4ELj11EEE", 1},
        {MANGLED "Lj2ELj11EE", 1},
        {MANGLED "Lj2ELj11EEEv", 1},
        {MANGLED "Lj2ELj11", 1},
        {MANGLED "Lj2ELj11xEE", 1},
        {MANGLED "Lj2ELi2EEE", 1},
        {MANGLED "EE", 0},
        {"_Z15rex_signature_kP9rex_others", 1},
        {"_Z15rex_signature_kP9rex_others", 2},
        {"_Y15rex_signature_kP9rex_kindsIJLj2ELj11EEE", 1},
        {"_Z16rex_signature_kP9rex_kindsIJLj2ELj11EEE", 1},
        {"_Z99rex_signature_kP9rex_kindsIJLj2EEE", 0},
        {"_Z14rex_signature_kP9rex_kindsIJLj2EEE", 0},
        {"_Z13rex_signature_kP9rex_kindsIJLj2EEE", 0},
        {"_Zrex_signature_kP9rex_kindsIJLj2EEE", 0},
        {"rex_signature_kP9rex_kindsIJLj2EEE", 0},
        {"_Z15rex_signature_k", 0},
        {"_Z16rex_signature_k", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        told_mangled(cases[i].name, cases[i].parameters, 16, "");
}

static void note(enum rex_log_level level, const char *message, void *context)
{
    (void)context;
    says("    %d %s", (int)level, message);
}

/* A signature with a parameter that is wider than the image's is dropped, whole, and so is one
 * before it; the log names the parameter. */
TEST(test_too_wide)
{
    static const struct {
        const char *numbers;
        int size;
    } cases[] = {
        {"Lj2ELj1027ELj1027EEE", 4}, {"Lj2ELj1027ELj1283EEE", 4}, {"Lj2ELj1048579ELj1027EEE", 4},
        {"Lj2ELj1ELj1027EEE", 4},    {"Lj2ELj9ELj14EEE", 7},      {"Lj2ELj11ELj13EEE", 7},
        {"Lj2ELj9ELj13EEE", 7},      {"Lj3ELj1027EEE", 4},        {"Lj3ELj1027EEE", 8},
    };
    /* A kernel whose parameters lie behind: they stay as they are. */
    static const char next[] =
        ".entry l(.param .u64 a){ret;}.entry _Z15rex_signature_lP9rex_kindsIJLj2ELj11EEE(){ret;}";
    rex_set_log_callback(note, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[128];
        /* Whichever is read first. */
        snprintf(name, sizeof name, MANGLED "%s(){ret;}.entry " BASE, cases[i].numbers);
        told_mangled(name, 2, cases[i].size, next);
        snprintf(name, sizeof name, BASE "(){ret;}.entry " MANGLED "%s", cases[i].numbers);
        told_mangled(name, 2, cases[i].size, next);
    }
    rex_set_log_callback(NULL, NULL);
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
    /* As long as can be; with a letter more, one parameter less. */
    parameters[0].kind = REX_KIND_F32;
    rex_signature_print(parameters, COUNT(parameters), list);
    assert_int_equal(strlen(list), REX_SIGNATURE_MAX - 1);
    parameters[0].kind = REX_KIND_F64;
    rex_signature_print(parameters, COUNT(parameters), list);
    assert_int_equal(strlen(list), REX_SIGNATURE_MAX - strlen(", pointer"));
    parameters[0] = (struct rex_image_parameter){.kind = REX_KIND_VALUE, .width = 1};
    parameters[1] = (struct rex_image_parameter){.kind = REX_KIND_VALUE, .width = 2};
    rex_signature_print(parameters, 2, list);
    assert_string_equal(list, "(struct of 1 byte, struct of 2 bytes)");
    assert_string_equal(rex_kind_name(REX_KIND_BOOL), "bool");
    assert_string_equal(rex_kind_name(REX_KIND_BOOL + 1), "?");
    assert_string_equal(rex_kind_name(REX_KIND_VALUE + 1), "?");
}
