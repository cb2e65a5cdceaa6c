/*
 * A function of the program that gets the lines of the log, in which other calls of librex are made; by several threads. The lines
 * themselves: unit/log.
 */
#include "runtime/runtime.h"

#include <errno.h>
#include <pthread.h>

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
