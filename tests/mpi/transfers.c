/*
 * transfers.c - rex/mpi.h, between 2 to 4 ranks: `transfers staged` as an MPI without CUDA has it, `transfers direct` with an MPI
 * that takes device pointers, which on the host device any MPI does.
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

#define CHECK(condition)                                                                                             \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            fprintf(stderr, "rank %d: %s:%d: %s (%s)\n", rank, __FILE__, __LINE__, #condition, rex_mpi_error(mpi)); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                            \
        }                                                                                                            \
    } while (0)
#define OK(call) CHECK((call) == 0)
#define SAYS(text) CHECK(strstr(rex_mpi_error(mpi), text) != NULL)

/* ---- faults -------------------------------------------------------------------------------------------------------- */

int MPIX_Query_cuda_support(void)
{
    return is_direct;
}

static bool fails_copy, fails_pinning;

int rex_queue_copy_to(struct rex_queue *own, void *to, const void *from, size_t size)
{
    int (*real)(struct rex_queue *, void *, const void *, size_t);
    *(void **)&real = dlsym(RTLD_NEXT, "rex_queue_copy_to");
    return real(own, fails_copy ? NULL : to, from, size); /* librex says that it is NULL */
}

void *rex_pinned_alloc(size_t size)
{
    void *(*real)(size_t);
    *(void **)&real = dlsym(RTLD_NEXT, "rex_pinned_alloc");
    return real(fails_pinning ? 0 : size);
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
    static unsigned char copy[MOST];
    OK(rex_device_copy_from(copy, rex_device_address(bytes, -1), MOST, -1));
    for (size_t i = 0; i < MOST; i++) {
        CHECK(copy[i] == (unsigned char)(i < count ? (size_t)seed + i % 251 : HOST_BYTE));
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
    unsigned char copy[2 * EDGE];
    reset(2 * EDGE);
    OK(rex_mpi_halo(requests, mpi, sides, 4, 20));
    OK(rex_mpi_waitall(8, requests));
    OK(rex_device_copy_from(copy, rex_device_address(received, -1), sizeof copy, -1));
    for (int i = 0; i < EDGE; i++) {
        CHECK(copy[i] == (unsigned char)(last_rank + (EDGE + i) % 251)); /* its upper edge */
        CHECK(copy[EDGE + i] == (unsigned char)(next_rank + i % 251));
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
        printf("%d ranks, %s: passed\n", ranks, is_direct ? "device pointers" : "staged");
    return 0;
}
