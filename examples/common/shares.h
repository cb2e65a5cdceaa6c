/*
 * shares.h - work divided among several devices of one process, for programs that have --devices.
 *
 * The work is numbered pieces: rows, records. Each device has a share of the pieces and a queue.
 * One thread puts work in each queue in turn, and waits for all queues at the end.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef EXAMPLES_SHARES_H
#define EXAMPLES_SHARES_H

#include <rex.h>

#include "common.h"

/* The work of one device. */
struct share {
    int number;              /* from 0 */
    int device;
    int64_t first, count;    /* its pieces */
    struct rex_queue *queue;
    struct rex_event *event; /* for the program; open_shares() does not record it */
};

struct shares {
    int count;
    struct share *each;
};

/*
 * Divides @pieces among settings->devices devices, from device 0 on; ONE_DEVICE: settings->device
 * has all pieces. The maximum is the number of devices and the number of pieces. Returns 0, or an
 * error with a line on stderr. Call close_shares() in any case.
 */
int open_shares(struct shares *shares, const struct settings *settings, int64_t pieces);
void close_shares(struct shares *shares);

/* Calls @function for each share in turn, until a call fails. Returns 0 or the call's error. */
typedef int share_function(const struct share *share, void *context);
int for_each_share(const struct shares *shares, share_function *function, void *context);

/* Waits until all queues have finished their commands. Returns 0 or an error of librex. */
int finish_shares(const struct shares *shares);

/* Prints a line of the summary: the number of devices, and of pieces; @pieces names them. */
void print_shares(const struct shares *shares, const char *pieces);

#endif
