/*
 * halo.c - the exchange of examples/hotspot_mpi between 2 ranks, each with a fake GPU: its memory is
 * at addresses that nobody on the host can read, and its streams do everything as late as they can.
 *
 * An MPI that takes device pointers is here, too: functions of MPI's names that find the bytes of
 * device memory, and refuse memory of the host.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "unit/computing.h"

#include "../examples/hotspot_mpi/halo.h"

/* Two sides, which are more pieces than there are slots. */
enum { MOST = (2 * SLOTS - 3) * PIECE_BYTES + 2, BEYOND = 4096, ROOM = MOST + BEYOND, FILL = 0x5a };

static char key;
static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof module, .entries_begin = entry, .entries_end = entry + 1, .image_name = "tests/data/sm_90.cubin"};

static int rank;
static struct halo halo;
static unsigned char *sent, *received;  /* mapped */
static unsigned char *source, *slots;   /* pinned */
static uint64_t sent_device, received_device;
static size_t given;     /* bytes of device memory that MPI was given */
static bool is_behind;   /* the other rank is in front */

#define OK(call) CHECK_EQUAL(call, 0)

/* ---- an MPI that takes device pointers --------------------------------------------------------- */

int MPIX_Query_cuda_support(void)
{
    return 1;
}

static void *bytes_of(const void *address, int count)
{
    void *bytes = (void *)(uintptr_t)address;
    if (halo.pinned == NULL) {
        bytes = at_device((uintptr_t)address, (size_t)count);
        CHECK(bytes != NULL);
        given += (size_t)count;
    }
    return bytes;
}

int MPI_Isend(const void *memory, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Isend(bytes_of(memory, count), count, type, to, tag, comm, request);
}

/* What the other rank sends comes while nothing of this rank's queue is done, unless it waits for this rank. */
static void let_mpi_receive(MPI_Request request)
{
    int has_come = 0;
    for (double end = MPI_Wtime() + 0.05; !has_come && MPI_Wtime() < end;)
        MPI_Request_get_status(request, &has_come, MPI_STATUS_IGNORE);
}

int MPI_Irecv(void *memory, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    int result = PMPI_Irecv(bytes_of(memory, count), count, type, from, tag, comm, request);
    if (is_behind)
        let_mpi_receive(*request);
    return result;
}

/* ---- exchanges --------------------------------------------------------------------------------- */

static unsigned char byte_of(int of, int round, size_t i)
{
    return (unsigned char)(i % 251 + (size_t)(of + 2 * round) + 1);
}

/* Put in the queue, where nothing is done yet when this returns. */
static void put_pattern(size_t size, int round)
{
    const uint8_t fill = FILL;
    OK(rex_queue_fill(halo.queue, (void *)(uintptr_t)received_device, &fill, 1, size + BEYOND));
    for (size_t i = 0; i < size; i++)
        source[i] = byte_of(rank, round, i);
    OK(rex_queue_copy_to(halo.queue, (void *)(uintptr_t)sent_device, source, size));
}

/* All of it is there as soon as the exchange is over. */
static void check_received(size_t size, int round)
{
    const unsigned char *bytes = at_device(received_device, size + BEYOND);
    for (size_t i = 0; i < size + BEYOND; i++)
        CHECK_EQUAL(bytes[i], i < size ? byte_of(1 - rank, round, i) : FILL);
}

/* The other rank is on both sides. */
static void exchange(size_t size, int round)
{
    size_t half = size / 2;
    const struct side sides[] = {{1 - rank, 0, sent, received + half, half},
                                 {1 - rank, 1, sent + half, received, half},
                                 {MPI_PROC_NULL, 2, NULL, NULL, half}};
    given = 0;
    put_pattern(size, round);
    is_behind = rank == round;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(halo_exchange(&halo, sides, COUNT(sides)));
    CHECK_EQUAL(given, halo.pinned == NULL ? 2 * size : 0);
    for (size_t i = 0; i < halo.begun && i < SLOTS; i++)
        CHECK(halo.slots[i].requests[0] == MPI_REQUEST_NULL && halo.slots[i].requests[1] == MPI_REQUEST_NULL);
    check_received(size, round);
}

static void exchange_all(void)
{
    static const size_t sizes[] = {2, 4096, 2 * PIECE_BYTES, MOST};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int round = 0; round < 2; round++)
            exchange(sizes[i], round);
}

/* ------------------------------------------------------------------------------------------------ */

static void open_all(void)
{
    struct rex_queue *queue;
    use_computing_gpu(22, "late");
    OK(rex_runtime_bind());
    OK(rex_module_register(&module, NULL));
    OK(rex_module_queue_create(&queue, &module, -1, "copies", 0, NULL));
    CHECK((sent = rex_host_alloc(ROOM)) != NULL);
    CHECK((received = rex_host_alloc(ROOM)) != NULL);
    CHECK((source = rex_host_alloc(ROOM)) != NULL);
    CHECK((slots = rex_host_alloc(PINNED_BYTES)) != NULL);
    sent_device = map_on_device(0, sent, ROOM);
    received_device = map_on_device(1, received, ROOM);
    halo = (struct halo){.comm = MPI_COMM_WORLD, .queue = queue, .pinned = slots};
    uint32_t touches = the_record()->touches;
    CHECK(takes_device_pointers(queue));
    CHECK(the_record()->touches > touches); /* so that libomptarget's context is the current one */
}

static void close_all(void)
{
    OK(rex_host_free(sent));
    OK(rex_host_free(received));
    OK(rex_host_free(source));
    OK(rex_host_free(slots));
    OK(rex_queue_destroy(halo.queue));
    OK(rex_module_fini(&module));
    CHECK_EQUAL(driver_objects(), 0);
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK_EQUAL(ranks, 2);
    open_all();
    exchange_all(); /* through pinned memory */
    halo.pinned = NULL;
    exchange_all();
    const struct side absent = {1 - rank, 0, source, received, 1};
    CHECK_EQUAL(halo_exchange(&halo, &absent, 1), -1);
    CHECK_MENTIONS(rex_last_error(), "is not mapped whole");
    close_all();
    MPI_Finalize();
    if (rank == 0)
        puts("halo.c on a fake GPU: passed");
    return 0;
}
