/*
 * kmpc.c - host code as a compiler outlines it, on the `__kmpc_*` declarations of rex_kmp.h and a real libomp. Each construct's result is
 * compared with what a serial loop gives. C11 and C++17.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex_kmp.h"

#include <stdio.h>

enum { N = 1000, STATIC = 34, DYNAMIC = 35, THREADS = 4 };

static ident_t here = {0, 2, 0, 0, ";kmpc.c;main;0;0;;"};
static kmp_critical_name lock;
static int failures;

static void expect(const char *what, int64_t got, int64_t wanted)
{
    if (got == wanted)
        return;
    fprintf(stderr, "%s: %lld instead of %lld\n", what, (long long)got, (long long)wanted);
    failures++;
}

static void add(int64_t *sum, int64_t value)
{
    __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

/* ---- statically scheduled loops -------------------------------------------------------------------------------------------------- */

#define STATIC_LOOP(width, type, signed_type, sum)                                                            \
    do {                                                                                                      \
        int32_t last = 0;                                                                                     \
        type lower = 0, upper = N - 1;                                                                        \
        signed_type stride = 1;                                                                               \
        __kmpc_for_static_init_##width(&here, *gtid, STATIC, &last, &lower, &upper, &stride, 1, 1);           \
        for (type i = lower; i <= (upper < N - 1 ? upper : N - 1); i++)                                       \
            add((sum), (int64_t)i);                                                                           \
        __kmpc_for_static_fini(&here, *gtid);                                                                 \
    } while (0)

static void static_loops(int32_t *gtid, int32_t *bound, int64_t *sum, ...)
{
    (void)bound;
    STATIC_LOOP(4, int32_t, int32_t, &sum[0]);
    STATIC_LOOP(4u, uint32_t, int32_t, &sum[1]);
    STATIC_LOOP(8, int64_t, int64_t, &sum[2]);
    STATIC_LOOP(8u, uint64_t, int64_t, &sum[3]);
    __kmpc_barrier(&here, *gtid);
}

/* ---- dynamically scheduled loops ------------------------------------------------------------------------------------------------- */

#define DYNAMIC_LOOP(width, type, signed_type, sum)                                                           \
    do {                                                                                                      \
        int32_t last;                                                                                         \
        type lower, upper;                                                                                    \
        signed_type stride;                                                                                   \
        __kmpc_dispatch_init_##width(&here, *gtid, DYNAMIC, 0, N - 1, 1, 7);                                  \
        while (__kmpc_dispatch_next_##width(&here, *gtid, &last, &lower, &upper, &stride))                    \
            for (type i = lower; i <= upper; i++)                                                             \
                add((sum), (int64_t)i);                                                                       \
    } while (0)

static void dynamic_loops(int32_t *gtid, int32_t *bound, int64_t *sum, ...)
{
    (void)bound;
    DYNAMIC_LOOP(4, int32_t, int32_t, &sum[0]);
    DYNAMIC_LOOP(4u, uint32_t, int32_t, &sum[1]);
    DYNAMIC_LOOP(8, int64_t, int64_t, &sum[2]);
    DYNAMIC_LOOP(8u, uint64_t, int64_t, &sum[3]);
    __kmpc_barrier(&here, *gtid);
}

/* ---- who does what ---------------------------------------------------------------------------------------------------------------- */

/* counts: threads, single, master, plain increments under the critical section, under the atomic lock. */
static void exclusive(int32_t *gtid, int32_t *bound, int64_t *counts, ...)
{
    (void)bound;
    expect("global_thread_num", __kmpc_global_thread_num(&here), *gtid);
    add(&counts[0], 1);
    if (__kmpc_single(&here, *gtid)) {
        add(&counts[1], 1);
        __kmpc_end_single(&here, *gtid);
    }
    if (__kmpc_master(&here, *gtid)) {
        add(&counts[2], 1);
        __kmpc_end_master(&here, *gtid);
    }
    for (int i = 0; i < N; i++) {
        __kmpc_critical(&here, *gtid, &lock);
        counts[3]++;
        __kmpc_end_critical(&here, *gtid, &lock);
        __kmpc_atomic_start();
        counts[4]++;
        __kmpc_atomic_end();
    }
    __kmpc_flush(&here);
}

struct job {
    kmp_task_t task;
    int64_t value;
};

static int32_t run_job(int32_t gtid, void *task)
{
    struct job *job = (struct job *)task;
    (void)gtid;
    add(*(int64_t **)job->task.shareds, job->value);
    return 0;
}

static void tasks(int32_t *gtid, int32_t *bound, int64_t *sum, ...)
{
    (void)bound;
    if (__kmpc_single(&here, *gtid)) {
        for (int64_t i = 0; i < N; i++) {
            struct job *job = (struct job *)__kmpc_omp_task_alloc(&here, *gtid, 1, sizeof *job, sizeof sum, run_job);
            *(int64_t **)job->task.shareds = sum;
            job->value = i;
            __kmpc_omp_task(&here, *gtid, &job->task);
        }
        __kmpc_omp_taskwait(&here, *gtid);
        expect("taskwait", __atomic_load_n(sum, __ATOMIC_RELAXED), N * (N - 1) / 2);
        __kmpc_end_single(&here, *gtid);
    }
    __kmpc_barrier(&here, *gtid);
}

/* Regions as the REX compiler outlines them: they are not variadic, and there is no cast in the call. */
static void one_pointer(int *__global_tid, int *__bound_tid, void *__out_argv)
{
    (void)__global_tid;
    (void)__bound_tid;
    add((int64_t *)__out_argv, 1);
}

static void two_pointers(int *__global_tid, int *__bound_tid, int64_t **sump__, int *onep__)
{
    (void)__global_tid;
    (void)__bound_tid;
    add(*sump__, *onep__);
}

static void no_pointer(int *__global_tid, int *__bound_tid)
{
    (void)__bound_tid;
    __kmpc_barrier(0, *__global_tid);
}

static int64_t outlined(void)
{
    int64_t sum = 0, *address = &sum;
    int one = 1;
    __kmpc_push_num_threads(0, __kmpc_global_thread_num(0), THREADS);
    __kmpc_fork_call(0, 1, one_pointer, &sum);
    __kmpc_push_num_threads(0, __kmpc_global_thread_num(0), THREADS);
    __kmpc_fork_call(0, 2, two_pointers, &address, &one);
    __kmpc_push_num_threads(0, __kmpc_global_thread_num(0), THREADS);
    __kmpc_fork_call(0, 0, no_pointer, 0);
    __extension__ void *region = (void *)one_pointer;
    __kmpc_push_num_threads(0, __kmpc_global_thread_num(0), THREADS);
    __kmpc_fork_call(0, 1, region, &sum);
    return sum;
}

/* Tasks, groups and critical sections as the emitter writes them: its own types of a task, `void *` for the lock, results that are used. */
typedef struct shareds {
    int64_t *sum;
} *pshareds;
typedef struct {
    pshareds shareds;
    void *routine;
    int part_id;
} *ptask;
static int xomp_critical_user_[8] __attribute__((aligned(8)));

static void OUT__1__add__14__(int gtid, ptask task)
{
    __kmpc_critical(0, gtid, (void *)xomp_critical_user_);
    *task->shareds->sum += 1;
    __kmpc_end_critical(0, gtid, (void *)xomp_critical_user_);
}

static int64_t emitted(void)
{
    int64_t sum = 0;
    int __gtid = __kmpc_global_thread_num(0);
    kmpc_micro_t region = (kmpc_micro_t)(void (*)(void))one_pointer;
    int ignored = __kmpc_serialized_parallel(0, __gtid);
    (void)ignored;
    __kmpc_taskgroup(0, __gtid);
    for (int i = 0; i < 2; i++) {
        ptask task = i == 0
                         ? (ptask)__kmpc_omp_task_alloc(NULL, __gtid, 1, sizeof(task) * 4, sizeof(pshareds) * 4, &OUT__1__add__14__)
                         : (ptask)__kmpc_omp_task_alloc(NULL, __gtid, 1, sizeof(task) * 4, sizeof(pshareds) * 4,
                                                        __extension__(void *) & OUT__1__add__14__);
        task->shareds->sum = &sum;
        __kmpc_omp_task(NULL, __gtid, task);
    }
    __kmpc_end_taskgroup(0, __gtid);
    __kmpc_end_serialized_parallel(0, __gtid);
    __kmpc_push_num_threads(0, __gtid, THREADS);
    __kmpc_fork_call(0, 1, region, &sum);
    return sum;
}

static void fork_call(void (*region)(int32_t *gtid, int32_t *bound, int64_t *shared, ...), int64_t *shared)
{
    __kmpc_push_num_threads(&here, __kmpc_global_thread_num(&here), THREADS);
    __kmpc_fork_call(&here, 1, (kmpc_micro)region, shared);
}

int main(void)
{
    static const char *const widths[] = {"4", "4u", "8", "8u"};
    int64_t in_static[4] = {0, 0, 0, 0}, in_dynamic[4] = {0, 0, 0, 0}, counts[5] = {0, 0, 0, 0, 0}, alone = 0, in_tasks = 0;
    fork_call(static_loops, in_static);
    fork_call(dynamic_loops, in_dynamic);
    for (int i = 0; i < 4; i++) {
        expect(widths[i], in_static[i], N * (N - 1) / 2);
        expect(widths[i], in_dynamic[i], N * (N - 1) / 2);
    }
    fork_call(exclusive, counts);
    expect("threads", counts[0], THREADS);
    expect("single", counts[1], 1);
    expect("master", counts[2], 1);
    expect("critical", counts[3], THREADS * N);
    expect("atomic", counts[4], THREADS * N);
    expect("outlined as by REX", outlined(), (int64_t)3 * THREADS);
    expect("emitted by REX", emitted(), 2 + THREADS);
    fork_call(tasks, &in_tasks);
    expect("tasks", in_tasks, N * (N - 1) / 2);

    int32_t gtid = __kmpc_global_thread_num(&here), bound = 0;
    int64_t serial[4] = {0, 0, 0, 0};
    __kmpc_serialized_parallel(&here, gtid);
    static_loops(&gtid, &bound, serial);
    __kmpc_end_serialized_parallel(&here, gtid);
    for (int i = 0; i < 4; i++)
        alone += serial[i];
    expect("serialized", alone, (int64_t)4 * (N * (N - 1) / 2));
    return failures != 0;
}
