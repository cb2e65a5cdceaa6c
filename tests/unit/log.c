/*
 * log.c - launches and data calls with their rows, each once, and what a whole program logs: tests/golden/messages/configure.txt. Where the log
 * goes, and names of others in it: script/settings. A function of the program that gets the lines: tests/runtime/log.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>

#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "inqueue.h"
#include "plain.h"
#include "rex/launch.h"
#include "rex/map.h"
#include "rex_kmp.h"
#include "support/messages.h"

MESSAGES("configure");

static char mapped[4000];

static void note(enum rex_log_level level, const char *message, void *context)
{
    (void)context;
    says("%d %s", (int)level, message);
    errno = EDOM; /* which nobody sees */
}

/* The program's own calls, with every kind of row. */
static void call_libomptarget(void)
{
    void *base[] = {mapped, mapped + 8, (void *)42, (void *)43, mapped}, *begin[] = {mapped, mapped, (void *)44, (void *)45, mapped};
    int64_t sizes[] = {4000, 16, 8, 4, 1}, types[] = {0x21, 0x2000000000003, 0x120, 0x120, 0};
    void *names[] = {(char[]){";x[0:1000];main.c;12;3;;"}, (char[]){"y"}, NULL, (char[]){";n;main.c"}, NULL};
    void *mappers[] = {NULL, mapped, NULL, mapped, mapped};
    static const int64_t in_words[] = {0,      0x21,  0x3,    0x100000000001, 0x1000000000018, 0x1000 | 0x2000 | 0x200 | 0x4,
                                       0x8c0, 0x4400};
    static char unknown;
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = 5,
                                            .ArgsBase = base,
                                            .Args = begin,
                                            .ArgSizes = sizes,
                                            .ArgTypes = types,
                                            .ArgNames = names,
                                            .ArgMappers = mappers,
                                            .Teams = {4, 3, 2},
                                            .Threads = {256, 5, 7},
                                            .DynCGroupMem = 64};
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, -1, 4, 256, &plain_id, &packet), 0);
    the_record()->result = 4;
    CHECK_EQUAL(__rex_real___tgt_target_teams(2, &plain_id, 1, base, begin, sizes, types, 19, 23), 4);
    CHECK_EQUAL(__rex_real___tgt_target(0, &plain_id, 1, base, begin, sizes, types), 4);
    the_record()->result = 0;
    CHECK_EQUAL(__rex_real___tgt_target_teams(0, &unknown, 0, NULL, NULL, NULL, NULL, 1, 1), 0);
    __rex_real___tgt_target_data_begin(2, 5, base, begin, sizes, types);
    __rex_real___tgt_target_data_update(1, 1, base, begin, sizes, types);
    for (size_t i = 0; i < COUNT(in_words); i++)
        __rex_real___tgt_target_data_end(0, 1, base, begin, sizes, (int64_t[]){in_words[i]});
    __rex_real___tgt_target_data_end(0, 0, NULL, NULL, NULL, NULL); /* is not logged */
}

/* A file that cannot be opened, and whose name is longer than a message when its letters are escaped. errno stays. */
static void open_nothing(const void *unused)
{
    char setting[REX_SETTING_MAX] = "info:/nowhere//";
    (void)unused;
    memset(setting + strlen(setting), '\1', 4000);
    setenv("REX_LOG", setting, 1);
    errno = 77;
    CHECK(!rex_log_wanted(REX_LOG_DEBUG));
    CHECK_EQUAL(errno, 77);
}

TEST(test_long_name)
{
    const char *said = in_child(open_nothing, NULL);
    assert_int_equal(strlen(said), REX_MESSAGE_MAX - 4);
    assert_ptr_equal(strstr(said, "\\x01\n"), said + strlen(said) - 5);
}

/* From the first call to the last: what is bound, looked for, chosen, registered, loaded, launched, waited for and ended. */
TEST_IN_CHILD(program)
{
    struct rex_queue *queue;
    struct rex_library *library;
    struct rex_launch_config launch = rex_launch_config_of(&plain_id, 4, 32);
    REX_MAP(region, REX_TO(mapped, 8));
    REX_MAP(args, REX_VALUE(INT64_C(1)), REX_VALUE(INT64_C(2)));
    rex_set_log_callback(note, NULL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_UNFINISHED, "wait"), 0);
    use_gpu(90);
    use_release(19);
    module.image_name = "none.cubin:tests/data/sm_90.cubin:tests/data/sm_80.cubin";
    CHECK_EQUAL(rex_module_init(&module), 0);
    CHECK_EQUAL(rex_module_register(&module, "another.cubin"), 0);
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), 0);
    CHECK_EQUAL(rex_library_load(&library, 0, NULL, 0, "tests/data/stateless_sm_90.cubin"), 0);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "own", 0, NULL), 0);
    launch.key = rex_library_kernel(library, "nothing__kernel__");
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), 0);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)mapped, sizeof mapped, 0x10000000};
    CHECK_EQUAL(rex_module_target_data(&module, REX_DATA_UPDATE, 0, REX_MAP_ARGUMENTS(region)), 0);
    CHECK_EQUAL(rex_module_data_update(&module, 0, &region), 0);
    errno = 77;
    CHECK_EQUAL(launch_library_in(queue, library, &launch, NULL, 0), 0);
    CHECK_EQUAL(errno, 77);
    *(int *)in_driver("fake_cuda_busy") = 1;
    CHECK_EQUAL(rex_library_unload(library), 0);
    CHECK_EQUAL(rex_queue_destroy(queue), 0);
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &region), 0);
    __rex_real___tgt_target_data_begin(0, REX_MAP_ARGUMENTS(region)); /* which those of librex do not hide */
    CHECK_EQUAL(rex_module_region_end(&module, 0, &region), 0);
    CHECK_EQUAL(rex_module_fini(&module), 0);
}

void exported_update(int64_t device, int32_t count, void **base, void **begin, int64_t *sizes,
                     int64_t *types) __asm__("rex___tgt_target_data_update");

/* A log that begins when libomptarget is bound has librex's own calls, each with a row. */
TEST_IN_CHILD(later)
{
    REX_MAP(region, REX_TO(mapped, 8));
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    rex_set_log_callback(note, NULL);
    CHECK_EQUAL(rex_module_target_data(&module, REX_DATA_UPDATE, 0, REX_MAP_ARGUMENTS(region)), 0);
    exported_update(0, REX_MAP_ARGUMENTS(region));
    exported_update(0, 0, NULL, NULL, NULL, NULL);
}

/* libomptarget's own, which are not logged. */
static void call_within(enum fake_function unused)
{
    (void)unused;
    the_record()->on_data = NULL;
    call_libomptarget();
}

TEST_IN_CHILD(calls)
{
    setenv("FAKE_DEVICES", "3", 1);
    setenv("REX_LAUNCH_BY", "runtime", 1);
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    rex_set_log_callback(note, NULL);
    the_record()->on_data = call_within;
    call_libomptarget();
}
