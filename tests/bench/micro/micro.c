/*
 * micro.c - times the pieces of micro.h. Prints a line for each: METRIC VALUE, in microseconds unless the metric says otherwise; a value is
 * the median of several repetitions after one that is not counted. What was computed is checked.
 *
 * usage: micro [REPETITIONS [MEGABYTES]]: how often each piece is repeated (5), and the size of the largest arrays (1024)
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "micro.h"

enum { MOST_REPETITIONS = 99, MOST_THREADS = 16 };

static int repetitions = 5;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double cpu_time(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* What is timed: @times times, on what it needs. */
struct piece {
    int (*run)(const struct piece *piece);
    long times;
    int64_t size;
    double *x, *y;
};

/* Microseconds of one of the piece's times; below 0: it failed, or does not exist here. */
static double median(const struct piece *piece)
{
    double took[MOST_REPETITIONS];
    for (int i = -1; i < repetitions; i++) {
        double began = now();
        for (long j = 0; j < piece->times; j++)
            if (piece->run(piece) != 0)
                return -1;
        took[i < 0 ? 0 : i] = (now() - began) / (double)piece->times;
    }
    qsort(took, (size_t)repetitions, sizeof *took, by_value);
    return took[repetitions / 2];
}

static void print(const char *metric, double value)
{
    if (value >= 0)
        printf("%s %.4f\n", metric, value);
    fflush(stdout);
}

/* ---- launches ---------------------------------------------------------------------------------------------------------------- */

static int run_empty(const struct piece *piece)
{
    (void)piece;
    return micro_empty();
}

static int run_arguments(const struct piece *piece)
{
    return micro_arguments((int)piece->size);
}

static void launches(int quick)
{
    static const int counts[] = {4, 16, 64, 256};
    static const long storms[] = {1, 10, 100, 1000, 10000};
    char metric[64];
    print("launch_empty", median(&(struct piece){run_empty, 2000, 0, NULL, NULL}));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        snprintf(metric, sizeof metric, "launch_arguments_%d", counts[i]);
        print(metric, median(&(struct piece){run_arguments, 500, counts[i], NULL, NULL}));
    }
    for (size_t i = 0; i < sizeof storms / sizeof *storms && !(quick && storms[i] > 1000); i++) {
        snprintf(metric, sizeof metric, "launch_storm_%ld", storms[i]);
        print(metric, median(&(struct piece){run_empty, storms[i], 0, NULL, NULL}));
    }
    /* Seconds long: once. */
    double began = now();
    for (long i = 0; i < 100000 && !quick; i++)
        if (micro_empty() != 0)
            return;
    print("launch_storm_100000", quick ? -1 : (now() - began) / 100000);
}

static void *launch_thread(void *context)
{
    const long *times = context;
    for (long i = 0; i < *times; i++)
        if (micro_empty() != 0)
            return context;
    return NULL;
}

/* Several threads at once, as many launches in all. */
static int run_threads(const struct piece *piece)
{
    pthread_t threads[MOST_THREADS];
    long each = 4000 / piece->size;
    int failed = 0, started = 0;
    while (started < piece->size && pthread_create(&threads[started], NULL, launch_thread, &each) == 0)
        started++;
    for (int i = 0; i < started; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        failed |= result != NULL;
    }
    return failed || started < piece->size ? -1 : 0;
}

static void threads(void)
{
    char metric[64];
    for (int count = 1; count <= MOST_THREADS; count *= 2) {
        double took = median(&(struct piece){run_threads, 1, count, NULL, NULL});
        snprintf(metric, sizeof metric, "threads_%d", count);
        print(metric, took < 0 ? took : took / 4000.0);
    }
}

/* Processor time that a thread burns while the device works for a millisecond, as a share of the time. */
static void waiting(void)
{
    double cpu = cpu_time(), began = now();
    for (int i = 0; i < 200; i++)
        if (micro_busy() != 0)
            return;
    print("cpu_share_of_waiting", (cpu_time() - cpu) / (now() - began));
}

/* ---- axpy ---------------------------------------------------------------------------------------------------------------------- */

static int run_resident(const struct piece *piece)
{
    return micro_axpy(1.0, piece->x, piece->y, piece->size, 1);
}

static int run_mapped(const struct piece *piece)
{
    return micro_axpy(1.0, piece->x, piece->y, piece->size, 0);
}

static int wrong(const struct piece *piece, double times)
{
    for (int64_t i = 0; i < piece->size; i += piece->size / 64 + 1)
        if (piece->y[i] != times * (double)(i % 7)) {
            fprintf(stderr, "micro: y[%lld] is %g and not %g\n", (long long)i, piece->y[i], times * (double)(i % 7));
            return 1;
        }
    return 0;
}

static void fill(struct piece *piece)
{
    for (int64_t i = 0; i < piece->size; i++) {
        piece->x[i] = (double)(i % 7);
        piece->y[i] = 0;
    }
}

/* A region with some launches in it: what mapping costs when it is shared. */
static int run_region(const struct piece *piece)
{
    long launches_inside = piece->times < 0 ? -piece->times : 1;
    int64_t bytes = 512 * (int64_t)sizeof(double);
    int failed = micro_map(piece->x, bytes) != 0 || micro_map(piece->y, bytes) != 0;
    for (long i = 0; i < launches_inside && !failed; i++)
        failed = micro_axpy(1.0, piece->x, piece->y, 512, 1);
    return failed || micro_unmap(piece->y, bytes) != 0 || micro_unmap(piece->x, bytes) != 0 ? -1 : 0;
}

static int run_regions_of_1(const struct piece *piece) { return run_region(&(struct piece){NULL, -1, 0, piece->x, piece->y}); }
static int run_regions_of_10(const struct piece *piece) { return run_region(&(struct piece){NULL, -10, 0, piece->x, piece->y}); }
static int run_regions_of_100(const struct piece *piece) { return run_region(&(struct piece){NULL, -100, 0, piece->x, piece->y}); }
static int run_regions_of_1000(const struct piece *piece) { return run_region(&(struct piece){NULL, -1000, 0, piece->x, piece->y}); }

static void regions(double *x, double *y)
{
    print("region_1", median(&(struct piece){run_regions_of_1, 100, 0, x, y}));
    print("region_10", median(&(struct piece){run_regions_of_10, 50, 0, x, y}));
    print("region_100", median(&(struct piece){run_regions_of_100, 10, 0, x, y}));
    print("region_1000", median(&(struct piece){run_regions_of_1000, 2, 0, x, y}));
}

static int axpys(double *x, double *y, int64_t most)
{
    char metric[64];
    for (int64_t size = 512; size <= most; size *= size < most / 16 ? 16 : most / size > 1 ? most / size : 2) {
        struct piece piece = {run_mapped, size <= 8192 ? 200 : size <= (1 << 17) ? 20 : 1, size, x, y};
        fill(&piece);
        snprintf(metric, sizeof metric, "axpy_mapped_%lld_KB", (long long)(size * (int64_t)sizeof *x / 1024));
        print(metric, median(&piece));
        if (wrong(&piece, (double)((repetitions + 1) * piece.times)))
            return -1;
    }
    struct piece piece = {run_resident, 2000, 512, x, y};
    int64_t bytes = piece.size * (int64_t)sizeof *x;
    fill(&piece);
    if (micro_map(x, bytes) != 0 || micro_map(y, bytes) != 0)
        return -1;
    print("axpy_resident", median(&piece));
    if (micro_copy_from(y, bytes) != 0 || wrong(&piece, (double)((repetitions + 1) * piece.times)) || micro_unmap(y, bytes) != 0 ||
        micro_unmap(x, bytes) != 0)
        return -1;
    regions(x, y);
    return 0;
}

/* ---- copies ------------------------------------------------------------------------------------------------------------------- */

static int run_to(const struct piece *piece)
{
    return micro_copy_to(piece->x, piece->size);
}

static int run_from(const struct piece *piece)
{
    return micro_copy_from(piece->x, piece->size);
}

static void copies(const char *kind, void *memory, int64_t most)
{
    char metric[64];
    for (int64_t bytes = 4096; memory != NULL && bytes <= most; bytes *= 16) {
        struct piece piece = {run_to, bytes > (1 << 24) ? 1 : 10, bytes, memory, NULL};
        if (micro_map(memory, bytes) != 0)
            return;
        double to = median(&piece);
        piece.run = run_from;
        double from = median(&piece);
        snprintf(metric, sizeof metric, "copy_to_%s_%lld_KB_GB/s", kind, (long long)(bytes / 1024));
        print(metric, to > 0 ? (double)bytes / to / 1e3 : -1);
        snprintf(metric, sizeof metric, "copy_from_%s_%lld_KB_GB/s", kind, (long long)(bytes / 1024));
        print(metric, from > 0 ? (double)bytes / from / 1e3 : -1);
        if (micro_unmap(memory, bytes) != 0)
            return;
    }
}

int main(int argc, char **argv)
{
    const int megabytes = argc > 2 ? atoi(argv[2]) : 1024;
    const int64_t most_axpy = (megabytes > 0 ? (int64_t)megabytes : 1) << 20; /* bytes of each of its arrays */
    const int64_t most = most_axpy < 1 << 28 ? most_axpy : 1 << 28;           /* bytes of a copy; 4 KB times a power of 16 */
    double *x = malloc((size_t)most_axpy), *y = malloc((size_t)most_axpy), began = now();
    if (argc > 1)
        repetitions = atoi(argv[1]);
    if (x == NULL || y == NULL || repetitions < 1 || repetitions > MOST_REPETITIONS)
        return 2;
    if (micro_start() != 0)
        return 1;
    print("start_and_first_launch", now() - began);
    memset(x, 0, (size_t)most_axpy);
    memset(y, 0, (size_t)most_axpy);
    launches(megabytes < 16);
    if (axpys(x, y, most_axpy / (int64_t)sizeof *x) != 0)
        return 1;
    threads();
    waiting();
    copies("malloc", x, most);
    void *pinned = micro_pinned((size_t)most);
    if (pinned != NULL)
        memset(pinned, 0, (size_t)most);
    copies("pinned", pinned, most);
    return 0;
}
