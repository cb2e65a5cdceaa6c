/*
 * attributes.c - launch attributes: that they reach the driver in waited and deferred launches, queues and graphs, and how each is refused;
 * the priorities of queues; fills and copies of parts on a GPU.
 *
 * The driver is a fake with 132 multiprocessors, each of which keeps 2048 threads and 32 blocks.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include "inqueue.h"
#include "refused.h"
#include "rex/interop.h"
#include "stateless.h"

enum { MOST = 132 * 2048 / 64 /* blocks of 64 threads */, TURNS = 20 /* until waiting launches are a graph, and more */ };

static void nothing(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block, (void)parameters;
    computed++;
}

static void start(const char *driver, int sm, int release)
{
    static const size_t none[1];
    setenv("FAKE_CUDA_MEMORY", "128", 1);
    setenv("FAKE_CUDA_ORDER", "late", 1);
    use_gpu_of(driver, sm);
    use_release(release);
    name_kernel("nothing__kernel__", nothing, 0, none);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

static struct rex_launch_config of_teams(uint32_t teams, uint32_t flags)
{
    struct rex_launch_config launch = rex_launch_config_of(&nothing_id, teams, 64);
    launch.flags = flags;
    return launch;
}

static struct rex_launch_config in_clusters(uint32_t teams, uint32_t x, uint32_t y, uint32_t z)
{
    struct rex_launch_config launch = of_teams(teams, 0);
    launch.teams[1] = y > 0 ? 2 * y : 1;
    launch.cluster[0] = x;
    launch.cluster[1] = y;
    launch.cluster[2] = z;
    return launch;
}

static int launch_one(struct rex_launch_config launch)
{
    return rex_module_launch_map(&module, &launch, NULL);
}

/* What the last kernel that ran had, and that so many have. */
static void expect_ran(int launches, bool is_cooperative, unsigned x, unsigned y, unsigned z)
{
    const unsigned *cluster = in_driver("fake_cuda_cluster");
    CHECK_EQUAL(computed, launches);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_cooperative"), is_cooperative);
    CHECK(cluster[0] == x && cluster[1] == y && cluster[2] == z);
    CHECK_EQUAL(by_runtime(), 0);
}

/* ---- each way of launching ----------------------------------------------------------------------------------------------------------- */

/* Waiting launches with attributes are no graphs, and leave those of others alone. */
TEST_ON_FAKES(wait_for_launches, 18, 22)
{
    start("cuda", 90, release);
    for (int i = 0; i < TURNS; i++) {
        CHECK_EQUAL(launch_one(of_teams(MOST, REX_LAUNCH_COOPERATIVE)), REX_OK);
        expect_ran(4 * i + 1, true, 0, 0, 0);
        CHECK_EQUAL(launch_one(in_clusters(8, 2, 0, 0)), REX_OK);
        expect_ran(4 * i + 2, false, 2, 1, 1);
        struct rex_launch_config both = in_clusters(8, 4, 2, 0);
        both.flags = REX_LAUNCH_COOPERATIVE | REX_LAUNCH_STRICT;
        CHECK_EQUAL(launch_one(both), REX_OK);
        expect_ran(4 * i + 3, true, 4, 2, 1);
        CHECK_EQUAL(launch_one(of_teams(8, 0)), REX_OK);
        expect_ran(4 * i + 4, false, 0, 0, 0);
    }
    CHECK_EQUAL(driver_calls("cuLaunchKernelEx"), 3 * TURNS);
}

TEST_IN_CHILD(defer_launches)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "off"), REX_OK);
    start("cuda", 90, 22);
    CHECK_EQUAL(launch_one(of_teams(MOST, REX_LAUNCH_COOPERATIVE)), REX_OK);
    CHECK_EQUAL(computed, 0);
    CHECK_EQUAL(rex_device_sync(0), REX_OK);
    expect_ran(1, true, 0, 0, 0);
    CHECK_EQUAL(launch_one(in_clusters(8, 2, 0, 0)), REX_OK);
    CHECK_EQUAL(rex_device_sync(0), REX_OK);
    expect_ran(2, false, 2, 1, 1);
    REFUSED(launch_one(of_teams(MOST + 1, REX_LAUNCH_COOPERATIVE)), REX_EINVAL,
            "kernel \"nothing\": a cooperative grid of %d teams is too large: GPU 0 keeps at most %d resident", MOST + 1, MOST);
    CHECK_EQUAL(rex_device_sync(0), REX_OK);
    CHECK_EQUAL(computed, 2);
}

static struct rex_queue *new_queue(unsigned flags)
{
    struct rex_queue *queue = NULL;
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "one", flags, NULL), REX_OK);
    return queue;
}

static void refuse_each(struct rex_queue *queue)
{
    struct rex_launch_config large = of_teams(MOST + 1, REX_LAUNCH_COOPERATIVE), odd = in_clusters(9, 2, 0, 0), wide = in_clusters(64, 16, 0, 0);
    large.queue = odd.queue = wide.queue = queue;
    REFUSED(launch_one(large), REX_EINVAL,
            "kernel \"nothing\": a cooperative grid of %d teams is too large: GPU 0 keeps at most %d resident", MOST + 1, MOST);
    REFUSED(launch_one(odd), REX_EINVAL, "kernel \"nothing\": a grid of 9 x 1 x 1 teams is not a multiple of its clusters of 2 x 1 x 1");
    REFUSED(launch_one(wide), REX_EINVAL, "kernel \"nothing\": clusters of 16 x 1 x 1 teams are too large: the maximum is 8 teams");
    int *threads = in_driver("fake_cuda_resident_threads"), before = *threads;
    struct rex_launch_config none = in_clusters(8, 2, 0, 0);
    none.queue = queue;
    *threads = 32;
    REFUSED(launch_one(none), REX_EINVAL, "kernel \"nothing\": GPU 0 has no room for a cluster of 2 x 1 x 1 teams");
    *threads = before;
}

TEST_IN_CHILD(refuse_waiting)
{
    start("cuda", 90, 22);
    refuse_each(NULL);
    CHECK_EQUAL(computed, 0);
}

TEST_IN_CHILD(launch_in_queue)
{
    start("cuda", 90, 22);
    struct rex_queue *queue = new_queue(0);
    struct rex_launch_config whole = of_teams(MOST, REX_LAUNCH_COOPERATIVE), pairs = in_clusters(8, 2, 0, 0);
    CHECK_EQUAL(launch_module_in(queue, &module, &whole, NULL), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    expect_ran(1, true, 0, 0, 0);
    CHECK_EQUAL(launch_module_in(queue, &module, &pairs, NULL), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    expect_ran(2, false, 2, 1, 1);
    refuse_each(queue);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(computed, 2);
}

/* A refused launch is not in the graph. New arguments leave a node's attributes alone. */
TEST_IN_CHILD(launch_in_graph)
{
    struct rex_graph *graph = NULL;
    start("cuda", 90, 22);
    struct rex_queue *queue = new_queue(0);
    struct rex_launch_config whole = of_teams(MOST, REX_LAUNCH_COOPERATIVE), pairs = in_clusters(8, 2, 0, 0);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(launch_module_in(queue, &module, &whole, NULL), REX_OK);
    refuse_each(queue);
    CHECK_EQUAL(launch_module_in(queue, &module, &pairs, NULL), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launches(graph), 2);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
        CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
        expect_ran(2 * i + 2, false, 2, 1, 1);
        CHECK_EQUAL(rex_graph_set_args(graph, 1, NULL), REX_OK);
    }
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* ---- where there is no such launch --------------------------------------------------------------------------------------------------- */

TEST_IN_CHILD(old_driver)
{
    setenv("FAKE_CUDA_VERSION", "11040", 1);
    start("cuda-11.4", 90, 16);
    static const char why[] = "the CUDA driver lacks cuLaunchKernelEx, which came with CUDA 11.8; the driver is of CUDA 11.4";
    CHECK_EQUAL(launch_one(of_teams(8, 0)), REX_OK);
    REFUSED(launch_one(of_teams(8, REX_LAUNCH_COOPERATIVE)), REX_EUNSUPPORTED, "kernel \"nothing\": a cooperative launch cannot be used: %s", why);
    REFUSED(launch_one(in_clusters(8, 2, 0, 0)), REX_EUNSUPPORTED, "kernel \"nothing\": thread block clusters cannot be used: %s", why);
    /* Blocks are counted by what has been there for longer. */
    struct rex_launch_config one = of_teams(1, 0), pairs = in_clusters(8, 2, 0, 0);
    CHECK_EQUAL(rex_module_resident_blocks(&module, &one), MOST);
    CHECK_EQUAL(rex_module_resident_blocks(&module, &pairs), REX_EUNSUPPORTED);
}

/* The image is for compute capability 9.0: the GPU itself is one without clusters. */
TEST_IN_CHILD(old_gpu)
{
    start("cuda", 90, 22);
    setenv("FAKE_CUDA_SM", "89", 1);
    REFUSED(launch_one(in_clusters(8, 2, 0, 0)), REX_EUNSUPPORTED,
            "kernel \"nothing\": GPU 0, of compute capability 8.9, does not support thread block clusters");
    CHECK_EQUAL(launch_one(of_teams(8, REX_LAUNCH_COOPERATIVE)), REX_OK);
    expect_ran(1, true, 0, 0, 0);
}

TEST_IN_CHILD(failing_driver)
{
    start("cuda", 90, 22);
    setenv("FAKE_CUDA_BREAKS", "cuLaunchKernelEx:720:0", 1);
    REFUSED(launch_one(of_teams(8, REX_LAUNCH_COOPERATIVE)), REX_ECUDA,
            "kernel \"nothing\", 8 x 1 x 1 teams of 64 x 1 x 1 threads, 0 bytes of dynamic shared memory: cuLaunchKernelEx: CUDA_ERROR_UNKNOWN");
    setenv("FAKE_CUDA_BREAKS", "cuOccupancyMaxActiveBlocksPerMultiprocessor:719:0", 1);
    REFUSED(launch_one(of_teams(8, REX_LAUNCH_COOPERATIVE)), REX_ECUDA,
            "kernel \"nothing\": its resident blocks cannot be counted: cuOccupancyMaxActiveBlocksPerMultiprocessor: CUDA_ERROR_LAUNCH_FAILED");
    setenv("FAKE_CUDA_BREAKS", "cuOccupancyMaxActiveClusters:719:0", 1);
    REFUSED(launch_one(in_clusters(8, 2, 0, 0)), REX_ECUDA,
            "kernel \"nothing\": its resident blocks cannot be counted: cuOccupancyMaxActiveClusters: CUDA_ERROR_LAUNCH_FAILED");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(launch_one(of_teams(8, REX_LAUNCH_COOPERATIVE)), REX_OK);
}

/* libomptarget gets no launch with attributes, whatever makes it launch. */
TEST_ON_FAKES(left_to_libomptarget, 16, 22)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_LAUNCH_BY, "runtime"), REX_OK);
    start("cuda", 90, release);
    REFUSED(launch_one(of_teams(8, REX_LAUNCH_COOPERATIVE)), REX_EUNSUPPORTED,
            "kernel \"nothing\": only the CUDA driver makes a cooperative launch, and librex does not launch the kernel by the driver: REX_LAUNCH_BY=runtime");
    REFUSED(launch_one(in_clusters(8, 2, 0, 0)), REX_EUNSUPPORTED,
            "kernel \"nothing\": only the CUDA driver makes thread block clusters, and librex does not launch the kernel by the driver: REX_LAUNCH_BY=runtime");
    CHECK_EQUAL(by_runtime(), 0);
}

TEST_IN_CHILD(nowait)
{
    start("cuda", 90, 22);
    REFUSED(launch_one(of_teams(8, REX_LAUNCH_COOPERATIVE | REX_LAUNCH_NOWAIT)), REX_EUNSUPPORTED,
            "kernel \"nothing\": only the CUDA driver makes a cooperative launch, and librex does not launch the kernel by the driver: the launch is asynchronous (nowait)");
    CHECK_EQUAL(by_runtime(), 0);
}

/* ---- the description ----------------------------------------------------------------------------------------------------------------- */

TEST_IN_CHILD(reserved_fields)
{
    start("cuda", 90, 22);
    for (int i = 0; i < 3; i++) {
        struct rex_launch_config launch = of_teams(8, 0);
        launch.reserved[i] = 1u << 31;
        REFUSED(launch_one(launch), REX_EINVAL, "rex_launch: a reserved field of the launch is not 0");
    }
    for (uint32_t flag = REX_LAUNCH_COOPERATIVE << 1; flag != 0; flag <<= 1)
        REFUSED(launch_one(of_teams(8, flag)), REX_EINVAL, "rex_launch: unknown flags 0x%x", flag);
    CHECK_EQUAL(computed, 0);
}

static unsigned last_teams[3];
static void see_grid(const char *kernel, const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)kernel, (void)block, (void)parameters;
    memcpy(last_teams, grid, sizeof last_teams);
}

static void expect_chosen(uint32_t flags, uint64_t iterations, uint32_t cluster, uint32_t y, unsigned teams)
{
    struct rex_launch_config launch = rex_launch_config_for(&nothing_id, (int64_t)iterations);
    launch.flags |= flags;
    launch.cluster[0] = cluster;
    launch.teams[1] = y;
    launch.threads[0] = 64;
    CHECK_EQUAL(launch_one(launch), REX_OK);
    CHECK_EQUAL(last_teams[0], teams);
}

/* A grid that librex chooses fits, and is of whole clusters. */
TEST_IN_CHILD(chosen_grids)
{
    start("cuda", 90, 22);
    *(void (**)(const char *, const unsigned *, const unsigned *, void **))in_driver("fake_cuda_watch") = see_grid;
    expect_chosen(REX_LAUNCH_COOPERATIVE, 64, 0, 1, 1);
    expect_chosen(REX_LAUNCH_COOPERATIVE, UINT32_MAX, 0, 1, MOST);
    expect_chosen(REX_LAUNCH_COOPERATIVE, UINT32_MAX, 0, 3, MOST / 3);
    expect_chosen(REX_LAUNCH_COOPERATIVE, UINT32_MAX, 8, 1, MOST);
    expect_chosen(REX_LAUNCH_COOPERATIVE, 64 * 9, 8, 1, 16);
    expect_chosen(0, 64 * 9, 2, 1, 10);
    *(int *)in_driver("fake_cuda_resident_threads") = 64 * 3;
    expect_chosen(REX_LAUNCH_COOPERATIVE, UINT32_MAX, 0, 1, 132 * 3);
    expect_chosen(REX_LAUNCH_COOPERATIVE, UINT32_MAX, 8, 1, 132 * 3 / 8 * 8);
}

TEST_IN_CHILD(resident_blocks)
{
    start("cuda", 90, 22);
    struct rex_launch_config launch = of_teams(0, REX_LAUNCH_STRICT);
    CHECK_EQUAL(rex_module_resident_blocks(&module, &launch), MOST);
    launch.dynamic_memory = 100000;
    CHECK_EQUAL(rex_module_resident_blocks(&module, &launch), 2 * 132);
    launch.dynamic_memory = 0;
    launch.threads[0] = 1;
    CHECK_EQUAL(rex_module_resident_blocks(&module, &launch), 32 * 132);
    launch.cluster[1] = 8;
    CHECK_EQUAL(rex_module_resident_blocks(&module, &launch), 32 * 132);
    launch.threads[0] = 1025;
    REFUSED((int)rex_module_resident_blocks(&module, &launch), REX_EINVAL,
            "kernel \"nothing\": a block of 1025 x 1 x 1 threads is too large: a GPU allows 1024");
    launch.threads[0] = 64;
    launch.device = 1;
    REFUSED((int)rex_module_resident_blocks(&module, &launch), REX_EHOST,
            "rex_resident_blocks: device 1 is the host");
    launch.device = 2;
    CHECK_EQUAL(rex_module_resident_blocks(&module, &launch), REX_EDEVICE);
    launch.device = 0;
    launch.key = "none";
    CHECK_EQUAL(rex_module_resident_blocks(&module, &launch), REX_EKEY);
    REFUSED((int)rex_module_resident_blocks(&module, NULL), REX_EINVAL, "rex_resident_blocks: the launch is NULL");
    CHECK_EQUAL(computed, 0);
}

/* ---- priorities ---------------------------------------------------------------------------------------------------------------------- */

TEST_IN_CHILD(priorities)
{
    start("cuda", 90, 22);
    for (unsigned level = 0; level < 16; level++) {
        void *stream = NULL;
        int priority = 1;
        struct rex_queue *queue = new_queue(REX_QUEUE_PRIORITY(level)), *other = NULL;
        CHECK_EQUAL(rex_queue_stream(queue, &stream, NULL), REX_OK);
        CHECK_EQUAL(DRIVERS(int (*)(void *, int *), "cuStreamGetPriority")(stream, &priority), 0);
        CHECK_EQUAL(priority, level > 5 ? -5 : -(int)level);
        if (level > 0)
            REFUSED(rex_module_queue_create(&other, &module, 0, NULL, REX_QUEUE_PRIORITY(level), &stream), REX_EINVAL,
                    "rex_queue_from_stream: the flags set a priority, but the stream already has a priority");
        CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    }
}

/* ---- fills and parts ----------------------------------------------------------------------------------------------------------------- */

TEST_IN_CHILD(fills)
{
    enum { BYTES = 4096 };
    uint32_t pattern = 0x01020304;
    start("cuda", 90, 22);
    unsigned char *memory = rex_device_alloc(BYTES, 0), *there = at_device((uintptr_t)memory, BYTES), host[64] = {0};
    CHECK(memory != NULL && there != NULL);
    for (unsigned width = 1; width <= 4; width *= 2) {
        memset(there, 0xee, BYTES);
        CHECK_EQUAL(rex_device_fill(memory + 8, &pattern, width, BYTES - 16, 0), REX_OK);
        for (unsigned i = 0; i < BYTES; i++)
            CHECK_EQUAL(there[i], i < 8 || i >= BYTES - 8 ? 0xee : 4 - i % width);
    }
    CHECK_EQUAL(driver_calls("cuMemsetD8Async") + driver_calls("cuMemsetD16Async") + driver_calls("cuMemsetD32Async"), 3);
    CHECK_EQUAL(rex_device_fill(memory, &pattern, 4, 0, 0), REX_OK);
    REFUSED(rex_device_fill(NULL, &pattern, 4, 4, 0), REX_EINVAL, "rex_device_fill: the memory is NULL");
    REFUSED(rex_device_fill(memory, &pattern, 3, 3, 0), REX_EINVAL, "rex_device_fill: the pattern has 3 bytes; valid sizes are 1, 2 and 4");
    CHECK_EQUAL(rex_device_fill(memory, &pattern, 4, 4, 7), REX_EDEVICE);
    REFUSED(rex_device_fill(host, &pattern, 1, 1, 0), REX_ECUDA, "rex_device_fill: 1 bytes at %p could not be filled: cuMemsetD8Async: CUDA_ERROR_UNKNOWN", (void *)host);
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:1:1", 1);
    REFUSED(rex_device_fill(memory, &pattern, 1, 1, 0), REX_ECUDA, "rex_device_fill: 1 bytes at %p could not be filled: cuStreamSynchronize: CUDA_ERROR_UNKNOWN", (void *)memory);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_device_fill(memory, &pattern, 1, 1, 0), REX_OK);
    rex_device_free(memory, 0);
}
