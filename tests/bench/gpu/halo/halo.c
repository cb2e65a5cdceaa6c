/*
 * The cost of an exchange of halos between two ranks: examples/hotspot_mpi/halo.c, with both of its ways where MPI takes device pointers,
 * beside a plain program: the driver copies the halo to pinned memory, MPI_Sendrecv(), the driver copies to the device. For two GPUs, or
 * one; elsewhere the plain program copies within the host.
 *
 * usage: mpirun -n 2 halo [TURNS [LEAST [MOST]]]
 *
 * Each rank sends its halo to the other one and receives the other's, of LEAST (4096) to MOST (67108864) bytes. The ways are gone in turn,
 * TURNS times (9); of each the median is printed, as the bytes that a rank sends in a second. "MPI" is MPI_Sendrecv() alone, from pinned
 * memory to pinned memory. After each size the bytes are compared.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rex.h>
#include <rex/interop.h>

#include "../../../../examples/hotspot_mpi/halo.h"

REX_KERNEL(nothing);

static struct {
    int (*cuStreamSynchronize)(void *stream);
    int (*cuCtxPushCurrent_v2)(void *context);
    int (*cuMemcpyHtoDAsync_v2)(uint64_t to, const void *from, size_t size, void *stream);
    int (*cuMemcpyDtoHAsync_v2)(void *to, uint64_t from, size_t size, void *stream);
} cu;

static int rank, device;
static struct halo halo;
static struct rex_queue *queue;
static void *stream;                     /* of the queue; NULL: there is no GPU */
static unsigned char *sent, *received;   /* mapped, and pinned */
static unsigned char *leaves, *arrives;  /* pinned */
static unsigned char *slots;             /* PINNED_BYTES, pinned */
static unsigned char *sent_device, *received_device;

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "rank %d: %s: %d %s\n", rank, what, result, rex_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define MUST(call) must((call), #call)

static void find(void *slot, const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *address = driver != NULL ? dlsym(driver, name) : NULL;
    must(address == NULL, name);
    memcpy(slot, &address, sizeof address);
}
#define FIND(name) find(&cu.name, #name)

/* ---- ways -------------------------------------------------------------------------------------------------------------------------- */

static void send_and_receive(size_t size)
{
    MUST(MPI_Sendrecv(leaves, (int)size, MPI_BYTE, 1 - rank, 0, arrives, (int)size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
}

static void copy_and_send(size_t size)
{
    if (stream != NULL) {
        MUST(cu.cuMemcpyDtoHAsync_v2(leaves, (uint64_t)(uintptr_t)sent_device, size, stream));
        MUST(cu.cuStreamSynchronize(stream));
    } else {
        memcpy(leaves, sent_device, size);
    }
    send_and_receive(size);
    if (stream != NULL) {
        MUST(cu.cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)received_device, arrives, size, stream));
        MUST(cu.cuStreamSynchronize(stream));
    } else {
        memcpy(received_device, arrives, size);
    }
}

static void exchange(size_t size, bool by_device)
{
    const struct side side = {1 - rank, rank, sent, received, size};
    halo.pinned = by_device ? NULL : slots;
    MUST(halo_exchange(&halo, &side, 1));
}

static void through_host(size_t size)
{
    exchange(size, false);
}

static void device_pointers(size_t size)
{
    exchange(size, true);
}

static const struct {
    const char *name;
    void (*exchange)(size_t size);
} ways[] = {{"MPI GB/s", send_and_receive}, {"plain", copy_and_send}, {"halo.c", through_host}, {"device", device_pointers}};
enum { WAYS = sizeof ways / sizeof *ways, TURNS_MOST = 101 };
static int used = WAYS; /* of them: the last one only where MPI takes device pointers */

/* ---- measuring --------------------------------------------------------------------------------------------------------------------- */

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Seconds of one exchange, of the slower rank; small ones are made many times over. */
static double measure(int way, size_t size)
{
    int times = size >= 1 << 22 ? 4 : size >= 1 << 19 ? 20 : 100;
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (int i = 0; i < times; i++)
        ways[way].exchange(size);
    double time = (MPI_Wtime() - began) / times;
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return time;
}

static unsigned char byte_of(int of, int way, size_t i)
{
    return (unsigned char)(i * 31 + i / 251 + (size_t)(of * 100 + way * 10));
}

/* Whether all bytes arrive on the device of both ranks. */
static bool is_right(int way, size_t size)
{
    int is_wrong = 0;
    for (size_t i = 0; i < size; i++)
        leaves[i] = byte_of(rank, way, i);
    MUST(rex_device_copy_to(sent_device, leaves, size, device));
    memset(arrives, 0, size);
    MUST(rex_device_copy_to(received_device, arrives, size, device));
    ways[way].exchange(size);
    MUST(rex_device_copy_from(leaves, received_device, size, device));
    const unsigned char *found = way == 0 ? arrives : leaves;
    for (size_t i = 0; i < size; i++)
        is_wrong |= found[i] != byte_of(1 - rank, way, i);
    MPI_Allreduce(MPI_IN_PLACE, &is_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return is_wrong == 0;
}

/* Whether all went right. */
static bool measure_size(size_t size, int turns)
{
    static double all[WAYS][TURNS_MOST];
    double median[WAYS];
    bool right = true;
    for (int way = 0; way < used; way++)
        right = is_right(way, size) && right;
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < used; i++)
            all[(i + turn) % used][turn] = measure((i + turn) % used, size);
    for (int way = 0; way < used; way++) {
        qsort(all[way], (size_t)turns, sizeof *all[way], compare);
        median[way] = all[way][turns / 2];
    }
    if (rank != 0)
        return right;
    printf("%9zu", size);
    for (int way = 0; way < used; way++)
        printf("  %8.2f", 1e-9 * (double)size / median[way]);
    printf("  %12.2f%s\n", median[1] / median[2], right ? "" : "  BYTES LOST");
    fflush(stdout);
    return right;
}

/* ---- the program ------------------------------------------------------------------------------------------------------------------- */

static void open_driver(void)
{
    void *context;
    FIND(cuStreamSynchronize), FIND(cuCtxPushCurrent_v2), FIND(cuMemcpyHtoDAsync_v2), FIND(cuMemcpyDtoHAsync_v2);
    MUST(rex_queue_stream(queue, &stream, &context));
    MUST(cu.cuCtxPushCurrent_v2(context));
}

static void open_all(size_t most)
{
    MUST(rex_offload_init());
    MUST(rex_queue_create(&queue, device, "halos", 0));
    device = rex_queue_device(queue);
    if (!rex_queue_is_synchronous(queue))
        open_driver();
    halo = (struct halo){.comm = MPI_COMM_WORLD, .queue = queue};
    used -= !takes_device_pointers(queue);
    sent = rex_host_alloc(most);
    received = rex_host_alloc(most);
    leaves = rex_host_alloc(most);
    arrives = rex_host_alloc(most);
    slots = rex_host_alloc(PINNED_BYTES);
    must(sent == NULL || received == NULL || leaves == NULL || arrives == NULL || slots == NULL, "memory");
}

/* Whether all went right. */
static bool measure_all(int turns, size_t least, size_t most)
{
    bool right = true;
    sent_device = rex_mapped_ptr(sent, device);
    received_device = rex_mapped_ptr(received, device);
    if (rank == 0)
        printf("%s\n%9s", stream != NULL ? "GPU" : "host device", "bytes");
    for (int way = 0; way < used && rank == 0; way++)
        printf("  %8s", ways[way].name);
    if (rank == 0)
        printf("  %12s\n", "halo.c/plain");
    for (size_t size = least; size <= most; size *= 2)
        right = measure_size(size, turns) && right;
    return right;
}

int main(int argc, char **argv)
{
    int ranks, turns = argc > 1 ? atoi(argv[1]) : 9;
    size_t least = argc > 2 ? strtoull(argv[2], NULL, 10) : 4096, most = argc > 3 ? strtoull(argv[3], NULL, 10) : 67108864;
    device = rex_device_for_rank();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2 || turns < 1 || turns > TURNS_MOST || least < 1 || most < least) {
        fprintf(stderr, "usage: mpirun -n 2 %s [TURNS [LEAST [MOST]]]\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    open_all(most);
    REX_MAP(region, REX_ALLOC(sent, most), REX_ALLOC(received, most));
    MUST(rex_data_enter(device, &region));
    bool right = measure_all(turns, least, most);
    MUST(rex_data_exit(device, &region));
    rex_host_free(slots);
    rex_host_free(leaves);
    rex_host_free(arrives);
    MUST(rex_queue_destroy(queue));
    rex_host_free(sent);
    rex_host_free(received);
    MPI_Finalize();
    return right ? 0 : 1;
}
