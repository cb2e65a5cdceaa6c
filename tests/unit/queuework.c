/*
 * queuework.c - what queues and graphs ask of the driver that no result shows: shared memory,
 * kernels that are loaded in time, images where they can run, globals in two copies.
 *
 * The driver and libomptarget are fakes. Results are tested in tests/runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include "inqueue.h"
#include "memory/addresses.h"
#include "present/presentcalls.h"
#include "rex/entry.h"
#include "rex/queue.h"

/* Of tests/data/kernels.cu, and of limits.cu. */
static char plain_id, env_id, wide_id, narrow_first_id, bounded_id;
static double table[4];
#define ENTRY(key, name, size)                                                                     \
    {                                                                                              \
        (key), (char *)(uintptr_t)(name), (size), 0, 0                                             \
    }
static struct __tgt_offload_entry entries[] = {
    ENTRY(&plain_id, "plain__kernel__", 0), ENTRY(&env_id, "env__kernel__", 0),
    ENTRY(&wide_id, "wide__kernel__", 0), ENTRY(&table, "table", sizeof table)};
static struct __tgt_offload_entry other_entries[] = {
    ENTRY(&narrow_first_id, "narrow_first__kernel__", 0)};
static struct __tgt_offload_entry limits_entries[] = {ENTRY(&bounded_id, "bounded", 0)};
#define MODULE(first, count, image)                                                                \
    {                                                                                              \
        .struct_size = sizeof(struct rex_module), .entries_begin = (first),                        \
        .entries_end = (first) + (count), .image_name = "tests/data/" image                        \
    }
static struct rex_module module = MODULE(entries, 3, "sm_90.cubin");
static struct rex_module with_globals = MODULE(entries, 4, "sm_90.cubin");
static struct rex_module other_module = MODULE(other_entries, 1, "sm_90.cubin");
static struct rex_module older = MODULE(other_entries, 1, "sm_80.cubin");
static struct rex_module limits = MODULE(limits_entries, 1, "limits_sm_90.cubin");

static void start(int release)
{
    use_gpu(90);
    use_release(release);
}

static struct rex_queue *new_queue(struct rex_module *of, int device, const char *name,
                                   unsigned flags)
{
    struct rex_queue *queue = NULL;
    CHECK_EQUAL(rex_module_queue_create(&queue, of, device, name, flags, NULL), REX_OK);
    return queue;
}

/* A kernel whose parameters are a value and an address, behind one that is narrow if it is that kernel. */
static int put(struct rex_queue *queue, struct rex_module *of, const void *key, uint32_t memory)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 1, 32);
    int one = 1;
    uint64_t value = 2, *out = NULL;
    launch.device = rex_queue_device(queue);
    launch.dynamic_memory = memory;
    REX_MAP(args, REX_VALUE(value), REX_IS_DEVICE_PTR(out));
    REX_MAP(narrow, REX_VALUE(one), REX_VALUE(value), REX_IS_DEVICE_PTR(out));
    return launch_module_in(queue, of, &launch, key == &narrow_first_id ? &narrow : &args);
}

/* ---- what is in use ------------------------------------------------------------------------- */

/*
 * Device memory in use: what touches a range extends it, and so does what lies farther away once there is room for no more ranges; then it is
 * the range that grows least.
 */
TEST(use_ranges)
{
    static struct rex_addresses addresses;
    static const struct {
        uint64_t begin;
        size_t size;
        uint32_t ranges, which; /* the range that has it, */
        uint64_t from, to;      /* and from where to where that is then */
    } uses[] = {{1000, 0, 0, 0, 0, 0},         {1000, 100, 1, 0, 1000, 1100}, {1100, 50, 1, 0, 1000, 1150}, {950, 50, 1, 0, 950, 1150},
                {960, 20, 1, 0, 950, 1150},    {1151, 1, 2, 1, 1151, 1152},   {1152, 4, 2, 1, 1151, 1156},  {2000, 1, 3, 2, 2000, 2001},
                {1999, 20, 3, 2, 1999, 2019},  {1900, 200, 3, 2, 1900, 2100}, {2000, 0, 3, 2, 1900, 2100}};
    for (size_t i = 0; i < COUNT(uses); i++) {
        rex_addresses_use_range(&addresses, uses[i].begin, uses[i].size);
        assert_int_equal(addresses.ranges, uses[i].ranges);
        assert_int_equal(addresses.range[uses[i].which].begin, uses[i].from);
        assert_int_equal(addresses.range[uses[i].which].end, uses[i].to);
    }
    for (uint32_t i = addresses.ranges; i <= REX_DEVICE_RANGES; i++) /* for the last there is no room */
        rex_addresses_use_range(&addresses, 10000 * i, 10);
    assert_int_equal(addresses.ranges, REX_DEVICE_RANGES);
    assert_int_equal(addresses.range[REX_DEVICE_RANGES - 1].end, 10000 * REX_DEVICE_RANGES + 10);
}

static char host[(REX_FOUND_MAPPINGS + 1) * 16] __attribute__((aligned(4096)));

static bool finds(struct rex_addresses *in, size_t at, size_t size, uint64_t generation,
                  uintptr_t device)
{
    in->generation = generation;
    return rex_addresses_find(in, host + at, size, 0) == device + at;
}

static bool uses(const struct rex_addresses *in, size_t at, size_t size)
{
    return rex_addresses_in_use(in, host + at, size, 0);
}

/* What was found stays where it was, until its slot is needed. In use is what was looked for since no work was left, in any generation. */
TEST_IN_CHILD(find_memory)
{
    enum { LAST = REX_FOUND_MAPPINGS * 16, FIRST = 1 << 20, MOVED = 1 << 21 };
    static struct rex_addresses queue, graph;
    start(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    struct fake_mapping *mapping = the_record()->mappings;
    *mapping = (struct fake_mapping){(uintptr_t)host, sizeof host, FIRST};
    rex_addresses_begin(&queue, false);
    rex_addresses_begin(&graph, false);
    for (size_t at = 0; at < LAST; at += 16)
        CHECK(finds(&queue, at, 16, 1, FIRST));
    mapping->device = MOVED;
    CHECK(finds(&queue, LAST - 8, 8, 1, FIRST) && finds(&queue, 0, 16, 1, FIRST) &&
          finds(&queue, 15, 1, 1, FIRST) && !uses(&queue, LAST, 1));
    CHECK(finds(&queue, LAST, 0, 1, MOVED) && uses(&queue, LAST + 16, 1) &&
          !rex_addresses_renew(&queue, 0, 1)); /* one has lost its slot */
    rex_addresses_unmark(&queue);
    CHECK(!uses(&queue, LAST, 16) && finds(&queue, 15, 1, 1, MOVED) &&
          finds(&queue, 8, 8, 2, MOVED));
    CHECK(uses(&queue, 0, 9) && !uses(&queue, 0, 8) && uses(&queue, 15, 1) &&
          !uses(&queue, 16, 16));
    /* Of the same memory are those that have both ends in common. */
    CHECK(finds(&queue, 48, 16, 1, FIRST) && finds(&queue, 48, 15, 2, MOVED) &&
          finds(&queue, 49, 15, 2, MOVED));
    CHECK(finds(&queue, 48, 16, 1, FIRST) && !uses(&queue, 64, 1) &&
          finds(&queue, LAST, 16, 2, MOVED));
    CHECK(finds(&queue, 0, 1, 2, MOVED) && finds(&queue, 0, 2, 2, MOVED) && uses(&queue, 1, 1));

    /* A mapping that librex has seen begin is found whole. */
    REX_MAP(region, REX_TO(host, sizeof host));
    rex_present_enter(REX_CALL_BEGINS, &region, 0);
    rex_present_leave(REX_CALL_BEGINS, &region, 0, false);
    CHECK(finds(&graph, 20, 1, 1, MOVED));
    rex_addresses_unmark(&graph);
    rex_addresses_use_all(&graph, &queue);
    CHECK(uses(&graph, LAST + 15, 1) && graph.mapping[1].generation == 0);
    CHECK(rex_addresses_renew(&graph, 0, 2));
    /* A command that fails takes back its marks, and no others. */
    rex_addresses_unmark(&graph);
    rex_addresses_begin(&graph, false);
    CHECK(finds(&graph, 30, 1, 2, MOVED));
    rex_addresses_begin(&graph, false);
    rex_addresses_undo(&graph);
    CHECK(uses(&graph, 30, 1));
    rex_addresses_unmark(&graph);
    CHECK(finds(&graph, 30, 1, 2, MOVED));
    rex_addresses_undo(&graph);
    CHECK(!uses(&graph, 30, 1));
    mapping->device = FIRST;
    CHECK(!rex_addresses_renew(&graph, 0, 3) && finds(&graph, 30, 1, 2, MOVED));
    rex_addresses_unmark(&graph);
    rex_addresses_use_range(&graph, FIRST + 100, 10);
    CHECK(!uses(&graph, 99, 1) && uses(&graph, 99, 2) && uses(&graph, 109, 1) &&
          !uses(&graph, 110, 1));
    mapping->size = 0;
    rex_addresses_unmark(&queue);
    CHECK(!uses(&graph, 99, 2) && !rex_addresses_renew(&graph, 0, 3) &&
          finds(&queue, 0, 2, 2, MOVED) && uses(&queue, 1, 1));
    graph.lost = true;
    graph.mapping[0].generation = 1; /* the first that there is */
    rex_addresses_use_range(&graph, FIRST + 1000, 10);
    rex_addresses_use_all(&queue, &graph);
    CHECK(queue.mapping[0].end == graph.mapping[0].end && queue.mapping[0].used && queue.lost &&
          queue.ranges == 2);
    queue.mapping[0].end = 0;
    graph.mapping[0] = queue.mapping[2]; /* a part of it */
    graph.mapping[0].end--;
    rex_addresses_use_all(&queue, &graph);
    CHECK(queue.mapping[2].used);
}

/*
 * A mapping has moved, and the driver cannot make the graph again: nothing is launched with outdated
 * addresses, also at the next launch, though nothing has changed since.
 */
TEST_IN_CHILD(make_graph_again)
{
    struct rex_graph *graph = NULL;
    start(22);
    struct rex_queue *queue = new_queue(&module, 0, "moved", 0);
    struct rex_launch_config launch = rex_launch_config_of(&plain_id, 1, 32);
    REX_MAP(args, REX_VALUE(UINT64_C(2)), REX_TO(host, sizeof host));
    struct fake_mapping *mapping = the_record()->mappings;
    *mapping = (struct fake_mapping){(uintptr_t)host, sizeof host, 1 << 20};
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, &args), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    mapping->device = 1 << 21;
    rex_mapping_ended_unseen();
    setenv("FAKE_CUDA_BREAKS", "cuGraphInstantiate:719:0", 1);
    for (int i = 0; i < 2; i++) {
        REFUSED(rex_graph_launch(graph, queue), REX_ECUDA,
                "a graph of queue \"moved\" could not be made: cuGraphInstantiate: CUDA_ERROR_LAUNCH_FAILED");
        CHECK_EQUAL(driver_calls("cuGraphInstantiate"), i + 2);
    }
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(driver_calls("cuGraphLaunch"), 0);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), 4);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* ---- shared memory --------------------------------------------------------------------------- */

/* In a queue, in a graph, and in one that was given other arguments. */
TEST_IN_CHILD(ask_dynamic_memory)
{
    uint64_t value = 1, *out = NULL;
    struct rex_graph *graph = NULL;
    start(22);
    struct rex_queue *queue = new_queue(&module, 0, "dynamic memory", 0);
    const unsigned *asked = in_driver("fake_cuda_dynamic_memory");
    REX_MAP(args, REX_VALUE(value), REX_IS_DEVICE_PTR(out));
    CHECK_EQUAL(put(queue, &module, &plain_id, 1024), REX_OK);
    CHECK_EQUAL(*asked, 1024);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(put(queue, &module, &plain_id, 2048), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(*asked, 2048);
    CHECK_EQUAL(put(queue, &module, &plain_id, 0), REX_OK);
    CHECK_EQUAL(*asked, 0);
    CHECK_EQUAL(rex_graph_set_args(graph, 0, &args), REX_OK);
    CHECK_EQUAL(*asked, 2048);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/*
 * The driver is asked for more than 48 KiB for a kernel, of which 1 KiB is the kernel's own, once
 * for each new most. With checks off the image alone says what a kernel has.
 */
TEST_OF_EACH(ask_for_shared_memory, const char *, check, "on", "off")
{
    static const struct {
        uint32_t bytes, asked; /* by then */
    } launches[] = {{47 << 10, 0}, {48 << 10, 1}, {(48 << 10) + 1, 2}, {48 << 10, 2}, {0, 2}};
    uint64_t *out = NULL;
    setenv("REX_CHECK", check, 1);
    start(19);
    struct rex_queue *queue = new_queue(&limits, 0, "shared memory", 0);
    struct rex_launch_config launch = rex_launch_config_of(&bounded_id, 1, 32);
    REX_MAP(args, REX_IS_DEVICE_PTR(out));
    for (size_t i = 0; i < COUNT(launches); i++) {
        launch.dynamic_memory = launches[i].bytes;
        CHECK_EQUAL(launch_module_in(queue, &limits, &launch, &args), REX_OK);
        CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), launches[i].asked);
    }
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* With REX_QUEUE_BLOCKING a queue waits for each command, and for each launch of a graph. */
TEST_IN_CHILD(wait_for_each)
{
    struct rex_graph *graph = NULL;
    start(22);
    struct rex_queue *queue = new_queue(&module, 0, "stepwise", REX_QUEUE_BLOCKING);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(put(queue, &module, &plain_id, 0), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    int waits = driver_calls("cuStreamSynchronize");
    CHECK_EQUAL(put(queue, &module, &plain_id, 0), REX_OK);
    CHECK_EQUAL(driver_calls("cuStreamSynchronize"), waits + 1);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuStreamSynchronize"), waits + 2);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* The last module's end is that of all mappings, and waits for what uses any; another one's does not. */
TEST_IN_CHILD(end_modules)
{
    start(22);
    CHECK_EQUAL(rex_module_register(&other_module, NULL), REX_OK);
    struct rex_queue *queue = new_queue(&module, 0, "filled", 0);
    CHECK_EQUAL(rex_queue_fill(queue, (void *)(uintptr_t)4096, "", 1, 8), REX_OK);
    *(int *)in_driver("fake_cuda_busy") = 1;
    CHECK_EQUAL(rex_module_fini(&other_module), REX_OK);
    rex_device_free(NULL, 0); /* waits for nothing */
    CHECK_EQUAL(rex_module_fini(&module), REX_EBUSY);
    CHECK(rex_queue_sync(queue) == REX_OK && rex_module_fini(&module) == REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct pair {
    double one, other;
} seen; /* the first parameter of the last launch */

static void watch(const char *kernel, const unsigned *grid, const unsigned *block,
                  void **parameters)
{
    (void)kernel;
    CHECK(grid[0] == 2 && grid[1] == 3 && grid[2] == 5);
    CHECK(block[0] == 7 && block[1] == 11 && block[2] == 13);
    memcpy(&seen, parameters[0], sizeof seen);
}

/* A graph keeps grids, and values wider than an address, whatever becomes of the variables. */
TEST_IN_CHILD(keep_wide_values)
{
    enum { LAUNCHES = 100 };
    struct rex_graph *graph = NULL;
    struct pair pair;
    uint64_t *out = NULL;
    start(22);
    struct rex_queue *queue = new_queue(&module, 0, "wide", 0);
    struct rex_launch_config launch = {.key = &wide_id, .teams = {2, 3, 5}, .threads = {7, 11, 13}};
    REX_MAP(args, REX_BY_VALUE(pair), REX_IS_DEVICE_PTR(out));
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    for (int i = 0; i < LAUNCHES; i++) {
        pair = (struct pair){i, -i};
        CHECK_EQUAL(launch_module_in(queue, &module, &launch, &args), REX_OK);
    }
    pair = (struct pair){0.5, 1e300};
    *(__typeof__(&watch) *)in_driver("fake_cuda_watch") = watch;
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK(seen.one == LAUNCHES - 1 && seen.other == 1 - LAUNCHES);
    CHECK_EQUAL(rex_graph_set_args(graph, 7, &args), REX_OK);
    CHECK(seen.one == 0.5 && seen.other == 1e300);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* ---- the image ------------------------------------------------------------------------------- */

/*
 * One queue is held up, and another kernel is launched for the first time, or one of a module that
 * has a queue: nothing has to be loaded then, which could wait for the first for ever. With the
 * header rewritten, and without.
 */
TEST_ON_FAKES(load_in_time, 19, 22)
{
    start(release);
    struct rex_queue *queue = new_queue(&module, 0, "held up", 0),
                     *second = new_queue(&other_module, 0, "second", 0);
    CHECK_EQUAL(put(queue, &module, &plain_id, 0), REX_OK);
    *(int *)in_driver("fake_cuda_busy") = 1;
    int loads = driver_calls("cuModuleLoadData");
    CHECK_EQUAL(put(second, &module, &env_id, 0), REX_OK);
    CHECK_EQUAL(put(second, &other_module, &narrow_first_id, 0), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), loads);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_late_loads"), 0);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(second), REX_OK);
}

/*
 * Two modules, each for one of two GPUs. A queue loads its module's image where that can run and
 * nowhere else, all in the right context: the fake refuses what is in another.
 */
TEST_IN_CHILD(two_gpus)
{
    start(22);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    setenv("FAKE_CUDA_SM", "90,80", 1);
    setenv("FAKE_CUDA_MEMORY", "256", 1); /* enough to load the images without a trial */
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_register(&older, NULL), REX_OK);
    the_record()->devices = 2;
    struct rex_queue *first = new_queue(&module, 0, "first GPU", 0);
    setenv("FAKE_CUDA_ORDINAL", "1", 1);
    struct rex_queue *second = new_queue(&older, 1, "second GPU", 0);
    struct rex_queue *stranger = new_queue(&module, 1, "stranger", 0);
    setenv("FAKE_CUDA_ORDINAL", "64", 1); /* which is left to libomptarget */
    struct rex_queue *far = new_queue(&module, 1, "far", 0);
    CHECK(rex_queue_is_synchronous(far) && !rex_queue_is_synchronous(stranger));
    CHECK_EQUAL(rex_queue_destroy(far), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 2);
    CHECK_EQUAL(put(first, &module, &plain_id, 0), REX_OK);
    CHECK_EQUAL(put(second, &older, &narrow_first_id, 0), REX_OK);
    CHECK_EQUAL(put(stranger, &older, &narrow_first_id, 0), REX_OK);
    CHECK_EQUAL(put(first, &module, &plain_id, 0), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(first), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(second), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(stranger), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(rex_module_fini(&older), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* Globals are in two copies: refused before anything is launched, unless the queue is told. */
TEST_IN_CHILD(have_globals)
{
    struct rex_graph *graph = NULL;
    start(22);
    struct rex_queue *queue = new_queue(&with_globals, 0, "plain", 0),
                     *own = new_queue(&with_globals, 0, "own", REX_QUEUE_OWN_GLOBALS);
    CHECK(rex_graph_begin(queue) == REX_OK && rex_graph_begin(own) == REX_OK);
    CHECK_EQUAL(put(queue, &with_globals, &plain_id, 0), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "kernel \"plain\": its module has device globals");
    CHECK_EQUAL(put(own, &with_globals, &plain_id, 0), REX_OK);
    CHECK(rex_graph_end(&graph, queue) == REX_OK && rex_graph_launches(graph) == 0);
    rex_graph_destroy(graph);
    CHECK(rex_graph_end(&graph, own) == REX_OK && rex_graph_launches(graph) == 1);
    rex_graph_destroy(graph);
    setenv("FAKE_CUDA_BREAKS", "cuModuleGetGlobal:719:0", 1);
    NO_ADDRESS(rex_module_queue_global(&with_globals, own, table), REX_ECUDA,
               "global \"table\": cuModuleGetGlobal: CUDA_ERROR_LAUNCH_FAILED");
    setenv("FAKE_CUDA_BREAKS", "cuCtxPushCurrent:719:0", 1);
    NO_ADDRESS(rex_module_queue_global(&with_globals, own, table), REX_ECUDA,
               "queue \"own\": cuCtxPushCurrent: CUDA_ERROR_LAUNCH_FAILED");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(own), REX_OK);
}
