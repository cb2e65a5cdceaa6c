/*
 * mappings.c - the index of mappings: what calls of libomptarget add and take out, and what is noted of it.
 *
 * libomptarget is a fake, whose mappings the test makes. The program exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "base/process.h"
#include "omp/mappings.h"
#include "omp/presentcalls.h"
#include "plain.h"
#include "rex/launch.h"
#include "rex_kmp.h"

enum { CELL = 8, CELLS = 8, STEPS = 4, ROWS = 18 };
static char bytes[CELLS * CELL] __attribute__((aligned(16)));

/* One row of a call, which comes behind a value, and so often that its places are allocated; WITH: what libomptarget has when the call returns, in cells. */
struct step {
    enum rex_present_call call;
    int at, size;
    int64_t type;
    struct {
        int at, size;
    } with[2];
    bool has_mapper, later;
};

#define AFTER_ONE {REX_CALL_BEGINS, 0, 2, REX_MAP_TO, {{0, 2}}, false, false}
#define AFTER_TWO AFTER_ONE, {REX_CALL_BEGINS, 3, 2, REX_MAP_TO, {{0, 2}, {3, 2}}, false, false}
#define AFTER_UNSEEN(size) {REX_CALL_BEGINS, 7, 1, REX_MAP_TO, {{0, size}}, true, false}

static const struct scenario {
    const char *index; /* m: a cell that is mapped */
    bool all_seen;
    struct step steps[STEPS];
} scenarios[] = {
    {"mm......", true, {AFTER_ONE, {REX_CALL_ENDS, 0, 2, REX_MAP_FROM, {{0, 2}}, false, false}}},
    {"........", true, {AFTER_ONE, {REX_CALL_ENDS, 0, 2, REX_MAP_FROM, {{0, 0}}, false, false}}},
    {"........", true, {AFTER_ONE, {REX_CALL_ENDS, 1, 1, REX_MAP_FROM, {{0, 0}}, false, false}}},
    {"mm......", true, {AFTER_ONE, {REX_CALL_ENDS, 2, 1, REX_MAP_FROM, {{0, 0}}, false, false}}},
    {"........", true, {AFTER_TWO, {REX_CALL_ENDS, 1, 3, REX_MAP_FROM, {{0, 0}}, false, false}}},
    {"...mm...", true, {AFTER_TWO, {REX_CALL_ENDS, 1, 3, REX_MAP_FROM, {{3, 2}}, false, false}}},
    /* It may not have ended yet when the call returns. */
    {"........", false, {AFTER_ONE, {REX_CALL_ENDS, 0, 2, REX_MAP_FROM, {{0, 2}}, false, true}}},
    /* Of nothing: in a mapping, and between two. */
    {"........", true, {AFTER_ONE, {REX_CALL_ENDS, 1, 0, REX_MAP_FROM, {{0, 0}}, false, false}}},
    {"mm.mm...", true, {AFTER_TWO, {REX_CALL_ENDS, 2, 0, REX_MAP_FROM, {{0, 2}, {3, 2}}, false, false}}},
    {"mm......", false, {AFTER_TWO, {REX_CALL_ENDS, 2, 0, REX_MAP_FROM, {{0, 2}}, false, false}}},
    {"...mm...", false, {AFTER_TWO, {REX_CALL_ENDS, 2, 0, REX_MAP_FROM, {{3, 2}}, false, false}}},
    {"........", false, {AFTER_TWO, {REX_CALL_ENDS, 2, 0, REX_MAP_FROM, {{0, 2}, {3, 2}}, false, true}}},
    {"mm......", false, {AFTER_TWO, {REX_CALL_ENDS, 6, 0, REX_MAP_FROM, {{0, 2}}, false, false}}},
    {"........", false, {{REX_CALL_BEGINS, 3, 2, REX_MAP_TO, {{3, 2}}, false, false}, {REX_CALL_ENDS, 1, 0, REX_MAP_FROM, {{0, 0}}, false, false}}},
    {"mm.mm...", true, {AFTER_TWO, {REX_CALL_ENDS, 2, 0, REX_MAP_LITERAL, {{0, 0}}, false, false}}},
    /* A row that is not mapped, or whose mapping may be larger, or end unseen. */
    {"........", true, {{REX_CALL_BEGINS, 0, 2, REX_MAP_LITERAL, {{0, 2}}, false, false}}},
    {"........", true, {{REX_CALL_BEGINS, 0, -1, REX_MAP_TO, {{0, 2}}, false, false}}},
    {"........", true, {{REX_CALL_BEGINS, 0, 0, REX_MAP_TO, {{0, 2}}, false, false}}},
    {"........", true, {{REX_CALL_UPDATES, 0, 2, REX_MAP_TO, {{0, 2}}, false, false}}},
    {"mm......", true, {AFTER_ONE, {REX_CALL_BEGINS, 0, 1, REX_MAP_TO, {{0, 2}}, false, false}}},
    {"...mm...", true, {AFTER_TWO, {REX_CALL_ENDS, 0, 2, REX_MAP_DELETE, {{3, 2}}, false, false}}},
    {"mm......", true, {AFTER_ONE, {REX_CALL_BEGINS, 1, 2, REX_MAP_TO, {{0, 3}}, false, false}}}, /* two that look like one */
    {"........", false, {{REX_CALL_BEGINS, 0, 2, REX_MAP_TO, {{0, 2}}, true, false}}},
    {"........", false, {AFTER_UNSEEN(4), {REX_CALL_BEGINS, 0, 2, REX_MAP_TO, {{0, 4}}, false, false}}},
    {"mm......", false, {AFTER_UNSEEN(0), AFTER_ONE, {REX_CALL_ENDS, 4, 1, REX_MAP_FROM, {{0, 2}}, false, false}}},
    {"........", false, {AFTER_UNSEEN(0), AFTER_ONE, {REX_CALL_ENDS, 4, 1, REX_MAP_DELETE, {{0, 2}}, false, false}}},
    {"........", false, {AFTER_ONE, {REX_CALL_ENDS, 4, 1, REX_MAP_FROM, {{0, 2}}, true, false}}},
    /* An attached pointer, which is the last cell, and stays where a launch attaches it. */
    {"mm.....m", true, {{REX_CALL_BEGINS, 0, 2, REX_MAP_TO | REX_MAP_PTR_AND_OBJ, {{0, 2}, {7, 1}}, false, false}}},
    {"........", false, {{REX_CALL_LAUNCHES, 0, 2, REX_MAP_TO | REX_MAP_PTR_AND_OBJ, {{7, 1}}, false, false}}},
    {"........", true, {{REX_CALL_UPDATES, 0, 2, REX_MAP_TO | REX_MAP_PTR_AND_OBJ, {{7, 1}}, false, false}}},
    {"mm......", true, {{REX_CALL_BEGINS, 0, 2, REX_MAP_TO | REX_MAP_PTR_AND_OBJ, {{0, 2}, {7, 1}}, false, false},
                        {REX_CALL_ENDS, 3, 1, REX_MAP_FROM | REX_MAP_PTR_AND_OBJ, {{0, 2}}, false, false}}},
    {"mm.....m", true, {{REX_CALL_BEGINS, 0, 2, REX_MAP_TO | REX_MAP_PTR_AND_OBJ, {{0, 2}, {7, 1}}, false, false},
                        {REX_CALL_ENDS, 3, 1, REX_MAP_FROM | REX_MAP_PTR_AND_OBJ, {{0, 2}, {7, 1}}, false, false}}},
};

static void start(void)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

static void do_step(const struct step *step)
{
    struct rex_mapping found;
    void *base[ROWS], *begin[ROWS], *mappers[ROWS];
    int64_t sizes[ROWS], types[ROWS];
    struct rex_map map = {ROWS, base, begin, sizes, types, mappers, NULL};
    for (int i = 0; i < ROWS; i++) {
        base[i] = bytes + (CELLS - 1) * CELL;
        begin[i] = bytes + step->at * CELL;
        sizes[i] = step->size * CELL;
        types[i] = i > 0 ? step->type : REX_MAP_LITERAL;
        mappers[i] = step->has_mapper ? bytes : NULL;
    }
    uint64_t generation = rex_mapping_now();
    rex_present_enter(step->call, &map, 0);
    if (step->call == REX_CALL_ENDS)
        CHECK(!rex_mapping_find(begin[0], 1, 0, &found) && (!(step->type & REX_MAP_PTR_AND_OBJ) || !rex_mapping_find(base[0], 1, 0, &found)));
    for (int i = 0; i < 2; i++)
        the_record()->mappings[i] =
            (struct fake_mapping){(uintptr_t)(bytes + step->with[i].at * CELL), (size_t)step->with[i].size * CELL, 0x10000};
    rex_present_leave(step->call, &map, 0, step->later);
    CHECK_EQUAL(rex_mapping_now() != generation, step->call == REX_CALL_ENDS);
}

TEST_FOR_EACH(follow_calls, scenario, scenarios)
{
    struct rex_mapping found;
    char index[CELLS + 1] = "";
    start();
    for (int i = 0; i < STEPS && scenario->steps[i].type != 0; i++)
        do_step(&scenario->steps[i]);
    for (int i = 0; i < CELLS; i++)
        index[i] = rex_mapping_find(bytes + i * CELL, 1, 0, &found) ? 'm' : '.';
    CHECK_MENTIONS(index, scenario->index);
    CHECK_EQUAL(rex_all_mappings_are_seen(), scenario->all_seen);
}

/* What libomptarget has of BYTES on every device: all, at an address for each. */
static void map_all(void)
{
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)bytes, sizeof bytes, 0x10000};
}

static void call_row(enum rex_present_call call, int at, int size, int64_t type, int number, bool over)
{
    void *begin[] = {bytes + at * CELL};
    int64_t sizes[] = {size * CELL}, types[] = {type};
    struct rex_map map = {1, begin, begin, sizes, types, NULL, NULL};
    if (over)
        rex_present_leave(call, &map, number, false);
    else
        rex_present_enter(call, &map, number);
}

static void begin_row(int at, int size, int number)
{
    call_row(REX_CALL_BEGINS, at, size, REX_MAP_TO, number, false);
    map_all();
    call_row(REX_CALL_BEGINS, at, size, REX_MAP_TO, number, true);
}

/* Nothing is mapped any more, and another library did that. */
static void end_unseen(void)
{
    the_record()->mappings[0] = (struct fake_mapping){0, 0, 0};
    rex_mapping_ended_unseen();
}

/* Whether the end of this row is the last of its mapping, as far as is known; it leaves what is there. */
static bool ends_last(int at, int size, int64_t type)
{
    struct rex_mapping found;
    call_row(REX_CALL_ENDS, at, size, type, 0, false);
    bool is_last = rex_mapping_is_ending(bytes + at * CELL, (size_t)size * CELL, 0, &found);
    CHECK(!is_last || !rex_mapping_find(bytes + at * CELL, 1, 0, &found));
    call_row(REX_CALL_ENDS, at, size, type, 0, true);
    return is_last;
}

/*
 * Whether an end is the last is known of a mapping that rows begin and end which count it, and name all of it. After an end that was the last,
 * as far as is known, and left it, nothing is known.
 */
TEST_IN_CHILD(last_end)
{
    struct rex_mapping found;
    void *device = NULL;
    int number = 0;
    start();
    CHECK_EQUAL(rex_mappings_left(&found, &number), 0);
    for (int begun = 1; begun < 4; begun++) {
        end_unseen();
        for (int i = 0; i < begun; i++)
            begin_row(0, 2, 0);
        CHECK(rex_memory_find(bytes + CELL, CELL, 0, &device) == REX_PRESENT_WHOLE && device == (void *)(0x10000 + CELL));
        for (int left = begun; left > 1; left--)
            CHECK(!ends_last(0, 2, REX_MAP_FROM));
        CHECK_EQUAL(rex_mappings_left(&found, &number), 1);
        CHECK(ends_last(0, 2, REX_MAP_FROM) && !ends_last(0, 2, REX_MAP_FROM));
    }
    static const struct {
        int at, size;
        int64_t type;
    } unknown[] = {{0, 1, REX_MAP_FROM}, {0, 2, REX_MAP_DELETE}, {0, 2, REX_MAP_OMPX_HOLD}, {0, 2, REX_MAP_MEMBER_OF(1)}, {1, 0, REX_MAP_FROM}};
    for (size_t i = 0; i < COUNT(unknown); i++) {
        end_unseen();
        begin_row(0, 2, 0);
        CHECK(!ends_last(unknown[i].at, unknown[i].size, unknown[i].type));
    }
    end_unseen();
    begin_row(0, 2, 0);
    call_row(REX_CALL_LAUNCHES, 2, 0, REX_MAP_TO, 0, false); /* of no length, beside it */
    call_row(REX_CALL_LAUNCHES, 2, 0, REX_MAP_TO, 0, true);
    CHECK(!ends_last(0, 2, REX_MAP_FROM));
}

/* rules.mk leads malloc() here. */
static bool is_full;
void *__real_malloc(size_t size), *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return is_full ? NULL : __real_malloc(size);
}

/* No call names what a global maps, however small it is; and the table may have no memory for what a call has mapped. */
TEST_OF_EACH(not_all_seen, bool, full, false, true)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "off"), REX_OK);
    entry->size = !full;
    start();
    is_full = full;
    begin_row(0, 1, 0);
    CHECK(!rex_all_mappings_are_seen());
}

/* In the order of addresses, for each device. A row inside of a mapping, or that overlaps one in part, makes none. */
TEST_IN_CHILD(add_made)
{
    static const struct {
        int number, at, size;
        const char *index[2]; /* of two devices: where each mapping begins */
    } made[] = {{0, 2, 2, {"..22....", "........"}}, {0, 6, 2, {"..22..66", "........"}}, {1, 4, 2, {"..22..66", "....44.."}},
                {0, 0, 2, {"0022..66", "....44.."}}, {0, 4, 2, {"00224466", "....44.."}}, {0, 3, 1, {"00224466", "....44.."}},
                {0, 3, 2, {"00224466", "....44.."}}, {0, 0, 8, {"00224466", "....44.."}}, {1, 4, 3, {"00224466", "....44.."}}};
    struct rex_mapping found;
    setenv("FAKE_DEVICES", "2", 1);
    start();
    for (size_t i = 0; i < COUNT(made); i++) {
        begin_row(made[i].at, made[i].size, made[i].number);
        for (int at = 0; at < 2 * CELLS; at++) {
            const char *cell = bytes + at % CELLS * CELL;
            bool is_found = rex_mapping_find(cell, 1, at / CELLS, &found);
            CHECK_EQUAL(is_found ? '0' + (int)(found.begin - (uintptr_t)bytes) / CELL : '.', made[i].index[at / CELLS][at % CELLS]);
        }
    }
    for (uintptr_t i = 0; i < CELLS; i += 2)
        CHECK(rex_mapping_find(bytes + i * CELL, CELL, 0, &found) && found.device == 0x10000 + i * CELL);
    CHECK(rex_mapping_divides(bytes + 3 * CELL, 2 * CELL, 0) && !rex_mapping_divides(bytes + 3 * CELL, CELL, 0));
    __rex_real___tgt_unregister_lib(NULL); /* with which other code's globals end */
    CHECK(!rex_mapping_find(bytes, CELL, 1, &found));
}

/* A call between the places of another one does not wait for it. */
TEST_IN_CHILD(touch)
{
    struct rex_place around[] = {{.begin = 6, .end = 8}, {.begin = 2, .end = 4}}, between = {.begin = 4, .end = 6};
    struct rex_claim one = {.place = around, .count = 2, .call = REX_CALL_ENDS}, other = {.place = &between, .count = 1, .call = REX_CALL_ENDS};
    start();
    rex_present_pin(&one);
    rex_present_pin(&other);
}

static struct rex_place at_pointer;
static struct rex_claim of_other = {.place = &at_pointer, .count = 1};
static bool is_over;

static void *end_other(void *unused)
{
    usleep(20000);
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    rex_present_unpin(&of_other);
    return unused;
}

/* A launch with these rows waits for the other call, which has begun. */
static void launch_waits(const struct rex_map *map)
{
    pthread_t other;
    CHECK_EQUAL(pthread_create(&other, NULL, end_other, NULL), 0);
    rex_present_enter(REX_CALL_LAUNCHES, map, 0);
    CHECK(__atomic_load_n(&is_over, __ATOMIC_ACQUIRE));
    CHECK_EQUAL(pthread_join(other, NULL), 0);
}

/*
 * A launch that attaches a pointer waits for one by the driver that has the pointer for itself, and for a begin that maps it, where it is in
 * the index before it is copied. One without memory for its claim waits even for an update.
 */
TEST_OF_EACH(wait_for_other, enum rex_present_call, call, REX_CALL_BY_DRIVER, REX_CALL_BEGINS, REX_CALL_UPDATES)
{
    REX_MAP(map, {bytes + CELL, bytes, CELL, REX_MAP_TO | REX_MAP_PTR_AND_OBJ});
    start();
    if (call == REX_CALL_UPDATES)
        begin_row(1, 1, 0);
    at_pointer = (struct rex_place){.begin = (uintptr_t)bytes + CELL, .end = (uintptr_t)bytes + 2 * CELL};
    of_other.call = call;
    rex_present_pin(&of_other);
    rex_thread.part = call == REX_CALL_UPDATES ? NULL : rex_thread.part;
    rex_thread.ends = call == REX_CALL_UPDATES ? UINT8_MAX : 0;
    launch_waits(&map);
}

/* A launch that copies memory back waits for one by the driver that reads it. */
TEST_IN_CHILD(wait_to_change)
{
    REX_MAP(map, {bytes, bytes, CELL, REX_MAP_FROM});
    start();
    at_pointer = (struct rex_place){.begin = (uintptr_t)bytes, .end = (uintptr_t)bytes + CELL};
    of_other.call = REX_CALL_BY_DRIVER;
    rex_present_pin(&of_other);
    launch_waits(&map);
}
