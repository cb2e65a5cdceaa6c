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
REX_KERNEL(many);

static void check(const char *language, form *run)
{
    const char *wrong = run();
    if (wrong != NULL)
        fail_msg("%s: not %s; last error: %s", language, wrong, rex_last_error());
}

#define FORM(name)                     \
    TEST(name)                         \
    {                                  \
        check("C11", in_c11.name);     \
        check("C++11", in_cxx11.name); \
    }
FORM(numbers_of_rows)
FORM(iterations)
FORM(configurations)
FORM(evaluation)
FORM(ways_out_of_a_region)
FORM(failing_regions)
FORM(regions_together)
FORM(messages)

TEST(on_host)
{
    assert_false(rex_on_host());
    assert_int_equal(REX_LAUNCH(nothing, 1, 1), REX_OK);
    assert_int_equal(rex_on_host(), !gpu_present());
}
