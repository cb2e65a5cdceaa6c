/*
 * Lesson 4: nobody calls init. The first launch registers the image, even if many threads make it at once.
 *
 * REX_KMP_SAFE, defined before the include, turns each `__tgt_X` into the safe wrapper `rex___tgt_X`: registration
 * first, where it has not happened, then the call. A library that cannot know who calls it first is written like this.
 * The price is that the first call takes as long as finding the runtime and loading the image; rex_offload_init() at
 * the start of main moves that out of what you want to time.
 *
 * Run it:  make && $(make -s print-O)/examples/04_lazy/04_lazy
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#define REX_KMP_SAFE
#include <rex.h>

#include <pthread.h>
#include <stdio.h>

enum {
    WORKERS = 16,
    COUNT = 1000,
    LITERAL = 0x120,
    FROM = 0x22
};

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
    void *address[] = {rex_pack_literal_arg_bytes(&first, sizeof first),
                       rex_pack_literal_arg_bytes(&count, sizeof count), values};
    int64_t sizes[] = {sizeof first, sizeof count, count * (int64_t)sizeof *values};
    int64_t types[] = {LITERAL, LITERAL, FROM};
    struct __tgt_kernel_arguments args = {
        .Version = 3,
        .NumArgs = 3,
        .ArgsBase = address,
        .Args = address,
        .ArgSizes = sizes,
        .ArgTypes = types,
        .Tripcount = (uint64_t)count,
        .Teams = {8, 1, 1},
        .Threads = {128, 1, 1},
    };
    return __tgt_target_kernel(-1, 8, 128, REX_KERNEL_ID(count_up), &args);
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
            return -1; /* the others wait at the barrier for good: the caller must leave the program */
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
    printf("%d threads launched at once: %d got their numbers, %d saw the one registration\n", WORKERS, right, same);
    return !(right == WORKERS && same == WORKERS);
}
