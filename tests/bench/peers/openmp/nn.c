/*
 * nn.c - nn's device run in the words of OpenMP; see examples/nn/offload.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "../../../../examples/nn/nn.h"

static void launch_window(int64_t count, const struct query *query, const struct place *places, double *squared, struct device_run *run)
{
    double near_latitude = query->latitude, near_longitude = query->longitude;
    double began = seconds_now();
    run->launches++;
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(32) map(to : places[0 : count]) \
    map(from : squared[0 : count])
    for (int64_t i = 0; i < count; i++) {
        double down = places[i].latitude - near_latitude, across = places[i].longitude - near_longitude;
        squared[i] = down * down + across * across;
    }
    run->seconds += seconds_now() - began;
}

int search_on_device(const char *list, const struct query *query, struct nearest *nearest, struct device_run *run)
{
    struct records records;
    char text[WINDOW][RECORD_LENGTH];
    struct place places[WINDOW];
    double squared[WINDOW];
    int count;
    if (open_records(&records, list) != 0)
        return -1;
    while ((count = read_window(&records, text, places)) > 0) {
        launch_window(count, query, places, squared, run);
        for (int i = 0; i < count; i++)
            offer(nearest, run->records++, text[i], squared[i]);
    }
    close_records(&records);
    return count;
}
