/*
 * release.c - each LLVM release is told from what it exports. What is done for it: unit/packets,
 * script/rex-info.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "omp/release.h"
#include "omp/search.h"
#include "rex/inspect.h"

/* What each release exports first, of all that librex asks for; taken from the releases' own symbol tables. */
static const struct {
    const char *name;
    int since;
} exported_since[] = {
    {"__tgt_register_lib", 14},        {"__tgt_target_teams_mapper", 14},    {"__tgt_target_data_begin", 14},
    {"__tgt_target_kernel", 15},       {"omp_get_device_num", 15},           {"__tgt_target_nowait_query", 16},
    {"omp_get_mapped_ptr", 16},        {"omp_target_memcpy_async", 17},      {"omp_target_memset", 18},
    {"__tgt_activate_record_replay", 18}, {"__tgt_rtl_init", 19},            {"ompx_dump_mapping_tables", 19},
    {"llvmLaunchKernel", 20},          {"__tgt_interop_get", 22},            {"omp_get_device_from_uid", 22},
    {"__tgt_register_rpc_callback", 23}, {"omp_get_gprivate_limit", 23},       {"__tgt_get_mapped_ptr", 24},
};

static bool exports(const char *name, void *context)
{
    for (size_t i = 0; i < COUNT(exported_since); i++)
        if (strcmp(name, exported_since[i].name) == 0)
            return *(const int *)context >= exported_since[i].since;
    return 0;
}

static int told(int release, int named)
{
    const struct rex_release *row = rex_release_tell(exports, &release, named);
    return row != NULL ? row->number : 0;
}

TEST(test_told_from_exports)
{
    for (int release = 14; release <= 24; release++) {
        assert_int_equal(told(release, release), release);
        /* Only 20 and 21 need the number in a name; without one the older is taken. */
        assert_int_equal(told(release, 0), release == 21 ? 20 : release);
        /* A number that does not belong to the exports changes nothing else. */
        assert_int_equal(told(release, 99), release == 21 ? 20 : release);
    }
    assert_int_equal(told(13, 13), 0);
    /* The next release exports what 24 does, and more. */
    assert_int_equal(told(25, 25), 24);
}

static void add_program(const char *group, const char *name, const char *value, void *context)
{
    char *answers = context, expected[32];
    size_t count = strlen(answers);
    if (strcmp(group, "programs") != 0)
        return;
    snprintf(expected, sizeof expected, "clang %d", 14 + (int)count);
    assert_string_equal(name, expected);
    answers[count] = strcmp(value, "yes") == 0 ? '1' : strcmp(value, "no") == 0 ? '0' : strcmp(value, "on GPUs alone") == 0 ? '2' : '?';
}

/* Whose programs a release runs: a row for each runtime, a column for each clang; 2: on GPUs alone. */
TEST(test_programs)
{
    static const char *const takes[] = {
        /*       14 to 24 */
        /* 14 */ "11110000000", "11110000000", "10110000000", "10110000000",
        /* 18 */ "00001000000",
        /* 19 */ "10110111000", "10110111000", "10110111000", "10110111100",
        /* 23 */ "20220222211", "20220222211",
    };
    for (int runtime = 14; runtime <= 24; runtime++) {
        char answers[16] = "";
        assert_int_equal(rex_info(runtime, add_program, answers), 0);
        assert_string_equal(answers, takes[runtime - 14]);
    }
}

TEST(test_tell)
{
    char path[PATH_MAX];
    for (int release = 14; release <= 24; release++) {
        fake_path(release, path);
        assert_int_equal(rex_runtime_tell(path), release);
    }
    assert_int_equal(rex_runtime_release(), 0);
    assert_int_equal(rex_configure(REX_OPTION_LOG, "off"), 0);
    assert_int_equal(rex_runtime_tell(NULL), REX_EINVAL);
    assert_string_equal(rex_last_error(), "rex_runtime_tell: the path is NULL");
    assert_int_equal(rex_runtime_tell("/nowhere"), REX_ENORUNTIME);
    assert_string_equal(rex_last_error(), "/nowhere: open: No such file or directory");
    assert_int_equal(rex_runtime_tell(FAKE("cuda/libcuda.so.1")), REX_ENORUNTIME);
    assert_string_equal(rex_last_error(), FAKE("cuda/libcuda.so.1") ": it exports no __tgt_target_teams_mapper: not libomptarget of LLVM 14 "
                                                                    "or later");
}

/* ---- in words (of the known ones: script/rex-info) ------------------------------------------- */

static void add_row(const char *group, const char *name, const char *value, void *count)
{
    (void)group, (void)name, (void)value;
    ++*(int *)count;
}

/* A release that is not known is no error to be logged: a loop ends so. */
static void ask_unknown(const void *context)
{
    int count = 0;
    (void)context;
    for (int release = 13; release <= 25; release += 12) {
        char message[64];
        snprintf(message, sizeof message, "rex_info: librex does not know LLVM %d", release);
        CHECK_EQUAL(rex_info(release, add_row, &count), REX_EINVAL);
        CHECK_EQUAL(strcmp(rex_last_error(), message), 0);
    }
    CHECK_EQUAL(rex_info(-1, add_row, &count), REX_EINVAL);
    CHECK_EQUAL(count, 0);
    CHECK_EQUAL(rex_info(20, add_row, &count), REX_OK); /* which no real library shows */
    CHECK(count > 10);
}

TEST(test_unknown)
{
    assert_string_equal(in_child(ask_unknown, NULL), "");
}
