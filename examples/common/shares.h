/*
 * shares.h - work divided among several devices of one process, for programs that have --devices.
 *
 * The work is numbered pieces: rows, records. Each device gets a share of them and a queue. One
 * thread puts work in each queue in turn, and waits for all of them in the end.
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
    int64_t first, count;    /* which pieces */
    struct rex_queue *queue;
    struct rex_event *event; /* for the program: recorded by nobody yet */
};

struct shares {
    int count;
    struct share *each;
};

/*
 * Divides @pieces among as many devices as settings->devices says, from device 0 on, but no more
 * than there are, or pieces. 0, or an error, with a line on stderr. close_shares() in any case.
 */
int open_shares(struct shares *shares, const struct settings *settings, int64_t pieces);
void close_shares(struct shares *shares);

/* Calls @function for each share in turn, until one call fails. 0, or what that returned. */
typedef int share_function(const struct share *share, void *context);
int for_each_share(const struct shares *shares, share_function *function, void *context);

/* Waits until all queues have done what they were given. 0, or an error of librex. */
int finish_shares(const struct shares *shares);

/* A line of the summary: how many devices, and how many @pieces, by that name, each has. */
void print_shares(const struct shares *shares, const char *pieces);

#endif
