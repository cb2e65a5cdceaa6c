/*
 * Launches and data regions in one line: forms.h, as C11 and as C++11; and where this binary's kernels run.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include "form.h"

REX_KERNEL(nothing);
REX_KERNEL(one);
REX_KERNEL(add);
REX_KERNEL(cube);
REX_KERNEL(share);
REX_KERNEL(many);

static void check(const char *language, form *run)
{
    const char *wrong = run();
    if (wrong != NULL)
        fail_msg("%s: not %s; last error: %s", language, wrong, rex_last_error());
}

#define TEST(name)                        \
    static void name(void **state)        \
    {                                     \
        (void)state;                      \
        check("C11", in_c11.name);        \
        check("C++11", in_cxx11.name);    \
    }
TEST(numbers_of_rows)
TEST(iterations)
TEST(configurations)
TEST(evaluation)
TEST(ways_out_of_a_region)
TEST(failing_regions)
TEST(regions_together)
TEST(messages)

static void on_host(void **state)
{
    (void)state;
    assert_false(rex_on_host());
    assert_int_equal(REX_LAUNCH(nothing, 1, 1), REX_OK);
    assert_int_equal(rex_on_host(), !gpu_present());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_rows),      cmocka_unit_test(iterations),      cmocka_unit_test(configurations),   cmocka_unit_test(evaluation),
        cmocka_unit_test(ways_out_of_a_region), cmocka_unit_test(failing_regions), cmocka_unit_test(regions_together), cmocka_unit_test(messages),
        cmocka_unit_test(on_host),
    };
    return RUN_EACH(argc, argv, tests);
}
