/*
 * nn.c - nn's device run in the words of OpenMP; see examples/nn/offload.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "../../../../examples/nn/nn.h"
#include "directives.h"

static void find_distances(int64_t count, const struct query *query, const struct place *places, double *squared)
{
    double near_latitude = query->latitude, near_longitude = query->longitude;
    LOOP(num_teams(1) thread_limit(32) map(to : places[0 : count]) map(from : squared[0 : count]))
    for (int64_t i = 0; i < count; i++) {
        double down = places[i].latitude - near_latitude, across = places[i].longitude - near_longitude;
        squared[i] = down * down + across * across;
    }
}

#ifdef PEER_ON_CPU
/* All records at once, as often as --rounds says: as examples/nn/devices.c for one device. */
int search_on_devices(const char *list, const struct query *query, struct nearest *nearest, struct device_run *run)
{
    struct all all = {0};
    int result = read_all(&all, list);
    double began = seconds_now();
    for (int64_t round = 0; round < run->rounds && result == 0; round++, run->launches++)
        find_distances(all.count, query, all.places, all.squared);
    run->computing = run->seconds = seconds_now() - began;
    print_line("computation", "%.6f s without copies, %lld rounds", run->computing, (long long)run->rounds);
    if (result == 0)
        offer_all(&all, nearest);
    run->records = all.count;
    free_all(&all);
    return result;
}
#endif

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
        double began = seconds_now();
        run->launches++;
        find_distances(count, query, places, squared);
        run->seconds += seconds_now() - began;
        for (int i = 0; i < count; i++)
            offer(nearest, run->records++, text[i], squared[i]);
    }
    close_records(&records);
    return count;
}
