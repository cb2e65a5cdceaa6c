/*
 * nn - which of many places are nearest to a given one?
 *
 * Nearest neighbours, of the Rodinia suite, on librex: records of storms are read ten at a time,
 * the device says how far each of the ten is away, and the host keeps the nearest. See nn.h for
 * what is in which file; examples/nn_raw is the same in the words of generated code.
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
        .purpose = "Finds the records that are nearest to a place, ten at a time, on the device\n"
                   "that libomptarget offers, and checks the result against a serial run.",
        .unit = "made-up records",
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
