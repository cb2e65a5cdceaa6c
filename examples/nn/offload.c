/*
 * offload.c - nn's device run: thousands of small launches, each with a window of the records.
 *
 * Look at launch_window(). A launch copies at most ten records to the device and ten numbers back.
 * So the kernel costs little, and the time is that of a copy to the device, the launch and a copy
 * back. Places are pairs, because separate arrays of latitudes and longitudes would need another
 * copy. The last window of a file has fewer records: a length in a row may be any expression.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#include "nn.h"

REX_KERNEL(nn_distances);

enum {
    THREADS = 32 /* one warp is enough for ten records */
};

struct window {
    int64_t count;
    char text[WINDOW][RECORD_LENGTH];
    struct place places[WINDOW];
    double squared[WINDOW];
};

static int launch_window(struct window *window, const struct query *query, struct device_run *run)
{
    struct rex_launch_config config = rex_launch_config_of(NULL, 1, THREADS);
    config.device = run->device;
    run->launches++;
    double began = seconds_now();
    int result =
        REX_LAUNCH_WITH(nn_distances, config, REX_VALUE(window->count), REX_VALUE(query->latitude),
                        REX_VALUE(query->longitude), REX_TO(window->places, window->count),
                        REX_FROM(window->squared, window->count));
    run->seconds += seconds_now() - began;
    if (result != 0)
        fprintf(stderr, "nn: launch %lld: %s\n", (long long)run->launches, rex_last_error());
    return result;
}

static int search_records(struct records *records, const struct query *query,
                          struct nearest *nearest, struct device_run *run)
{
    struct window window;
    int count;
    while ((count = read_window(records, window.text, window.places)) > 0) {
        window.count = count;
        if (launch_window(&window, query, run) != 0)
            return -1;
        for (int i = 0; i < count; i++)
            offer(nearest, run->records++, window.text[i], window.squared[i]);
    }
    return count;
}

int search_on_device(const char *list, const struct query *query, struct nearest *nearest,
                     struct device_run *run)
{
    struct records records;
    if (open_records(&records, list) != 0)
        return -1;
    int result = search_records(&records, query, nearest, run);
    close_records(&records);
    return result;
}
