/*
 * A function of the program that gets the lines of the log, in which other calls of librex are made; by several threads. The lines
 * themselves: unit/log.
 */
#include "runtime/checks.h"

#include <errno.h>

REX_KERNEL(twice);

static struct {
    int lines, launches;
} seen;
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

static void receive(enum rex_log_level level, const char *message, void *context)
{
    (void)context;
    pthread_mutex_lock(&seen_lock);
    seen.lines++;
    seen.launches += level == REX_LOG_DEBUG && strstr(message, "twice: device ") != NULL &&
                     strstr(message, "1 x 1 x 1 teams of 1 x 1 x 1 threads") != NULL;
    pthread_mutex_unlock(&seen_lock);
    assert_true(rex_runtime_release() == 0 || rex_runtime_path()[0] == '/');
    rex_configure((enum rex_option)99, "x"); /* fails */
    errno = EDOM;
}

/* What the function does changes neither the last error nor errno. */
TEST(errors_stay)
{
    rex_set_log_callback(receive, NULL);
    errno = EISDIR;
    assert_int_equal(rex_configure(REX_OPTION_WAIT, "first"), REX_EINVAL);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(seen.lines, 1);
    assert_non_null(strstr(rex_last_error(), "\"first\""));
    rex_set_log_callback(NULL, NULL);
}

static void *launch_often(void *unused)
{
    for (int i = 0; i < 50; i++) {
        int64_t count = 0, none[1] = {0};
        struct rows rows = {0};
        add_row(&rows, none, sizeof none, PARAMETER | TOFROM);
        add_literal(&rows, &count, sizeof count);
        struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
        if (__tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(twice), &packet) != 0)
            return &seen;
    }
    return unused;
}

/* The level changes while others launch: nothing is lost or stuck, and afterwards each launch is written down. */
TEST(from_several_threads)
{
    pthread_t threads[4];
    rex_set_log_callback(receive, NULL);
    assert_int_equal(rex_offload_init(), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_often, NULL), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(rex_configure(REX_OPTION_LOG, i % 2 == 0 ? "warn" : "debug"), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    int before = seen.launches;
    launch_often(NULL);
    assert_int_equal(seen.launches, before + 50);
    rex_set_log_callback(NULL, NULL);
}

/* ---- calls by the function ------------------------------------------------------------------- */

enum { COUNT = 8 };
static int64_t arrays[2][2 * COUNT];
static __thread int64_t *others; /* NULL: the function does nothing more */
static pthread_barrier_t both;
static int wrong;

static int launch_on(int64_t *values)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(twice), 1, 1);
    REX_MAP(args, REX_TOFROM(values, COUNT), REX_VALUE(INT64_C(0) + COUNT));
    return rex_launch(&launch, &args);
}

static int begin_and_end(int64_t *values)
{
    REX_MAP(region, REX_TOFROM(values, COUNT));
    int result = rex_data_enter(-1, &region);
    return result == REX_OK ? rex_data_exit(-1, &region) : result;
}

static int begin_and_end_raw(int64_t *values)
{
    void *base[] = {values};
    int64_t sizes[] = {COUNT * sizeof *values}, types[] = {TOFROM};
    __tgt_target_data_begin(-1, 1, base, base, sizes, types);
    __tgt_target_data_end(-1, 1, base, base, sizes, types);
    return REX_OK;
}

/* Behind the first half, which is mapped. */
static int begin_too_much(int64_t *values)
{
    REX_MAP(half, REX_TOFROM(values, COUNT));
    REX_MAP(region, REX_TOFROM(values, 2 * COUNT));
    int result = rex_data_enter(-1, &half);
    wrong += rex_data_enter(-1, &region) == REX_OK;
    return result == REX_OK ? rex_data_exit(-1, &half) : result;
}

static int update_too_much(int64_t *values)
{
    REX_MAP(rows, REX_TO(values, 2 * COUNT));
    return rex_data_update(-1, &rows) != REX_OK ? REX_OK : REX_EINVAL;
}

static const struct {
    int (*call)(int64_t *values);
    const char *line; /* one that it logs */
} calls[] = {{launch_on, "twice: row 1"},
             {begin_and_end, "data enter: row 0"},
             {begin_and_end, "data exit: row 0"},
             {begin_and_end_raw, "data begin: row 0"},
             {begin_and_end_raw, "data end: row 0"},
             {begin_too_much, "REX_EOVERLAP"},
             {update_too_much, "REX_EABSENT"}};
static size_t chosen;

static void launch_on_others(enum rex_log_level level, const char *message, void *context)
{
    int64_t *values = others;
    (void)level, (void)context;
    if (values == NULL || strstr(message, calls[chosen].line) == NULL)
        return;
    others = NULL;
    pthread_barrier_wait(&both);
    if (launch_on(values) != REX_OK)
        __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
}

static void *call_on_own(void *number)
{
    bool second = number != NULL;
    others = arrays[!second];
    int result = calls[chosen].call(arrays[second]);
    if (result != REX_OK || others != NULL)
        print_error("call %zu: %d, %s\n", chosen, result, others != NULL ? "its line is missing" : rex_last_error());
    return result == REX_OK && others == NULL ? NULL : arrays;
}

/* Two threads are in a call with an array each, and in its line launch on the other's array: nothing is held then. */
TEST(launches_on_others)
{
    OK(rex_configure(REX_OPTION_LOG, "debug"));
    OK(rex_offload_init());
    OK(launch_on(arrays[0]));
    pthread_barrier_init(&both, NULL, 2);
    rex_set_log_callback(launch_on_others, NULL);
    for (chosen = 0; chosen < sizeof calls / sizeof *calls; chosen++)
        run_threads(2, call_on_own);
    rex_set_log_callback(NULL, NULL);
    assert_int_equal(wrong, 0);
}

/* ---- registrations by the function ----------------------------------------------------------- */

static int refused;

/* The module is used by the call that has a line, or that call is at work on it. */
static void end_module(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)message, (void)context;
    int results[] = {rex_offload_fini(), rex_module_fini(&rex_this_module)};
    for (size_t i = 0; i < 2; i++) {
        refused += results[i] == REX_EBUSY;
        wrong += results[i] != REX_EBUSY && results[i] != REX_EINVAL;
    }
}

static void begin_module(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)message, (void)context;
    FAILS(rex_offload_init(), REX_EBUSY, "another registration or the log callback");
    FAILS(rex_module_register(&rex_this_module, default_image().text), REX_EBUSY, "another registration or the log callback");
    refused++;
}

/* No module is registered or ended inside of a call, whichever it is. */
TEST(registers_nothing)
{
    struct rex_queue *queue;
    OK(rex_configure(REX_OPTION_LOG, "debug"));
    rex_set_log_callback(begin_module, NULL);
    assert_int_equal(rex_launch(NULL, NULL), REX_EINVAL);
    assert_int_equal(refused, 1);
    rex_set_log_callback(NULL, NULL);
    OK(rex_offload_init());
    rex_set_log_callback(end_module, NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        refused = 0;
        OK(calls[i].call(arrays[0]));
        assert_true(refused > 0);
    }
    OK(rex_queue_create(&queue, -1, NULL, 0));
    OK(rex_queue_destroy(queue));
    rex_set_log_callback(NULL, NULL);
    OK(rex_offload_fini());
    assert_int_equal(wrong, 0);
}
