/*
 * devices.h - reports the GPUs, and the devices of libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_DEVICES_H
#define REX_INFO_DEVICES_H

#include <stdbool.h>

/*
 * The answer of host_ask(): the number of host devices that libomptarget offers for a host image.
 */
struct host {
    int devices;
    bool ran; /* a kernel ran on a host device */
    char text[640];
};

/* Asks libomptarget in a child process, so that a crash of a library does not end this process. */
void host_ask(struct host *host);

/* Prints the GPUs, and the devices of HOST (NULL: there is no libomptarget). */
void devices_print(bool json, const struct host *host);

#endif
