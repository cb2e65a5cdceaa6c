/*
 * Deferred launches at the exit of the process, kernels that fail, and where the setting changes
 * nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "deferred.h"

/* ---- exits: programs that end with a pending kernel ------------------------------------------- */

static int64_t *done;

/* Registered before librex watches the exit, and so called after it has waited. */
static void check_done(void)
{
    if (*done != 1)
        _exit(9);
}

/* The kernel is done before the process ends. */
static int exit_pending(void)
{
    if (atexit(check_done) != 0)
        return 1;
    start();
    done = new_words(1);
    return LAUNCH(set, REX_VALUE((int64_t)(intptr_t)done));
}

static int launch_faulty(void)
{
    return LAUNCH(set, REX_VALUE(INT64_C(16)));
}

static int exit_failed(void)
{
    start();
    return launch_faulty();
}

int before_tests(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "exits-pending") == 0)
        exit(exit_pending());
    if (argc > 1 && strcmp(argv[1], "exits-failed") == 0)
        exit(exit_failed());
    return -1;
}

/* Standard error of the program, which ends with STATUS; -1: in any way. */
static void run_program(const char *way, int expected, char *text, size_t size)
{
    char command[PATH_MAX + 64];
    snprintf(command, sizeof command, "exec '%s' %s 2>&1 >/dev/null", own_path(), way);
    FILE *said = popen(command, "re");
    assert_non_null(said);
    text[fread(text, 1, size - 1, said)] = '\0';
    int status = pclose(said);
    if (expected >= 0 && status != expected)
        fail_msg("%s: wait status %#x: %s", way, (unsigned)status, text);
}

TEST(exit_waits_for_kernels, .gpu = ON_GPU)
{
    char text[4096];
    run_program("exits-pending", 0, text, sizeof text);
}

/* What libomptarget does at the end with a context that is lost is its own affair. */
TEST(exit_reports_a_failure, .gpu = ON_GPU)
{
    char text[4096];
    run_program("exits-failed", -1, text, sizeof text);
    assert_non_null(strstr(text, "kernels that may have failed: \"set\""));
}

/* ---- errors ---------------------------------------------------------------------------------- */

static struct rex_queue *queue;
static int64_t *memory;
static int told;

/* With the kernel that has failed. */
static bool tells_first(const char *message)
{
    return strstr(message, "kernels that may have failed: ") != NULL &&
           strstr(message, "\"set\"") != NULL;
}

static void count_told(enum rex_log_level level, const char *message, void *context)
{
    (void)context;
    told += level == REX_LOG_ERROR && tells_first(message);
}

static int sync_device(void)
{
    return rex_device_sync(-1);
}

static int update(void)
{
    return map_array(rex_data_update, x, FROM);
}

static int launch_waited(void)
{
    return LAUNCH(add, REX_VALUE(INT64_C(1)), REX_ALWAYS(REX_TOFROM(y, CELLS)));
}

static int sync_queue(void)
{
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(triple), 1, 1);
    REX_MAP(map, REX_IS_DEVICE_PTR(memory));
    int result = launch_in(queue, &config, &map);
    return result == REX_OK ? rex_queue_sync(queue) : result;
}

/* Without a result, it only logs; libomptarget, which would abort, is not called. */
static int update_by_forwarder(void)
{
    REX_MAP(map, REX_FROM(x, CELLS));
    __rex_real___tgt_target_data_update(-1, REX_MAP_ARGUMENTS(map));
    return REX_ECUDA;
}

static int launch_many(void)
{
    int result = REX_OK;
    for (int i = 0; i < 300 && result == REX_OK; i++)
        result = LAUNCH(add, REX_VALUE(INT64_C(1)), REX_ALLOC(y, 1));
    return result;
}

/* The first call that meets the failure returns or logs it, with the kernels; no other does. */
static void meet_failure(int (*first)(void))
{
    rex_set_log_callback(count_told, NULL);
    start();
    OK(rex_queue_create(&queue, -1, NULL, 0));
    memory = rex_device_alloc(8, -1);
    OK(launch_faulty());
    int result = first();
    assert_int_equal(result, REX_ECUDA);
    assert_int_equal(told, 1);
    told = 0;
    FAILS(sync_device(), REX_ECUDA, "is lost");
    FAILS(update(), REX_ECUDA, "is lost");
    FAILS(launch_waited(), REX_ECUDA, "is lost");
    FAILS(launch_many(), REX_ECUDA, "is lost");
    update_by_forwarder();
    assert_int_equal(told, 0);
    _exit(0); /* what libomptarget does at the end with a context that is lost is its own affair */
}

#define MEETS(name)                           \
    TEST(name##_meets_failure, .gpu = ON_GPU) \
    {                                         \
        meet_failure(name);                   \
    }
MEETS(sync_device)
MEETS(update)
MEETS(launch_waited)
MEETS(launch_many)
MEETS(sync_queue)
MEETS(update_by_forwarder)

/* ---- where the setting changes nothing ------------------------------------------------------- */

static int reasons;

static void count_reasons(enum rex_log_level level, const char *message, void *why)
{
    reasons += level == REX_LOG_INFO &&
               strstr(message, "waited for, though REX_LAUNCH_BLOCKING") != NULL &&
               strstr(message, why) != NULL;
}

/* Each launch is waited for, and one line says why. */
static void expect_no_deferral(const char *why)
{
    OK(rex_configure(REX_OPTION_LOG, "info"));
    rex_set_log_callback(count_reasons, (void *)(uintptr_t)why);
    start();
    REX_MAP(map, REX_FROM(y, CELLS));
    for (int i = 1; i <= 3; i++) {
        OK(LAUNCH(add, REX_VALUE(INT64_C(1)), REX_ALLOC(y, CELLS)));
        __rex_real___tgt_target_data_update(-1, REX_MAP_ARGUMENTS(map));
        assert_int_equal(y[0], i);
    }
    assert_int_equal(reasons, 1);
}

TEST(nothing_changes_on_the_host_device, .gpu = ON_HOST_DEVICE)
{
    expect_no_deferral("");
}

TEST(nothing_changes_by_the_runtime, .gpu = ON_GPU, .on = LOADS_LATE /* not 18 */)
{
    OK(rex_configure(REX_OPTION_LAUNCH_BY, "runtime"));
    expect_no_deferral("");
}

/* On: a launch waits, as it does by default. */
static int hold_blocking(void)
{
    OK(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "on"));
    return hold_x();
}

TEST(switched_on, .gpu = ON_GPU)
{
    start();
    prepare();
    expect_wait("hold", hold_blocking);
}
