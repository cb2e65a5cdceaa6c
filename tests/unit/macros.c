/*
 * macros.c - rex_kmp.h rewrites calls of __tgt_X as asked, in C11 and C++17.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

static const char *const functions[] = {"__tgt_target",           "__tgt_target_teams",    "__tgt_target_kernel",
                                        "__tgt_target_data_begin", "__tgt_target_data_end", "__tgt_target_data_update"};
extern const char *const macros_default_c[], *const macros_safe_c[], *const macros_internal_c[];
extern const char *const macros_default_cpp[], *const macros_safe_cpp[], *const macros_internal_cpp[];

static void check(const char *const *rewritten, const char *prefix)
{
    char expected[64];
    for (size_t i = 0; i < COUNT(functions); i++) {
        snprintf(expected, sizeof expected, "%s%s", prefix, functions[i]);
        assert_string_equal(rewritten[i], expected);
    }
}

TEST(test_default)
{
    check(macros_default_c, "rex_direct_");
    check(macros_default_cpp, "rex_direct_");
}

TEST(test_safe)
{
    check(macros_safe_c, "rex_direct_"); /* which registers as well */
    check(macros_safe_cpp, "rex_direct_");
}

TEST(test_internal)
{
    check(macros_internal_c, "");
    check(macros_internal_cpp, "");
}
