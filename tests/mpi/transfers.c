/*
 * transfers.c - rex/mpi.h, between 2 to 4 ranks: `transfers staged` as an MPI without CUDA has it, `transfers direct` with an MPI
 * that takes device pointers, which on the host device any MPI does; `transfers late` staged, with a queue that does everything late,
 * as one on a GPU may.
 *
 * The faults are this program's own functions of the same names, which the loader finds before librex's.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <rex.h>
#include <rex/mpi.h>

REX_KERNEL(fill);

enum { MOST = 5 * (int)REX_MPI_CHUNK + 3, HOST_BYTE = 0xee };

static int rank, ranks, next_rank, last_rank;
static bool is_direct;
static struct rex_mpi *mpi;
static struct rex_queue *queue;
static unsigned char sent[MOST], received[MOST], spare[64];

#define CHECK(condition)                                                                                            \
    do {                                                                                                            \
        if (!(condition)) {                                                                                         \
            fprintf(stderr, "rank %d: %s:%d: %s (%s)\n", rank, __FILE__, __LINE__, #condition, rex_mpi_error(mpi)); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                           \
        }                                                                                                           \
    } while (0)
#define OK(call) CHECK((call) == 0)
#define SAYS(text) CHECK(strstr(rex_mpi_error(mpi), text) != NULL)

/* ---- faults -------------------------------------------------------------------------------------------------------- */

int MPIX_Query_cuda_support(void)
{
    return is_direct;
}

static bool fails_copy, fails_pinning, is_late;

/* A queue as late as one can be: each second time that an event is asked for and is not done, some copies are made at once, for later. */
enum { MOST_WAITING = 1024 };
static struct {
    void *to;
    const void *from;
    size_t size;
    bool is_from;
} waiting[MOST_WAITING];
static size_t put, made; /* copies, since the beginning */
static struct {
    struct rex_event *event;
    size_t after; /* how many copies were put before it was recorded */
} recorded[64];

static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    CHECK(function != NULL);
    return function;
}

static int copy(bool is_from, struct rex_queue *own, void *to, const void *from, size_t size)
{
    int (*function)(struct rex_queue *, void *, const void *, size_t);
    *(void **)&function = real(is_from ? "rex_queue_copy_from" : "rex_queue_copy_to");
    return function(own, to, from, size);
}

static int sync_queue(struct rex_queue *own)
{
    int (*function)(struct rex_queue *);
    *(void **)&function = real("rex_queue_sync");
    return function(own);
}

/* They are done when this returns, since the event was recorded in front of them. */
static void make_copies(size_t until)
{
    for (; made < until && made < put; made++) {
        size_t i = made % MOST_WAITING;
        OK(copy(waiting[i].is_from, queue, waiting[i].to, waiting[i].from, waiting[i].size));
    }
    OK(sync_queue(queue));
}

static int copy_late(bool is_from, struct rex_queue *own, void *to, const void *from, size_t size)
{
    if (!is_late)
        return copy(is_from, own, to, from, size);
    size_t i = put++ % MOST_WAITING;
    CHECK(put - made <= MOST_WAITING);
    waiting[i].to = to;
    waiting[i].from = from;
    waiting[i].size = size;
    waiting[i].is_from = is_from;
    return REX_OK;
}

int rex_queue_copy_from(struct rex_queue *own, void *to, const void *from, size_t size)
{
    return copy_late(true, own, to, from, size);
}

int rex_queue_copy_to(struct rex_queue *own, void *to, const void *from, size_t size)
{
    /* librex says that it is NULL. */
    return fails_copy ? copy(false, own, NULL, from, size) : copy_late(false, own, to, from, size);
}

int rex_event_record(struct rex_event *event, struct rex_queue *own)
{
    size_t i = 0;
    int (*function)(struct rex_event *, struct rex_queue *);
    *(void **)&function = real("rex_event_record");
    while (recorded[i].event != NULL && recorded[i].event != event)
        CHECK(++i < sizeof recorded / sizeof *recorded);
    recorded[i].event = event;
    recorded[i].after = put;
    return function(event, own);
}

static bool is_done(const struct rex_event *event)
{
    size_t i = 0;
    while (recorded[i].event != event)
        i++;
    return made >= recorded[i].after;
}

static int ask(const char *name, struct rex_event *event)
{
    int (*function)(struct rex_event *);
    *(void **)&function = real(name);
    return function(event);
}

int rex_event_done(struct rex_event *event)
{
    static unsigned asked;
    if (!is_late)
        return ask("rex_event_done", event);
    if (is_done(event))
        return 1;
    if (++asked % 2 == 0)
        make_copies(made + 3);
    return 0;
}

int rex_event_sync(struct rex_event *event)
{
    if (!is_late)
        return ask("rex_event_sync", event);
    make_copies(put);
    return REX_OK;
}

int rex_queue_sync(struct rex_queue *own)
{
    if (own == queue)
        make_copies(put);
    return sync_queue(own);
}

/* Bytes behind what was asked for must stay as they are. */
enum { GUARD = 64 };
static struct {
    unsigned char *memory;
    size_t size;
} pinned[256];

void *rex_pinned_alloc(size_t size)
{
    size_t i = 0;
    void *(*function)(size_t);
    *(void **)&function = real("rex_pinned_alloc");
    unsigned char *memory = function(fails_pinning ? 0 : size + GUARD);
    if (memory == NULL)
        return NULL;
    while (pinned[i].memory != NULL)
        CHECK(++i < sizeof pinned / sizeof *pinned);
    pinned[i].memory = memory;
    pinned[i].size = size;
    return memset(memory, HOST_BYTE, size + GUARD);
}

int rex_pinned_free(void *memory)
{
    int (*function)(void *);
    *(void **)&function = real("rex_pinned_free");
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned && memory != NULL; i++)
        if (pinned[i].memory == memory) {
            for (size_t behind = 0; behind < GUARD; behind++)
                CHECK(pinned[i].memory[pinned[i].size + behind] == HOST_BYTE);
            pinned[i].memory = NULL;
        }
    return function(memory);
}

/* ---- what is sent and what has come -------------------------------------------------------------------------------- */

static void fill_device(unsigned char *bytes, int64_t count, int seed)
{
    int64_t packed_seed = seed;
    struct rex_kernel_launch launch = rex_kernel_launch_of(REX_KERNEL_ID(fill), 8, 128);
    REX_MAP(args, REX_VALUE(count), REX_VALUE(packed_seed), REX_ALLOC(bytes, count));
    OK(rex_queue_launch(queue, &launch, &args));
}

/* The device has what @seed made, and behind it what was there; the host has its own bytes still. */
static void check_arrived(const unsigned char *bytes, size_t count, int seed)
{
    static unsigned char arrived[MOST];
    OK(rex_device_copy_from(arrived, rex_device_address(bytes, -1), MOST, -1));
    for (size_t i = 0; i < MOST; i++) {
        CHECK(arrived[i] == (unsigned char)(i < count ? (size_t)seed + i % 251 : HOST_BYTE));
        CHECK(bytes[i] == HOST_BYTE);
    }
}

static void reset(size_t count)
{
    OK(rex_device_copy_to(rex_device_address(received, -1), received, MOST, -1));
    fill_device(sent, (int64_t)count, rank);
}

/* ---- transfers ----------------------------------------------------------------------------------------------------- */

static void blocking(size_t size)
{
    reset(size);
    if (rank % 2 == 0)
        OK(rex_mpi_send(mpi, sent, size, next_rank, 1));
    if (rank % 2 == 1 || (rank == 0 && ranks % 2 == 1))
        OK(rex_mpi_recv(mpi, received, size, last_rank, 1));
    if (rank % 2 == 1)
        OK(rex_mpi_send(mpi, sent, size, next_rank, 1));
    if (rank % 2 == 0 && !(rank == 0 && ranks % 2 == 1))
        OK(rex_mpi_recv(mpi, received, size, last_rank, 1));
    check_arrived(received, size, last_rank);
}

static void both_ways(size_t size)
{
    reset(size);
    OK(rex_mpi_sendrecv(mpi, sent, size, next_rank, received, size, last_rank, 2));
    check_arrived(received, size, last_rank);
}

static void not_waiting(size_t size)
{
    struct rex_mpi_request requests[3] = {{0}};
    bool done = false;
    reset(size);
    OK(rex_mpi_isend(&requests[0], mpi, sent, size, next_rank, 3));
    OK(rex_mpi_irecv(&requests[1], mpi, received, size, last_rank, 3));
    CHECK(rex_mpi_close(mpi) == REX_EBUSY);
    OK(rex_mpi_test(&done, &requests[1]));
    OK(rex_mpi_waitall(3, requests)); /* the last was never begun */
    OK(rex_mpi_test(&done, &requests[1]));
    CHECK(done);
    OK(rex_mpi_wait(&requests[0]));
    check_arrived(received, size, last_rank);
}

/* Two at a time, and the one that is waited for first ends last. */
static void several(void)
{
    struct rex_mpi_request requests[4] = {{0}};
    enum { PART = 2 * (int)REX_MPI_CHUNK + 1 };
    reset(2 * PART);
    for (int i = 0; i < 2; i++) {
        OK(rex_mpi_irecv(&requests[i], mpi, received + i * PART, PART, last_rank, 10 + i));
        OK(rex_mpi_isend(&requests[3 - i], mpi, sent + (1 - i) * PART, PART, next_rank, 11 - i));
    }
    OK(rex_mpi_wait(&requests[3]));
    OK(rex_mpi_waitall(4, requests));
    check_arrived(received, 2 * PART, last_rank);
}

static void nobody(void)
{
    struct rex_mpi_request request;
    OK(rex_mpi_send(mpi, NULL, 8, MPI_PROC_NULL, 0));
    OK(rex_mpi_irecv(&request, mpi, NULL, 8, MPI_PROC_NULL, 0));
    OK(rex_mpi_wait(&request));
}

/* A ring of all ranks in one dimension: with two of them both neighbours are the same rank. */
static void halo(void)
{
    enum { EDGE = 1000 };
    struct rex_mpi_request requests[8];
    const struct rex_mpi_side sides[] = {{last_rank, sent, received, EDGE},
                                         {next_rank, sent + EDGE, received + EDGE, EDGE},
                                         {MPI_PROC_NULL, NULL, NULL, EDGE},
                                         {MPI_PROC_NULL, NULL, NULL, EDGE}};
    unsigned char arrived[2 * EDGE];
    reset(2 * EDGE);
    OK(rex_mpi_halo(requests, mpi, sides, 4, 20));
    OK(rex_mpi_waitall(8, requests));
    OK(rex_device_copy_from(arrived, rex_device_address(received, -1), sizeof arrived, -1));
    for (int i = 0; i < EDGE; i++) {
        CHECK(arrived[i] == (unsigned char)(last_rank + (EDGE + i) % 251)); /* its upper edge */
        CHECK(arrived[EDGE + i] == (unsigned char)(next_rank + i % 251));
    }
}

static void reduce(size_t count)
{
    static int64_t values[2 * REX_MPI_CHUNK / 8 + 7];
    CHECK(count <= sizeof values / sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (int64_t)i * (rank + 1);
    REX_DATA_MAP(region, REX_TO(values, sizeof values / sizeof *values));
    OK(rex_data_begin(-1, &region));
    OK(rex_mpi_allreduce(mpi, values, count, MPI_INT64_T, MPI_SUM));
    int64_t factor = (int64_t)ranks * (ranks + 1) / 2;
    REX_MAP(back, REX_FROM(values, sizeof values / sizeof *values));
    OK(rex_data_update(-1, &back));
    for (size_t i = 0; i < count; i++)
        CHECK(values[i] == (int64_t)i * factor);
    OK(rex_data_end(-1, &region));
}

/* ---- errors -------------------------------------------------------------------------------------------------------- */

static void not_mapped(void)
{
    char address[32];
    struct rex_mpi_request request, requests[4];
    snprintf(address, sizeof address, "%p", (void *)spare);
    const struct rex_mpi_side sides[] = {{last_rank, sent, spare, 8}, {next_rank, sent, received, 8}};
    CHECK(rex_mpi_send(mpi, spare, sizeof spare, next_rank, 0) == REX_EABSENT);
    SAYS(address);
    SAYS("send of 64 bytes to rank");
    CHECK(rex_mpi_irecv(&request, mpi, sent + MOST - 8, 16, next_rank, 0) == REX_EABSENT);
    CHECK(rex_mpi_allreduce(mpi, spare, 8, MPI_DOUBLE, MPI_MAX) == REX_EABSENT);
    SAYS(address);
    CHECK(rex_mpi_halo(requests, mpi, sides, 2, 0) == REX_EABSENT);
    OK(rex_mpi_waitall(4, requests)); /* none was begun */
}

static void wrong_arguments(void)
{
    struct rex_mpi_request request, again;
    struct rex_mpi *other = NULL;
    CHECK(rex_mpi_send(NULL, sent, 8, next_rank, 0) == REX_EINVAL);
    CHECK(rex_mpi_isend(NULL, mpi, sent, 8, next_rank, 0) == REX_EINVAL);
    CHECK(rex_mpi_wait(NULL) == REX_EINVAL);
    CHECK(rex_mpi_irecv(&request, mpi, received, 8, MPI_ANY_SOURCE, 0) == REX_EINVAL);
    CHECK(rex_mpi_allreduce(mpi, sent, 8, MPI_DOUBLE_INT, MPI_MINLOC) == REX_EUNSUPPORTED);
    CHECK(rex_mpi_recv(mpi, received, 8, last_rank, -5) > 0); /* MPI's own */
    SAYS("MPI_ERR_TAG");
    CHECK(rex_mpi_recv(mpi, received, 8, ranks, 0) > 0);
    SAYS("MPI_ERR_RANK");
    /* Together, since one rank's mistake is everybody's. */
    CHECK(rex_mpi_open(&other, MPI_COMM_WORLD, rank == 0 ? NULL : queue) == REX_EINVAL);
    CHECK(other == NULL);
    OK(rex_mpi_isend(&request, mpi, sent, MOST, next_rank, 30));
    CHECK(rex_mpi_isend(&again, mpi, sent, 8, next_rank, 30) == REX_EBUSY);
    OK(rex_mpi_recv(mpi, received, MOST, last_rank, 30));
    OK(rex_mpi_wait(&request));
}

/* Rank 0 sends @size bytes, and rank 1 expects 200. */
static void other_size(size_t size, bool is_mpis)
{
    if (rank == 0)
        OK(rex_mpi_send(mpi, sent, size, 1, 40));
    if (rank != 1)
        return;
    int result = rex_mpi_recv(mpi, received, 200, 0, 40);
    CHECK(is_mpis ? result > 0 : result == REX_EINVAL);
    SAYS(is_mpis ? "MPI_ERR_TRUNCATE" : "it sent 100 bytes, and 200 are expected");
    SAYS("from rank 0, tag 40");
}

/* What fails does not keep the others from being waited for, before it or behind it. */
static void one_fails(void)
{
    struct rex_mpi_request requests[2];
    if (rank == 0) {
        OK(rex_mpi_send(mpi, sent, 100, 1, 51));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(rex_mpi_send(mpi, sent, 200, 1, 50));
    } else if (rank == 1) {
        OK(rex_mpi_irecv(&requests[0], mpi, received, 200, 0, 50));
        OK(rex_mpi_irecv(&requests[1], mpi, received + 200, 200, 0, 51));
        CHECK(rex_mpi_waitall(2, requests) == REX_EINVAL);
        SAYS("tag 51");
        MPI_Barrier(MPI_COMM_WORLD);
        OK(rex_mpi_waitall(2, requests));
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A copy to the device fails, and pinned memory cannot be had; both go through afterwards. */
static void librex_fails(void)
{
    if (is_direct)
        return;
    fails_copy = rank == 1;
    if (rank == 0)
        OK(rex_mpi_send(mpi, sent, 100, 1, 60));
    if (rank == 1) {
        CHECK(rex_mpi_recv(mpi, received, 100, 0, 60) == REX_EINVAL);
        SAYS("rex_queue_copy_to: the device's memory is NULL");
    }
    fails_copy = false;
    struct rex_mpi *fresh = NULL;
    OK(rex_mpi_open(&fresh, MPI_COMM_WORLD, queue));
    fails_pinning = true;
    CHECK(rex_mpi_send(fresh, sent, 100, next_rank, 60) == REX_EINVAL);
    CHECK(strstr(rex_mpi_error(fresh), "send of 100 bytes") != NULL);
    fails_pinning = false;
    OK(rex_mpi_close(fresh));
    both_ways(100);
}

/* -------------------------------------------------------------------------------------------------------------------- */

static void all(void)
{
    static const size_t sizes[] = {0, 1, 4088, 4089, REX_MPI_CHUNK - 1, REX_MPI_CHUNK, REX_MPI_CHUNK + 1, 4 * REX_MPI_CHUNK, MOST};
    static const size_t counts[] = {0, 1, REX_MPI_CHUNK / 8 - 1, REX_MPI_CHUNK / 8, REX_MPI_CHUNK / 8 + 1, 2 * REX_MPI_CHUNK / 8 + 7};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        blocking(sizes[i]);
        both_ways(sizes[i]);
        not_waiting(sizes[i]);
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        reduce(counts[i]);
    several();
    nobody();
    halo();
    not_mapped();
    wrong_arguments();
    other_size(100, false);
    other_size(300, true);
    one_fails();
    librex_fails();
}

int main(int argc, char **argv)
{
    is_direct = argc > 1 && strcmp(argv[1], "direct") == 0;
    is_late = argc > 1 && strcmp(argv[1], "late") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next_rank = (rank + 1) % ranks;
    last_rank = (rank + ranks - 1) % ranks;
    memset(sent, HOST_BYTE, sizeof sent);
    memset(received, HOST_BYTE, sizeof received);
    OK(rex_queue_create(&queue, -1, "transfers", 0));
    OK(rex_mpi_open(&mpi, MPI_COMM_WORLD, queue));
    CHECK(mpi->takes_device_pointers == is_direct);
    REX_DATA_MAP(region, REX_TO(sent, sizeof sent), REX_TO(received, sizeof received));
    OK(rex_data_begin(-1, &region));
    all();
    OK(rex_data_end(-1, &region));
    OK(rex_mpi_close(mpi));
    OK(rex_queue_destroy(queue));
    MPI_Finalize();
    if (rank == 0)
        printf("%d ranks, %s: passed\n", ranks, is_direct ? "device pointers" : is_late ? "late" : "staged");
    return 0;
}
