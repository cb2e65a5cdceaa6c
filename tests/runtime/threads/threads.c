/*
 * 64 threads reach the safe wrapper at once: one registration, and all launches are right. Where the image is missing, one attempt
 * fails for all of them.
 *
 * A recorder (recorder/) stands between librex and the real libomptarget and counts.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#define REX_KMP_SAFE
#include "runtime/runtime.h"

REX_KERNEL(square);

enum { THREADS = 64 };

struct recorder_counts {
    int registered, unregistered, launched;
};

/* ---- librex's calls of open() and sched_yield() come here --------------------------------------------------------------------- */

/*
 * While `held` names a file, the thread that opens it, which is the one that does the registration, waits until the 63 others are
 * seen waiting for it.
 */
static const char *held;
static int opened, gave_up, waiting;
static __thread int seen_waiting;

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    const char *name = __atomic_load_n(&held, __ATOMIC_ACQUIRE);
    if (name != NULL && strcmp(path, name) == 0) {
        struct timespec moment = {0, 1000000};
        __atomic_fetch_add(&opened, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; __atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < THREADS - 1; i++) {
            if (i == 10000) {
                __atomic_store_n(&gave_up, 1, __ATOMIC_SEQ_CST);
                break;
            }
            nanosleep(&moment, NULL);
        }
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int sched_yield(void)
{
    if (__atomic_load_n(&held, __ATOMIC_ACQUIRE) != NULL && !seen_waiting) {
        seen_waiting = 1;
        __atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
    }
    return (int)syscall(SYS_sched_yield);
}

/* ---- the recorder --------------------------------------------------------------------------------------------------------------- */

/* Makes librex bind the recorder in place of the libomptarget that it would have taken. */
/* What it counts are libomptarget's launches. */
static const struct recorder_counts *start_recorder(void)
{
    assert_int_equal(rex_configure(REX_OPTION_LAUNCH_BY, "runtime"), 0);
    struct path folder = temporary_file("recorder");
    char command[3 * PATH_MAX], answer[PATH_MAX] = "";
    const char *real = getenv("REX_OMPTARGET");
    if (real == NULL) {
        fprintf(stderr, "REX_OMPTARGET must name the libomptarget to record\n");
        fail();
    }
    assert_int_equal(mkdir(folder.text, 0700), 0);
    snprintf(command, sizeof command, "sh '%s/recorder/recorder.sh' '%s' '%s'", SOURCE_FOLDER, real, folder.text);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_non_null(fgets(answer, sizeof answer, output));
    assert_int_equal(pclose(output), 0);
    answer[strcspn(answer, "\n")] = '\0';
    assert_int_equal(rex_configure(REX_OPTION_OMPTARGET, answer), 0);
    assert_int_equal(rex_runtime_bind(), 0);
    assert_string_equal(rex_runtime_path(), answer);
    void *counts = dlsym(dlopen(answer, RTLD_NOW | RTLD_NOLOAD), "recorder_counts");
    assert_non_null(counts);
    const char *release = getenv("REX_TEST_RELEASE");
    if (release != NULL && atoi(release) > 0)
        assert_int_equal(rex_runtime_release(), atoi(release));
    snprintf(command, sizeof command, "rm -rf '%s'", folder.text);
    assert_int_equal(system(command), 0);
    return counts;
}

/* ---- the threads ---------------------------------------------------------------------------------------------------------------- */

static int round_number, done, stop, expect_failure;

struct worker {
    pthread_t thread;
    int64_t number;
    const char *wrong;
};

/* One launch by the safe wrapper; what is wrong with the outcome, or NULL. */
static const char *launch(int64_t value)
{
    int64_t result = -1;
    struct rows rows = {0};
    rows.count = 2;
    rows.value[0] = rex_pack_literal_arg_bytes(&value, sizeof value);
    rows.size[0] = sizeof value, rows.type[0] = PARAMETER | LITERAL;
    rows.value[1] = &result;
    rows.size[1] = sizeof result, rows.type[1] = PARAMETER | FROM;
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 32);
    int answer = __tgt_target_kernel(-1, 1, 32, REX_KERNEL_ID(square), &packet);
    if (expect_failure) {
        if (answer != REX_ENOIMAGE)
            return "a launch did not return REX_ENOIMAGE";
        if (rex_last_error_code() != REX_ENOIMAGE || strstr(rex_last_error(), "no device image") == NULL)
            return "a thread has another error than the attempt's";
        return result == -1 ? NULL : "an output was touched";
    }
    if (answer != 0)
        return "a launch failed";
    return result == value * value ? NULL : "a result is wrong";
}

/*
 * Threads wait for a round by looking, not by sleeping: those that have a core then begin within nanoseconds of each other, which is
 * what the race for the registration needs.
 */
static void wait_for_round(int number)
{
    for (int i = 1; __atomic_load_n(&round_number, __ATOMIC_ACQUIRE) < number; i++)
        if (i % 1000 == 0)
            syscall(SYS_sched_yield);
}

static void *work(void *argument)
{
    struct worker *me = argument;
    for (int number = 1;; number++) {
        wait_for_round(number);
        if (stop)
            return NULL;
        const char *wrong = launch(me->number + 1000 * number);
        if (wrong != NULL)
            me->wrong = wrong;
        __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
    }
}

static void start_threads(struct worker workers[THREADS])
{
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

/* All threads launch once, at the same time. */
static void round_of_launches(struct worker workers[THREADS])
{
    struct timespec moment = {0, 20000};
    __atomic_store_n(&done, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&round_number, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < THREADS)
        nanosleep(&moment, NULL);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].wrong != NULL)
            fail_msg("thread %d: %s", i, workers[i].wrong);
}

static void end_threads(struct worker workers[THREADS])
{
    stop = 1;
    __atomic_fetch_add(&round_number, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
}

/* ---- tests ---------------------------------------------------------------------------------------------------------------------- */

TEST(one_registration_a_round)
{
    static struct worker workers[THREADS];
    const struct recorder_counts *counts = start_recorder();
    int rounds = registrations_of(1000);
    start_threads(workers);
    for (int i = 1; i <= rounds; i++) {
        round_of_launches(workers);
        /* LLVM 18 gets one registration, which stays. */
        int registered = loads_late() ? i : 1, unregistered = loads_late() ? i : 0;
        assert_int_equal(counts->registered, registered);
        assert_int_equal(counts->unregistered, loads_late() ? i - 1 : 0);
        assert_int_equal(counts->launched, (2 * i - 1) * THREADS);
        round_of_launches(workers); /* registered already */
        assert_int_equal(counts->registered, registered);
        assert_int_equal(rex_offload_fini(), 0);
        assert_int_equal(counts->unregistered, unregistered);
        if (i % 100 == 0)
            remove_temporary_images();
    }
    end_threads(workers);
}

TEST(one_failure_for_all)
{
    static struct worker workers[THREADS];
    static struct path image;
    const struct recorder_counts *counts = start_recorder();
    image = temporary_file("late-image");
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, image.text), 0);
    start_threads(workers);
    expect_failure = 1;
    __atomic_store_n(&held, image.text, __ATOMIC_RELEASE);
    round_of_launches(workers);
    __atomic_store_n(&held, NULL, __ATOMIC_RELEASE);
    assert_false(gave_up);
    assert_int_equal(opened, 1);
    assert_int_equal(waiting, THREADS - 1);
    assert_int_equal(counts->registered, 0);
    /* The file appears: the next call of every thread succeeds. */
    copy_file(default_image().text, image.text);
    expect_failure = 0;
    round_of_launches(workers);
    assert_int_equal(counts->registered, 1);
    assert_int_equal(counts->launched, THREADS);
    end_threads(workers);
    unlink(image.text);
}
