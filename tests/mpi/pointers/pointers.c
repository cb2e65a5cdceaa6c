/*
 * pointers.c - rex/mpi.h with an MPI that takes device pointers, between 2 ranks, each with a fake GPU: its memory is at addresses that
 * nobody on the host can read, and its streams do everything as late as they can.
 *
 * What such an MPI does beyond Open MPI is here: functions of MPI's names that find the bytes of device memory, and refuse memory of the
 * host where rex/mpi.h has to give a device address.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "unit/computing.h"

#include "rex/mpi.h"

enum { MOST = 100000, PIECE = 4096, SUMS = 3000, FILL = 0x5a };

static char key;
static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof module, .entries_begin = entry, .entries_end = entry + 1, .image_name = "tests/data/sm_90.cubin"};

static int rank;
static struct rex_queue *queue;
static struct rex_mpi *mpi;
static unsigned char sent[MOST], received[MOST]; /* mapped, and nothing of it ever changes on the host */
static int64_t sums[SUMS];
static uint64_t sent_device, received_device, sums_device;
static unsigned char *source; /* pinned */
static size_t given;          /* bytes of device memory that MPI was given */

#define OK(call) CHECK_EQUAL(call, 0)

/* ---- an MPI that takes device pointers --------------------------------------------------------------------------------------------- */

int MPIX_Query_cuda_support(void)
{
    return 1;
}

static void *bytes_of(const void *address, size_t size)
{
    static char none;
    void *bytes = size > 0 ? at_device((uintptr_t)address, size) : &none;
    CHECK(bytes != NULL);
    given += size;
    return bytes;
}

int MPI_Isend(const void *memory, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Isend(bytes_of(memory, (size_t)count), count, type, to, tag, comm, request);
}

int MPI_Irecv(void *memory, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Irecv(bytes_of(memory, (size_t)count), count, type, from, tag, comm, request);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
{
    int width;
    MPI_Type_size(type, &width);
    return PMPI_Allreduce(from, from == MPI_IN_PLACE ? bytes_of(to, (size_t)count * (size_t)width) : to, count, type, operation, comm);
}

/* ---- transfers --------------------------------------------------------------------------------------------------------------------- */

static unsigned char byte_of(int of, size_t i)
{
    return (unsigned char)(i % 251 + (size_t)of + 1);
}

/* Put in the queue, where nothing is done yet when this returns. */
static void put_pattern(size_t size)
{
    const uint8_t fill = FILL;
    OK(rex_queue_fill(queue, (void *)(uintptr_t)received_device, &fill, 1, MOST));
    for (size_t i = 0; i < size; i++)
        source[i] = byte_of(rank, i);
    if (size > 0)
        OK(rex_queue_copy_to(queue, (void *)(uintptr_t)sent_device, source, size));
}

static void check_arrived(size_t size)
{
    const unsigned char *bytes = at_device(received_device, MOST);
    for (size_t i = 0; i < MOST; i++) {
        CHECK_EQUAL(bytes[i], i < size ? byte_of(1 - rank, i) : FILL);
        CHECK(sent[i] == 0 && received[i] == 0);
    }
    OK(rex_queue_sync(queue));
}

static void both_ways(size_t size)
{
    given = 0;
    put_pattern(size);
    OK(rex_mpi_sendrecv(mpi, sent, size, 1 - rank, received, size, 1 - rank, 1));
    CHECK_EQUAL(given, 2 * size);
    check_arrived(size);
}

/* The edges of this rank's part in both directions, to the one neighbour that is on both sides. */
static void halo(void)
{
    enum { EDGE = 3 * PIECE + 1 };
    struct rex_mpi_request requests[4];
    const struct rex_mpi_side sides[] = {{1 - rank, sent, received + EDGE, EDGE}, {1 - rank, sent + EDGE, received, EDGE}};
    put_pattern(2 * EDGE);
    OK(rex_mpi_halo(requests, mpi, sides, 2, 5));
    OK(rex_mpi_waitall(4, requests));
    check_arrived(2 * EDGE);
}

/* Another size than the one expected, and more of it than there is room for. */
static void wrong_size(size_t size, bool is_mpis)
{
    int result = rank == 0 ? rex_mpi_send(mpi, sent, size, 1, 7) : rex_mpi_recv(mpi, received, 200, 0, 7);
    CHECK(rank == 0 ? result == 0 : is_mpis ? result > 0 : result == REX_EINVAL);
    if (rank == 1)
        CHECK_MENTIONS(rex_mpi_error(mpi), is_mpis ? "MPI_ERR_TRUNCATE" : "it sent 100 bytes, and 200 are expected");
}

/* The sum is of what is on the device when the queue comes to it. */
static void reduce(size_t count)
{
    int64_t *put = (int64_t *)(void *)source;
    given = 0;
    for (size_t i = 0; i < SUMS; i++)
        put[i] = (int64_t)i * (rank + 1);
    OK(rex_queue_copy_to(queue, (void *)(uintptr_t)sums_device, put, sizeof sums));
    OK(rex_mpi_allreduce(mpi, sums, count, MPI_INT64_T, MPI_SUM));
    CHECK_EQUAL(given, count * sizeof *sums);
    const int64_t *found = at_device(sums_device, sizeof sums);
    OK(rex_queue_sync(queue));
    for (size_t i = 0; i < SUMS; i++)
        CHECK_EQUAL(found[i], (int64_t)i * (i < count ? 3 : rank + 1));
}

/* ------------------------------------------------------------------------------------------------------------------------------------ */

static void open_all(void)
{
    use_computing_gpu(22, "late");
    OK(rex_runtime_bind());
    OK(rex_module_register(&module));
    OK(rex_module_queue_create(&queue, &module, -1, "transfers", 0));
    sent_device = map_on_device(0, sent, sizeof sent);
    received_device = map_on_device(1, received, sizeof received);
    sums_device = map_on_device(2, sums, sizeof sums);
    CHECK((source = rex_pinned_alloc(MOST)) != NULL);
    uint32_t touches = the_record()->touches;
    OK(rex_mpi_open(&mpi, MPI_COMM_WORLD, queue));
    CHECK(the_record()->touches > touches); /* so that libomptarget's context is the current one */
    CHECK(mpi->takes_device_pointers);
}

static void close_all(void)
{
    OK(rex_mpi_close(mpi));
    OK(rex_pinned_free(source));
    OK(rex_queue_destroy(queue));
    OK(rex_module_fini(&module));
    CHECK_EQUAL(driver_objects(), 0);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 1, PIECE - 1, PIECE, PIECE + 1, 4 * PIECE, 5 * PIECE + 3, MOST};
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK_EQUAL(ranks, 2);
    open_all();
    both_ways(MOST); /* in one piece */
    mpi->chunk = PIECE;
    for (size_t i = 0; i < COUNT(sizes); i++)
        both_ways(sizes[i]);
    halo();
    wrong_size(100, false);
    wrong_size(300, true);
    both_ways(PIECE);
    reduce(SUMS);
    reduce(1);
    reduce(0);
    CHECK_EQUAL(driver_calls("cuMemcpyDtoHAsync_v2"), 0); /* nothing went through the host */
    close_all();
    MPI_Finalize();
    if (rank == 0)
        puts("device pointers of a fake GPU: passed");
    return 0;
}
