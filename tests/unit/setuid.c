/*
 * setuid.c - a set-user-ID program takes no setting from the environment of its caller, and no
 * library but root's.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <sys/auxv.h>

#include "base/settings.h"
#include "omp/search.h"

#define OWNER 65533
#define CALLER 65534

/* The program, run by itself: 0 if the settings are what ARGUMENT says. */
static void as_child(const char *own, const char *argument)
{
    char value[REX_SETTING_MAX], why[256];
    int from_environment = rex_setting_text(REX_OPTION_OMPTARGET, value);
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, "chosen"), 0);
    CHECK_EQUAL(rex_setting_text(REX_OPTION_OMPTARGET, value), 1);
    CHECK(strcmp(value, "chosen") == 0);
    if (strcmp(argument, "secure") == 0 && getauxval(AT_SECURE) == 0)
        _exit(77); /* a file system without set-user-ID */
    CHECK_EQUAL(from_environment, strcmp(argument, "plain") == 0);
    CHECK(rex_search_trusts("/bin/sh", REX_NAMED, why, sizeof why));
    CHECK_EQUAL(rex_search_trusts(own, REX_NAMED, why, sizeof why), strcmp(argument, "plain") == 0);
    _exit(0); /* LeakSanitizer does not work for a user who may not look at the process */
}

static char program[PATH_MAX];

static void run_as_caller(const void *argument)
{
    setenv("REX_OMPTARGET", "/somewhere/evil.so", 1);
    CHECK(getuid() != 0 || setgid(CALLER) == 0);
    CHECK(getuid() != 0 || setuid(CALLER) == 0);
    execl(program, program, (const char *)argument, (char *)NULL);
    perror(program);
    _exit(98);
}

static int skipped;

TEST(test_set_user_id)
{
    /* Where every user may look, unlike in a private TMPDIR. */
    char folder[] = "/tmp/rex-setuid.XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0755), 0);
    snprintf(program, sizeof program, "%s/setuid", folder);
    copy_file("/proc/self/exe", program);
    assert_int_equal(chmod(program, 0755), 0);
    struct child plain = run_child(run_as_caller, "plain");
    assert_int_equal(chown(program, OWNER, OWNER), 0);
    assert_int_equal(chmod(program, 04755), 0);
    struct child secure = run_child(run_as_caller, "secure");
    remove_folder(folder);
    if (plain.status != 0)
        fail_msg("without the bit: %d\n%s", plain.status, plain.output);
    skipped = secure.status == 77;
    if (secure.status != 0 && !skipped)
        fail_msg("with the bit: %d\n%s", secure.status, secure.output);
}

int main(int count, char **arguments)
{
    if (count == 2)
        as_child(arguments[0], arguments[1]);
    if (geteuid() != 0) {
        puts("skip: only root can make a program that is set-user-ID to somebody else");
        return 77;
    }
    int result = run_all_tests();
    if (result == 0 && skipped) {
        puts("skip: /tmp is mounted without set-user-ID");
        return 77;
    }
    return result;
}
