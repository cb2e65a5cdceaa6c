/*
 * What copies of ordinary memory cost beside the driver's own call, from 4 bytes to 1 GiB, to the device and from it. For a GPU.
 *
 * usage: copies [--metrics] [TURNS [MOST]]
 *
 * Each way is gone in turn, TURNS times (7), in one process, for sizes up to MOST bytes; medians are printed: the driver's time and speed,
 * and how many times as fast as the driver each other way is. "today" is librex without threads (REX_COPY_THREADS=0), "threads" with as
 * many as REX_COPY_THREADS says in the environment. A region's time is that of its beginning or its end, with the memory that these take
 * and give back. After each size the bytes are compared: where some got lost there is no time. With --metrics: lines
 * PEER METRIC MICROSECONDS, or PEER METRIC failed: REASON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rex.h>

REX_KERNEL(nothing);

static struct {
    int (*cuStreamCreate)(void **stream, unsigned flags);
    int (*cuStreamSynchronize)(void *stream);
    int (*cuDevicePrimaryCtxRetain)(void **context, int device);
    int (*cuCtxPushCurrent_v2)(void *context);
    int (*cuMemcpyHtoDAsync_v2)(uint64_t to, const void *from, size_t size, void *stream);
    int (*cuMemcpyDtoHAsync_v2)(void *to, uint64_t from, size_t size, void *stream);
} cu;

static void must(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: %d %s\n", what, result, rex_last_error());
        exit(1);
    }
}
#define MUST(call) must((call), #call)

static void find(void *slot, const char *name)
{
    void *address = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
    if (address == NULL) {
        fprintf(stderr, "the driver has no %s\n", name);
        exit(1);
    }
    memcpy(slot, &address, sizeof address);
}
#define FIND(name) find(&cu.name, #name)

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* ---- ways --------------------------------------------------------------------------------------------------------------------------- */

static struct rex_queue *queue;
static void *stream;
static unsigned char *from, *to, *device; /* from goes to the device; what comes back is in to */

/* Each says how many seconds it has taken. */
static double by_driver(size_t size, bool to_host)
{
    uint64_t address = (uint64_t)(uintptr_t)device;
    double began = now();
    MUST(to_host ? cu.cuMemcpyDtoHAsync_v2(to, address, size, stream) : cu.cuMemcpyHtoDAsync_v2(address, from, size, stream));
    MUST(cu.cuStreamSynchronize(stream));
    return now() - began;
}

static double by_queue(size_t size, bool to_host)
{
    double began = now();
    MUST(to_host ? rex_queue_copy_from(queue, to, device, size) : rex_queue_copy_to(queue, device, from, size));
    MUST(rex_queue_sync(queue));
    return now() - began;
}

static double by_call(size_t size, bool to_host)
{
    double began = now();
    MUST(to_host ? rex_device_copy_from(to, device, size, -1) : rex_device_copy_to(device, from, size, -1));
    return now() - began;
}

static double take(int (*call)(struct rex_module *, int64_t, const struct rex_map *), const struct rex_map *map)
{
    double began = now();
    MUST(call(&rex_this_module, -1, map));
    return now() - began;
}

/* The beginning of a region that maps what is copied, or the end of one that copies it back. */
static double by_region(size_t size, bool to_host)
{
    REX_MAP(to_device, REX_TO(from, size));
    REX_MAP(alone, REX_ALLOC(from, size));
    REX_MAP(back, REX_ALLOC(to, size));
    REX_MAP(from_device, REX_FROM(to, size));
    if (!to_host) {
        double taken = take(rex_module_data_enter, &to_device);
        MUST(rex_data_exit(-1, &alone));
        return taken;
    }
    MUST(rex_data_enter(-1, &back));
    MUST(rex_device_copy_to(rex_mapped_ptr(to, -1), from, size, -1));
    return take(rex_module_region_end, &from_device);
}

static const struct {
    const char *name, *peer, *metric;
    double (*copy)(size_t size, bool to_host);
    const char *threads; /* NULL: as the environment says */
} ways[] = {
    {"driver", "driver", "copy", by_driver, "0"},
    {"queue, today", "librex", "copy_queue_plain", by_queue, "0"},
    {"queue, threads", "librex", "copy_queue", by_queue, NULL},
    {"call, today", "librex", "copy_call_plain", by_call, "0"},
    {"call, threads", "librex", "copy_call", by_call, NULL},
    {"region, today", "librex", "copy_region_plain", by_region, "0"},
    {"region, threads", "librex", "copy_region", by_region, NULL},
};
enum { WAYS = sizeof ways / sizeof *ways, TURNS_MOST = 101 };

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Microseconds of one copy; small ones are made many times over. */
static double measure(int way, size_t size, bool to_host)
{
    int times = size >= 1 << 20 ? 1 : size >= 1 << 16 ? 20 : 200;
    MUST(rex_configure(REX_OPTION_COPY_THREADS, ways[way].threads));
    double taken = 0;
    for (int i = 0; i < times; i++)
        taken += ways[way].copy(size, to_host);
    return taken / times * 1e6;
}

static void spoil(unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word = (i + seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
        memcpy(bytes + i, &word, 8);
    }
    memset(bytes + size / 8 * 8, (int)seed, size % 8);
}

/* Whether all SIZE bytes get there and back by WAY. */
static bool is_right(int way, size_t size)
{
    spoil(from, size, (unsigned)way + 1);
    memset(to, 0, size);
    measure(way, size, false);
    measure(way, size, true);
    return memcmp(from, to, size) == 0;
}

static void print_metric(int way, size_t size, bool to_host, double time, bool right)
{
    printf("%s %s_%s_%zu ", ways[way].peer, ways[way].metric, to_host ? "from" : "to", size);
    if (right)
        printf("%.4f\n", time);
    else
        printf("failed: bytes got lost\n");
}

static void print_row(size_t size, bool to_host, const double *time, const bool *right)
{
    printf("%11zu %-4s %10.1f us %6.2f GB/s", size, to_host ? "from" : "to", time[0], (double)size / time[0] / 1e3);
    for (int way = 1; way < WAYS; way++)
        if (right[way])
            printf("  %15.2f", time[0] / time[way]);
        else
            printf("  %15s", "BYTES LOST");
    putchar('\n');
}

static void print_head(void)
{
    printf("%11s %-4s %13s %11s", "bytes", "", "driver", "");
    for (int way = 1; way < WAYS; way++)
        printf("  %15s", ways[way].name);
    putchar('\n');
}

static void measure_size(size_t size, int turns, bool metrics)
{
    static double all[2][WAYS][TURNS_MOST];
    bool right[WAYS];
    spoil(from, size, 0); /* no page is touched for the first time while it is timed */
    memset(to, 0, size);
    for (int way = 0; way < WAYS; way++)
        right[way] = is_right(way, size);
    for (int turn = 0; turn < turns; turn++)
        for (int to_host = 0; to_host < 2; to_host++)
            for (int i = 0; i < WAYS; i++) {
                int way = (i + turn) % WAYS;
                all[to_host][way][turn] = measure(way, size, to_host);
            }
    for (int to_host = 0; to_host < 2; to_host++) {
        double median[WAYS];
        for (int way = 0; way < WAYS; way++) {
            qsort(all[to_host][way], (size_t)turns, sizeof **all[to_host], compare);
            median[way] = all[to_host][way][turns / 2];
            if (metrics)
                print_metric(way, size, to_host, median[way], right[way]);
        }
        if (!metrics)
            print_row(size, to_host, median, right);
    }
    fflush(stdout);
}

/* ---- set-up ------------------------------------------------------------------------------------------------------------------------- */

static void open_driver(void)
{
    void *context;
    FIND(cuStreamCreate), FIND(cuStreamSynchronize), FIND(cuDevicePrimaryCtxRetain), FIND(cuCtxPushCurrent_v2);
    FIND(cuMemcpyHtoDAsync_v2), FIND(cuMemcpyDtoHAsync_v2);
    MUST(cu.cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cu.cuCtxPushCurrent_v2(context));
    MUST(cu.cuStreamCreate(&stream, 1));
}

static void open_all(size_t most)
{
    MUST(rex_offload_init());
    MUST(rex_queue_create(&queue, -1, "copies", 0));
    from = malloc(most);
    to = malloc(most);
    device = rex_device_alloc(most, -1);
    if (from == NULL || to == NULL || device == NULL || rex_queue_is_synchronous(queue)) {
        fprintf(stderr, "no GPU, or no memory: %s\n", rex_last_error());
        exit(1);
    }
    open_driver();
}

int main(int argc, char **argv)
{
    bool metrics = argc > 1 && strcmp(argv[1], "--metrics") == 0;
    int turns = argc > 1 + metrics ? atoi(argv[1 + metrics]) : 7;
    size_t most = argc > 2 + metrics ? strtoull(argv[2 + metrics], NULL, 10) : (size_t)1 << 30;
    if (turns < 1 || turns > TURNS_MOST || most < 4) {
        fprintf(stderr, "usage: %s [--metrics] [TURNS [MOST]]\n", argv[0]);
        return 2;
    }
    open_all(most);
    if (!metrics)
        print_head();
    for (size_t size = 4; size <= most; size *= size < (1 << 20) ? 4 : 2)
        measure_size(size, turns, metrics);
    rex_device_free(device, -1);
    MUST(rex_queue_destroy(queue));
    MUST(rex_offload_fini());
    free(from);
    free(to);
    return 0;
}
