/*
 * halo.h - exchange mapped memory with the devices of neighbouring ranks, by plain MPI.
 *
 *     struct halo halo = {.comm = comm, .queue = copies};
 *     if (!takes_device_pointers(copies))
 *         halo.pinned = rex_host_alloc(PINNED_BYTES);
 *     REX_LAUNCH_WITH(inner, in_steps, ...);    // needs no neighbour
 *     halo_exchange(&halo, sides, count);       // the host waits, the device computes
 *     REX_LAUNCH_WITH(edges, in_steps, ...);
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef HALO_H
#define HALO_H

#include <mpi.h>
#include <rex.h>

/*
 * A slot is used again when the queue has been seen idle behind the copy to the device: that is the
 * case AHEAD + BEHIND + 2 pieces later. BEHIND is at least SIDES: before a rank waits for a piece,
 * it has sent those that its neighbours may wait for.
 */
enum {
    SIDES = 4,                 /* of an exchange, at most: two for each dimension */
    PIECE_BYTES = 1024 * 1024, /* but for the last one of a side */
    AHEAD = 4,                 /* pieces that leave the device before MPI sends one */
    BEHIND = 4,                /* pieces that MPI sends and receives at a time */
    SLOTS = AHEAD + BEHIND + 2,
    PINNED_BYTES = 2 * SLOTS * PIECE_BYTES
};

/* The exchange with one neighbour. Addresses are those of the host, and mapped. */
struct side {
    int peer;           /* the neighbour's rank; MPI_PROC_NULL: there is none */
    int tag;            /* of what it is sent; what it sends from its opposite side has tag ^ 1 */
    unsigned char *out; /* what it is sent */
    unsigned char *in;  /* where what it sends goes */
    size_t size;        /* bytes of each */
};

/* A piece that is under way. */
struct slot {
    struct side piece;       /* on the device */
    unsigned char *out, *in; /* what MPI gets */
    size_t copied;           /* bytes between the two, each way; 0: they are the same */
    MPI_Request requests[2]; /* to receive, to send */
};

/* The caller sets the first three members, and zeros the others. */
struct halo {
    MPI_Comm comm;
    struct rex_queue *queue; /* for the copies */
    unsigned char *pinned;   /* PINNED_BYTES for MPI, the caller's; NULL: it gets device pointers */
    size_t begun, sent, received; /* pieces of this exchange */
    struct slot slots[SLOTS];
};

/* Whether MPI, called by this thread, takes pointers to the memory of @queue's device. */
bool takes_device_pointers(const struct rex_queue *queue);

/*
 * Exchanges the @count @sides, behind all that is in the queue, and waits until all is sent,
 * received and on the device. All ranks call it. 0, or -1: librex has said why.
 */
int halo_exchange(struct halo *halo, const struct side *sides, int count);

#endif
