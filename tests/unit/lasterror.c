/*
 * lasterror.c - the last error of each thread, and its message. Settings, and levels of the log: script/settings.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>

#include "base/settings.h"
#include "rex/module.h"

static void *fail_in_a_thread(void *unused)
{
    CHECK_EQUAL(rex_last_error_code(), 0);
    CHECK(strcmp(rex_last_error(), "") == 0);
    CHECK(rex_host_alloc(0) == NULL);
    CHECK(strcmp(rex_last_error(), "rex_host_alloc: the size is 0") == 0);
    return unused;
}

TEST_IN_CHILD(each_thread_has_its_own)
{
    pthread_t thread;
    CHECK_EQUAL(rex_last_error_code(), 0);
    CHECK(strcmp(rex_last_error(), "") == 0);
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    CHECK_EQUAL(pthread_create(&thread, NULL, fail_in_a_thread, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK(strcmp(rex_last_error(), "rex_module_register: the module is NULL") == 0);
    /* The old message may be part of the new one. */
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, rex_last_error()), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "REX_WAIT cannot be \"rex_module_register: the module is NULL\", only auto");
}

/* A message ends where its room does, and with a whole character: each of these takes four. */
static void long_message(const void *letter)
{
    static char path[REX_SETTING_MAX];
    memset(path, *(const char *)letter, sizeof path - 1);
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, path), REX_OK);
    CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
    printf("%s", rex_last_error());
}

TEST(test_long_message)
{
    enum { MOST = 4095 };
    static const char begin[] = "libomptarget ";
    static char expected[3 * MOST];
    strcpy(expected, "librex: error: libomptarget ");
    memset(expected + strlen(expected), 'm', MOST - strlen(begin));
    strcat(expected, " [REX_ENORUNTIME]\nlibomptarget ");
    memset(expected + strlen(expected), 'm', MOST - strlen(begin));
    assert_string_equal(in_child(long_message, "m"), expected);
    const char *output = in_child(long_message, "\n");
    assert_int_equal(occurrences(output, "\\x0a"), 2 * ((MOST - (int)strlen(begin)) / 4));
    assert_int_equal(occurrences(output, "\\"), 2 * ((MOST - (int)strlen(begin)) / 4));
}

TEST(test_names)
{
    assert_string_equal(rex_error_name(REX_EHOST), "REX_EHOST");
    assert_string_equal(rex_error_name(1), "unknown error");
    assert_string_equal(rex_error_name(-1000), "unknown error");
    assert_int_equal(REX_EHOST, -1); /* what libomptarget returns */
}
