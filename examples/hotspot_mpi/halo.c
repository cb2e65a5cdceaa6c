/*
 * halo.c - exchanges mapped memory with the devices of neighbouring ranks, by plain MPI.
 *
 * If MPI takes device pointers, it uses the mapped memory. If not, the queue copies between the
 * device and pinned memory, while the kernels of other queues run. A long side is divided into
 * pieces: the queue copies one piece while MPI moves another. The pieces of all sides use the slots
 * of the pinned memory in turn, so this memory has 20 MiB for sides of any length.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "halo.h"

/* Open MPI and MPICH have this function. It is NULL in an MPI without it. */
int MPIX_Query_cuda_support(void) __attribute__((weak));

bool takes_device_pointers(const struct rex_queue *queue)
{
    /*
     * The host device uses host memory. On a GPU MPI uses the calling thread's CUDA context, and
     * rex_device_gpu() makes libomptarget's context current.
     */
    return rex_queue_is_synchronous(queue) ||
           (MPIX_Query_cuda_support != NULL && MPIX_Query_cuda_support() == 1 &&
            rex_device_gpu(rex_queue_device(queue)) >= 0);
}

/* Sends all begun pieces except the last @ahead, receives all sent ones except the last @behind. */
static bool go_on(struct halo *halo, size_t ahead, size_t behind)
{
    int is_ready, is_over;
    for (; halo->sent + ahead < halo->begun; halo->sent++) {
        struct slot *slot = &halo->slots[halo->sent % SLOTS];
        while ((is_ready = rex_queue_query(halo->queue)) == 0)
            MPI_Test(slot->requests, &is_over, MPI_STATUS_IGNORE); /* lets MPI move all pieces */
        if (is_ready < 0 || MPI_Isend(slot->out, (int)slot->piece.size, MPI_BYTE, slot->piece.peer,
                                      slot->piece.tag, halo->comm, &slot->requests[1]) != 0)
            return false;
    }
    for (; halo->received + behind < halo->sent; halo->received++) {
        struct slot *slot = &halo->slots[halo->received % SLOTS];
        MPI_Wait(&slot->requests[0], MPI_STATUS_IGNORE);
        /* The queue copies the received piece to the device while MPI may still send. */
        if (rex_queue_copy_to(halo->queue, slot->piece.in, slot->in, slot->copied) != 0)
            return false;
        MPI_Wait(&slot->requests[1], MPI_STATUS_IGNORE);
    }
    return true;
}

/* Begins to copy the piece at @at of @side from the device, and to receive the neighbour's. */
static bool begin(struct halo *halo, const struct side *side, size_t at)
{
    size_t size = side->size - at < PIECE_BYTES ? side->size - at : PIECE_BYTES;
    size_t number = halo->begun++ % SLOTS, place = number * 2 * PIECE_BYTES;
    struct slot *slot = &halo->slots[number];
    unsigned char *out = rex_mapped_ptr(side->out + at, rex_queue_device(halo->queue));
    unsigned char *in = rex_mapped_ptr(side->in + at, rex_queue_device(halo->queue));
    REX_MAP(rows, REX_FROM(side->out, side->size), REX_TO(side->in, side->size));
    if (out == NULL || in == NULL) /* the update fails, too, and prints the error */
        return rex_queue_update(halo->queue, &rows) == 0;
    slot->piece = (struct side){side->peer, side->tag, out, in, size};
    slot->out = halo->pinned == NULL ? out : halo->pinned + place;
    slot->in = halo->pinned == NULL ? in : halo->pinned + place + PIECE_BYTES;
    slot->copied = halo->pinned == NULL ? 0 : size;
    MPI_Irecv(slot->in, (int)size, MPI_BYTE, side->peer, side->tag ^ 1, halo->comm, slot->requests);
    return rex_queue_copy_from(halo->queue, slot->out, out, slot->copied) == 0;
}

int halo_exchange(struct halo *halo, const struct side *sides, int count)
{
    size_t longest = 0;
    halo->begun = halo->sent = halo->received = 0;
    /* MPI does not wait for the queue, whose commands may still use the memory of the sides. */
    if (halo->pinned == NULL && rex_queue_sync(halo->queue) != 0)
        return -1;
    for (int i = 0; i < count; i++)
        longest = sides[i].size > longest ? sides[i].size : longest;
    /* One piece of each side in turn, so no rank waits for a side that a neighbour begins later. */
    for (size_t at = 0; at < longest; at += PIECE_BYTES)
        for (int i = 0; i < count; i++)
            if (sides[i].peer != MPI_PROC_NULL && at < sides[i].size &&
                (!begin(halo, &sides[i], at) || !go_on(halo, AHEAD, BEHIND)))
                return -1;
    return go_on(halo, 0, 0) ? rex_queue_sync(halo->queue) : -1;
}
