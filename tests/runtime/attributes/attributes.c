/*
 * Launch attributes and the priority of a queue, as the GPU and the driver see them; where no GPU is, an error that says why. Fills and
 * parts of arrays, byte for byte as omp_target_memset() and omp_target_memcpy_rect() make them. Addresses of absent memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/interop.h>

#include <dlfcn.h>

#include "runtime/checks.h"

REX_KERNEL(look);

static int64_t met, facts[3];

/* ---- launches ------------------------------------------------------------------------------------------------------------------------ */

enum way { WAITING, IN_QUEUE, IN_GRAPH, WAYS };
static struct rex_queue *queue;

static struct rex_launch_config of_teams(int64_t teams, uint32_t flags)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(look), teams, 64);
    launch.flags = flags;
    return launch;
}

static struct rex_launch_config in_clusters(int64_t teams, uint32_t x, uint32_t y)
{
    struct rex_launch_config launch = of_teams(teams, 0);
    launch.teams[1] = 4;
    launch.cluster[0] = x;
    launch.cluster[1] = y;
    return launch;
}

static int start(void **state)
{
    (void)state;
    REX_MAP(region, REX_TOFROM(&met, 1), REX_TOFROM(facts, 3));
    met = 0;
    memset(facts, 0xee, sizeof facts);
    return rex_queue_create(&queue, -1, "one", 0) == REX_OK && rex_data_enter(-1, &region) == REX_OK ? 0 : -1;
}

static int launch_once(struct rex_launch_config launch)
{
    int64_t addend = 3, waits = (launch.flags & REX_LAUNCH_COOPERATIVE) != 0;
    REX_MAP(args, REX_VALUE(addend), REX_VALUE(waits), REX_ALLOC(&met, 1), REX_ALLOC(facts, 3));
    return rex_launch(&launch, &args);
}

static int launch_graph(struct rex_launch_config launch)
{
    struct rex_graph *graph = NULL;
    int64_t addend = 2, waits = (launch.flags & REX_LAUNCH_COOPERATIVE) != 0;
    REX_MAP(args, REX_VALUE(addend), REX_VALUE(waits), REX_ALLOC(&met, 1), REX_ALLOC(facts, 3));
    OK(rex_graph_begin(queue));
    int result = launch_once(launch);
    OK(rex_graph_end(&graph, queue));
    assert_int_equal(rex_graph_launches(graph), result == REX_OK);
    /* Other arguments leave the attributes as they are; the last launch is with those of the first. */
    if (result == REX_OK)
        result = rex_graph_set_args(graph, 0, &args);
    if (result == REX_OK)
        result = rex_graph_launch(graph, queue);
    if (result == REX_OK)
        result = rex_queue_sync(queue);
    rex_graph_destroy(graph);
    return result;
}

static int launch_by(enum way way, struct rex_launch_config launch)
{
    int64_t zero = 0;
    launch.queue = way == WAITING ? NULL : queue;
    met = zero;
    REX_MAP(to, REX_TO(&met, 1));
    OK(rex_data_update(-1, &to));
    int result = way == IN_GRAPH ? launch_graph(launch) : launch_once(launch);
    if (result == REX_OK)
        result = rex_queue_sync(queue);
    return result;
}

/* All blocks have added, and the clusters had the asked size. */
static void expect_facts(enum way way, int64_t blocks, uint32_t x, uint32_t y)
{
    REX_MAP(from, REX_FROM(&met, 1), REX_FROM(facts, 3));
    OK(rex_data_update(-1, &from));
    if (!gpu_is_real())
        return;
    assert_int_equal(met, blocks * (way == IN_GRAPH ? 2 : 3));
    if (facts[0] == 0) /* an image for GPUs without clusters */
        return;
    assert_int_equal(facts[0], x > 0 ? x : 1);
    assert_int_equal(facts[1], y > 0 ? y : 1);
    assert_int_equal(facts[2], 1);
}

static bool has_clusters(void)
{
    struct rex_gpu gpu;
    return rex_gpu_get(&gpu, sizeof gpu, rex_device_gpu(-1)) == REX_OK && gpu.capability_major >= 9;
}

TEST(cooperative, .set_up = start, .gpu = ON_GPU)
{
    char most[64];
    struct rex_launch_config one = of_teams(1, 0);
    int64_t blocks = rex_resident_blocks(&one);
    assert_true(blocks > 0);
    printf("a GPU keeps %lld blocks of 64 threads\n", (long long)blocks);
    snprintf(most, sizeof most, "keeps at most %lld resident", (long long)blocks);
    for (enum way way = WAITING; way < WAYS; way++)
        for (int turn = 0; turn < 20; turn++) {
            OK(launch_by(way, of_teams(blocks, REX_LAUNCH_COOPERATIVE)));
            expect_facts(way, blocks, 0, 0);
            OK(launch_by(way, of_teams(8, 0)));
            expect_facts(way, 8, 0, 0);
        }
    for (enum way way = WAITING; way < WAYS; way++)
        FAILS(launch_by(way, of_teams(blocks + 1, REX_LAUNCH_COOPERATIVE)), REX_EINVAL, most);
    /* librex chooses at most as many. */
    struct rex_launch_config chosen = rex_launch_config_for(REX_KERNEL_ID(look), INT32_MAX);
    chosen.flags |= REX_LAUNCH_COOPERATIVE;
    chosen.threads[0] = 64;
    OK(launch_by(WAITING, chosen));
    expect_facts(WAITING, blocks, 0, 0);
    /* In a queue the grid depends on the queue's device, not on the default device, here the host. */
    void (*set_default_device)(int device) = NULL;
    void *address = dlsym(dlopen(NULL, RTLD_NOW), "omp_set_default_device");
    memcpy(&set_default_device, &address, sizeof address);
    assert_non_null(address);
    set_default_device(rex_device_count());
    chosen.queue = queue;
    OK(launch_once(chosen));
    OK(rex_queue_sync(queue));
    set_default_device(0);
}

TEST(clusters, .set_up = start, .gpu = ON_GPU)
{
    for (enum way way = WAITING; way < WAYS; way++) {
        if (!has_clusters()) {
            FAILS(launch_by(way, in_clusters(8, 2, 0)), REX_EUNSUPPORTED, "thread block clusters: GPU");
            continue;
        }
        OK(launch_by(way, in_clusters(8, 2, 0)));
        expect_facts(way, 32, 2, 1);
        OK(launch_by(way, in_clusters(8, 4, 2)));
        expect_facts(way, 32, 4, 2);
        struct rex_launch_config both = in_clusters(8, 2, 2);
        both.flags = REX_LAUNCH_COOPERATIVE;
        OK(launch_by(way, both));
        expect_facts(way, 32, 2, 2);
        FAILS(launch_by(way, in_clusters(9, 2, 0)), REX_EINVAL, "9 x 4 x 1 teams is not a multiple of its clusters of 2 x 1 x 1");
        FAILS(launch_by(way, in_clusters(32, 16, 0)), REX_EINVAL, "the maximum is 8 teams");
        struct rex_launch_config chosen = rex_launch_config_for(REX_KERNEL_ID(look), 64 * 9);
        chosen.threads[0] = 64;
        chosen.cluster[0] = 4;
        OK(launch_by(way, chosen));
        expect_facts(way, 12, 4, 1);
    }
}

/* The launch after a refused one, and those that return early, have their attributes, too. */
TEST(deferred, .set_up = start, .gpu = ON_GPU)
{
    OK(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "off"));
    for (int turn = 0; turn < 20; turn++) {
        OK(launch_by(WAITING, of_teams(16, REX_LAUNCH_COOPERATIVE)));
        OK(rex_device_sync(-1));
        expect_facts(WAITING, 16, 0, 0);
        if (!has_clusters())
            continue;
        OK(launch_by(WAITING, in_clusters(8, 2, 0)));
        OK(rex_device_sync(-1));
        expect_facts(WAITING, 32, 2, 1);
    }
}

TEST(refused_on_the_host, .set_up = start, .gpu = ON_HOST_DEVICE)
{
    static const char why[] = "librex does not launch the kernel by the driver: the device is not an NVIDIA GPU";
    struct rex_launch_config one = of_teams(1, 0);
    assert_int_equal(rex_resident_blocks(&one), REX_ENODEVICE);
    for (enum way way = WAITING; way < WAYS; way++) {
        FAILS(launch_by(way, of_teams(1, REX_LAUNCH_COOPERATIVE)), REX_EUNSUPPORTED, "only the CUDA driver makes a cooperative launch");
        if (way != WAITING)
            assert_non_null(strstr(rex_last_error(), why));
        FAILS(launch_by(way, in_clusters(8, 2, 0)), REX_EUNSUPPORTED, "only the CUDA driver makes thread block clusters");
        OK(launch_by(way, of_teams(1, 0)));
    }
    REX_MAP(from, REX_FROM(&met, 1));
    OK(rex_data_update(-1, &from));
    assert_int_equal(met, 2);
}

/* ---- priorities ---------------------------------------------------------------------------------------------------------------------- */

TEST(priorities, .gpu = ON_GPU)
{
    int (*get)(void *stream, int *priority), last = 1;
    find(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "cuStreamGetPriority", &get);
    for (unsigned level = 0; level < 16; level++) {
        struct rex_queue *one = NULL;
        void *stream = NULL;
        int priority = 1;
        OK(rex_queue_create(&one, -1, NULL, REX_QUEUE_PRIORITY(level)));
        OK(rex_queue_stream(one, &stream, NULL));
        OK(get(stream, &priority));
        printf("level %u is %d to the driver\n", level, priority);
        assert_true(priority <= last && (level > 0) == (priority < 0));
        last = priority;
        OK(rex_queue_destroy(one));
    }
}

TEST(priority_elsewhere, .gpu = ON_HOST_DEVICE)
{
    struct rex_queue *one = NULL;
    OK(rex_queue_create(&one, -1, NULL, REX_QUEUE_PRIORITY(3)));
    OK(rex_queue_destroy(one));
}

/* ---- fills and parts ----------------------------------------------------------------------------------------------------------------- */

/* A function of the bound libomptarget itself; NULL: the release has none. */
static void *of_runtime(const char *name)
{
    void *library = dlopen(rex_runtime_path(), RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    return dlsym(library, name);
}

enum { BYTES = 1 << 20 };
static unsigned char ours[BYTES], theirs[BYTES], source[BYTES];

TEST(fills)
{
    void *(*set)(void *memory, int byte, size_t size, int device) = NULL;
    uint32_t pattern = 0x04030201;
    OK(rex_offload_init());
    void *address = of_runtime("omp_target_memset");
    memcpy(&set, &address, sizeof address);
    char *memory = rex_device_alloc(BYTES, 0);
    assert_non_null(memory);
    for (unsigned width = 1; width <= 4; width *= 2) {
        OK(rex_device_fill(memory, "\356", 1, BYTES, 0));
        OK(rex_device_fill(memory + 4, &pattern, width, BYTES - 8, 0));
        OK(rex_device_copy_from(ours, memory, BYTES, 0));
        for (unsigned i = 0; i < BYTES; i++)
            assert_int_equal(ours[i], i < 4 || i >= BYTES - 4 ? 0xee : i % width + 1);
    }
    if (set != NULL) {
        assert_ptr_equal(set(memory, 0x5a, BYTES / 2, 0), memory);
        OK(rex_device_copy_from(theirs, memory, BYTES / 2, 0));
        OK(rex_device_fill(memory, "\x5a", 1, BYTES / 2, 0));
        OK(rex_device_copy_from(ours, memory, BYTES / 2, 0));
        assert_memory_equal(ours, theirs, BYTES / 2);
    }
    /* The host's own memory. */
    memset(ours, 0, sizeof ours);
    OK(rex_device_fill(ours + 2, &pattern, 2, 8, rex_device_count()));
    assert_memory_equal(ours, "\0\0\1\2\1\2\1\2\1\2\0\0", 12);
    rex_device_free(memory, 0);
}

/* Rows of a part, as omp_target_memcpy_rect() takes them. */
struct rectangle {
    int count;
    size_t volume[3], to_offset[3], from_offset[3], to_extent[3], from_extent[3];
};

static void copy_both(const struct rectangle *one, void *to, int64_t to_device, void *from, int64_t from_device, unsigned char *mirror)
{
    static int (*copy)(void *to, const void *from, size_t element, int count, const size_t *volume, const size_t *to_offset,
                       const size_t *from_offset, const size_t *to_extent, const size_t *from_extent, int to_device, int from_device);
    struct rex_dimension to_part[3], from_part[3];
    void *address = of_runtime("omp_target_memcpy_rect");
    assert_non_null(address);
    memcpy(&copy, &address, sizeof address);
    for (int d = 0; d < one->count; d++) {
        to_part[d] = (struct rex_dimension){(int64_t)one->to_extent[d], (int64_t)one->to_offset[d], (int64_t)one->volume[d], 1};
        from_part[d] = (struct rex_dimension){(int64_t)one->from_extent[d], (int64_t)one->from_offset[d], (int64_t)one->volume[d], 1};
    }
    OK(copy(mirror, from, 4, one->count, one->volume, one->to_offset, one->from_offset, one->to_extent, one->from_extent, (int)to_device,
            (int)from_device));
    OK(rex_device_copy_part(&(struct rex_array_part){to, to_part, to_device}, &(struct rex_array_part){from, from_part, from_device}, 4,
                            one->count));
}

TEST(parts)
{
    static const struct rectangle all[] = {
        {1, {100}, {5}, {7}, {200}, {300}},
        {2, {50, 33}, {3, 4}, {1, 0}, {60, 64}, {80, 100}},
        {2, {300, 7}, {0, 1}, {2, 3}, {300, 9}, {400, 11}}, /* many small rows: librex copies them together */
        {3, {4, 5, 6}, {1, 2, 3}, {0, 1, 2}, {10, 10, 10}, {6, 7, 8}},
        {3, {4, 5, 8}, {1, 0, 0}, {0, 0, 0}, {5, 5, 8}, {4, 5, 8}}, /* whole planes */
    };
    OK(rex_offload_init());
    int64_t host = rex_device_count();
    char *one = rex_device_alloc(BYTES, 0), *other = rex_device_alloc(BYTES, 0);
    assert_true(one != NULL && other != NULL);
    for (int i = 0; i < BYTES; i++)
        source[i] = (unsigned char)(i * 7 + i / 251);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        OK(rex_device_fill(one, "\0", 1, BYTES, 0));
        OK(rex_device_fill(other, "\0", 1, BYTES, 0));
        /* to the device, */
        copy_both(&all[i], one, 0, source, host, (unsigned char *)other);
        OK(rex_device_copy_from(ours, one, BYTES, 0));
        OK(rex_device_copy_from(theirs, other, BYTES, 0));
        assert_memory_equal(ours, theirs, BYTES);
        /* from it, */
        OK(rex_device_copy_to(one, source, BYTES, 0));
        memset(ours, 0, BYTES);
        memset(theirs, 0, BYTES);
        copy_both(&all[i], ours, host, one, 0, theirs);
        assert_memory_equal(ours, theirs, BYTES);
        assert_true(memchr(ours, source[200], BYTES) != NULL);
    }
    /* and elements apart, in it. */
    struct rex_dimension sparse[] = {{20, 1, 6, 3}}, dense[] = {{8, 2, 6, 1}};
    OK(rex_device_copy_part(&(struct rex_array_part){other, dense, 0}, &(struct rex_array_part){one, sparse, 0}, 8, 1));
    OK(rex_device_copy_from(ours, other, BYTES, 0));
    for (int i = 0; i < 6; i++)
        assert_memory_equal(ours + 8 * (2 + i), source + 8 * (1 + 3 * i), 8);
    FAILS(rex_device_copy_part(&(struct rex_array_part){other, sparse, 0}, &(struct rex_array_part){one, sparse, 9}, 8, 1), REX_EDEVICE,
          "device 9 does not exist");
    dense[0].length = 5;
    FAILS(rex_device_copy_part(&(struct rex_array_part){other, dense, 0}, &(struct rex_array_part){one, sparse, 0}, 8, 1), REX_EINVAL,
          "dimension 0: the part has length 6 in the source and 5 in the destination");
    dense[0].length = 7;
    FAILS(rex_device_copy_part(&(struct rex_array_part){other, dense, 0}, &(struct rex_array_part){one, sparse, 0}, 8, 1), REX_EINVAL,
          "is not below the extent, 8");
    dense[0].length = sparse[0].length = 0;
    OK(rex_device_copy_part(&(struct rex_array_part){other, dense, 0}, &(struct rex_array_part){one, sparse, 0}, 8, 1));
    rex_device_free(one, 0);
    rex_device_free(other, 0);
}

/* ---- addresses of absent memory ------------------------------------------------------------------------------------------------------ */

void *__tgt_get_mapped_ptr(int64_t device, const void *host);

TEST(absent_addresses)
{
    static double array[8], *p = array;
    REX_MAP(mapped, REX_TOFROM(array, 8));
    REX_MAP(both, REX_USE_DEVICE_PTR(p), REX_OR_NULL(REX_USE_DEVICE_PTR(p)));
    OK(rex_data_enter(-1, &both));
    assert_ptr_equal(rex_map_address(&both, 0), p);
    assert_null(rex_map_address(&both, 1));
    OK(rex_data_exit(-1, &both));
    assert_true(both.base[0] == p && both.base[1] == p);
    /* A row of no elements of an attached pointer, at the pointer and behind it. */
    REX_MAP(empty, REX_ALLOC(&p, 1), rex_row_member(REX_RETURN(REX_ATTACH(REX_MAP_TO, p, 0, 0)), 0),
            rex_row_member(REX_RETURN(REX_ATTACH(REX_MAP_TO, p, 3, 0)), 0));
    OK(rex_data_enter(-1, &empty));
    assert_true(rex_map_address(&empty, 1) == p && rex_map_address(&empty, 2) == p);
    OK(rex_data_exit(-1, &empty));
    assert_true(empty.base[1] == &p && empty.base[2] == &p);
    OK(rex_data_enter(-1, &mapped));
    OK(rex_data_enter(-1, &both));
    assert_ptr_equal(rex_map_address(&both, 0), rex_mapped_ptr(p, -1));
    assert_ptr_equal(rex_map_address(&both, 1), rex_mapped_ptr(p, -1));
    OK(rex_data_exit(-1, &both));
    if (release_of_test() == 24) {
        assert_ptr_equal(__tgt_get_mapped_ptr(0, p), rex_mapped_ptr(p, 0));
        OK(rex_data_exit(-1, &mapped));
        assert_ptr_equal(__tgt_get_mapped_ptr(0, p), p);
        return;
    }
    OK(rex_data_exit(-1, &mapped));
    if (release_of_test() != 0 && release_of_test() < 24)
        FAILS(__tgt_get_mapped_ptr(0, p) == NULL ? REX_EUNSUPPORTED : 0, REX_EUNSUPPORTED,
              "__tgt_get_mapped_ptr: LLVM ");
    REX_MAP(wrong, rex_row_with(REX_TO(array, 8), REX_MAP_FB_NULLIFY));
    FAILS(rex_data_enter(-1, &wrong), REX_EINVAL, "is made by REX_OR_NULL(), whose argument must be a REX_USE_DEVICE_PTR()");
}
