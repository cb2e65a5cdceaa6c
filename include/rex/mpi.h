/*
 * rex/mpi.h - mapped arrays between the ranks of an MPI program.
 *
 *     struct rex_queue *copies;
 *     rex_queue_create(&copies, -1, "copies", 0);
 *     struct rex_mpi *mpi;
 *     rex_mpi_open(&mpi, MPI_COMM_WORLD, copies);         // 1. all ranks together
 *     REX_DATA_MAP(region, REX_TOFROM(x, n));
 *     REX_DATA_REGION(-1, region) {                       // 2. what travels is mapped
 *         rex_mpi_send(mpi, x, n * sizeof *x, 1, 0);      // 3. by host address: to rank 1, tag 0
 *         struct rex_mpi_request request;
 *         rex_mpi_irecv(&request, mpi, x, n * sizeof *x, 1, 0);
 *         rex_queue_launch(inner, &launch, &args);        // 4. runs meanwhile
 *         rex_mpi_wait(&request);                         // 5. x is on the device
 *     }
 *     rex_mpi_close(mpi);
 *     rex_queue_destroy(copies);
 *
 * Compile and link with MPI's own flags, as mpicc has them; librex itself has nothing of MPI.
 *
 * **Which bytes.** Every call takes a host address, and what travels is the device's copy of the
 * memory there, from device to device: the host's bytes are neither sent nor changed. All of it
 * must be mapped on the device of the queue, and stay so until the transfer has ended.
 *
 * **How.** Where MPI says on every rank that it takes device pointers (MPIX_Query_cuda_support(),
 * asked once in rex_mpi_open()), it gets them. Else the bytes go through pinned memory in pieces of
 * REX_MPI_CHUNK, up to REX_MPI_DEPTH of each transfer at a time, copied by the queue while others
 * are on the network.
 *
 * **Order.** A transfer comes behind all that was put in the queue before the call. There is no
 * order between it and what other queues do: record an event there and wait for it in this one.
 * Give the transfers a queue of their own, and kernels run beside them.
 *
 * **Progress** is made by calls of rex_mpi_test(), rex_mpi_wait() and their like, for all transfers
 * of a `struct rex_mpi`, and by no thread of librex's. They ask over and over, and give
 * the processor away where MPI's own calls would.
 *
 * **Errors.** 0 is success. A negative result is an `enum rex_error`, a positive one is MPI's own
 * code, as MPI_Error_string() takes it; rex_mpi_error() is a sentence for both. Calls that all
 * ranks make together do not end where one rank has failed: end the program with MPI_Abort().
 *
 * Threads: one thread at a time may use a `struct rex_mpi` and the requests that belong to it, and
 * only where MPI allows it to call MPI.
 *
 * Everything here is since 0.1 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_MPI_H
#define REX_MPI_H

#include "rex/detail_push.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rex/detail.h"
#include "rex/device.h"
#include "rex/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * REX_MPI_CHUNK: the bytes of one piece through pinned memory: a mebibyte, less room for the
 * length of the whole, which travels with each piece.
 */
#define REX_MPI_CHUNK (((size_t)1 << 20) - 64)
/** REX_MPI_DEPTH: pieces of one transfer that are under way at a time. */
#define REX_MPI_DEPTH 4
/** REX_MPI_MESSAGE: room for what rex_mpi_error() says. */
#define REX_MPI_MESSAGE 768

/** struct rex_mpi_staging: pinned memory for one piece. Its content is this header's. */
struct rex_mpi_staging {
    struct rex_mpi_staging *next; /**< the next one that nobody uses. */
    struct rex_event *event;      /**< behind the piece's copy in the queue. */
    char *memory;                 /**< pinned; NULL where MPI takes device pointers. */
    size_t room;                  /**< its bytes. */
};

/**
 * struct rex_mpi: a communicator and a queue, made by rex_mpi_open(). Its content is this header's.
 */
struct rex_mpi {
    MPI_Comm comm;                  /**< a copy of the program's, whose errors are returned. */
    struct rex_queue *queue;        /**< what the transfers are behind. */
    bool takes_device_pointers;     /**< whether MPI does, on every rank. */
    size_t chunk;                   /**< bytes of a piece. */
    struct rex_mpi_request *active; /**< transfers under way. */
    struct rex_mpi_staging *idle;   /**< what none of them uses. */
    char message[REX_MPI_MESSAGE];  /**< of rex_mpi_error(). */
};

/** struct rex_mpi_piece: a part of a transfer, under way. Its content is this header's. */
struct rex_mpi_piece {
    struct rex_mpi_staging *staging; /**< what it goes through. */
    size_t offset;                   /**< of its first byte in the transfer. */
    size_t size;                     /**< its bytes. */
    int stage;                       /**< what it waits for. */
    MPI_Request request;             /**< MPI's own, while it is with MPI. */
};

/**
 * struct rex_mpi_request: a transfer, from rex_mpi_isend() or rex_mpi_irecv() until rex_mpi_wait()
 * or its like has told that it is over. It must not be moved meanwhile. One that is all zeros is
 * over. Its content is this header's.
 */
struct rex_mpi_request {
    struct rex_mpi *mpi;           /**< whose it is; NULL: nothing is under way. */
    struct rex_mpi_request *next;  /**< another one that is under way. */
    char *device;                  /**< the memory, on the device. */
    size_t size;                   /**< bytes of the whole. */
    size_t pieces_begun;           /**< how many pieces are begun. */
    size_t pieces_ended;           /**< how many are over. */
    int peer;                      /**< the other rank. */
    int tag;                       /**< what tells it from others. */
    bool sends;                    /**< whether this rank sends. */
    bool has_ended;                /**< whether it is over, and nobody has asked yet. */
    int result;                    /**< what it came to. */
    char message[REX_MPI_MESSAGE]; /**< the same as a sentence, if it failed. */
    /** piece number n is in place n % REX_MPI_DEPTH. */
    struct rex_mpi_piece pieces[REX_MPI_DEPTH];
};

/** struct rex_mpi_side: what rex_mpi_halo() exchanges with one neighbour. */
struct rex_mpi_side {
    int peer;         /**< its rank; MPI_PROC_NULL: there is none on this side. */
    const void *from; /**< what it is sent: a mapped address. */
    void *to;         /**< where what comes from it goes: likewise. */
    size_t size;      /**< bytes of each. */
};

/**
 * MPIX_Query_cuda_support(): MPI's own, of Open MPI, MPICH and their like: whether it takes device
 * pointers. NULL where MPI has no such function.
 */
int MPIX_Query_cuda_support(void) __attribute__((__weak__));

/*
 * ---- What the functions further down are made of: not for programs ----------------------------
 */

/** REX_MPI_OWN marks them. */
#define REX_MPI_OWN static __attribute__((__unused__))

/** enum rex_mpi_stage: what a piece waits for, in this order. */
enum rex_mpi_stage {
    REX_MPI_BEFORE, /**< the queue, before it is given to MPI. */
    REX_MPI_MOVING, /**< MPI. */
    REX_MPI_AFTER,  /**< the queue, which copies it to the device. */
    REX_MPI_OVER    /**< nothing any more. */
};

/** rex_mpi_note(): sets @message, of REX_MPI_MESSAGE bytes, to @what and @result's text. @result.
 */
REX_MPI_OWN int rex_mpi_note(char *message, const char *what, int result)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (result > 0)
        MPI_Error_string(result, text, &length);
    snprintf(message, REX_MPI_MESSAGE, "%s: %s", what, result > 0 ? text : rex_last_error());
    return result;
}

/** rex_mpi_refuse(): sets what rex_mpi_error() says to @what. @result. */
REX_MPI_OWN int rex_mpi_refuse(struct rex_mpi *mpi, const char *what, int result)
{
    if (mpi != NULL)
        snprintf(mpi->message, sizeof mpi->message, "%s", what);
    return result;
}

/**
 * rex_mpi_locate(): stores the device address of the @size mapped bytes at @address in @device.
 * Where they are not mapped the update, which changes nothing then, says so as librex does.
 */
REX_MPI_OWN int rex_mpi_locate(char **device, struct rex_mpi *mpi, const void *address, size_t size)
{
    void *base = (void *)(uintptr_t)address;
    int64_t bytes = (int64_t)size, type = REX_TYPE_FROM;
    struct rex_map map = {1, &base, &base, &bytes, &type, NULL, NULL};
    int number = rex_queue_device(mpi->queue);
    if (size > 0 && !rex_is_present(address, size, number)) {
        int result = rex_queue_update(mpi->queue, &map);
        if (result != REX_OK)
            return result;
    }
    *device = size > 0 ? (char *)rex_device_address(address, number) : NULL;
    return REX_OK;
}

/** rex_mpi_staging_free(): frees @staging. */
REX_MPI_OWN void rex_mpi_staging_free(struct rex_mpi_staging *staging)
{
    rex_event_destroy(staging->event);
    rex_pinned_free(staging->memory);
    free(staging);
}

/**
 * rex_mpi_staging_take(): an idle or new staging for a piece of @size bytes in @staging, whose room
 * is a power of two, so that pieces of similar sizes share what was pinned.
 */
REX_MPI_OWN int rex_mpi_staging_take(struct rex_mpi_staging **staging, struct rex_mpi *mpi,
                                     size_t size)
{
    size_t room = mpi->takes_device_pointers ? 0 : 4096;
    while (room > 0 && room < size + sizeof(uint64_t))
        room *= 2;
    for (struct rex_mpi_staging **link = &mpi->idle; *link != NULL; link = &(*link)->next)
        if ((*link)->room == room) {
            *staging = *link;
            *link = (*link)->next;
            return REX_OK;
        }
    struct rex_mpi_staging *made = (struct rex_mpi_staging *)calloc(1, sizeof *made);
    if (made == NULL)
        return rex_mpi_refuse(mpi, "no memory for a transfer", REX_ENOMEM);
    int result = rex_event_create(&made->event);
    made->room = room;
    if (result == REX_OK && room > 0 && (made->memory = (char *)rex_pinned_alloc(room)) == NULL)
        result = rex_last_error_code();
    if (result != REX_OK)
        rex_mpi_staging_free(made);
    else
        *staging = made;
    return result;
}

/** rex_mpi_staging_give(): @staging is idle from now on. NULL is left alone. */
REX_MPI_OWN void rex_mpi_staging_give(struct rex_mpi *mpi, struct rex_mpi_staging *staging)
{
    if (staging == NULL)
        return;
    staging->next = mpi->idle;
    mpi->idle = staging;
}

/** rex_mpi_pieces(): how many pieces @request has; one of no bytes where it has no bytes. */
REX_MPI_OWN size_t rex_mpi_pieces(const struct rex_mpi_request *request)
{
    size_t chunk = request->mpi->chunk;
    return request->size > 0 ? (request->size - 1) / chunk + 1 : 1;
}

/** rex_mpi_post(): gives @piece to MPI. */
REX_MPI_OWN int rex_mpi_post(struct rex_mpi_request *request, struct rex_mpi_piece *piece)
{
    struct rex_mpi *mpi = request->mpi;
    bool staged = !mpi->takes_device_pointers;
    void *memory = staged ? piece->staging->memory : request->device + piece->offset;
    int count = (int)(piece->size + (staged ? sizeof(uint64_t) : 0));
    piece->stage = REX_MPI_MOVING;
    return request->sends ? MPI_Isend(memory, count, MPI_BYTE, request->peer, request->tag,
                                      mpi->comm, &piece->request)
                          : MPI_Irecv(memory, count, MPI_BYTE, request->peer, request->tag,
                                      mpi->comm, &piece->request);
}

/** rex_mpi_begin(): begins the next piece of @request: a copy in the queue, or a receive. */
REX_MPI_OWN int rex_mpi_begin(struct rex_mpi_request *request)
{
    struct rex_mpi *mpi = request->mpi;
    struct rex_mpi_piece *piece = &request->pieces[request->pieces_begun % REX_MPI_DEPTH];
    uint64_t whole = request->size;
    piece->staging = NULL;
    piece->request = MPI_REQUEST_NULL;
    piece->stage = REX_MPI_BEFORE;
    piece->offset = request->pieces_begun * mpi->chunk;
    piece->size = request->size - piece->offset;
    piece->size = piece->size < mpi->chunk ? piece->size : mpi->chunk;
    int result = rex_mpi_staging_take(&piece->staging, mpi, piece->size);
    if (result != REX_OK)
        return result;
    request->pieces_begun++;
    if (!mpi->takes_device_pointers && !request->sends)
        return rex_mpi_post(request, piece);
    if (!mpi->takes_device_pointers) {
        memcpy(piece->staging->memory + piece->size, &whole, sizeof whole);
        result = rex_queue_copy_from(mpi->queue, piece->staging->memory,
                                     request->device + piece->offset, piece->size);
    }
    return result == REX_OK ? rex_event_record(piece->staging->event, mpi->queue) : result;
}

/** rex_mpi_is_whole(): whether what arrived for @piece is as long as it has to be. */
REX_MPI_OWN bool rex_mpi_is_whole(struct rex_mpi_request *request,
                                  const struct rex_mpi_piece *piece, const MPI_Status *status)
{
    int count = 0;
    MPI_Get_count(status, MPI_BYTE, &count);
    uint64_t sent = (uint64_t)count, size = piece->size;
    if (!request->mpi->takes_device_pointers) {
        sent = 0;
        size = request->size;
        if (count >= (int)sizeof sent)
            memcpy(&sent, piece->staging->memory + count - sizeof sent, sizeof sent);
    }
    if (sent == size)
        return true;
    snprintf(request->message, sizeof request->message,
             "receive from rank %d, tag %d: it sent %llu bytes, and %llu are expected",
             request->peer, request->tag, (unsigned long long)sent, (unsigned long long)size);
    return false;
}

/** rex_mpi_arrive(): MPI is done with @piece. */
REX_MPI_OWN int rex_mpi_arrive(struct rex_mpi_request *request, struct rex_mpi_piece *piece,
                               const MPI_Status *status)
{
    struct rex_mpi *mpi = request->mpi;
    piece->stage = REX_MPI_OVER;
    if (request->sends)
        return REX_OK;
    if (!rex_mpi_is_whole(request, piece, status))
        return REX_EINVAL;
    if (mpi->takes_device_pointers)
        return REX_OK;
    piece->stage = REX_MPI_AFTER;
    int result = rex_queue_copy_to(mpi->queue, request->device + piece->offset,
                                   piece->staging->memory, piece->size);
    return result == REX_OK ? rex_event_record(piece->staging->event, mpi->queue) : result;
}

/** rex_mpi_step(): moves @piece on by a stage, if what it waits for is done. */
REX_MPI_OWN int rex_mpi_step(struct rex_mpi_request *request, struct rex_mpi_piece *piece)
{
    MPI_Status status;
    int flag = 0;
    if (piece->stage == REX_MPI_MOVING) {
        int result = MPI_Test(&piece->request, &flag, &status);
        return result != MPI_SUCCESS || !flag ? result : rex_mpi_arrive(request, piece, &status);
    }
    if (piece->stage == REX_MPI_OVER)
        return REX_OK;
    int done = rex_event_done(piece->staging->event);
    if (done <= 0)
        return done;
    if (piece->stage == REX_MPI_BEFORE)
        return rex_mpi_post(request, piece);
    piece->stage = REX_MPI_OVER;
    return REX_OK;
}

/**
 * rex_mpi_give_up(): ends what is under way of @request, which has failed. A send cannot be taken
 * back: MPI may still read its memory, which is never used again then.
 */
REX_MPI_OWN void rex_mpi_give_up(struct rex_mpi_request *request)
{
    rex_queue_sync(request->mpi->queue);
    for (size_t i = request->pieces_ended; i < request->pieces_begun; i++) {
        struct rex_mpi_piece *piece = &request->pieces[i % REX_MPI_DEPTH];
        bool is_moving = piece->request != MPI_REQUEST_NULL;
        if (is_moving && request->sends) {
            MPI_Request_free(&piece->request);
            continue;
        }
        if (is_moving && MPI_Cancel(&piece->request) == MPI_SUCCESS)
            MPI_Wait(&piece->request, MPI_STATUS_IGNORE);
        rex_mpi_staging_give(request->mpi, piece->staging);
    }
}

/** rex_mpi_end(): @request is over, with @result. */
REX_MPI_OWN void rex_mpi_end(struct rex_mpi_request *request, int result)
{
    struct rex_mpi_request **link = &request->mpi->active;
    while (*link != request)
        link = &(*link)->next;
    *link = request->next;
    request->has_ended = true;
    request->result = result;
    if (result == REX_OK)
        return;
    char what[128];
    snprintf(what, sizeof what, "%s of %zu bytes %s rank %d, tag %d",
             request->sends ? "send" : "receive", request->size, request->sends ? "to" : "from",
             request->peer, request->tag);
    if (request->message[0] == '\0')
        rex_mpi_note(request->message, what, result);
    rex_mpi_give_up(request);
}

/**
 * rex_mpi_advance(): moves @request on as far as it goes. No piece is given to MPI before the one
 * in front of it.
 */
REX_MPI_OWN int rex_mpi_advance(struct rex_mpi_request *request)
{
    size_t pieces = rex_mpi_pieces(request);
    for (size_t i = request->pieces_ended; i < request->pieces_begun; i++) {
        struct rex_mpi_piece *piece = &request->pieces[i % REX_MPI_DEPTH];
        int result = rex_mpi_step(request, piece);
        if (result != REX_OK)
            return result;
        if (piece->stage == REX_MPI_OVER && i == request->pieces_ended) {
            rex_mpi_staging_give(request->mpi, piece->staging);
            request->pieces_ended++;
        }
        if (piece->stage == REX_MPI_BEFORE)
            break;
    }
    while (request->pieces_begun < pieces &&
           request->pieces_begun - request->pieces_ended < REX_MPI_DEPTH) {
        int result = rex_mpi_begin(request);
        if (result != REX_OK)
            return result;
    }
    return REX_OK;
}

/** rex_mpi_progress(): moves all transfers of @mpi on. */
REX_MPI_OWN void rex_mpi_progress(struct rex_mpi *mpi)
{
    for (struct rex_mpi_request *request = mpi->active, *next; request != NULL; request = next) {
        next = request->next;
        int result = rex_mpi_advance(request);
        if (result != REX_OK || request->pieces_ended == rex_mpi_pieces(request))
            rex_mpi_end(request, result);
    }
}

/** rex_mpi_report(): what @request, which has ended, came to; it is as if it had never been. */
REX_MPI_OWN int rex_mpi_report(struct rex_mpi_request *request)
{
    int result = request->result;
    if (result != REX_OK)
        memcpy(request->mpi->message, request->message, REX_MPI_MESSAGE);
    request->mpi = NULL;
    request->has_ended = false;
    return result;
}

/** rex_mpi_is_taken(): whether such a transfer is under way already. */
REX_MPI_OWN bool rex_mpi_is_taken(const struct rex_mpi *mpi, bool sends, int peer, int tag)
{
    const struct rex_mpi_request *other = mpi->active;
    while (other != NULL && !(other->sends == sends && other->peer == peer && other->tag == tag))
        other = other->next;
    return other != NULL;
}

/** rex_mpi_start(): rex_mpi_isend() or, if not @sends, rex_mpi_irecv(). */
REX_MPI_OWN int rex_mpi_start(struct rex_mpi_request *request, struct rex_mpi *mpi, bool sends,
                              const void *address, size_t size, int peer, int tag)
{
    char what[128];
    char *device = NULL;
    if (request == NULL || mpi == NULL)
        return rex_mpi_refuse(mpi, "the request, or the struct rex_mpi, is NULL", REX_EINVAL);
    snprintf(what, sizeof what, "%s of %zu bytes %s rank %d, tag %d", sends ? "send" : "receive",
             size, sends ? "to" : "from", peer, tag);
    if (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
        return rex_mpi_refuse(mpi, "a transfer from any rank, or of any tag: name both",
                              REX_EINVAL);
    if (peer != MPI_PROC_NULL && rex_mpi_is_taken(mpi, sends, peer, tag)) {
        snprintf(mpi->message, sizeof mpi->message, "%s: another one is under way, %s", what,
                 "and only the tag tells them apart");
        return REX_EBUSY;
    }
    int result = peer != MPI_PROC_NULL ? rex_mpi_locate(&device, mpi, address, size) : REX_OK;
    if (result != REX_OK)
        return rex_mpi_note(mpi->message, what, result);
    memset(request, 0, sizeof *request);
    request->mpi = mpi;
    request->device = device;
    request->size = size;
    request->peer = peer;
    request->tag = tag;
    request->sends = sends;
    request->has_ended = peer == MPI_PROC_NULL;
    if (request->has_ended)
        return REX_OK;
    request->next = mpi->active;
    mpi->active = request;
    result = rex_mpi_advance(request);
    if (result == REX_OK)
        return REX_OK;
    rex_mpi_end(request, result);
    return rex_mpi_report(request);
}

/*
 * ---- Open and close ---------------------------------------------------------------------------
 */

/**
 * rex_mpi_open(): gets ready for transfers between the ranks of @comm. All ranks of it call this
 * together, after MPI_Init(); if it fails on one of them it fails on all, with the same result.
 *
 * @mpi    where the new struct is stored; close it with rex_mpi_close().
 * @comm   the communicator, of which a copy is made, so that no message of the program's own is
 *         taken for one of these.
 * @queue  a queue of the device whose memory travels; to be destroyed after @mpi is closed.
 * Returns 0, REX_EINVAL (an argument is NULL), REX_ENOMEM, or an error of MPI, which by default
 * ends the program itself.
 */
static inline int rex_mpi_open(struct rex_mpi **mpi, MPI_Comm comm, struct rex_queue *queue)
{
    MPI_Comm copy;
    int takes = MPIX_Query_cuda_support != NULL && MPIX_Query_cuda_support() == 1;
    struct rex_mpi *made = (struct rex_mpi *)calloc(1, sizeof *made);
    int device = mpi != NULL ? rex_queue_device(queue) : REX_EINVAL;
    int mine[2] = {takes, made == NULL ? REX_ENOMEM : device < 0 ? REX_EINVAL : REX_OK};
    int all[2] = {0, REX_ENOMEM};
    int result = MPI_Comm_dup(comm, &copy);
    if (result != MPI_SUCCESS) {
        free(made);
        return result;
    }
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    result = MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, copy);
    if (result == MPI_SUCCESS)
        result = all[1];
    if (result != REX_OK || made == NULL || mpi == NULL) {
        free(made);
        MPI_Comm_free(&copy);
        return result;
    }
    made->comm = copy;
    made->queue = queue;
    made->takes_device_pointers = all[0] == 1;
    made->chunk = made->takes_device_pointers ? (size_t)1 << 30 : REX_MPI_CHUNK;
    /* Such an MPI works in the calling thread's CUDA context: this makes libomptarget's current. */
    if (made->takes_device_pointers && !rex_queue_is_immediate(queue))
        rex_device_gpu(device);
    *mpi = made;
    return REX_OK;
}

/**
 * rex_mpi_close(): frees @mpi; all ranks call it together, before MPI_Finalize(). NULL is left
 * alone. Returns 0; REX_EBUSY while a transfer is under way, and then nothing is freed; or an error
 * of MPI.
 */
static inline int rex_mpi_close(struct rex_mpi *mpi)
{
    if (mpi == NULL)
        return REX_OK;
    if (mpi->active != NULL)
        return rex_mpi_refuse(mpi, "rex_mpi_close: a transfer is under way", REX_EBUSY);
    for (struct rex_mpi_staging *staging = mpi->idle, *next; staging != NULL; staging = next) {
        next = staging->next;
        rex_mpi_staging_free(staging);
    }
    int result = MPI_Comm_free(&mpi->comm);
    free(mpi);
    return result;
}

/**
 * rex_mpi_error(): the message of the last call with @mpi that failed: which transfer, and what
 * librex or MPI said. "" while none has. Where rex_mpi_open() has failed, ask rex_last_error() or
 * MPI_Error_string(). Valid until the next such call.
 */
static inline const char *rex_mpi_error(const struct rex_mpi *mpi)
{
    return mpi != NULL ? mpi->message : "the struct rex_mpi is NULL";
}

/*
 * ---- Transfers --------------------------------------------------------------------------------
 */

/**
 * rex_mpi_isend(): begins to send the @size mapped bytes at @address, and returns. They must not
 * change on the device until the transfer has ended.
 *
 * @request  receives the transfer, which ends with rex_mpi_wait() or its like.
 * @to       the rank that receives them, with rex_mpi_irecv() or its like and the same @size;
 *           MPI_PROC_NULL: none, and nothing is sent.
 * @tag      tells transfers apart that go from one rank to another at the same time.
 * Returns 0, REX_EINVAL, REX_EABSENT (not all is mapped), REX_EBUSY (a send to that rank with that
 * tag is under way), REX_ENOMEM, REX_ECUDA, REX_ERUNTIME, REX_EFORK, or an error of MPI; nothing is
 * under way then.
 */
static inline int rex_mpi_isend(struct rex_mpi_request *request, struct rex_mpi *mpi,
                                const void *address, size_t size, int to, int tag)
{
    return rex_mpi_start(request, mpi, true, address, size, to, tag);
}

/**
 * rex_mpi_irecv(): begins to receive @size bytes from the rank @from into the mapped memory at
 * @address, and returns. Returns likewise.
 */
static inline int rex_mpi_irecv(struct rex_mpi_request *request, struct rex_mpi *mpi, void *address,
                                size_t size, int from, int tag)
{
    return rex_mpi_start(request, mpi, false, address, size, from, tag);
}

/**
 * rex_mpi_test(): stores in @done whether the transfer is over, after moving all of its `struct
 * rex_mpi` on. Returns as rex_mpi_wait().
 */
static inline int rex_mpi_test(bool *done, struct rex_mpi_request *request)
{
    if (done == NULL || request == NULL)
        return REX_EINVAL;
    if (request->mpi != NULL && !request->has_ended)
        rex_mpi_progress(request->mpi);
    *done = request->mpi == NULL || request->has_ended;
    return request->mpi != NULL && *done ? rex_mpi_report(request) : REX_OK;
}

/**
 * rex_mpi_waitall(): waits until all of the @count @requests are over, or one has failed. The
 * others are under way then, and may be waited for again; those that are over already count as
 * well. Returns as rex_mpi_wait(), for the first that failed.
 */
static inline int rex_mpi_waitall(size_t count, struct rex_mpi_request *requests)
{
    bool done = false;
    if (requests == NULL && count > 0)
        return REX_EINVAL;
    for (size_t i = 0; i < count; i++, done = false)
        while (!done) {
            int result = rex_mpi_test(&done, &requests[i]);
            for (size_t other = i + 1; other < count && result == REX_OK; other++)
                if (requests[other].has_ended && requests[other].result != REX_OK)
                    result = rex_mpi_report(&requests[other]);
            if (result != REX_OK)
                return result;
        }
    return REX_OK;
}

/**
 * rex_mpi_wait(): waits until the transfer is over. What was sent may then change; what was
 * received is on the device, for any queue and launch. Returns 0; REX_EINVAL (another number of
 * bytes has come, or @request is NULL), REX_ENOMEM, REX_ECUDA, REX_ERUNTIME, REX_EFORK, or an error
 * of MPI. The transfer is over in any case.
 */
static inline int rex_mpi_wait(struct rex_mpi_request *request)
{
    return rex_mpi_waitall(1, request);
}

/** rex_mpi_send(): rex_mpi_isend() and rex_mpi_wait(). */
static inline int rex_mpi_send(struct rex_mpi *mpi, const void *address, size_t size, int to,
                               int tag)
{
    struct rex_mpi_request request;
    int result = rex_mpi_isend(&request, mpi, address, size, to, tag);
    return result == REX_OK ? rex_mpi_wait(&request) : result;
}

/** rex_mpi_recv(): rex_mpi_irecv() and rex_mpi_wait(). */
static inline int rex_mpi_recv(struct rex_mpi *mpi, void *address, size_t size, int from, int tag)
{
    struct rex_mpi_request request;
    int result = rex_mpi_irecv(&request, mpi, address, size, from, tag);
    return result == REX_OK ? rex_mpi_wait(&request) : result;
}

/**
 * rex_mpi_halo(): begins to exchange the edges of this rank's part of an array with its neighbours,
 * and returns.
 *
 * @requests  receives two transfers for each side: 2 * @count, for rex_mpi_waitall().
 * @sides     the neighbours: for each dimension the lower and the upper one, as MPI_Cart_shift()
 *            gives them. What one rank sends through its lower side arrives at the upper side of
 * its neighbour, also where both sides have the same one.
 * @count     how many sides: two for each dimension.
 * @tag       the first of @count tags that it uses.
 * Returns as rex_mpi_isend(). Where memory is not mapped nothing is under way; else what was begun
 * before the error is, and the rest of @requests counts as over.
 */
static inline int rex_mpi_halo(struct rex_mpi_request *requests, struct rex_mpi *mpi,
                               const struct rex_mpi_side *sides, size_t count, int tag)
{
    char *device;
    int result = REX_OK;
    if (requests == NULL || mpi == NULL || sides == NULL || count % 2 != 0)
        return rex_mpi_refuse(mpi, "rex_mpi_halo: NULL, or a dimension with one side", REX_EINVAL);
    memset(requests, 0, 2 * count * sizeof *requests);
    for (size_t i = 0; i < 2 * count && result == REX_OK; i++)
        if (sides[i / 2].peer != MPI_PROC_NULL)
            result = rex_mpi_locate(&device, mpi, i % 2 == 0 ? sides[i / 2].from : sides[i / 2].to,
                                    sides[i / 2].size);
    if (result != REX_OK)
        return rex_mpi_note(mpi->message, "halo", result);
    for (size_t i = 0; i < count && result == REX_OK; i++)
        result = rex_mpi_irecv(&requests[i], mpi, sides[i].to, sides[i].size, sides[i].peer,
                               tag + (int)(i ^ 1));
    for (size_t i = 0; i < count && result == REX_OK; i++)
        result = rex_mpi_isend(&requests[count + i], mpi, sides[i].from, sides[i].size,
                               sides[i].peer, tag + (int)i);
    return result;
}

/**
 * rex_mpi_sendrecv(): sends @send_size mapped bytes at @send to the rank @to, receives
 * @receive_size bytes from the rank @from into the mapped memory at @receive, and waits for both.
 * The two must not overlap. Returns as rex_mpi_isend() and rex_mpi_wait().
 */
static inline int rex_mpi_sendrecv(struct rex_mpi *mpi, const void *send, size_t send_size, int to,
                                   void *receive, size_t receive_size, int from, int tag)
{
    struct rex_mpi_request requests[2];
    memset(requests, 0, sizeof requests);
    int result = rex_mpi_irecv(&requests[0], mpi, receive, receive_size, from, tag);
    if (result == REX_OK)
        result = rex_mpi_isend(&requests[1], mpi, send, send_size, to, tag);
    int waited = result == REX_OK ? rex_mpi_waitall(2, requests) : result;
    for (int i = 0; i < 2; i++) /* they are this call's own: what is under way ends with it */
        if (requests[i].mpi != NULL && !requests[i].has_ended)
            rex_mpi_end(&requests[i], waited);
    return waited;
}

/*
 * ---- Reductions -------------------------------------------------------------------------------
 */

/** rex_mpi_reduce_staged(): rex_mpi_allreduce() through @staging, two pieces in turn. */
REX_MPI_OWN int rex_mpi_reduce_staged(struct rex_mpi *mpi, struct rex_mpi_staging **staging,
                                      char *device, size_t count, size_t width, MPI_Datatype type,
                                      MPI_Op op)
{
    size_t elements = mpi->chunk / width, pieces = (count + elements - 1) / elements;
    int result = REX_OK;
    for (size_t i = 0; i <= pieces && result == REX_OK; i++) {
        size_t left = count - i * elements, part = left < elements ? left : elements;
        struct rex_mpi_staging *next = staging[i % 2], *now = staging[(i + 1) % 2];
        if (i < pieces) /* the next piece is on its way while MPI has this one */
            result = rex_queue_copy_from(mpi->queue, next->memory, device + i * elements * width,
                                         part * width);
        if (i < pieces && result == REX_OK)
            result = rex_event_record(next->event, mpi->queue);
        if (i == 0 || result != REX_OK)
            continue;
        part = i < pieces ? elements : count - (i - 1) * elements;
        result = rex_event_sync(now->event);
        if (result == REX_OK)
            result = MPI_Allreduce(MPI_IN_PLACE, now->memory, (int)part, type, op, mpi->comm);
        if (result == REX_OK)
            result = rex_queue_copy_to(mpi->queue, device + (i - 1) * elements * width, now->memory,
                                       part * width);
    }
    return result;
}

/** rex_mpi_reduce_direct(): rex_mpi_allreduce() for an MPI that takes device pointers. */
REX_MPI_OWN int rex_mpi_reduce_direct(struct rex_mpi *mpi, char *device, size_t count, size_t width,
                                      MPI_Datatype type, MPI_Op op)
{
    size_t elements = mpi->chunk / width;
    int result = rex_queue_sync(mpi->queue);
    for (size_t i = 0; i < count && result == REX_OK; i += elements)
        result =
            MPI_Allreduce(MPI_IN_PLACE, device + i * width,
                          (int)(count - i < elements ? count - i : elements), type, op, mpi->comm);
    return result;
}

/**
 * rex_mpi_allreduce(): combines the @count elements at the mapped @address of all ranks, element by
 * element, and waits; each rank has the result in the same place, on the device. All ranks call it
 * together, with the same @count, @type and @op.
 *
 * @type  of an element, without gaps: MPI_DOUBLE, and not MPI_DOUBLE_INT.
 * @op    MPI_SUM, MPI_MAX, or another operation of MPI's; it runs on the host, unless MPI takes
 *        device pointers.
 * Returns 0, REX_EINVAL, REX_EUNSUPPORTED (elements with gaps, or larger than REX_MPI_CHUNK),
 * REX_EABSENT, REX_ENOMEM, REX_ECUDA, REX_ERUNTIME, REX_EFORK, or an error of MPI.
 */
static inline int rex_mpi_allreduce(struct rex_mpi *mpi, void *address, size_t count,
                                    MPI_Datatype type, MPI_Op op)
{
    struct rex_mpi_staging *staging[2] = {NULL, NULL};
    MPI_Aint lower = 0, extent = 0;
    int width = 0;
    char *device = NULL;
    if (mpi == NULL)
        return REX_EINVAL;
    int result = MPI_Type_size(type, &width);
    if (result == MPI_SUCCESS)
        result = MPI_Type_get_extent(type, &lower, &extent);
    if (result == MPI_SUCCESS &&
        (width <= 0 || lower != 0 || extent != width || (size_t)width > mpi->chunk))
        return rex_mpi_refuse(mpi, "allreduce: elements with gaps, or too large", REX_EUNSUPPORTED);
    if (result == MPI_SUCCESS && count > (size_t)INT64_MAX / (size_t)width)
        return rex_mpi_refuse(mpi, "allreduce: too many elements", REX_EINVAL);
    if (result == MPI_SUCCESS)
        result = rex_mpi_locate(&device, mpi, address, count * (size_t)width);
    size_t bytes = count * (size_t)width;
    for (int i = 0; i < 2 && result == REX_OK; i++)
        result = rex_mpi_staging_take(&staging[i], mpi, bytes < mpi->chunk ? bytes : mpi->chunk);
    if (result == REX_OK)
        result = mpi->takes_device_pointers
                     ? rex_mpi_reduce_direct(mpi, device, count, (size_t)width, type, op)
                     : rex_mpi_reduce_staged(mpi, staging, device, count, (size_t)width, type, op);
    int synced = rex_queue_sync(mpi->queue);
    for (int i = 0; i < 2; i++)
        rex_mpi_staging_give(mpi, staging[i]);
    result = result != REX_OK ? result : synced;
    return result != REX_OK ? rex_mpi_note(mpi->message, "allreduce", result) : REX_OK;
}

#ifdef __cplusplus
}
#endif

#include "rex/detail_pop.h"

#endif
