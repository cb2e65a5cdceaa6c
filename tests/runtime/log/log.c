/*
 * The log of launches and data calls: at debug each of them with its rows, also those that would go the short way; a function of the
 * program that gets the lines and calls librex meanwhile, during a registration, too.
 */
#include "runtime/runtime.h"

#include <errno.h>
#include <pthread.h>

REX_KERNEL(twice);

static struct {
    int lines, launches, rows, literals, data_calls;
    int refused; /* what using the module came to while it was being registered */
    bool use_module;
} seen; /* of one thread, but for... */
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER; /* ... those with several */

static void receive(enum rex_log_level level, const char *message, void *context)
{
    (void)context;
    pthread_mutex_lock(&seen_lock);
    seen.lines++;
    seen.launches += level == REX_LOG_DEBUG && strstr(message, "twice__kernel__: device ") != NULL &&
                     strstr(message, "1 x 1 x 1 teams of 1 x 1 x 1 threads") != NULL;
    seen.rows += strstr(message, ": row 0: to|from|target_param 0x") != NULL && strstr(message, " 64 bytes") != NULL;
    seen.literals += strstr(message, ": row 1: target_param|literal 0x8, 8 bytes") != NULL;
    seen.data_calls += strstr(message, "data call: device ") != NULL || strstr(message, "data update: device ") != NULL;
    pthread_mutex_unlock(&seen_lock);
    if (seen.use_module && rex_module_image_path(&rex_this_module)[0] == '\0')
        seen.refused += rex_module_register(&rex_this_module, NULL) == REX_EINVAL;
    assert_true(rex_runtime_release() == 0 || rex_runtime_path()[0] == '/');
    rex_configure((enum rex_option)99, "x"); /* fails */
    errno = EDOM;
}

static int64_t values[8];

static void launch(void)
{
    int64_t count = 8;
    struct rows rows = {0};
    add_row(&rows, values, sizeof values, PARAMETER | TOFROM);
    add_literal(&rows, &count, sizeof count);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(__tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(twice), &packet), 0);
}

TEST(every_launch)
{
    for (int i = 0; i < 8; i++)
        values[i] = 1;
    rex_set_log_callback(receive, NULL);
    assert_int_equal(rex_configure(REX_OPTION_LOG, "info"), 0);
    assert_int_equal(rex_offload_init(), 0);
    /* At info nothing is said of launches, which go the short way from the second on. */
    for (int i = 0; i < 3; i++)
        launch();
    assert_int_equal(seen.launches + seen.rows, 0);
    assert_int_equal(rex_configure(REX_OPTION_LOG, "debug"), 0);
    for (int i = 1; i <= 3; i++) {
        launch();
        assert_int_equal(seen.launches, i);
        assert_int_equal(seen.rows, i);
        assert_int_equal(seen.literals, i);
    }
    /* A data call of generated code, and one with a map. */
    struct rows rows = {0};
    add_row(&rows, values, sizeof values, TOFROM);
    __tgt_target_data_begin(-1, 1, rows.value, rows.value, rows.size, rows.type);
    assert_int_equal(seen.data_calls, 1);
    rex_set_log_callback(NULL, NULL);
    assert_int_equal(rex_configure(REX_OPTION_LOG, "warn"), 0);
    int lines = seen.lines;
    __tgt_target_data_end(-1, 1, rows.value, rows.value, rows.size, rows.type);
    launch();
    assert_int_equal(seen.lines, lines);
    for (int i = 0; i < 8; i++)
        assert_int_equal(values[i], 128);
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

/* The function may call librex; what would wait for itself is an error. */
TEST(during_a_registration)
{
    seen.use_module = true;
    rex_set_log_callback(receive, NULL);
    assert_int_equal(rex_configure(REX_OPTION_LOG, "debug"), 0);
    assert_int_equal(rex_offload_init(), 0);
    assert_true(seen.refused > 0);
    launch();
    assert_int_equal(seen.launches, 1);
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
            return &values;
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
