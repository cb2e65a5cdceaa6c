/*
 * macros.c - the headers leave a program's macros alone, REX_MAP() does not mind them, and rex_kmp.h rewrites calls of __tgt_X as
 * asked, in C11 and C++17.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include "macros/made.h"
#include "rex/map.h"

typedef const char *const *macros(uint32_t *version, struct made *made, double *array);
macros macros_default_c, macros_safe_c, macros_internal_c, macros_default_cpp, macros_safe_cpp, macros_internal_cpp;

#define WORDS 59 /* that macros/names.h defines */
static const char *const functions[] = {"__tgt_target",           "__tgt_target_teams",    "__tgt_target_kernel",
                                        "__tgt_target_data_begin", "__tgt_target_data_end", "__tgt_target_data_update"};

static void check(macros *include, const char *prefix)
{
    uint32_t version = 0;
    double array[2];
    struct made made = {.rows = 0};
    char expected[64];
    const char *const *after = include(&version, &made, array);
    for (int i = 0; i < WORDS; i++) {
        snprintf(expected, sizeof expected, "nonsense + %d", i + 1);
        assert_string_equal(after[i], expected);
    }
    for (size_t i = 0; i < COUNT(functions); i++) {
        snprintf(expected, sizeof expected, "%s%s", prefix, functions[i]);
        assert_string_equal(after[WORDS + i], expected);
    }
    assert_int_equal(version, 3);
    assert_int_equal(made.rows, 3);
    assert_int_equal((uintptr_t)made.based[0], 42);
    assert_ptr_equal(made.based[1], array);
    assert_int_equal(made.wide[1], sizeof array);
    assert_int_equal(made.wide[2], sizeof *array);
    assert_int_equal(made.bits[0], REX_TYPE_LITERAL | REX_TYPE_PARAMETER | REX_TYPE_KIND(REX_KIND_I64));
    assert_int_equal(made.bits[1], REX_TYPE_TOFROM | REX_TYPE_PARAMETER);
    assert_int_equal(made.bits[2], REX_TYPE_TO | REX_TYPE_ALWAYS | REX_TYPE_PARAMETER);
}

static void test_default(void **state)
{
    (void)state;
    check(macros_default_c, "rex_direct_");
    check(macros_default_cpp, "rex_direct_");
}

static void test_safe(void **state)
{
    (void)state;
    check(macros_safe_c, "rex_");
    check(macros_safe_cpp, "rex_");
}

static void test_internal(void **state)
{
    (void)state;
    check(macros_internal_c, "");
    check(macros_internal_cpp, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_safe),
        cmocka_unit_test(test_internal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
