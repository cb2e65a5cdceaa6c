/*
 * micro.c - times the pieces of micro.h. Prints a line for each: METRIC VALUE, in microseconds
 * unless the metric says otherwise; a value is the median of several repetitions after one that is
 * not counted. What the device computed is looked at outside of what is timed; a piece whose result
 * is wrong, or that cannot run, has the line METRIC failed: REASON. Empty launches have no result:
 * those with arguments, which count on the device, stand for them.
 *
 * usage: micro [REPETITIONS [MEGABYTES]]: how often each piece is repeated (5), and the size of the
 * largest arrays (1024)
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rex/offload.h>

#include "micro.h"

enum { MOST_REPETITIONS = 99, MOST_THREADS = 16 };

static int repetitions = 5;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Why a piece has no figure. */
static char reason[200];

/* In the place of the figure. */
__attribute__((format(printf, 1, 2))) static double failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    for (char *c = reason; *c != '\0'; c++)
        *c = *c == '\n' ? ' ' : *c;
    return -1;
}

static double failed_call(void)
{
    const char *error = rex_last_error();
    return failed("%s", error[0] != '\0' ? error : "a call failed");
}

/* What is timed: @times times, on what it needs. */
struct piece {
    int (*run)(const struct piece *piece);
    long times;
    int64_t size;
    double *x, *y;
    long launches; /* in a region */
};

/* Microseconds of one of the piece's times; below 0: it failed. */
static double median(const struct piece *piece)
{
    double took[MOST_REPETITIONS];
    for (int i = -1; i < repetitions; i++) {
        double began = now();
        for (long j = 0; j < piece->times; j++)
            if (piece->run(piece) != 0)
                return failed_call();
        took[i < 0 ? 0 : i] = (now() - began) / (double)piece->times;
    }
    qsort(took, (size_t)repetitions, sizeof *took, by_value);
    return took[repetitions / 2];
}

static void print(const char *metric, double value)
{
    if (value >= 0)
        printf("%s %.4f\n", metric, value);
    else
        printf("%s failed: %s\n", metric, reason);
    fflush(stdout);
}

/* ---- the number that launches change --------------------------------------------------------- */

static int set_cell(double value)
{
    *micro_cell() = value;
    return micro_copy_to(micro_cell(), sizeof(double));
}

/* @took, if the number on the device is the one expected. */
static double with_cell(double took, double expected)
{
    double *cell = micro_cell();
    *cell = -1;
    if (took < 0)
        return took;
    if (micro_copy_from(cell, sizeof *cell) != 0)
        return failed_call();
    return fabs(*cell - expected) <= 1e-6 * expected
               ? took
               : failed("the launches made %.9g and not %.9g", *cell, expected);
}

/* The median of a piece each of whose times adds 1 to the number. */
static double counted(const struct piece *piece)
{
    if (set_cell(0) != 0)
        return failed_call();
    double took = median(piece);
    return with_cell(took, (double)((repetitions + 1) * piece->times));
}

/* ---- launches -------------------------------------------------------------------------------- */

static int run_empty(const struct piece *piece)
{
    (void)piece;
    return micro_empty();
}

static int run_arguments(const struct piece *piece)
{
    return micro_arguments((int)piece->size);
}

static void launches(void)
{
    static const int counts[] = {16, 64, 256};
    char metric[64];
    print("launch_empty", median(&(struct piece){.run = run_empty, .times = 2000}));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        snprintf(metric, sizeof metric, "launch_arguments_%d", counts[i]);
        print(metric, counted(&(struct piece){.run = run_arguments, .times = 500, .size = counts[i]}));
    }
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
    while (started < piece->size &&
           pthread_create(&threads[started], NULL, launch_thread, &each) == 0)
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
        double took = median(&(struct piece){.run = run_threads, .times = 1, .size = count});
        snprintf(metric, sizeof metric, "threads_%d", count);
        print(metric, took < 0 ? took : took / 4000.0);
    }
}

/* ---- axpy ------------------------------------------------------------------------------------ */

static int run_resident(const struct piece *piece)
{
    return micro_axpy(1.0, piece->x, piece->y, piece->size, 1);
}

static int run_mapped(const struct piece *piece)
{
    return micro_axpy(1.0, piece->x, piece->y, piece->size, 0);
}

static int run_region(const struct piece *piece)
{
    return micro_region(piece->x, piece->y, piece->size, piece->launches);
}

/* @took, if y is what so many launches make of it. */
static double with_y(double took, const struct piece *piece, double launches)
{
    for (int64_t i = 0; i < piece->size && took >= 0; i++)
        if (piece->y[i] != launches * (double)(i % 7))
            return failed("y[%lld] is %g and not %g", (long long)i, piece->y[i],
                          launches * (double)(i % 7));
    return took;
}

static void fill(const struct piece *piece)
{
    for (int64_t i = 0; i < piece->size; i++) {
        piece->x[i] = (double)(i % 7);
        piece->y[i] = 0;
    }
}

static double mapped(const struct piece *piece)
{
    fill(piece);
    double took = median(piece);
    return with_y(took, piece, (double)((repetitions + 1) * piece->times));
}

static double resident(const struct piece *piece)
{
    int64_t bytes = piece->size * (int64_t)sizeof *piece->x;
    fill(piece);
    if (micro_map(piece->x, bytes) != 0 || micro_map(piece->y, bytes) != 0)
        return failed_call();
    double took = median(piece);
    if (micro_copy_from(piece->y, bytes) != 0 || micro_unmap(piece->y, bytes) != 0 ||
        micro_unmap(piece->x, bytes) != 0)
        return failed_call();
    return with_y(took, piece, (double)((repetitions + 1) * piece->times));
}

static double region(const struct piece *piece)
{
    int64_t bytes = piece->size * (int64_t)sizeof *piece->x;
    fill(piece);
    if (micro_map(piece->x, bytes) != 0)
        return failed_call();
    double took = median(piece);
    if (micro_unmap(piece->x, bytes) != 0)
        return failed_call();
    return with_y(took, piece, (double)((repetitions + 1) * piece->times * piece->launches));
}

static void regions(double *x, double *y)
{
    char metric[64];
    for (long launches = 1; launches <= 100; launches *= 10)
        for (int64_t size = 512; size <= (1 << 17); size *= 16) {
            snprintf(metric, sizeof metric, "region_%lld_KB_%ld", (long long)(size / 128), launches);
            print(metric, region(&(struct piece){.run = run_region,
                                                 .times = 200 / launches,
                                                 .size = size,
                                                 .x = x,
                                                 .y = y,
                                                 .launches = launches}));
        }
}

static void axpys(double *x, double *y, int64_t most)
{
    char metric[64];
    for (int64_t size = 512; size <= most; size *= size < (1 << 17) ? 16 : 4) {
        snprintf(metric, sizeof metric, "axpy_mapped_%lld_KB",
                 (long long)(size * (int64_t)sizeof *x / 1024));
        print(metric, mapped(&(struct piece){.run = run_mapped,
                                             .times = size <= 8192 ? 200 : size < (1 << 23) ? 20 : 1,
                                             .size = size,
                                             .x = x,
                                             .y = y}));
    }
    struct piece small = {.run = run_resident, .times = 2000, .size = 512, .x = x, .y = y};
    print("axpy_resident", resident(&small));
    small.size = 64;
    print("axpy_resident_64", resident(&small));
    small.run = run_mapped;
    print("axpy_mapped_64", mapped(&small));
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int run_to(const struct piece *piece)
{
    return micro_copy_to(piece->x, piece->size);
}

static int run_from(const struct piece *piece)
{
    return micro_copy_from(piece->x, piece->size);
}

static void write_words(int64_t *words, int64_t bytes, int64_t mark)
{
    for (int64_t i = 0; i < bytes / 8; i++)
        words[i] = (mark << 32) + i;
}

/* @took, if the words have that mark. */
static double with_words(double took, const int64_t *words, int64_t bytes, int64_t mark)
{
    for (int64_t i = 0; i < bytes / 8 && took >= 0; i++)
        if (words[i] != (mark << 32) + i)
            return failed("word %lld of what was copied is %#llx and not %#llx", (long long)i,
                          (unsigned long long)words[i], (unsigned long long)((mark << 32) + i));
    return took;
}

enum { MAPPED = 1, COPIED, OVERWRITTEN };

/* Microseconds of a copy to the device and of one back; what comes back has to be what went there.
 */
static void copy_both_ways(void *memory, int64_t bytes, double *to, double *from)
{
    struct piece piece = {.run = run_to, .times = bytes > (1 << 24) ? 1 : 10, .size = bytes, .x = memory};
    write_words(memory, bytes, MAPPED);
    if (micro_map(memory, bytes) != 0) {
        *to = *from = failed_call();
        return;
    }
    write_words(memory, bytes, COPIED);
    *to = median(&piece);
    write_words(memory, bytes, OVERWRITTEN);
    piece.run = run_from;
    *from = median(&piece);
    if (micro_unmap(memory, bytes) != 0)
        *to = *from = failed_call();
    *from = with_words(*from, memory, bytes, COPIED);
    *to = *from < 0 ? *from : *to;
}

static void copies(const char *kind, void *memory, int64_t most)
{
    char metric[64];
    for (int64_t bytes = 4096; memory != NULL && bytes <= most; bytes *= bytes < 1 << 24 ? 16 : 4) {
        double to, from;
        copy_both_ways(memory, bytes, &to, &from);
        snprintf(metric, sizeof metric, "copy_to_%s_%lld_KB_GB/s", kind, (long long)(bytes / 1024));
        print(metric, to > 0 ? (double)bytes / to / 1e3 : to);
        snprintf(metric, sizeof metric, "copy_from_%s_%lld_KB_GB/s", kind,
                 (long long)(bytes / 1024));
        print(metric, from > 0 ? (double)bytes / from / 1e3 : from);
    }
}

int main(int argc, char **argv)
{
    const int megabytes = argc > 2 ? atoi(argv[2]) : 1024;
    const int64_t most = (megabytes > 0 ? (int64_t)megabytes : 1) << 20; /* bytes of each array */
    double *x = malloc((size_t)most), *y = malloc((size_t)most), began = now();
    if (argc > 1)
        repetitions = atoi(argv[1]);
    if (x == NULL || y == NULL || repetitions < 1 || repetitions > MOST_REPETITIONS)
        return 2;
    if (micro_start() != 0)
        return 1;
    double started = now() - began;
    print("start_and_first_launch",
          counted(&(struct piece){.run = run_arguments, .times = 1, .size = 16}) < 0 ? -1 : started);
    memset(x, 0, (size_t)most);
    memset(y, 0, (size_t)most);
    launches();
    axpys(x, y, most / (int64_t)sizeof *x);
    regions(x, y);
    threads();
    copies("malloc", x, most);
    void *pinned = micro_pinned((size_t)most);
    if (pinned != NULL)
        memset(pinned, 0, (size_t)most);
    copies("pinned", pinned, most);
    return 0;
}
