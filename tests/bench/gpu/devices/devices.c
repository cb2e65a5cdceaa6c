/*
 * What several GPUs of one host do at once, by librex and by the driver's plain calls, for
 * `make bench-gpu`: lines PEER METRIC MICROSECONDS, or PEER METRIC failed: REASON.
 *
 * 1, 2, 4 and 8 GPUs, as many as there are: empty launches, copies of 64 MB, and heat on a plate
 * that is divided by rows. Of launches and copies a thread for each GPU makes as many as with one
 * GPU, and the time is that of all divided by their number. So with N GPUs it is at best an Nth.
 * Peers take turns in one process, and the best of each is printed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stdbool.h>

#include <rex.h>
#include <rex/interop.h>

#include "bench/gpu/plaindriver.h"

REX_KERNEL(empty);
REX_KERNEL(heat);

enum {
    MOST = 8, /* GPUs */
    TURNS = 5,
    LAUNCHES = 5000,
    COPIES = 10,
    COLUMNS = 4096,
    ROWS = 4096, /* of all GPUs together */
    STEPS = 200,
    TEAMS = 1024,
    THREADS = 256
};
#define COPY ((size_t)64 << 20)
#define ROW (COLUMNS * sizeof(double))

static struct {
    int (*cuDevicePrimaryCtxRetain)(void **context, int device);
    int (*cuCtxSetCurrent)(void *context);
    int (*cuCtxEnablePeerAccess)(void *context, unsigned flags);
    int (*cuModuleLoad)(void **module, const char *file);
    int (*cuModuleGetFunction)(void **function, void *module, const char *name);
    int (*cuStreamCreate)(void **stream, unsigned flags);
    int (*cuStreamSynchronize)(void *stream);
    int (*cuStreamWaitEvent)(void *stream, void *event, unsigned flags);
    int (*cuEventCreate)(void **event, unsigned flags);
    int (*cuEventRecord)(void *event, void *stream);
    int (*cuMemcpyHtoD_v2)(void *to, const void *from, size_t size);
    int (*cuMemcpyDtoH_v2)(void *to, const void *from, size_t size);
    int (*cuMemcpyPeerAsync)(void *to, void *to_context, const void *from, void *from_context,
                             size_t size, void *stream);
    int (*cuLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream,
                          void **parameters, void **extra);
} cu;

/* What one GPU has for the benchmark. */
static struct gpu {
    int number;
    void *context, *empty, *heat, *stream, *event; /* the driver's */
    struct rex_queue *queue;
    struct rex_event *recorded;
    char *pageable, *pinned; /* COPY bytes of the host */
    char *memory;            /* COPY bytes of the device */
    char *plate[2];          /* the rows now and after the step, and one more on either side */
    int64_t rows;
} gpus[MOST];

/* ---- the peers ------------------------------------------------------------------------------- */

struct peer {
    const char *name;
    void (*enter)(const struct gpu *gpu); /* called first by a thread that works with a GPU */
    void (*launch)(const struct gpu *gpu);
    void (*copy_to)(const struct gpu *gpu, const char *from);
    void (*copy_from)(const struct gpu *gpu, char *to);
    void (*step)(const struct gpu *gpu, char *from, char *to);
    void (*record)(const struct gpu *gpu);
    void (*wait)(const struct gpu *gpu, const struct gpu *other);
    void (*fetch)(const struct gpu *gpu, char *to, const struct gpu *other, const char *from);
    void (*finish)(const struct gpu *gpu);
};

static void rex_enter(const struct gpu *gpu)
{
    (void)gpu;
}

static void rex_launch_one(const struct gpu *gpu)
{
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(empty), 1, 32);
    config.device = gpu->number;
    REX_MAP(args, REX_VALUE((int64_t)0));
    MUST(rex_launch(&config, &args));
}

static void rex_copy_to(const struct gpu *gpu, const char *from)
{
    MUST(rex_device_copy_to(gpu->memory, from, COPY, gpu->number));
}

static void rex_copy_from(const struct gpu *gpu, char *to)
{
    MUST(rex_device_copy_from(to, gpu->memory, COPY, gpu->number));
}

static void rex_step(const struct gpu *gpu, char *from, char *to)
{
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(heat), TEAMS, THREADS);
    config.queue = gpu->queue;
    REX_MAP(args, REX_VALUE((int64_t)COLUMNS), REX_VALUE(gpu->rows),
            REX_IS_DEVICE_PTR((const double *)(void *)from),
            REX_IS_DEVICE_PTR((double *)(void *)to));
    MUST(rex_launch(&config, &args));
}

static void rex_record(const struct gpu *gpu)
{
    MUST(rex_event_record(gpu->recorded, gpu->queue));
}

static void rex_wait(const struct gpu *gpu, const struct gpu *other)
{
    MUST(rex_queue_wait_event(gpu->queue, other->recorded));
}

static void rex_fetch(const struct gpu *gpu, char *to, const struct gpu *other, const char *from)
{
    MUST(rex_queue_copy_peer(gpu->queue, to, gpu->number, from, other->number, ROW));
}

static void rex_finish(const struct gpu *gpu)
{
    MUST(rex_queue_sync(gpu->queue));
}

static void cu_enter(const struct gpu *gpu)
{
    MUST(cu.cuCtxSetCurrent(gpu->context));
}

static void cu_launch_one(const struct gpu *gpu)
{
    int64_t unused = 0;
    void *parameters[] = {&unused};
    MUST(cu.cuLaunchKernel(gpu->empty, 1, 1, 1, 32, 1, 1, 0, gpu->stream, parameters, NULL));
    MUST(cu.cuStreamSynchronize(gpu->stream));
}

static void cu_copy_to(const struct gpu *gpu, const char *from)
{
    MUST(cu.cuMemcpyHtoD_v2(gpu->memory, from, COPY));
}

static void cu_copy_from(const struct gpu *gpu, char *to)
{
    MUST(cu.cuMemcpyDtoH_v2(to, gpu->memory, COPY));
}

static void cu_step(const struct gpu *gpu, char *from, char *to)
{
    int64_t columns = COLUMNS, rows = gpu->rows;
    void *parameters[] = {&columns, &rows, &from, &to};
    MUST(cu.cuCtxSetCurrent(gpu->context));
    MUST(
        cu.cuLaunchKernel(gpu->heat, TEAMS, 1, 1, THREADS, 1, 1, 0, gpu->stream, parameters, NULL));
}

static void cu_record(const struct gpu *gpu)
{
    MUST(cu.cuCtxSetCurrent(gpu->context));
    MUST(cu.cuEventRecord(gpu->event, gpu->stream));
}

static void cu_wait(const struct gpu *gpu, const struct gpu *other)
{
    MUST(cu.cuStreamWaitEvent(gpu->stream, other->event, 0));
}

static void cu_fetch(const struct gpu *gpu, char *to, const struct gpu *other, const char *from)
{
    MUST(cu.cuMemcpyPeerAsync(to, gpu->context, from, other->context, ROW, gpu->stream));
}

static void cu_finish(const struct gpu *gpu)
{
    MUST(cu.cuStreamSynchronize(gpu->stream));
}

static const struct peer peers[] = {
    {"librex", rex_enter, rex_launch_one, rex_copy_to, rex_copy_from, rex_step, rex_record,
     rex_wait, rex_fetch, rex_finish},
    {"driver", cu_enter, cu_launch_one, cu_copy_to, cu_copy_from, cu_step, cu_record, cu_wait,
     cu_fetch, cu_finish},
};
enum { PEERS = sizeof peers / sizeof *peers };

/* ---- a thread for each GPU ------------------------------------------------------------------- */

static const struct work {
    const char *name;
    bool to, from, pinned; /* a copy; without a direction a launch */
} works[] = {{.name = "launch_empty"},
             {.name = "to_pageable_64_MB", .to = true},
             {.name = "from_pageable_64_MB", .from = true},
             {.name = "to_pinned_64_MB", .to = true, .pinned = true},
             {.name = "from_pinned_64_MB", .from = true, .pinned = true}};
enum { WORKS = sizeof works / sizeof *works };

/* Launches or copies of one GPU. */
static int units_of(const struct work *work)
{
    return work->to || work->from ? COPIES : LAUNCHES;
}

static void do_work(const struct work *work, const struct peer *peer, const struct gpu *gpu)
{
    char *host = work->pinned ? gpu->pinned : gpu->pageable;
    for (int i = 0; i < units_of(work); i++)
        if (work->to)
            peer->copy_to(gpu, host);
        else if (work->from)
            peer->copy_from(gpu, host);
        else
            peer->launch(gpu);
}

static pthread_barrier_t barrier;

struct task {
    pthread_t thread;
    const struct peer *peer;
    const struct work *work;
    const struct gpu *gpu;
};

static void *do_task(void *context)
{
    const struct task *task = context;
    task->peer->enter(task->gpu);
    task->peer->launch(task->gpu); /* what is made for a thread's first call is not timed */
    pthread_barrier_wait(&barrier);
    do_work(task->work, task->peer, task->gpu);
    pthread_barrier_wait(&barrier);
    return NULL;
}

/* Microseconds of a unit. */
static double time_work(const struct work *work, const struct peer *peer, int count)
{
    struct task task[MOST];
    pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++) {
        task[i] = (struct task){.peer = peer, .work = work, .gpu = &gpus[i]};
        must(pthread_create(&task[i].thread, NULL, do_task, &task[i]), "pthread_create");
    }
    pthread_barrier_wait(&barrier);
    double began = now();
    pthread_barrier_wait(&barrier);
    double took = now() - began;
    for (int i = 0; i < count; i++)
        pthread_join(task[i].thread, NULL);
    pthread_barrier_destroy(&barrier);
    return took / (units_of(work) * count);
}

/* ---- heat ------------------------------------------------------------------------------------ */

/* The plate is divided anew. Its first row is hot, and the rows outside of it stay 0. */
static void divide_plate(int count)
{
    static double hot[COLUMNS];
    char *empty = calloc(ROWS + 2, ROW);
    must(empty == NULL, "calloc");
    for (int i = 0; i < COLUMNS; i++)
        hot[i] = 1000 + i % 7;
    for (int i = 0; i < count; i++) {
        gpus[i].rows = ROWS / count;
        for (int j = 0; j < 2; j++)
            MUST(rex_device_copy_to(gpus[i].plate[j], empty, (size_t)(gpus[i].rows + 2) * ROW, i));
    }
    MUST(rex_device_copy_to(gpus[0].plate[0] + ROW, hot, ROW, 0));
    free(empty);
}

/* Every GPU waits for its neighbours, and if CURRENT is not -1 it fetches their rows of it. */
static void meet_neighbours(const struct peer *peer, int count, int current)
{
    for (int i = 0; i < count; i++)
        peer->record(&gpus[i]);
    for (int i = 0; i < count; i++) {
        const struct gpu *gpu = &gpus[i], *above = gpu - 1, *below = gpu + 1;
        if (i > 0)
            peer->wait(gpu, above);
        if (i < count - 1)
            peer->wait(gpu, below);
        if (i > 0 && current >= 0)
            peer->fetch(gpu, gpu->plate[current], above,
                        above->plate[current] + (size_t)above->rows * ROW);
        if (i < count - 1 && current >= 0)
            peer->fetch(gpu, gpu->plate[current] + (size_t)(gpu->rows + 1) * ROW, below,
                        below->plate[current] + ROW);
    }
}

/* Microseconds of a step. One thread serves all GPUs. */
static double time_heat(const struct peer *peer, int count)
{
    divide_plate(count);
    double began = now();
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < count; i++)
            peer->step(&gpus[i], gpus[i].plate[step % 2], gpus[i].plate[(step + 1) % 2]);
        if (count == 1)
            continue;
        meet_neighbours(peer, count, (step + 1) % 2);
        meet_neighbours(peer, count, -1); /* before a neighbour's rows are overwritten */
    }
    for (int i = 0; i < count; i++)
        peer->finish(&gpus[i]);
    return (now() - began) / (double)STEPS;
}

/* Whether the plate is what one GPU has computed, which FIRST keeps. */
static bool is_plate_right(double *first, int count)
{
    char *plate = malloc(ROWS * ROW);
    must(plate == NULL, "malloc");
    for (int i = 0; i < count; i++) {
        size_t size = (size_t)gpus[i].rows * ROW;
        MUST(rex_device_copy_from(plate + (size_t)i * size, gpus[i].plate[STEPS % 2] + ROW, size,
                                  i));
    }
    if (first[0] == 0)
        memcpy(first, plate, ROWS * ROW);
    bool is_right = first[0] != 0 && memcmp(first, plate, ROWS * ROW) == 0;
    free(plate);
    return is_right;
}

static void print_heat(int count)
{
    static double first[(size_t)ROWS * COLUMNS];
    double best[PEERS] = {0};
    bool is_right[PEERS] = {true, true};
    for (int turn = 0; turn < TURNS; turn++)
        for (int p = 0; p < PEERS; p++) {
            double time = time_heat(&peers[p], count);
            best[p] = best[p] == 0 || time < best[p] ? time : best[p];
            is_right[p] = is_right[p] && is_plate_right(first, count);
        }
    for (int p = 0; p < PEERS; p++)
        if (is_right[p])
            printf("%s gpus_%d_heat_step %.3f\n", peers[p].name, count, best[p]);
        else
            printf("%s gpus_%d_heat_step failed: the plate is not that of one GPU\n", peers[p].name,
                   count);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static void open_gpu(struct gpu *gpu, int number)
{
    void *module;
    gpu->number = number;
    MUST(cu.cuDevicePrimaryCtxRetain(&gpu->context, rex_device_gpu(number)));
    MUST(cu.cuCtxSetCurrent(gpu->context));
    MUST(cu.cuModuleLoad(&module, rex_module_image_path(&rex_this_module)));
    MUST(cu.cuModuleGetFunction(&gpu->empty, module, "empty__kernel__"));
    MUST(cu.cuModuleGetFunction(&gpu->heat, module, "heat__kernel__"));
    MUST(cu.cuStreamCreate(&gpu->stream, 1));
    MUST(cu.cuEventCreate(&gpu->event, 0));
    MUST(rex_queue_create(&gpu->queue, number, "heat", 0));
    MUST(rex_event_create(&gpu->recorded));
    gpu->pageable = calloc(1, COPY);
    gpu->pinned = rex_host_alloc(COPY);
    gpu->memory = rex_device_alloc(COPY, number);
    for (int i = 0; i < 2; i++)
        gpu->plate[i] = rex_device_alloc((ROWS + 2) * ROW, number);
    if (gpu->pageable == NULL || gpu->pinned == NULL || gpu->memory == NULL ||
        gpu->plate[0] == NULL || gpu->plate[1] == NULL)
        must(-1, "memory");
    memset(gpu->pageable, number, COPY); /* calloc()'s pages would be one of zeroes */
}

/* As a program that copies between GPUs does. Pairs without a link copy through the host. */
static void enable_peers(int count)
{
    for (int i = 0; i < count; i++) {
        MUST(cu.cuCtxSetCurrent(gpus[i].context));
        for (int j = 0; j < count; j++)
            if (i != j)
                cu.cuCtxEnablePeerAccess(gpus[j].context, 0);
    }
}

static void print_works(int count)
{
    for (int w = 0; w < WORKS; w++) {
        double best[PEERS] = {0};
        for (int turn = 0; turn < TURNS; turn++)
            for (int p = 0; p < PEERS; p++) {
                double time = time_work(&works[w], &peers[p], count);
                best[p] = best[p] == 0 || time < best[p] ? time : best[p];
            }
        for (int p = 0; p < PEERS; p++)
            printf("%s gpus_%d_%s %.3f\n", peers[p].name, count, works[w].name, best[p]);
    }
}

int main(void)
{
    MUST(rex_offload_init());
    if (rex_module_on_host(&rex_this_module)) {
        puts("skip: there is no GPU");
        return 77;
    }
    FIND(cuDevicePrimaryCtxRetain), FIND(cuCtxSetCurrent), FIND(cuCtxEnablePeerAccess);
    FIND(cuModuleLoad), FIND(cuModuleGetFunction), FIND(cuStreamCreate), FIND(cuStreamSynchronize);
    FIND(cuStreamWaitEvent), FIND(cuEventCreate), FIND(cuEventRecord), FIND(cuMemcpyHtoD_v2);
    FIND(cuMemcpyDtoH_v2), FIND(cuMemcpyPeerAsync), FIND(cuLaunchKernel);
    int most = rex_device_count() < MOST ? rex_device_count() : MOST;
    for (int i = 0; i < most; i++)
        open_gpu(&gpus[i], i);
    enable_peers(most);
    for (int count = 1; count <= most; count *= 2) {
        print_works(count);
        print_heat(count);
    }
    for (int i = 0; i < most; i++)
        MUST(rex_queue_destroy(gpus[i].queue));
    return 0;
}
