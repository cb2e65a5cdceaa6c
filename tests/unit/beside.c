/*
 * beside.c - calls of one thread beside a launch or a data call of another one that is still at work: which of them wait, and what they come to.
 *
 * The launch by the driver is held in its kernel, a function of the test. libomptarget is a fake, whose calls are held by its hooks. A call that
 * waits is seen where its thread calls pthread_cond_wait(), so that no test depends on a clock. The program exports the forwarders, so that
 * librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include <pthread.h>
#include <sched.h>

#include "omp/sender.h"
#include "rex/launch.h"
#include "rex_kmp.h"
#include "stateless.h"

enum { CELLS = 100 };
/* y lies between the last ones of many arrays. */
enum { MANY = 21, AMONG = 17 };
static uint64_t x[CELLS], z[CELLS], many[MANY][CELLS], *const y = many[AMONG];

/* The fake does not call it. */
static void mapper(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name)
{
    (void)handle, (void)base, (void)begin, (void)size, (void)type, (void)name;
}

static void *mapper_address(void)
{
    void (*function)(void *, void *, void *, int64_t, int64_t, void *) = mapper;
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

/* ---- calls, each in a thread of its own ---------------------------------------------------------------------------------------------- */

struct call {
    int (*make)(void);
    pthread_t thread;
    bool waits, is_over;
    int result;
};

static __thread struct call *own;

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (own != NULL)
        __atomic_store_n(&own->waits, true, __ATOMIC_SEQ_CST);
    return __real_pthread_cond_wait(condition, mutex);
}

static void *make(void *call)
{
    own = call;
    own->result = own->make();
    __atomic_store_n(&own->is_over, true, __ATOMIC_SEQ_CST);
    return NULL;
}

static void start(struct call *call, int (*what)(void))
{
    *call = (struct call){.make = what};
    CHECK_EQUAL(pthread_create(&call->thread, NULL, make, call), 0);
}

static int join(struct call *call)
{
    CHECK_EQUAL(pthread_join(call->thread, NULL), 0);
    return call->result;
}

/* Whether it waits; else it is over. */
static bool starts_waiting(struct call *call, int (*what)(void))
{
    start(call, what);
    while (!__atomic_load_n(&call->waits, __ATOMIC_SEQ_CST) && !__atomic_load_n(&call->is_over, __ATOMIC_SEQ_CST))
        sched_yield();
    return __atomic_load_n(&call->waits, __ATOMIC_SEQ_CST);
}

static void expect_no_wait(int (*what)(void))
{
    struct call call;
    CHECK(!starts_waiting(&call, what));
    CHECK_EQUAL(join(&call), REX_OK);
}

/* ---- what is held --------------------------------------------------------------------------------------------------------------------- */

static bool is_held, may_leave;

static void hold(void)
{
    __atomic_store_n(&is_held, true, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&may_leave, __ATOMIC_SEQ_CST))
        sched_yield();
}

static void start_held(struct call *call, int (*what)(void))
{
    start(call, what);
    while (!__atomic_load_n(&is_held, __ATOMIC_SEQ_CST))
        sched_yield();
}

static int let_go(struct call *call)
{
    __atomic_store_n(&may_leave, true, __ATOMIC_SEQ_CST);
    return join(call);
}

/* Held where n is 0. Else y[0] += n. */
static void axpy(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block;
    __atomic_fetch_add(&computed, 1, __ATOMIC_SEQ_CST);
    if (word(parameters, 0) == 0)
        hold();
    *(uint64_t *)at_device(word(parameters, 3), 8) += word(parameters, 0) + 1;
}

static void begin_on(const char *order)
{
    static const size_t words[] = {8, 8, 8, 8};
    setenv("REX_COPY_THREADS", "1", 1); /* librex copies updates itself from the first one on */
    use_computing_gpu(22, order);
    name_kernel("axpy__kernel__", axpy, 4, words);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_against_all(), 0);
}

/* ---- what is called ------------------------------------------------------------------------------------------------------------------- */

static int launch_on(uint64_t n, uint64_t *rows, uint32_t flags, void *with_mapper)
{
    uint64_t a = 1;
    void *mappers[] = {NULL, NULL, NULL, with_mapper};
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    launch.flags = flags;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(z, 1), REX_TOFROM(rows, CELLS));
    args.mappers = mappers;
    return rex_module_launch_map(&module, &launch, &args);
}

static int launch_held(void)
{
    return launch_on(0, y, 0, NULL);
}

static int launch(void)
{
    return launch_on(1, y, 0, NULL);
}

static int launch_with_mapper(void)
{
    return launch_on(1, x, 0, mapper_address());
}

static int launch_nowait(void)
{
    return launch_on(1, x, REX_LAUNCH_NOWAIT, NULL);
}

static int launch_same_nowait(void)
{
    return launch_on(1, y, REX_LAUNCH_NOWAIT, NULL);
}

/* libomptarget's own, because of a pointer's row. */
static int launch_by_runtime(void)
{
    static uint64_t *pointer = many[AMONG];
    uint64_t n = 1, a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(z, 1), REX_ATTACH(REX_MAP_TOFROM, pointer, 0, CELLS));
    return rex_module_launch_map(&module, &launch, &args);
}

/* The program's own call of libomptarget. */
static int launch_raw(void)
{
    REX_MAP(args, REX_TOFROM(y, CELLS));
    struct __tgt_kernel_arguments packet = {
        .Version = 2, .NumArgs = args.count, .ArgsBase = args.base, .Args = args.begin, .ArgSizes = args.sizes, .ArgTypes = args.types};
    return __rex_real___tgt_target_kernel(NULL, 0, 2, 64, &axpy_id, &packet);
}

static int data(int (*call)(struct rex_module *, int64_t, const struct rex_map *), uint64_t *rows, int64_t type, void *with_mapper)
{
    REX_MAP(map, rex_row_object(rows, CELLS * sizeof *rows, type));
    map.mappers = &with_mapper;
    return call(&module, 0, &map);
}

static int begins(void)
{
    return data(rex_module_data_enter, y, REX_MAP_TOFROM, NULL);
}

static int ends(void)
{
    return data(rex_module_region_end, y, REX_MAP_TOFROM, NULL);
}

static int updates(void)
{
    return data(rex_module_data_update, y, REX_MAP_FROM, NULL);
}

static int begins_by_mapper(void)
{
    return data(rex_module_data_enter, x, REX_MAP_TOFROM, mapper_address());
}

static int ends_by_mapper(void)
{
    return data(rex_module_region_end, x, REX_MAP_TOFROM, mapper_address());
}

static int updates_raw(void)
{
    REX_MAP(map, rex_row_object(y, sizeof *many, REX_MAP_FROM));
    __rex_real___tgt_target_data_update(0, REX_MAP_ARGUMENTS(map));
    return REX_OK;
}

/* On all of them but WITHOUT. */
static int call_on_many(int (*call)(const struct rex_map *), int without)
{
    void *begin[MANY];
    int64_t sizes[MANY], types[MANY];
    struct rex_map map = {0, begin, begin, sizes, types, NULL, NULL};
    for (int i = 0; i < MANY; i++) {
        begin[map.count] = many[i];
        sizes[map.count] = sizeof *many;
        types[map.count] = REX_MAP_TOFROM;
        map.count += i != without;
    }
    return call(&map);
}

static int end_rows(const struct rex_map *map)
{
    return rex_module_region_end(&module, 0, map);
}

static int ends_many_others(void)
{
    return call_on_many(end_rows, AMONG);
}

static int launch_rows(const struct rex_map *map)
{
    struct __tgt_kernel_arguments packet = {
        .Version = 2, .NumArgs = map->count, .ArgsBase = map->base, .Args = map->begin, .ArgSizes = map->sizes, .ArgTypes = map->types};
    return __rex_real___tgt_target_kernel(NULL, 0, 2, 64, &axpy_id, &packet);
}

static int launch_many(void)
{
    return call_on_many(launch_rows, MANY);
}

/* All that launch_held() works on is mapped, and librex knows it. */
static void map_all(void)
{
    map_on_device(0, y, sizeof *many);
    map_on_device(1, z, sizeof z);
    CHECK_EQUAL(begins(), REX_OK);
    CHECK_EQUAL(data(rex_module_data_enter, z, REX_MAP_TO, NULL), REX_OK);
}

/* ---- beside a kernel of the driver's -------------------------------------------------------------------------------------------------- */

/* A begin, an update and another launch find y mapped, and leave it so. */
TEST_IN_CHILD(share_mapped)
{
    struct call held;
    begin_on("late");
    map_all();
    start_held(&held, launch_held);
    expect_no_wait(begins);
    expect_no_wait(updates);
    expect_no_wait(updates_raw);
    expect_no_wait(launch);
    expect_no_wait(launch_by_runtime);
    expect_no_wait(begins_by_mapper);
    CHECK_EQUAL(let_go(&held), REX_OK);
    CHECK_EQUAL(by_runtime(), 1);
}

/* What the launch maps for itself an update does not find. */
TEST_IN_CHILD(update_absent)
{
    struct call held;
    begin_on("late");
    start_held(&held, launch_held);
    expect_no_wait(updates_raw);
    CHECK_EQUAL(let_go(&held), REX_OK);
}

/* A call on many arrays around y has nothing to do with it. */
TEST_IN_CHILD(leave_others)
{
    struct call held;
    begin_on("late");
    map_all();
    start_held(&held, launch_held);
    expect_no_wait(ends_many_others);
    CHECK_EQUAL(let_go(&held), REX_OK);
}

struct scene {
    int (*what)(void);
    bool is_mapped, nowait_before;
};

static const struct scene wait_as_said_cases[] = {
    {ends, true, false},
    {begins, false, false},
    {launch, false, false},
    {launch_by_runtime, false, false},
    /* a mapper may name what the launch works on */
    {ends_by_mapper, true, false},
    {begins_by_mapper, false, false},
    {launch_with_mapper, false, false},
    /* a call that is not waited for turns launches over to libomptarget, and the one at work goes on */
    {ends, true, true},
    {begins, false, true},
    {launch, false, true},
    {launch_same_nowait, false, false},
};

TEST_FOR_EACH(wait_as_said, scene, wait_as_said_cases)
{
    struct call held, call;
    begin_on("late");
    if (scene->is_mapped)
        map_all();
    start_held(&held, launch_held);
    if (scene->nowait_before) {
        expect_no_wait(launch_nowait);
        CHECK_EQUAL(rex_against_all(), REX_AGAINST_NOT_WAITED);
    }
    CHECK(starts_waiting(&call, scene->what));
    CHECK(scene->nowait_before || rex_against_all() == 0);
    CHECK(!__atomic_load_n(&call.is_over, __ATOMIC_SEQ_CST));
    CHECK_EQUAL(let_go(&held), REX_OK);
    CHECK_EQUAL(join(&call), REX_OK);
}

/* A launch with many rows, one of which is mapped, maps y for itself. */
TEST_IN_CHILD(launch_many_beside)
{
    struct call held, call;
    begin_on("late");
    map_on_device(0, many[MANY - 1], sizeof *many);
    CHECK_EQUAL(data(rex_module_data_enter, many[MANY - 1], REX_MAP_TO, NULL), REX_OK);
    start_held(&held, launch_held);
    CHECK(starts_waiting(&call, launch_many));
    CHECK_EQUAL(let_go(&held), REX_OK);
    CHECK_EQUAL(join(&call), REX_OK);
}

/* ---- beside calls of libomptarget's --------------------------------------------------------------------------------------------------- */

static struct call beside;
static int (*starts_beside)(void);
static enum fake_function held_by;

/* STARTS_BESIDE waits for the data call that is at work. */
static void expect_wait_for_call(enum fake_function function)
{
    if (function != held_by || starts_beside == NULL)
        return;
    int (*what)(void) = starts_beside;
    starts_beside = NULL;
    if (function == FAKE_BEGIN)
        map_on_device(0, y, sizeof *many);
    CHECK(starts_waiting(&beside, what));
    CHECK(!__atomic_load_n(&beside.is_over, __ATOMIC_SEQ_CST));
    if (function == FAKE_END)
        the_record()->mappings[0].size = 0;
}

static void wait_for_call(int (*first)(void), enum fake_function function, int (*second)(void), int result)
{
    held_by = function;
    starts_beside = second;
    the_record()->on_data = expect_wait_for_call;
    CHECK_EQUAL(first(), REX_OK);
    CHECK_EQUAL(join(&beside), result);
}

/* A region's begin copies later than it maps: an update would find what is not there yet. */
TEST_OF_EACH(update_beside_begin, bool, raw, false, true)
{
    begin_on("late");
    wait_for_call(begins, FAKE_BEGIN, raw ? updates_raw : updates, REX_OK);
}

/* An update that has waited for an end finds nothing more to update. */
TEST_IN_CHILD(update_beside_end)
{
    begin_on("late");
    map_all();
    wait_for_call(ends, FAKE_END, updates, REX_EABSENT);
    CHECK_EQUAL(the_record()->counts[FAKE_UPDATE], 0);
}

TEST_OF_EACH(end_beside_update, bool, raw, false, true)
{
    begin_on("late");
    map_all();
    CHECK_EQUAL(begins_by_mapper(), REX_OK); /* from now on updates are libomptarget's */
    wait_for_call(raw ? updates_raw : updates, FAKE_UPDATE, ends, REX_OK);
}

/* A launch that has waited sees what has come up against the driver meanwhile. */
static struct call other_launch;

static void go_nowait(enum fake_function function)
{
    if (function != FAKE_END)
        return;
    CHECK(starts_waiting(&other_launch, launch));
    expect_no_wait(launch_nowait);
    the_record()->mappings[0].size = 0;
}

TEST_IN_CHILD(launch_looks_again)
{
    begin_on("late");
    map_all();
    the_record()->on_data = go_nowait;
    CHECK_EQUAL(ends(), REX_OK);
    CHECK_EQUAL(join(&other_launch), REX_OK);
    expect_sent(0, 2);
}

static bool holds;

static void hold_first(void)
{
    if (__atomic_exchange_n(&holds, false, __ATOMIC_SEQ_CST))
        hold();
}

/* libomptarget keeps its own launches apart. */
TEST_IN_CHILD(launch_beside_launch)
{
    struct call held;
    begin_on("late");
    holds = true;
    the_record()->on_launch = hold_first;
    start_held(&held, launch_raw);
    expect_no_wait(launch_raw);
    CHECK_EQUAL(let_go(&held), REX_OK);
}

/* ---- pointers that a mapper attaches -------------------------------------------------------------------------------------------------- */

/* On the device they are other addresses: only libomptarget copies around them. */
TEST_OF_EACH(update_pointers, bool, by_launch, false, true)
{
    begin_on("late");
    map_all();
    CHECK_EQUAL(updates(), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_UPDATE], 0);
    CHECK_EQUAL(by_launch ? launch_with_mapper() : begins_by_mapper(), REX_OK);
    CHECK_EQUAL(updates(), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_UPDATE], 1);
}

/* ---- the device is lost meanwhile ----------------------------------------------------------------------------------------------------- */

static const struct scene all[] = {{ends, true, false}, {begins, false, false}, {launch_by_runtime, false, false}};

/* The kernel that a call has waited for fails: libomptarget is not asked for anything more, since it would abort. */
TEST_FOR_EACH(lose_device, scene, all)
{
    struct call held, call;
    begin_on("early");
    if (scene->is_mapped)
        map_all();
    uint32_t begun = the_record()->counts[FAKE_BEGIN];
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:719:0", 1);
    start_held(&held, launch_held);
    CHECK(starts_waiting(&call, scene->what));
    CHECK_EQUAL(let_go(&held), REX_ECUDA);
    CHECK_EQUAL(join(&call), REX_ECUDA);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], begun);
    CHECK(the_record()->counts[FAKE_END] == 0 && by_runtime() == 0);
    CHECK(rex_target_is_present(y, sizeof *many, 0) == scene->is_mapped);
}
