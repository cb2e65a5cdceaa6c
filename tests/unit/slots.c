/*
 * slots.c - what launches by the driver work with: slots, which are taken and kept, the room that they have, and their graphs; and blocks
 * of device memory.
 *
 * libomptarget is a fake; the driver is a fake with memory, which counts its calls, and whose kernels are functions of the test.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include "cuda/blocks.h"
#include "cuda/context.h"
#include "launch/slotgraph.h"
#include "rex/device.h"
#include "rex/launch.h"
#include "stateless.h"

static unsigned last_grid, last_block;
static uint64_t *written_meanwhile; /* on the host, while the kernel is at work */

/* Each of y and x is one more than it was, or where the kernel has a parameter in front, two. */
static void add(const unsigned *grid, const unsigned *block, void **parameters)
{
    uint64_t n = word(parameters, 0), a = word(parameters, 1);
    uint64_t *x = at_device(word(parameters, 2), n * 8), *y = at_device(word(parameters, 3), n * 8);
    last_grid = grid[0];
    last_block = block[0];
    CHECK(n == 0 || (x != NULL && y != NULL));
    for (uint64_t i = 0; i < n; i++) {
        x[i] += a;
        y[i] += a;
    }
    if (written_meanwhile != NULL)
        *written_meanwhile = 99;
    computed++;
}

static void add_twice(const unsigned *grid, const unsigned *block, void **parameters)
{
    add(grid, block, parameters + 1);
    add(grid, block, parameters + 1);
}

static void start_with(const char *gpus)
{
    static const size_t words[] = {8, 8, 8, 8, 8};
    const char *memory = getenv("FAKE_CUDA_MEMORY");
    char wanted[16];
    snprintf(wanted, sizeof wanted, "%s", memory != NULL ? memory : "64");
    use_computing_gpu(22, "late");
    setenv("FAKE_CUDA_MEMORY", wanted, 1);
    setenv("FAKE_CUDA_DEVICES", gpus, 1);
    name_kernel("axpy__kernel__", add, 4, words);
    name_kernel("axpy_env__kernel__", add_twice, 5, words);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

static void start(void)
{
    start_with("1");
}

static int launch_nothing(void)
{
    struct rex_launch_config launch = rex_launch_config_of(&nothing_id, 1, 32);
    return rex_module_launch_map(&module, &launch, NULL);
}

/* ---- slots
 * -------------------------------------------------------------------------------------------------------------------------------- */

static int entered;

static struct rex_slot *take(int ordinal)
{
    struct rex_slot *slot = rex_slot_take(ordinal, "a test", &entered);
    CHECK(slot != NULL && slot->ordinal == ordinal);
    return slot;
}

static bool is_context_current(void)
{
    void *context = NULL;
    int (*get)(void **);
    void *found = in_driver("cuCtxGetCurrent");
    memcpy(&get, &found, sizeof get);
    return get(&context) == 0 && context != NULL;
}

static long processors;
long __real_sysconf(int name);
long __wrap_sysconf(int name);
long __wrap_sysconf(int name)
{
    return name == _SC_NPROCESSORS_ONLN ? processors : __real_sysconf(name);
}

/* 64 are kept on each GPU, or one for each processor if these are more, and the one given back last comes first. */
TEST_OF_EACH(take_and_give, long, count, 2, 70)
{
    enum { MOST = 100 };
    static struct rex_slot *slot[MOST];
    static int way_back[MOST];
    processors = count;
    const int kept = processors > 64 ? (int)processors : 64, all = kept + 3;
    start_with("2");
    int before = driver_objects();
    for (int i = 0; i < all; i++) {
        slot[i] = rex_slot_take(0, "a test", &way_back[i]);
        CHECK(slot[i] != NULL && is_context_current());
        for (int j = 0; j < i; j++)
            CHECK(slot[i] != slot[j]);
    }
    CHECK_EQUAL(driver_objects(), before + all); /* a stream each */
    for (int i = all; i-- > 0;)
        rex_slot_give(slot[i], way_back[i]);
    CHECK(!is_context_current());
    CHECK_EQUAL(driver_objects(), before + kept);
    /* of the right device, which keeps its own */
    struct rex_slot *one = take(1);
    CHECK_EQUAL(driver_objects(), before + kept + 1);
    rex_slot_give(one, entered);
    CHECK_EQUAL(driver_objects(), before + kept + 1);
    /* and the one given back last is the first */
    one = take(0);
    rex_slot_give(one, entered);
    struct rex_slot *again = take(0);
    CHECK(again == one);
    rex_slot_give(again, entered);
    /* and those of a module that ended count no more */
    CHECK_EQUAL(launch_nothing(), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    before = driver_objects();
    rex_slot_give(take(0), entered);
    CHECK_EQUAL(driver_objects(), before + 1);
}

/* Its context cannot be made current: it is there for the next one. */
TEST_IN_CHILD(enter_in_vain)
{
    start();
    struct rex_slot *slot = take(0), *next;
    rex_slot_give(slot, entered);
    setenv("FAKE_CUDA_BREAKS", "cuCtxPushCurrent:2:0", 1);
    CHECK(rex_slot_take(0, "a test", &entered) == NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "a test: cuCtxPushCurrent");
    unsetenv("FAKE_CUDA_BREAKS");
    next = take(0);
    CHECK(next == slot);
    rex_slot_give(next, entered);
    CHECK(!is_context_current());
}

/* Whether the driver knows this memory of the host. */
static bool is_pinned(const void *address)
{
    int type, (*ask)(void *, int, uint64_t);
    void *found = in_driver("cuPointerGetAttribute");
    memcpy(&ask, &found, sizeof ask);
    return ask(&type, 2, (uintptr_t)address) == 0;
}

/* A launch has the image loaded on the first GPU, and so unloaded. */
static void end_and_register(void)
{
    CHECK_EQUAL(launch_nothing(), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

TEST_IN_CHILD(ask_ordinals)
{
    int ordinal = 7;
    start();
    CHECK(rex_slot_ordinal(-1, &ordinal) == REX_OK && ordinal == -1);
    CHECK(rex_slot_ordinal(REX_CUDA_DEVICES_MAX, &ordinal) == REX_OK && ordinal == -1);
    uint32_t before = the_record()->touches;
    CHECK(rex_slot_ordinal(0, &ordinal) == REX_OK && ordinal == 0);
    uint32_t asked = the_record()->touches;
    CHECK(rex_slot_ordinal(0, &ordinal) == REX_OK && ordinal == 0);
    CHECK(asked > before && the_record()->touches == asked); /* once */
    rex_slot_give(take(0), entered);
    end_and_register();
    asked = the_record()->touches;
    CHECK(rex_slot_ordinal(0, &ordinal) == REX_OK && ordinal == 0);
    CHECK(the_record()->touches > asked); /* and once more for the next registration */
}

/* With a module go the slots of the GPU that its image was on, and no others. */
TEST_IN_CHILD(end_some)
{
    int way_back[3];
    start_with("2");
    struct rex_slot *first = rex_slot_take(0, "a test", &way_back[0]), *second = rex_slot_take(0, "a test", &way_back[1]);
    struct rex_slot *other = rex_slot_take(1, "a test", &way_back[2]);
    CHECK(first != NULL && second != NULL && other != NULL && rex_slot_make_room(first, REX_SLOT_FIRST, "a test") == REX_OK);
    CHECK(first->room == REX_SLOT_FIRST && second->room == 0);
    rex_slot_give(other, way_back[2]);
    rex_slot_give(second, way_back[1]);
    rex_slot_give(first, way_back[0]);
    CHECK_EQUAL(driver_objects(), 3);
    end_and_register();
    CHECK(driver_objects() == 1 && device_bytes() == 0);
    CHECK(take(1) == other && driver_objects() == 1);
    rex_slot_give(other, entered);
}

/* 256 KiB at first, 2 MiB at most, of both; what fails leaves nothing. */
TEST_IN_CHILD(make_room)
{
    enum { FIRST = 256 << 10, MOST = 2 << 20 };
    start();
    struct rex_slot *slot = take(0);
    size_t before = device_bytes();
    int calls = driver_calls("cuMemAlloc");
    CHECK_EQUAL(rex_slot_make_room(slot, 1, "a test"), REX_OK);
    CHECK(slot->room == FIRST && device_bytes() == before + FIRST && slot->arena != 0 && slot->staging != NULL);
    CHECK_EQUAL(rex_slot_make_room(slot, FIRST, "a test"), REX_OK);
    CHECK_EQUAL(driver_calls("cuMemAlloc"), calls + 1);
    const void *staging = slot->staging;
    CHECK(is_pinned(staging));
    CHECK_EQUAL(rex_slot_make_room(slot, FIRST + 1, "a test"), REX_OK);
    CHECK(!is_pinned(staging) || staging == slot->staging);
    CHECK(slot->room == MOST && device_bytes() == before + MOST);
    CHECK_EQUAL(rex_slot_make_room(slot, MOST, "a test"), REX_OK);
    CHECK_EQUAL(driver_calls("cuMemAlloc"), calls + 2);
    staging = slot->staging;
    rex_slot_give(slot, entered);
    CHECK_EQUAL(launch_nothing(), REX_OK); /* which has its image loaded, and so unloaded */
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK(!is_pinned(staging));
}

TEST_OF_EACH(make_no_room, const char *, call, "cuMemHostAlloc:2:0", "cuMemAlloc:2:0")
{
    start();
    struct rex_slot *slot = take(0);
    size_t before = device_bytes();
    CHECK_EQUAL(rex_slot_make_room(slot, 1, "a test"), REX_OK);
    int frees = driver_calls("cuMemFree");
    setenv("FAKE_CUDA_BREAKS", call, 1);
    CHECK_EQUAL(rex_slot_make_room(slot, REX_SLOT_MOST, "a test"), REX_ENOMEM);
    CHECK(slot->room == 0 && slot->arena == 0 && slot->staging == NULL && device_bytes() == before);
    CHECK_EQUAL(driver_calls("cuMemFree"), frees + 1); /* and nothing that there is not */
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_slot_make_room(slot, 1, "a test"), REX_OK);
    CHECK(slot->arena != 0 && slot->staging != NULL);
    rex_slot_give(slot, entered);
}

/* What is put in a slot's stream does not wait for what others do in the default one, nor they for it. */
TEST_IN_CHILD(use_stream)
{
    static uint64_t one = 1, other;
    int (*put)(uint64_t, const void *, size_t, void *), (*copy)(uint64_t, const void *, size_t);
    start();
    void *found = in_driver("cuMemcpyHtoDAsync_v2");
    memcpy(&put, &found, sizeof put);
    found = in_driver("cuMemcpyHtoD_v2");
    memcpy(&copy, &found, sizeof copy);
    struct rex_slot *slot = take(0);
    CHECK_EQUAL(rex_slot_make_room(slot, 1, "a test"), REX_OK);
    CHECK(put(slot->arena, &one, sizeof one, slot->stream) == 0 && copy(slot->arena + 512, &other, sizeof other) == 0);
    CHECK(*(uint64_t *)at_device(slot->arena, sizeof one) != 1);
    rex_slot_give(slot, entered);
}

/* ---- graphs
 * ------------------------------------------------------------------------------------------------------------------------------- */

enum { CELLS = 100000 };
static uint64_t x[CELLS], y[CELLS];

static void launch_as(const void *key, uint64_t a, uint32_t teams, uint64_t n, int64_t x_type, int64_t y_type)
{
    struct rex_launch_config launch = rex_launch_config_of(key, teams, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_SECTION(x_type, x, 0, n), REX_SECTION(y_type, y, 0, n));
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
}

static void launch(uint64_t n)
{
    launch_as(&axpy_id, 1, 2, n, REX_MAP_TO, REX_MAP_TOFROM);
}

/* By single calls, until the next one of its kind is a graph. */
static void come_often(const void *key, uint64_t n, int64_t x_type, int64_t y_type)
{
    int made = driver_calls("cuGraphInstantiate");
    for (int i = 0; i < REX_GRAPH_PAYS; i++)
        launch_as(key, 1, 2, n, x_type, y_type);
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), made);
}

/* Calls so far. */
static void expect_graphs(int made, int launched, int changed)
{
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), made);
    CHECK_EQUAL(driver_calls("cuGraphLaunch"), launched);
    CHECK_EQUAL(driver_calls("cuGraphExecKernelNodeSetParams"), changed);
}

/* Made when launches of its kind have come often enough, and changed for one that differs in anything. */
TEST_IN_CHILD(make_and_change)
{
    start();
    come_often(&axpy_id, 1000, REX_MAP_TO, REX_MAP_TOFROM);
    launch(1000);
    expect_graphs(1, 1, 0);
    launch(1000);
    expect_graphs(1, 2, 0);
    CHECK(x[0] == 0 && y[0] == REX_GRAPH_PAYS + 2 && last_grid == 2);
    launch_as(&axpy_id, 5, 2, 1000, REX_MAP_TO, REX_MAP_TOFROM); /* a value */
    expect_graphs(1, 3, 1);
    CHECK_EQUAL(y[0], REX_GRAPH_PAYS + 7);
    launch_as(&axpy_id, 5, 3, 1000, REX_MAP_TO, REX_MAP_TOFROM); /* the grid */
    expect_graphs(1, 4, 2);
    CHECK_EQUAL(last_grid, 3);
    launch_as(&axpy_id, 5, 3, 1000, REX_MAP_TO, REX_MAP_TOFROM);
    expect_graphs(1, 5, 2);
    struct rex_launch_config other = rex_launch_config_of(&axpy_id, 3, 32);
    uint64_t n = 1000, a = 5;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n));
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_launch_map(&module, &other, &args), REX_OK); /* the block */
        expect_graphs(1, 6 + i, 3);
        CHECK_EQUAL(last_block, 32);
    }
    other.dynamic_memory = 512;
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_launch_map(&module, &other, &args), REX_OK); /* the dynamic memory */
        expect_graphs(1, 8 + i, 4);
        CHECK_EQUAL(*(unsigned *)in_driver("fake_cuda_dynamic_memory"), 512);
    }
}

/* Sizes of one class share a graph; others, and other kernels, have their own. */
TEST_IN_CHILD(share)
{
    start();
    come_often(&axpy_id, 7000, REX_MAP_TO, REX_MAP_TOFROM);
    int asked = driver_calls("cuPointerGetAttribute");
    for (unsigned i = 1; i < 5; i++)
        launch(7000 + 20 * i);
    CHECK(asked > 0 && driver_calls("cuPointerGetAttribute") == asked); /* whose memory that is was asked before */
    expect_graphs(1, 4, 3);
    CHECK(y[0] == REX_GRAPH_PAYS + 4 && y[6999] == y[0] && y[7079] == 1 && y[7080] == 0);
    come_often(&axpy_id, 5000, REX_MAP_TO, REX_MAP_TOFROM);
    launch(5000);
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), 2);
    come_often(&env_id, 5000, REX_MAP_TO, REX_MAP_TOFROM);
    for (int i = 0; i < 2; i++) {
        memset(y, 0, sizeof y);
        launch_as(&env_id, 1, 2, 5000, REX_MAP_TO, REX_MAP_TOFROM);
        CHECK_EQUAL(y[4999], 2);
        launch(5000);
        CHECK_EQUAL(y[4999], 3);
    }
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), 3);
}

static void launch_lengths(uint64_t of_x, uint64_t of_y)
{
    uint64_t n = 10, a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, of_x), REX_TOFROM(y, of_y));
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
}

/* Where they lie is told apart by 512 bytes up to 4096 in all, by 1024 beyond. */
TEST_IN_CHILD(lie_apart)
{
    static const uint64_t pairs[][4] = {{125, 375, 50, 430}, {200, 275, 128, 400}};
    start();
    for (int pair = 0; pair < 2; pair++) {
        for (int i = 0; i <= REX_GRAPH_PAYS; i++)
            launch_lengths(pairs[pair][0], pairs[pair][1]);
        expect_graphs(pair + 1, pair + 1, 0);
        launch_lengths(pairs[pair][2], pairs[pair][3]);
        expect_graphs(pair + 1, 2 * pair + 1, pair);
    }
}

/* As many bytes go in, and not as many come out. */
TEST_IN_CHILD(differ_in_direction)
{
    enum { EACH = REX_GRAPH_PAYS + 1 };
    start();
    come_often(&axpy_id, 1024, REX_MAP_TO, REX_MAP_TOFROM);
    launch(1024);
    CHECK(x[0] == 0 && y[0] == EACH);
    for (uint64_t i = 1; i <= EACH; i++) {
        launch_as(&axpy_id, 1, 2, 1024, REX_MAP_TOFROM, REX_MAP_TOFROM);
        CHECK(x[1023] == i && y[1023] == EACH + i);
    }
    for (int i = 0; i < EACH; i++)
        launch_as(&axpy_id, 1, 2, 1024, REX_MAP_TOFROM, REX_MAP_ALLOC);
    CHECK(x[0] == 2 * EACH && y[0] == 2 * EACH);
    for (uint64_t i = 1; i <= EACH; i++) {
        memset(y, 0, sizeof y);
        launch_as(&axpy_id, 1, 2, 1024, REX_MAP_TOFROM, REX_MAP_FROM);
        CHECK(x[0] == 2 * EACH + i && y[1023] != 0);
    }
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), 4);
}

/* Nothing is copied that no row asks for. */
TEST_IN_CHILD(copy_one_way)
{
    start();
    come_often(&axpy_id, 1000, REX_MAP_TO, REX_MAP_TO);
    for (int i = 0; i < 2; i++)
        launch_as(&axpy_id, 1, 2, 1000, REX_MAP_TO, REX_MAP_TO);
    CHECK(driver_calls("cuMemcpyDtoHAsync") == 0 && x[0] == 0);
    int in = driver_calls("cuMemcpyHtoDAsync");
    come_often(&axpy_id, 1000, REX_MAP_FROM, REX_MAP_FROM);
    for (int i = 0; i < 2; i++)
        launch_as(&axpy_id, 1, 2, 1000, REX_MAP_FROM, REX_MAP_FROM);
    CHECK(driver_calls("cuMemcpyHtoDAsync") == in && driver_calls("cuMemcpyDtoHAsync") == REX_GRAPH_PAYS + 1);
    expect_graphs(2, 4, 0);
    /* and what is not copied back is left as others have written it meanwhile */
    x[0] = 1;
    written_meanwhile = &x[0];
    launch_as(&axpy_id, 1, 2, 1000, REX_MAP_TO, REX_MAP_TOFROM);
    CHECK_EQUAL(x[0], 99);
}

/* More than 128 KiB either way goes by single calls, from the same staging memory. */
TEST_IN_CHILD(copy_much)
{
    enum { MOST = 16384 };
    start();
    for (int i = 0; i <= REX_GRAPH_PAYS; i++)
        launch_as(&axpy_id, 1, 2, MOST + 1, REX_MAP_TO, REX_MAP_ALLOC);
    for (int i = 0; i <= REX_GRAPH_PAYS; i++)
        launch_as(&axpy_id, 1, 2, MOST + 1, REX_MAP_ALLOC, REX_MAP_FROM);
    expect_graphs(0, 0, 0);
    come_often(&axpy_id, MOST, REX_MAP_TO, REX_MAP_FROM);
    for (int i = 0; i < 2; i++)
        launch_as(&axpy_id, 1, 2, MOST, REX_MAP_TO, REX_MAP_FROM);
    expect_graphs(1, 2, 0);
}

/* A kernel without copies saves less by a graph, and comes more often before it is one. */
TEST_IN_CHILD(come_alone)
{
    start();
    for (int i = 0; i < REX_GRAPH_PAYS_ALONE; i++)
        launch_as(&axpy_id, 1, 2, 1000, REX_MAP_ALLOC, REX_MAP_ALLOC);
    expect_graphs(0, 0, 0);
    for (int i = 0; i < 2; i++)
        launch_as(&axpy_id, 1, 2, 1000, REX_MAP_ALLOC, REX_MAP_ALLOC);
    expect_graphs(1, 2, 0);
}

static uint64_t last_word;

static void take_one(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block;
    last_word = word(parameters, 0);
    computed++;
}

/* The first parameter is the only one: another value is another launch. */
TEST_IN_CHILD(take_one_value)
{
    static char key;
    static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"bounded", 0, 0, 0}};
    static struct rex_module one = {.struct_size = sizeof(struct rex_module),
                                    .entries_begin = entry,
                                    .entries_end = entry + 1,
                                    .image_name = "tests/data/limits_sm_90.cubin"};
    static const size_t width = 8;
    struct rex_launch_config launch = rex_launch_config_of(&key, 2, 64);
    use_computing_gpu(22, "late");
    name_kernel("bounded", take_one, 1, &width);
    CHECK_EQUAL(rex_module_register(&one, NULL), REX_OK);
    for (uint64_t i = 1; i <= REX_GRAPH_PAYS_ALONE + 3; i++) {
        uint64_t value = i / 2;
        REX_MAP(args, REX_VALUE(value));
        CHECK_EQUAL(rex_module_launch_map(&one, &launch, &args), REX_OK);
        CHECK_EQUAL(last_word, value);
    }
    expect_graphs(1, 3, 1);
}

/* Kernels take turns; every other kind is twice as large. */
static void launch_kind(int kind)
{
    launch_as(kind % 2 == 0 ? &axpy_id : &env_id, 1, 2, UINT64_C(64) << kind / 2, REX_MAP_TO, REX_MAP_TOFROM);
}

/* Of more than sixteen kinds the one that was used longest ago goes. */
TEST_IN_CHILD(forget_oldest)
{
    enum { KINDS = REX_SLOT_GRAPHS };
    start();
    for (int i = 0; i <= REX_GRAPH_PAYS; i++)
        for (int kind = 0; kind < KINDS; kind++)
            launch_kind(kind);
    expect_graphs(KINDS, KINDS, 0);
    int objects = driver_objects();
    launch_kind(0); /* which is not the oldest any more */
    come_often(&axpy_id, 64, REX_MAP_TO, REX_MAP_TO);
    launch_as(&axpy_id, 1, 2, 64, REX_MAP_TO, REX_MAP_TO);
    expect_graphs(KINDS + 1, KINDS + 2, 0);
    CHECK_EQUAL(driver_objects(), objects);
    launch_kind(0);
    launch_kind(2);
    expect_graphs(KINDS + 1, KINDS + 4, 0);
    launch_kind(1);
    expect_graphs(KINDS + 1, KINDS + 4, 0);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK(driver_objects() == 0 && device_bytes() == 0 && context_users() == 0);
}

/* What the driver has refused is not tried again, and leaves nothing. */
TEST_OF_EACH(be_refused, const char *, call, "cuStreamBeginCapture:1:0", "cuStreamGetCaptureInfo:1:0", "cuStreamEndCapture:1:0",
             "cuGraphInstantiate:1:0", "cuGraphLaunch:1:0")
{
    start();
    setenv("FAKE_CUDA_BREAKS", call, 1);
    come_often(&axpy_id, 1000, REX_MAP_TO, REX_MAP_TOFROM);
    launch(1000);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(driver_calls("cuStreamBeginCapture"), 1);
    come_often(&axpy_id, 2000, REX_MAP_TO, REX_MAP_TOFROM);
    launch(2000);
    CHECK_EQUAL(driver_calls("cuStreamBeginCapture"), 2);
    for (int i = 0; i <= REX_GRAPH_PAYS; i++)
        launch(1000);
    CHECK_EQUAL(driver_calls("cuStreamBeginCapture"), 2);
    CHECK_EQUAL(y[999], 3 * REX_GRAPH_PAYS + 3);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK(driver_objects() == 0 && device_bytes() == 0 && context_users() == 0);
}

/* ---- blocks
 * ------------------------------------------------------------------------------------------------------------------------------- */

/* Two GPUs, of which the first's context is current, with so many MiB. */
static void start_blocks(const char *memory)
{
    void *context;
    use_computing_gpu(22, "late");
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    setenv("FAKE_CUDA_MEMORY", memory, 1);
    CHECK(rex_cuda_devices() == 2 && rex_context_retain(0, &context) == 0 && rex_context_enter(context) == 1);
}

/* The same block as before, or a new one: as many calls of cuMemAlloc as MADE. */
static uint64_t take_block(int ordinal, size_t size, bool exact, int made)
{
    int before = driver_calls("cuMemAlloc");
    uint64_t address = rex_block_take(ordinal, size, exact);
    CHECK_EQUAL(driver_calls("cuMemAlloc"), before + made);
    CHECK(address != 0 && at_device(address, size) != NULL);
    return address;
}

/* To the next multiple of 512, of larger ones of a power of two between a 32nd and a 16th, so that one that grows a little finds it. */
TEST_IN_CHILD(round_sizes)
{
    static const size_t sizes[][2] = {{1, 512},       {512, 512},     {513, 1024},    {8192, 8192},     {8207, 8704},    {8208, 9216},
                                      {16384, 16384}, {16385, 17408}, {16399, 17408}, {100000, 106496}, {104857, 106496}};
    start_blocks("64");
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t before = device_bytes();
        take_block(0, sizes[i][0], false, 1);
        CHECK_EQUAL(device_bytes() - before, sizes[i][1]);
    }
    size_t before = device_bytes();
    uint64_t exact = take_block(0, 513, true, 1);
    CHECK_EQUAL(device_bytes() - before, 513);
    rex_block_give(exact);
    CHECK_EQUAL(device_bytes(), before);
    take_block(0, 513, true, 1);
}

/* Large enough and at most twice as large, of the same GPU, the one given back last first; and never one that is exact. */
TEST_IN_CHILD(reuse_blocks)
{
    enum { SMALL = 1024, MIDDLE = 4096, LARGE = 16384 };
    start_blocks("64");
    uint64_t small = take_block(0, SMALL, false, 1), middle = take_block(0, MIDDLE, false, 1), large = take_block(0, LARGE, false, 1);
    CHECK(small != middle && middle != large && small != large);
    rex_block_give(small);
    rex_block_give(middle);
    rex_block_give(large);
    CHECK(take_block(1, SMALL, false, 1) != small);
    CHECK(take_block(0, SMALL, true, 1) != small);
    CHECK_EQUAL(take_block(0, MIDDLE, false, 0), middle);
    rex_block_give(middle);
    CHECK_EQUAL(take_block(0, MIDDLE / 2, false, 0), middle);
    rex_block_give(middle);
    uint64_t less = take_block(0, MIDDLE / 2 - 1, false, 1), other = take_block(0, SMALL + 1, false, 1);
    CHECK_EQUAL(take_block(0, SMALL, false, 0), small);
    rex_block_give(less);
    rex_block_give(other);
    CHECK_EQUAL(take_block(0, SMALL, false, 0), other);
    CHECK_EQUAL(take_block(0, SMALL, false, 0), less);
    CHECK_EQUAL(take_block(0, LARGE, false, 0), large);
}

/* None is kept where memory is short, and one GPU's blocks are nothing to another. */
TEST_IN_CHILD(free_blocks)
{
    enum { SIZE = 512, EIGHTH = 1 << 17 };
    start_blocks("1");
    uint64_t first = take_block(0, SIZE, false, 1), second = take_block(0, SIZE, false, 1), other = take_block(1, SIZE, false, 1);
    rex_block_give(first);
    rex_block_give(other);
    rex_block_give(second);
    rex_blocks_free(0);
    CHECK(device_bytes() == SIZE && at_device(other, SIZE) != NULL);
    rex_blocks_free(0);
    CHECK_EQUAL(driver_calls("cuMemFree"), 2);
    rex_block_give(take_block(0, EIGHTH, false, 1));
    rex_block_give(take_block(0, 7 * EIGHTH + EIGHTH / 2, false, 2));
    CHECK_EQUAL(rex_block_take(0, 1 << 20, false), 0);
    CHECK_MENTIONS(rex_cuda_why(), "cuMemAlloc: CUDA_ERROR");
    CHECK_EQUAL(device_bytes(), SIZE);
    CHECK_EQUAL(take_block(1, SIZE, false, 0), other);
    /* what else the driver says no memory helps against */
    uint64_t kept = take_block(0, SIZE, false, 1);
    rex_block_give(kept);
    setenv("FAKE_CUDA_BREAKS", "cuMemAlloc:719:0", 1);
    int calls = driver_calls("cuMemAlloc");
    CHECK_EQUAL(rex_block_take(0, 2 * SIZE, false), 0);
    CHECK_EQUAL(driver_calls("cuMemAlloc"), calls + 1);
    CHECK_MENTIONS(rex_cuda_why(), "cuMemAlloc: CUDA_ERROR_LAUNCH_FAILED");
    CHECK_EQUAL(take_block(0, SIZE, false, 0), kept);
    rex_block_give(kept);
    rex_block_give(other);
    rex_blocks_free(1);
    CHECK(device_bytes() == SIZE && at_device(kept, SIZE) != NULL);
}

/* 256 MiB are kept on each GPU: of more the oldest go. */
TEST_IN_CHILD(keep_blocks)
{
    enum { SMALL = 512, HALF = 128 << 20, LEFT = HALF - 2 * SMALL, MORE = 8 << 20 };
    start_blocks("300");
    uint64_t other = take_block(1, SMALL, false, 1), first = take_block(0, SMALL, false, 1);
    rex_block_give(other);
    rex_block_give(first);
    uint64_t half = take_block(0, HALF, false, 1), exact = take_block(0, LEFT, true, 1);
    rex_block_give(exact); /* which is not kept */
    for (int i = 0; i < 3; i++) {
        rex_block_give(half);
        CHECK_EQUAL(take_block(0, HALF, false, 0), half);
    }
    uint64_t quarter[2] = {take_block(0, HALF / 2, false, 1), take_block(0, HALF / 2 + MORE, false, 1)};
    rex_block_give(half);
    rex_block_give(quarter[0]);
    CHECK_EQUAL(driver_calls("cuMemFree"), 1);
    rex_block_give(quarter[1]); /* 8 MiB and 512 bytes more than there may be: the first goes, and the half */
    CHECK_EQUAL(driver_calls("cuMemFree"), 3);
    CHECK_EQUAL(device_bytes(), SMALL + HALF + MORE);
    CHECK_EQUAL(take_block(1, SMALL, false, 0), other);
    half = take_block(0, HALF - MORE, false, 1);
    rex_block_give(half);
    CHECK_EQUAL(driver_calls("cuMemFree"), 3); /* as many as there may be */
    /* the first GPU is full, which is nothing to the second */
    rex_block_give(other);
    CHECK(driver_calls("cuMemFree") == 3 && device_bytes() == 2 * (size_t)HALF + SMALL);
    CHECK_EQUAL(take_block(1, SMALL, false, 0), other);
}

/* A block that fits as it is, but not when its size is rounded up. */
TEST_IN_CHILD(fit_exactly)
{
    enum { MIB = 1 << 20, SMALL = 512 };
    start_blocks("1");
    take_block(0, SMALL, false, 1);
    uint64_t large = take_block(0, MIB - SMALL - 1, false, 2);
    CHECK_EQUAL(device_bytes(), MIB - 1);
    rex_block_give(large);
    CHECK_EQUAL(take_block(0, MIB - SMALL - 1, false, 0), large);
}

/* Two rows fit, but not if only the second has its exact size. */
TEST_IN_CHILD(fit_together)
{
    enum { WORDS = 1101005 };
    static uint64_t from[WORDS], to[WORDS];
    uint64_t n = WORDS, a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(from, n), REX_TOFROM(to, n));
    setenv("FAKE_CUDA_MEMORY", "17", 1);
    start();
    for (uint64_t i = 1; i <= 2; i++) {
        CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
        CHECK(to[0] == i && to[WORDS - 1] == i && device_bytes() == 0);
    }
}

/* Blocks that are kept make room for the program's own memory; there is no second try where none is kept. */
TEST_IN_CHILD(make_room_for_program)
{
    enum { MIB = 1 << 20 };
    void *context;
    setenv("FAKE_CUDA_MEMORY", "1", 1);
    start();
    CHECK(rex_context_retain(0, &context) == 0 && rex_context_enter(context) == 1);
    uint64_t block = take_block(0, MIB / 2, false, 1);
    rex_context_leave(1);
    CHECK(rex_device_alloc(MIB - 512, 0) == NULL);
    rex_block_give(block);
    void *memory = rex_device_alloc(MIB - 512, 0);
    CHECK(memory != NULL && device_bytes() == MIB - 512 && !is_context_current());
    int calls = driver_calls("cuMemAlloc");
    CHECK(rex_device_alloc(MIB, 0) == NULL && driver_calls("cuMemAlloc") == calls + 1);
    CHECK_EQUAL(rex_last_error_code(), REX_ENOMEM);
    rex_device_free(memory, 0);
    CHECK_EQUAL(device_bytes(), 0);
}

/* So they do for a slot's arena. */
TEST_IN_CHILD(make_room_for_arena)
{
    enum { MIB = 1 << 20 };
    setenv("FAKE_CUDA_MEMORY", "1", 1);
    start();
    struct rex_slot *slot = take(0);
    rex_block_give(take_block(0, MIB - MIB / 8, false, 1));
    CHECK_EQUAL(rex_slot_make_room(slot, 1, "a test"), REX_OK);
    CHECK_EQUAL(device_bytes(), REX_SLOT_FIRST);
    rex_slot_give(slot, entered);
}
