/*
 * Lesson 7: queues, for launches and copies that do not wait.
 *
 * The lessons before this one waited for every launch. After a short kernel a GPU idles until the
 * host notices its end and sends the next launch. This program takes a thousand steps in three
 * ways:
 *
 *   waiting     A launch waits for its kernel. A program needs this if it reads each result.
 *   in a queue  A launch into a queue returns at once. The queue's commands run in order, and the
 *               host waits once. This is faster for two or more launches whose results the host
 *               does not read in between.
 *   in halves   Two queues run independently: one may copy while the other computes. Each queue
 *               copies half of the cells to the device, computes, and copies them back. The
 *               host memory is pinned (rex_host_alloc()), so the calls do not wait for copies.
 *
 * The memory of a queue's commands must stay mapped until rex_queue_sync(). On a GPU the end of a
 * region returns REX_EBUSY while the commands are unfinished, unless REX_UNFINISHED=wait. Without a
 * GPU a queue runs each command at once, and the times do not compare the three ways.
 *
 * Run it:  make && $(make -s print-O)/examples/07_queues/07_queues
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { CELLS = 20000, HALF = CELLS / 2, STEPS = 1000 };

REX_KERNEL(grow);

static double *population;
static struct rex_queue *queues[2];

static double rate_of(int step)
{
    return 0.002 * (1 + step % 10);
}

static double start_of(int cell)
{
    return 0.01 + 0.9 * cell / (double)CELLS;
}

/* Takes all steps of @count mapped cells. If @queue is NULL, each launch waits for its kernel. */
static int take_steps(struct rex_queue *queue, double *cells, int64_t count)
{
    int error = 0;
    struct rex_launch_config config = rex_launch_config_for(NULL, count);
    config.queue = queue;
    for (int i = 0; i < STEPS && error == 0; i++)
        error = REX_LAUNCH_WITH(grow, config, REX_VALUE(count), REX_VALUE(rate_of(i)),
                                REX_ALLOC(cells, count));
    return error;
}

static int in_one(struct rex_queue *queue)
{
    int error;
    REX_DATA_REGION(&error, -1, REX_TOFROM(population, CELLS)) {
        error = take_steps(queue, population, CELLS);
        if (error == 0 && queue != NULL)
            error = rex_queue_sync(queue);
    }
    return error;
}

static int take_half(int number)
{
    double *cells = population + number * HALF;
    REX_MAP(there, REX_TO(cells, HALF));
    REX_MAP(back, REX_FROM(cells, HALF));
    int error = rex_queue_update(queues[number], &there);
    if (error == 0)
        error = take_steps(queues[number], cells, HALF);
    return error == 0 ? rex_queue_update(queues[number], &back) : error;
}

static int in_halves(void)
{
    int error;
    REX_DATA_REGION(&error, -1, REX_ALLOC(population, CELLS)) { /* the queues copy */
        for (int number = 0; number < 2 && error == 0; number++)
            error = take_half(number);
        for (int number = 0; number < 2 && error == 0; number++)
            error = rex_queue_sync(queues[number]);
    }
    return error;
}

/* Computes with 0, 1 or 2 queues, and prints the time. Returns 1 if the result is right. */
static int show(const char *name, int used)
{
    struct timespec began, ended;
    for (int i = 0; i < CELLS; i++)
        population[i] = start_of(i);
    clock_gettime(CLOCK_MONOTONIC, &began);
    int error = used == 2 ? in_halves() : in_one(used == 0 ? NULL : queues[0]), wrong = 0;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    for (int i = 0; i < CELLS; i += 7) {
        double expected = start_of(i);
        for (int step = 0; step < STEPS; step++)
            expected += rate_of(step) * expected * (1.0 - expected);
        wrong += !(fabs(population[i] - expected) <= 1e-9);
    }
    long us = 1000000 * (ended.tv_sec - began.tv_sec) + (ended.tv_nsec - began.tv_nsec) / 1000;
    if (error == 0)
        printf("%-12s %8.2f us a step, %d cells wrong\n", name, (double)us / (double)STEPS, wrong);
    else if (error == REX_EHOST) /* librex prints all other errors */
        fprintf(stderr, "07_queues: %s\n", rex_last_error());
    return error == 0 && wrong == 0;
}

int main(void)
{
    population = rex_host_alloc(CELLS * sizeof *population);
    int right = population != NULL && rex_offload_init() == 0 &&
                rex_queue_create(&queues[0], -1, "first", 0) == 0 &&
                rex_queue_create(&queues[1], -1, "second", 0) == 0 && show("waiting", 0) &&
                show("in a queue", 1) && show("in halves", 2);
    right &= rex_queue_destroy(queues[0]) == 0 && rex_queue_destroy(queues[1]) == 0;
    return !right || rex_host_free(population) != 0;
}
