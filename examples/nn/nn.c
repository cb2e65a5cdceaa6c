/*
 * nn - finds the nearest of many places to a given place.
 *
 * Nearest neighbours, of the Rodinia suite, on librex. The host reads ten records of storms at a
 * time, the device computes their distances, and the host keeps the nearest. nn.h lists the files.
 * examples/nn_raw is this program in the form of generated code.
 *
 * Run it:  make && $(make -s print-O)/examples/nn/nn --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "nn.h"

int main(int argc, char **argv)
{
    struct settings settings = {
        .program = "nn",
        .purpose = "Finds the records that are nearest to a place, on a device of libomptarget,\n"
                   "and checks the result against a serial run. Without --devices, a launch\n"
                   "computes the distances of at most ten records.",
        .unit = "generated records",
        .size = 42764,
        .smallest = 1,
        .largest = 100000000,
        .has_ways = 1,
        .has_devices = 1,
    };
    struct request request = {.list = NULL};
    parse_request(&settings, &request, argc, argv);
    if (start_offload(&settings) != 0)
        return 1;
    if (settings.devices != ONE_DEVICE)
        return run_request(&settings, &request, search_on_devices);
    return run_request(&settings, &request,
                       settings.way == WAITING ? search_on_device : search_resident);
}
