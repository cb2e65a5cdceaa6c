/*
 * like.c - a launch that is like the one before it is sent at once, whichever way it comes in; where its count, a type, a size or a mapping
 * is another, the checks run.
 *
 * Steps are counted where one file of librex calls another, by the linker (rules.mk), so that a way that is no longer short is noticed
 * without a clock. libomptarget and the GPU are fakes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>

#include "inqueue.h"
#include "rex.h"
#include "rex_kmp.h"
#include "launch/check.h"
#include "launch/launch.h"
#include "memory/presence.h"

REX_KERNEL(plain);

/* All with a plain kernel: 18 has none, and a launch that has to be strict, as from 23 on, is checked each time. */
static const int releases[] = {14, 15, 16, 17, 19, 20, 21, 22};

/* ---- the steps of the long way -------------------------------------------------------------------------------------------------- */

static struct {
    int registered, resolved, packets, rows, presence;
} steps;

int __real_rex_module_ready(struct rex_module *module, const char *caller);
int __wrap_rex_module_ready(struct rex_module *module, const char *caller);

int __real_rex_resolve(const struct rex_module *of, const void *key, int64_t device, struct rex_target *target);
int __wrap_rex_resolve(const struct rex_module *of, const void *key, int64_t device, struct rex_target *target);
int __real_rex_check_packet(const struct rex_target *target, const struct __tgt_kernel_arguments *args, enum rex_kernel_form *form);
int __wrap_rex_check_packet(const struct rex_target *target, const struct __tgt_kernel_arguments *args, enum rex_kernel_form *form);
int __real_rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what);
int __wrap_rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what);
int __real_rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number, const char *what,
                                 struct rex_new_rows *new_rows);
int __wrap_rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number, const char *what,
                                 struct rex_new_rows *new_rows);

int __wrap_rex_module_ready(struct rex_module *module, const char *caller)
{
    steps.registered++;
    return __real_rex_module_ready(module, caller);
}

int __wrap_rex_resolve(const struct rex_module *of, const void *key, int64_t device, struct rex_target *target)
{
    steps.resolved++;
    return __real_rex_resolve(of, key, device, target);
}

int __wrap_rex_check_packet(const struct rex_target *target, const struct __tgt_kernel_arguments *args, enum rex_kernel_form *form)
{
    steps.packets++;
    return __real_rex_check_packet(target, args, form);
}

int __wrap_rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what)
{
    steps.rows++;
    return __real_rex_check_rows(map, purpose, what);
}

int __wrap_rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number, const char *what,
                                 struct rex_new_rows *new_rows)
{
    steps.presence++;
    return __real_rex_check_presence(map, purpose, number, what, new_rows);
}

/* ---- a launch with a map -------------------------------------------------------------------------------------------------------- */

enum { BYTES = 256, DEVICE = 0x10000000 };
#define MEMORY_TYPE (REX_MAP_TARGET_PARAM | REX_MAP_TOFROM)
#define VALUE_TYPE (REX_MAP_TARGET_PARAM | REX_MAP_LITERAL)

static char memory[2 * BYTES] __attribute__((aligned(16)));
static void *base[3], *begin[3];
static int64_t sizes[3], types[3];
static struct rex_map map = {.base = base, .begin = begin, .sizes = sizes, .types = types};

static void map_memory(size_t bytes)
{
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory, bytes, DEVICE};
}

/* The rows that all launches below begin with: mapped memory, of which MORE bits say how, and a value; and one more, for a wrong count. */
static void set_rows(int64_t more)
{
    map = (struct rex_map){.count = 2, .base = base, .begin = begin, .sizes = sizes, .types = types};
    base[0] = begin[0] = memory;
    base[1] = begin[1] = base[2] = begin[2] = (void *)42;
    sizes[0] = BYTES;
    sizes[1] = sizes[2] = 8;
    types[0] = MEMORY_TYPE | more;
    types[1] = types[2] = VALUE_TYPE;
}

static int launch_for(enum rex_purpose purpose)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 100, 64);
    launch.device = 0;
    memset(&steps, 0, sizeof steps);
    return rex_launch_map(&rex_this_module, &launch, &map, purpose);
}

static uint32_t sent(void)
{
    return the_record()->counts[FAKE_KERNEL] + the_record()->counts[FAKE_TEAMS_MAPPER];
}

/* It is sent, once it was resolved and checked, each once; or neither. */
#define SENT(times)                                 \
    do {                                            \
        uint32_t before_ = sent();                  \
        CHECK_EQUAL(launch_for(REX_FOR_LAUNCH), 0); \
        CHECK_EQUAL(steps.registered, (times));     \
        CHECK_EQUAL(steps.resolved, (times));       \
        CHECK_EQUAL(steps.packets, (times));        \
        CHECK_EQUAL(steps.rows, (times));           \
        CHECK_EQUAL(steps.presence, (times));       \
        CHECK_EQUAL(sent(), before_ + 1);           \
    } while (0)
#define LONG_WAY SENT(1)
#define SHORT_WAY SENT(0)

/* A check refuses it, and nothing is sent. */
#define REFUSED(purpose, error)                    \
    do {                                           \
        uint32_t before_ = sent();                 \
        CHECK_EQUAL(launch_for(purpose), (error)); \
        CHECK_EQUAL(steps.resolved, 1);            \
        CHECK_EQUAL(sent(), before_);              \
    } while (0)

/* Launches by the driver have no short way; they are unit/bydriver's. */
static void register_for(int sm, int release)
{
    setenv("REX_LAUNCH_BY", "runtime", 1);
    use_gpu(sm);
    use_release(release);
    rex_this_module.image_name = sm > 0 ? "tests/data/sm_90.cubin" : FAKE("host.so");
    CHECK_EQUAL(rex_module_register(&rex_this_module, NULL), 0);
}

/* Launches with MORE bits, so often that the next one is like the last. */
static void start(int release, int64_t more)
{
    register_for(90, release);
    map_memory(BYTES);
    set_rows(more);
    LONG_WAY;
    SHORT_WAY;
    SHORT_WAY;
}

/* Each of CHANGE and what is wrong by it alone; what was launched before is still like the last then. */
#define CHANGED(change, purpose, error) \
    do {                                \
        change;                         \
        REFUSED(purpose, error);        \
        set_rows(0);                    \
        SHORT_WAY;                      \
    } while (0)

static void one_is_changed(const void *context)
{
    start(*(const int *)context, 0);
    CHANGED(map.count = 1, REX_FOR_LAUNCH, REX_EPARAMS);
    CHANGED(map.count = 3, REX_FOR_LAUNCH, REX_EPARAMS);
    CHANGED(map.count = 0, REX_FOR_LAUNCH, REX_EPARAMS);
    CHANGED(map.count = -1, REX_FOR_LAUNCH, REX_EINVAL);
    CHANGED(types[0] |= REX_MAP_DELETE, REX_FOR_LAUNCH, REX_EINVAL);
    CHANGED(types[1] |= REX_MAP_TO, REX_FOR_LAUNCH, REX_EINVAL);
    CHANGED(types[0] &= ~REX_MAP_TARGET_PARAM, REX_FOR_LAUNCH, REX_EPARAMS);
    CHANGED(types[1] &= ~REX_MAP_TARGET_PARAM, REX_FOR_LAUNCH, REX_EPARAMS);
    CHANGED(sizes[0] = BYTES + 1, REX_FOR_LAUNCH, REX_EOVERLAP);
    CHANGED(sizes[0] = -1, REX_FOR_LAUNCH, REX_EINVAL);
    CHANGED(sizes[1] = 16, REX_FOR_LAUNCH, REX_EINVAL);
    CHANGED(map.base = NULL, REX_FOR_LAUNCH, REX_EINVAL);
    CHANGED(map.begin = NULL, REX_FOR_LAUNCH, REX_EINVAL);
    CHANGED(map.sizes = NULL, REX_FOR_LAUNCH, REX_EINVAL);
    CHANGED(map.types = NULL, REX_FOR_LAUNCH, REX_EINVAL);
    map.mappers = (void *[2]){NULL, NULL}; /* whatever they are */
    LONG_WAY;
    LONG_WAY;
    set_rows(0);
    SHORT_WAY;
    /* Neither type nor size, and still no row like it. */
    CHANGED((begin[0] = base[0] = memory + BYTES / 2), REX_FOR_LAUNCH, REX_EOVERLAP);
}

/* The rows of a launch may ask for what a queue refuses. */
static void purpose_is_changed(const void *context)
{
    start(*(const int *)context, REX_MAP_ALWAYS);
    REFUSED(REX_FOR_QUEUE, REX_EINVAL);
    SHORT_WAY;
}

/* A mapping has ended, and another one is there in its place, or none: the checks run once, and as often as they have something to say. */
static void generation_is_changed(const void *context)
{
    REX_MAP(region, REX_TO(memory, BYTES));
    start(*(const int *)context, REX_MAP_PRESENT);
    CHECK_EQUAL(rex_module_data_enter(&rex_this_module, 0, &region), 0);
    SHORT_WAY; /* what begins ends nothing */
    CHECK_EQUAL(rex_module_region_end(&rex_this_module, 0, &region), 0);
    LONG_WAY; /* the fake's memory is still mapped */
    SHORT_WAY;
    CHECK_EQUAL(rex_module_region_end(&rex_this_module, 0, &region), 0);
    map_memory(BYTES / 2);
    for (int i = 0; i < 2; i++)
        REFUSED(REX_FOR_LAUNCH, REX_EABSENT); /* and mapped in part */
    map_memory(0);
    for (int i = 0; i < 2; i++)
        REFUSED(REX_FOR_LAUNCH, REX_EABSENT);
    map_memory(BYTES);
    LONG_WAY;
    SHORT_WAY;
    rex_mappings_changed();
    LONG_WAY;
    SHORT_WAY;
}

/* The same for a row that a launch maps itself where it is absent; half of it cannot be. */
static void mapping_is_cut(const void *context)
{
    start(*(const int *)context, 0);
    map_memory(BYTES / 2);
    SHORT_WAY; /* nobody has said that a mapping has ended */
    rex_mappings_changed();
    for (int i = 0; i < 2; i++)
        REFUSED(REX_FOR_LAUNCH, REX_EOVERLAP);
    map_memory(0);
    for (int i = 0; i < 2; i++)
        LONG_WAY; /* each one maps it */
}

/* Several kinds of launches of one kernel are each like one of its own; what is remembered of them has an end. */
static void kinds_are_many(const void *context)
{
    start(*(const int *)context, 0);
    for (int64_t size = 8; size <= 16; size += 8) {
        sizes[0] = size;
        LONG_WAY;
        SHORT_WAY;
    }
    types[0] = REX_MAP_TARGET_PARAM | REX_MAP_TO;
    LONG_WAY;
    SHORT_WAY;
    set_rows(0);
    SHORT_WAY;
    types[0] = REX_MAP_TARGET_PARAM | REX_MAP_FROM;
    LONG_WAY;
    LONG_WAY;
}

/* ---- a packet ------------------------------------------------------------------------------------------------------------------- */

static struct __tgt_kernel_arguments a_packet(void)
{
    set_rows(0);
    return (struct __tgt_kernel_arguments){.Version = 3,
                                           .NumArgs = 2,
                                           .ArgsBase = base,
                                           .Args = begin,
                                           .ArgSizes = sizes,
                                           .ArgTypes = types,
                                           .Teams = {100, 1, 1},
                                           .Threads = {64, 1, 1}};
}

/* Resolved and checked ONCE (1) or not at all (0): 0 or an error. */
static void launch_packet(const struct __tgt_kernel_arguments *packet, int result, int once)
{
    struct __tgt_kernel_arguments copy = *packet;
    uint32_t before = sent();
    memset(&steps, 0, sizeof steps);
    CHECK_EQUAL(rex_module_launch(&rex_this_module, 0, 0, 0, REX_KERNEL_ID(plain), &copy), result);
    CHECK_EQUAL(steps.resolved, once);
    CHECK_EQUAL(steps.packets, once);
    CHECK_EQUAL(sent(), before + (result == 0));
    if (result != 0)
        CHECK_EQUAL(rex_last_error_code(), result);
}

/* libomptarget itself looks at types and sizes of a raw launch: librex, once for each number of rows, at what the parameters are. */
static void packets(const void *context)
{
    register_for(90, *(const int *)context);
    struct __tgt_kernel_arguments packet = a_packet();
    launch_packet(&packet, 0, 1);
    for (int i = 0; i < 3; i++)
        launch_packet(&packet, 0, 0);
    packet.NumArgs = 3;
    launch_packet(&packet, REX_EPARAMS, 1);
    packet.NumArgs = 2;
    packet.ArgTypes = NULL;
    launch_packet(&packet, REX_EINVAL, 1);
    packet.ArgTypes = types;
    packet.Teams[0] = 0; /* the default grid has to be worked out */
    launch_packet(&packet, 0, 1);
    packet.Teams[0] = 7;
    launch_packet(&packet, 0, 0);
    CHECK_EQUAL(last_call(*(const int *)context == 14 ? FAKE_TEAMS_MAPPER : FAKE_KERNEL)->grid[0], 7);
}

/*
 * LLVM 14 ends what a row of no length points into, where a later row has mapped that by then. Each row that is new is looked at, to its
 * last byte.
 */
TEST_IN_CHILD(no_length)
{
    char said[256];
    register_for(90, 14);
    set_rows(0);
    map.count = 3;
    types[0] = types[1] = MEMORY_TYPE;
    types[2] = REX_MAP_TOFROM;
    sizes[0] = 0;
    sizes[1] = sizes[2] = 16;
    base[1] = begin[1] = memory;
    base[2] = begin[2] = memory + 64;
    for (int at = 0; at < 128; at++) {
        int inside = at < 16 ? 1 : at >= 64 && at < 80 ? 2 : 0;
        base[0] = begin[0] = memory + at;
        CHECK_EQUAL(launch_for(REX_FOR_LAUNCH), inside > 0 ? REX_EOVERLAP : 0);
        snprintf(said, sizeof said, "map row 0, of no length at %p, lies in row %d: LLVM 14 aborts on that, unless it comes after it",
                 (void *)(memory + at), inside);
        if (inside > 0)
            CHECK_MENTIONS(rex_last_error(), said);
    }
    /* Behind what it lies in. */
    types[0] = types[1];
    base[0] = begin[0] = memory;
    base[1] = begin[1] = memory + 8;
    sizes[0] = 16;
    sizes[1] = 0;
    CHECK_EQUAL(launch_for(REX_FOR_LAUNCH), 0);
}

/* ---- what is sent ---------------------------------------------------------------------------------------------------------------- */

/* The last launch: everything that libomptarget was told, but for what is not said in it. */
static struct fake_call last_sent(int release)
{
    struct fake_call call = *last_call(release == 14 ? FAKE_TEAMS_MAPPER : FAKE_KERNEL);
    call.packet.padding = 0;
    return call;
}

static void launch_twice_as(int release, struct rex_launch_config launch)
{
    struct fake_call calls[2];
    launch.device = 0;
    rex_mappings_changed();
    for (int i = 0; i < 2; i++) {
        memset(&steps, 0, sizeof steps);
        CHECK_EQUAL(rex_launch_map(&rex_this_module, &launch, &map, REX_FOR_LAUNCH), 0);
        CHECK_EQUAL(steps.resolved, i == 0);
        calls[i] = last_sent(release);
    }
    CHECK(memcmp(&calls[0], &calls[1], sizeof calls[0]) == 0);
    CHECK_EQUAL(calls[1].grid[0], launch.teams[0]);
    CHECK_EQUAL(calls[1].block[0], launch.threads[0]);
}

/* By the short way goes what has gone the long way, whatever the launch asks for. */
static void same_is_sent(const void *context)
{
    int release = *(const int *)context;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 100, 64);
    start(release, REX_MAP_PRESENT);
    launch_twice_as(release, launch);
    launch.teams[0] = 1;
    launch.threads[0] = 1024;
    launch_twice_as(release, launch);
    for (int i = 1; i < 3; i++)
        launch.teams[i] = launch.threads[i] = 1;
    launch.trip_count = 77;
    launch_twice_as(release, launch);
    launch.flags = REX_LAUNCH_NOWAIT;
    launch_twice_as(release, launch);
}

/* ---- the wrappers --------------------------------------------------------------------------------------------------------------- */

/* What code without the header calls; the header's own functions of these names are others. */
int without_header(int64_t device, int32_t teams, int32_t threads, void *key,
                   struct __tgt_kernel_arguments *args) __asm__("rex___tgt_target_kernel");
int teams_without_header(int64_t device, void *key, int32_t count, void **bases, void **begins, int64_t *lengths, int64_t *kinds,
                         int32_t teams, int32_t threads) __asm__("rex___tgt_target_teams");

enum wrapper { DIRECT, DIRECT_TEAMS, SAFE, SAFE_TEAMS, WITHOUT_HEADER, TEAMS_WITHOUT_HEADER, WRAPPERS };

static int call(enum wrapper wrapper)
{
    struct __tgt_kernel_arguments packet = a_packet();
    void *key = REX_KERNEL_ID(plain);
    switch (wrapper) {
    case DIRECT: return rex_direct___tgt_target_kernel(0, 0, 0, key, &packet);
    case DIRECT_TEAMS: return rex_direct___tgt_target_teams(0, key, 2, base, begin, sizes, types, 100, 64);
    case SAFE: return rex___tgt_target_kernel(0, 0, 0, key, &packet);
    case SAFE_TEAMS: return rex___tgt_target_teams(0, key, 2, base, begin, sizes, types, 100, 64);
    case WITHOUT_HEADER: return without_header(0, 0, 0, key, &packet);
    default: return teams_without_header(0, key, 2, base, begin, sizes, types, 100, 64);
    }
}

/* After the first launch by it no wrapper resolves, checks, or asks for more of the registration than whether there is one. */
static void wrappers(const void *context)
{
    register_for(90, *(const int *)context);
    for (enum wrapper wrapper = DIRECT; wrapper < WRAPPERS; wrapper++) {
        CHECK_EQUAL(rex_module_fini(&rex_this_module), 0); /* and with it what is remembered */
        CHECK_EQUAL(rex_module_register(&rex_this_module, NULL), 0);
        for (int i = 0; i < 4; i++) {
            uint32_t before = sent();
            memset(&steps, 0, sizeof steps);
            CHECK_EQUAL(call(wrapper), 0);
            CHECK_EQUAL(sent(), before + 1);
            CHECK_EQUAL(steps.registered, i == 0);
            CHECK_EQUAL(steps.resolved, i == 0);
            CHECK_EQUAL(steps.packets, i == 0);
        }
    }
}

int target_without_header(int64_t device, void *key, int32_t count, void **bases, void **begins, int64_t *lengths,
                          int64_t *kinds) __asm__("rex___tgt_target");
#define DATA_WITHOUT_HEADER(what)                                                                                       \
    void what##_without_header(int64_t device, int32_t count, void **bases, void **begins, int64_t *lengths, int64_t *kinds) \
        __asm__("rex___tgt_target_data_" #what)
DATA_WITHOUT_HEADER(begin);
DATA_WITHOUT_HEADER(end);
DATA_WITHOUT_HEADER(update);

/* Where no module is known, or none has the key; and what each of the others passes on. */
static void strangers(const void *context)
{
    struct __tgt_kernel_arguments packet = a_packet();
    int release = *(const int *)context;
    char said[160], stranger;
    begin_without_header(0, 1, base, begin, sizes, types);
    CHECK_EQUAL(rex_last_error_code(), REX_EKEY);
    CHECK(strcmp(rex_last_error(), "a data call before any module is known: call rex_module_add() or rex_module_register()") == 0);
    register_for(90, release);
    CHECK_EQUAL(without_header(0, 0, 0, &stranger, &packet), REX_EKEY);
    snprintf(said, sizeof said, "host key %p is in no module that librex knows: call rex_module_add() or rex_module_register()",
             (void *)&stranger);
    CHECK(rex_last_error_code() == REX_EKEY && strcmp(rex_last_error(), said) == 0);
    CHECK_EQUAL(target_without_header(0, REX_KERNEL_ID(plain), 2, base, begin, sizes, types), 0);
    const struct fake_call *call = last_call(release == 14 ? FAKE_TEAMS_MAPPER : FAKE_KERNEL);
    CHECK(call->grid[0] == 1 && call->block[0] == 1 && call->packet.rows == 2);
    CHECK_EQUAL(teams_without_header(0, REX_KERNEL_ID(plain), 2, base, begin, sizes, types, 7, 96), 0);
    call = last_call(release == 14 ? FAKE_TEAMS_MAPPER : FAKE_KERNEL);
    CHECK(call->grid[0] == 7 && call->block[0] == 96);
    const uint32_t block = call->block[0];
    CHECK_EQUAL(teams_without_header(0, REX_KERNEL_ID(plain), 2, base, begin, sizes, types, 7, 0), 0);
    call = last_call(release == 14 ? FAKE_TEAMS_MAPPER : FAKE_KERNEL);
    CHECK(call->grid[0] == 7 && call->block[0] != 7 && call->block[0] != block);
    types[0] = REX_MAP_TO;
    begin_without_header(0, 1, base, begin, sizes, types);
    CHECK(last_call(FAKE_BEGIN)->packet.rows == 1 && last_call(FAKE_BEGIN)->begin[0] == begin[0]);
    update_without_header(0, 1, base, begin, sizes, types);
    CHECK(last_call(FAKE_UPDATE)->packet.rows == 1 && last_call(FAKE_UPDATE)->device == 0);
    end_without_header(0, 1, base, begin, sizes, types);
    CHECK(last_call(FAKE_END)->packet.rows == 1 && last_call(FAKE_END)->sizes[0] == sizes[0]);
    for (int i = 0; i < 3; i++) {
        uint32_t before = the_record()->count;
        (i == 0 ? begin_without_header : i == 1 ? update_without_header : end_without_header)(0, -1, base, begin, sizes, types);
        CHECK(rex_last_error_code() == REX_EINVAL && the_record()->count == before);
    }
}

/* Each with rows is written down, and one without any is not. */
static void logged(const void *context)
{
    setenv("REX_LOG", "debug", 1);
    register_for(90, *(const int *)context);
    set_rows(0);
    types[0] = REX_MAP_TO;
    for (int32_t count = 0; count < 2; count++) {
        begin_without_header(0, count, base, begin, sizes, types);
        update_without_header(0, count, base, begin, sizes, types);
        end_without_header(0, count, base, begin, sizes, types);
    }
}

TEST(test_logged)
{
    static const char *const calls[] = {"data begin: device 0, 1 rows", "data update: device 0, 1 rows", "data end: device 0, 1 rows"};
    const int release = 22;
    const char *output = in_child(logged, &release);
    for (size_t i = 0; i < COUNT(calls); i++)
        assert_int_equal(occurrences(output, calls[i]), 1);
    assert_int_equal(occurrences(output, "device 0, 0 rows"), 0);
}

/* ---- queues --------------------------------------------------------------------------------------------------------------------- */

static struct rex_queue *new_queue(void)
{
    struct rex_queue *queue = NULL;
    map_memory(BYTES);
    set_rows(0);
    CHECK_EQUAL(rex_queue_create(&queue, 0, "like", 0), 0);
    return queue;
}

static void put(struct rex_queue *queue)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 100, 64);
    memset(&steps, 0, sizeof steps);
    CHECK_EQUAL(launch_in(queue, &launch, &map), 0);
}

/* On a GPU rows that are plain are not looked at one by one, from the first launch on, and not looked up again. */
static void queue_on_gpu(const void *context)
{
    uint32_t lookups = 0;
    register_for(90, *(const int *)context);
    struct rex_queue *queue = new_queue();
    CHECK(!rex_queue_is_synchronous(queue));
    for (int i = 0; i < 4; i++) {
        int calls = driver_calls(NULL);
        put(queue);
        CHECK_EQUAL(steps.rows + steps.packets + steps.presence, 0);
        CHECK(i == 0 || the_record()->lookups == lookups);
        CHECK(i == 0 || driver_calls(NULL) == calls + 1);
        lookups = the_record()->lookups;
    }
    types[0] |= REX_MAP_PRESENT | REX_MAP_DELETE;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 100, 64);
    CHECK_EQUAL(launch_in(queue, &launch, &map), REX_EINVAL);
    CHECK_EQUAL(steps.rows, 1);
    CHECK_EQUAL(rex_queue_destroy(queue), 0);
}

/* As the host image's signature wants them, which the CUBIN of the GPU has none of: the value comes first. */
static void exchange_rows(void)
{
    base[1] = begin[1] = base[0];
    base[0] = begin[0] = base[2];
    sizes[1] = sizes[0];
    sizes[0] = sizes[2];
    types[1] = types[0];
    types[0] = types[2];
}

/* On the host device a queue is immediate, and its launches are like others. */
static void queue_on_host(const void *context)
{
    register_for(0, *(const int *)context);
    struct rex_queue *queue = new_queue();
    exchange_rows();
    CHECK(rex_queue_is_synchronous(queue));
    for (int i = 0; i < 4; i++) {
        uint32_t before = sent();
        put(queue);
        CHECK_EQUAL(steps.resolved, i == 0);
        CHECK_EQUAL(steps.packets, i == 0);
        CHECK_EQUAL(steps.rows, i == 0);
        CHECK_EQUAL(steps.presence, i == 0);
        CHECK_EQUAL(sent(), before + 1);
    }
    CHECK_EQUAL(rex_queue_destroy(queue), 0);
}

/* ---- all ------------------------------------------------------------------------------------------------------------------------ */

static void on_all_releases(void (*run)(const void *))
{
    for (size_t i = 0; i < COUNT(releases); i++)
        in_child(run, &releases[i]);
}

/* ---- what is known of a kernel, while threads change it -------------------------------------------------------------------------- */

enum { CHECKS = 5000000 };
static struct rex_target checked;
static bool are_checks_over;

static void *check_again_and_again(void *unused)
{
    struct __tgt_kernel_arguments packet = a_packet();
    enum rex_kernel_form form;
    for (int i = 0; i < CHECKS; i++)
        CHECK_EQUAL(rex_check_parameters(&checked, &packet, &form), 0);
    __atomic_store_n(&are_checks_over, true, __ATOMIC_RELEASE);
    return unused;
}

static void set_told(bool told)
{
    struct rex_kernel_facts known = rex_target_facts(&checked), facts;
    do {
        facts = known;
        facts.flags = (uint8_t)(told ? known.flags | REX_FACT_SENDER_TOLD : known.flags & ~REX_FACT_SENDER_TOLD);
    } while (!rex_target_change_facts(&checked, &known, facts));
}

/* A check that notes its number of rows takes back nothing that another thread has noted meanwhile. */
TEST_ON_FAKES(facts_of_two_threads, 22)
{
    pthread_t thread;
    register_for(90, release);
    CHECK_EQUAL(rex_resolve(&rex_this_module, REX_KERNEL_ID(plain), 0, &checked), 0);
    set_rows(0);
    CHECK_EQUAL(pthread_create(&thread, NULL, check_again_and_again, NULL), 0);
    for (bool told = true; !__atomic_load_n(&are_checks_over, __ATOMIC_ACQUIRE); told = !told) {
        set_told(told);
        for (int i = 0; i < 10; i++)
            CHECK_EQUAL((rex_target_facts(&checked).flags & REX_FACT_SENDER_TOLD) != 0, told);
    }
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    /* A change of what was read before another one is refused, and tells what is there now. */
    struct rex_kernel_facts old = rex_target_facts(&checked), changed = old;
    changed.checked += 100;
    set_told(!(old.flags & REX_FACT_SENDER_TOLD));
    CHECK(!rex_target_change_facts(&checked, &old, changed));
    CHECK(old.flags == rex_target_facts(&checked).flags && old.checked + 100 == changed.checked);
}


#define TEST_OF(name) \
    TEST(test_##name) \
    { \
        on_all_releases(name); \
    }
TEST_OF(one_is_changed)
TEST_OF(purpose_is_changed)
TEST_OF(generation_is_changed)
TEST_OF(mapping_is_cut)
TEST_OF(kinds_are_many)
TEST_OF(packets)
TEST_OF(same_is_sent)
TEST_OF(wrappers)
TEST_OF(strangers)
TEST_OF(queue_on_gpu)
TEST_OF(queue_on_host)
