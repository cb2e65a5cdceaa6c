/*
 * Lesson 9: several GPUs in one process. One GPU, or the CPU as several devices, works, too.
 *
 * Each device gets some of the cells, a queue and an event. One thread serves all devices, because
 * on GPUs no call in a step waits. A step needs one cell of each neighbour. rex_queue_copy_peer()
 * copies it from device to device, after the event of the neighbour's step.
 *
 * A device maps its own cells and one more on either side. For such a section the kernel receives
 * the address that the whole array would have, so host and device use the same indices.
 *
 * Run it:  make && $(make -s print-O)/examples/09_devices/09_devices
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex/interop.h>

#include <stdio.h>

REX_KERNEL(smooth);

enum { CELLS = 10000, STEPS = 200, MOST = 8 };

/* The cells of one device. The first and the last cell of the whole array never change. */
static struct share {
    int64_t first, count;
    struct rex_queue *queue;
    struct rex_event *event;
} shares[MOST];
static int devices;

static double cells[2][CELLS]; /* a step reads one buffer and writes the other */

static int open_share(int device)
{
    struct share *share = &shares[device];
    share->first = 1 + (int64_t)(CELLS - 2) * device / devices;
    share->count = 1 + (int64_t)(CELLS - 2) * (device + 1) / devices - share->first;
    REX_MAP(begin, REX_SECTION(REX_MAP_TO, cells[0], share->first - 1, share->count + 2),
            REX_SECTION(REX_MAP_TO, cells[1], share->first - 1, share->count + 2));
    int error = rex_queue_create(&share->queue, device, NULL, 0);
    if (error == 0)
        error = rex_event_create(&share->event);
    return error == 0 ? rex_data_enter(device, &begin) : error;
}

/* Copies the device's results back, and ends the mapping. */
static int close_share(int device)
{
    struct share *share = &shares[device];
    REX_MAP(end, REX_SECTION(REX_MAP_FROM, cells[STEPS % 2], share->first, share->count),
            REX_SECTION(REX_MAP_ALLOC, cells[(STEPS + 1) % 2], share->first, share->count));
    int error = rex_data_exit(device, &end);
    rex_event_destroy(share->event);
    return error == 0 ? rex_queue_destroy(share->queue) : error;
}

static int launch_step(int device, int step)
{
    struct share *share = &shares[device];
    int64_t first = share->first, count = share->count;
    struct rex_launch_config config = rex_launch_config_for(NULL, count);
    config.queue = share->queue;
    int error = REX_LAUNCH_WITH(smooth, config, REX_VALUE(first), REX_VALUE(count),
                                REX_SECTION(REX_MAP_ALLOC, cells[step % 2], first - 1, count + 2),
                                REX_SECTION(REX_MAP_ALLOC, cells[~step & 1], first, count));
    return error == 0 ? rex_event_record(share->event, share->queue) : error;
}

/* Copies the cell at @at, computed by @from, to @device. The queue waits for it, not the thread. */
static int fetch(int device, int from, const double *at)
{
    if (from < 0 || from >= devices)
        return 0;
    struct rex_queue *queue = shares[device].queue;
    void *here = rex_mapped_ptr(at, device), *there = rex_mapped_ptr(at, from);
    int error = rex_queue_wait_event(queue, shares[from].event);
    return error == 0 ? rex_queue_copy_peer(queue, here, device, there, from, sizeof *at) : error;
}

static int smooth_on_devices(void)
{
    int error = 0;
    for (int device = 0; device < devices && error == 0; device++)
        error = open_share(device);
    for (int step = 0; step < STEPS && error == 0; step++) {
        const double *next = cells[~step & 1];
        for (int device = 0; device < devices && error == 0; device++)
            error = launch_step(device, step);
        for (int device = 0; device < devices && error == 0; device++) {
            const double *own = next + shares[device].first;
            error = fetch(device, device - 1, own - 1);
            if (error == 0)
                error = fetch(device, device + 1, own + shares[device].count);
        }
    }
    for (int device = 0; device < devices && error == 0; device++)
        error = rex_queue_sync(shares[device].queue); /* devices read each other's memory */
    for (int device = 0; device < devices && error == 0; device++)
        error = close_share(device);
    return error;
}

int main(void)
{
    static double expected[2][CELLS];
    for (int i = 0; i < CELLS; i++)
        cells[0][i] = cells[1][i] = expected[0][i] = expected[1][i] = i * i % 1000;
    int wrong = 0, error = rex_offload_init();
    devices = rex_device_count() < MOST ? rex_device_count() : MOST;
    if (error == 0 && devices == 0)
        fputs("09_devices: there is no device: offloading is disabled\n", stderr);
    if (error != 0 || devices == 0 || smooth_on_devices() != 0)
        return 1;
    for (int step = 0; step < STEPS; step++)
        for (int i = 1; i < CELLS - 1; i++)
            expected[~step & 1][i] = 0.5 * (expected[step & 1][i - 1] + expected[step & 1][i + 1]);
    for (int i = 0; i < CELLS; i++)
        wrong += cells[STEPS % 2][i] != expected[STEPS % 2][i];
    printf("%d steps on %d devices: %d of %d cells wrong\n", STEPS, devices, wrong, CELLS);
    return wrong != 0;
}
