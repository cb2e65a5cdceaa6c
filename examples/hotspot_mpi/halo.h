/*
 * halo.h - exchanges mapped memory with the devices of neighbouring ranks, by plain MPI.
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
 * A slot may be used again if the queue was idle after the slot's copy to the device. This is
 * certain AHEAD + BEHIND + 2 pieces later. BEHIND is at least SIDES, so a rank waits for a piece
 * only after it has sent all pieces for which its neighbours may wait.
 */
enum {
    SIDES = 4,                 /* maximum for an exchange: two for each dimension */
    PIECE_BYTES = 1024 * 1024, /* size of a piece; the last piece of a side may be smaller */
    AHEAD = 4,                 /* number of pieces copied from the device before MPI sends one */
    BEHIND = 4,                /* number of pieces that MPI sends and receives at a time */
    SLOTS = AHEAD + BEHIND + 2,
    PINNED_BYTES = 2 * SLOTS * PIECE_BYTES
};

/* The exchange with one neighbour. The addresses are mapped host addresses. */
struct side {
    int peer;           /* the neighbour's rank; MPI_PROC_NULL: no neighbour */
    int tag;            /* MPI's tag of the sent data; the received data has tag ^ 1 */
    unsigned char *out; /* data to send */
    unsigned char *in;  /* buffer for received data */
    size_t size;        /* bytes of out and of in */
};

/* A piece that is being exchanged. */
struct slot {
    struct side piece;       /* the piece in device memory */
    unsigned char *out, *in; /* addresses for MPI */
    size_t copied;           /* bytes to copy from and to `piece`; 0: MPI uses device pointers */
    MPI_Request requests[2]; /* for receiving, for sending */
};

/* The caller sets the first three members, and zeros the others. */
struct halo {
    MPI_Comm comm;
    struct rex_queue *queue; /* for the copies */
    unsigned char *pinned;   /* the caller's PINNED_BYTES; NULL: MPI uses device pointers */
    size_t begun, sent, received; /* numbers of pieces in this exchange */
    struct slot slots[SLOTS];
};

/* Returns true if MPI, called by this thread, takes pointers to memory of @queue's device. */
bool takes_device_pointers(const struct rex_queue *queue);

/*
 * Exchanges the @count @sides after the commands in the queue, and waits until all data is sent,
 * received and on the device. All ranks must call it. Returns 0, or -1 after librex has printed the
 * error.
 */
int halo_exchange(struct halo *halo, const struct side *sides, int count);

#endif
