/*
 * Lesson 4: when registration happens. The first launch registers the image, even if many threads
 * make it at once: one of them does it, and the others wait for its result.
 *
 * The first call therefore takes as long as finding the runtime and loading the image.
 * rex_offload_init() at the start of main moves that out of what a program wants to time.
 *
 * Run it:  make && $(make -s print-O)/examples/04_lazy/04_lazy
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex_kmp.h>

#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 16, COUNT = 1000 };

REX_KERNEL(count_up);

struct worker {
    pthread_t thread;
    int64_t first;                     /* the kernel counts up from here */
    int64_t values[COUNT];             /* what it wrote */
    int result;                        /* of the launch */
    struct __tgt_bin_desc *registered; /* the registration that the launch used */
};

/* All threads leave it together, so that they do race for the first launch. */
static pthread_barrier_t start;

static int count_up(int64_t first, int64_t count, int64_t *values)
{
    return REX_LAUNCH(count_up, 8, 128, REX_VALUE(first), REX_VALUE(count),
                      REX_FROM(values, count));
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    pthread_barrier_wait(&start);
    worker->result = count_up(worker->first, COUNT, worker->values);
    worker->registered = __cubin_desc;
    return NULL;
}

static int run_workers(struct worker *workers)
{
    if (pthread_barrier_init(&start, NULL, WORKERS) != 0)
        return -1;
    for (int i = 0; i < WORKERS; i++) {
        workers[i].first = i * (int64_t)COUNT;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return -1; /* those that started wait at the barrier for ever: leave the program */
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&start);
    return 0;
}

static int all_right(const struct worker *worker)
{
    if (worker->result != 0)
        return 0;
    for (int64_t i = 0; i < COUNT; i++)
        if (worker->values[i] != worker->first + i)
            return 0;
    return 1;
}

int main(void)
{
    static struct worker workers[WORKERS];
    printf("before the first launch: %s\n", __cubin_desc == NULL ? "not registered" : "registered");
    if (run_workers(workers) != 0) {
        fprintf(stderr, "lazy: cannot start %d threads\n", WORKERS);
        return 1;
    }

    int right = 0, same = 0;
    for (int i = 0; i < WORKERS; i++) {
        right += all_right(&workers[i]);
        same += workers[i].registered != NULL && workers[i].registered == workers[0].registered;
    }
    printf("%d threads launched at once: %d got their numbers, %d saw the one registration\n",
           WORKERS, right, same);
    return !(right == WORKERS && same == WORKERS);
}
