/*
 * nn_all.c - all records of nn at once, as examples/nn/devices.c for one device, under `omp parallel for`.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "../../../examples/nn/nn.h"

int search_on_devices(const char *list, const struct query *query, struct nearest *nearest, struct device_run *run)
{
    struct all all = {0};
    int result = read_all(&all, list);
    double near_latitude = query->latitude, near_longitude = query->longitude, began = seconds_now();
    for (int64_t round = 0; round < run->rounds; round++) {
#pragma omp parallel for
        for (int64_t i = 0; i < all.count; i++) {
            double down = all.places[i].latitude - near_latitude, across = all.places[i].longitude - near_longitude;
            all.squared[i] = down * down + across * across;
        }
    }
    print_line("computation", "%.6f s without copies, %lld rounds", seconds_now() - began, (long long)run->rounds);
    offer_all(&all, nearest);
    run->records = all.count;
    free_all(&all);
    return result;
}
