/*
 * mappings.c - the index of mappings: which are in it, and in which order; what calls of libomptarget add and take out, and what is noted.
 *
 * libomptarget is a fake, whose mappings the test makes. The program exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "omp/mappingindex.h"
#include "omp/mappings.h"
#include "plain.h"
#include "rex/launch.h"

/* ---- the array --------------------------------------------------------------------------------------------------- */

enum { DEVICES = 2, BYTES = 96, MOST = 4, ROUNDS = 4000 };

/* The mapping that has each byte; 0: none. */
static int owner[DEVICES][BYTES];

static uintptr_t draw(uintptr_t below)
{
    static uint32_t state = 1;
    state = state * 1103515245 + 12345;
    return (state >> 16) % below;
}

static void remove_owner(int number, int gone)
{
    for (int at = 0; at < BYTES; at++)
        if (gone != 0 && owner[number][at] == gone)
            owner[number][at] = 0;
}

/* What another one has whole is not new; all others that it touches have ended. */
static void own(const struct rex_mapping *made)
{
    static int newest;
    int *own = owner[made->number];
    bool is_new = own[made->begin] == 0;
    for (uintptr_t at = made->begin; at < made->end; at++)
        is_new |= own[at] != own[made->begin];
    newest++;
    for (uintptr_t at = made->begin; at < made->end && is_new; at++) {
        remove_owner(made->number, own[at]);
        own[at] = newest;
    }
}

static void add_some(struct rex_index *all)
{
    struct rex_mapping made[MOST];
    size_t count = 0, most = draw(MOST + 1);
    int number = (int)draw(DEVICES);
    for (uintptr_t at = draw(BYTES / 2), size; count < most && at + (size = 1 + draw(9)) <= BYTES;
         at += size + draw(12)) {
        made[count] = (struct rex_mapping){at, at + size, number, 0};
        own(&made[count++]);
    }
    assert_true(rex_index_add(all, made, count));
}

static void take_one_out(struct rex_index *all)
{
    struct rex_mapping byte = {.begin = draw(BYTES), .number = (int)draw(DEVICES)};
    byte.end = byte.begin + 1;
    const struct rex_index_entry *its = rex_index_first(all, &byte);
    assert_int_equal(its != NULL, owner[byte.number][byte.begin] != 0);
    if (its != NULL)
        rex_index_take_out(all, its);
    remove_owner(byte.number, owner[byte.number][byte.begin]);
}

/* Each has its entry, behind those of lower addresses and devices. */
static void compare(const struct rex_index *all)
{
    size_t i = 0;
    for (int number = 0; number < DEVICES; number++)
        for (uintptr_t at = 0; at < BYTES; at++) {
            const int *owns = owner[number];
            assert_int_equal(rex_index_behind(all, number, at), i);
            assert_int_equal(rex_index_near(all, draw(i + 1), number, at), i);
            if (owns[at] == 0 || (at + 1 < BYTES && owns[at + 1] == owns[at]))
                continue;
            const struct rex_mapping *mapping = &all->entries[i].mapping;
            assert_true(mapping->number == number && mapping->end == at + 1);
            assert_true(owns[mapping->begin] == owns[at]);
            assert_true(mapping->begin == 0 || owns[mapping->begin - 1] != owns[at]);
            i++;
        }
    assert_int_equal(all->count, i);
}

TEST(test_index)
{
    struct rex_index all = {.count = 0};
    for (int round = 0; round < ROUNDS; round++) {
        if (draw(3) > 0)
            add_some(&all);
        else
            take_one_out(&all);
        compare(&all);
    }
    rex_index_clear(&all);
    assert_true(rex_index_is_empty(&all));
    free(all.entries);
}

/* rules.mk leads calls of realloc() here: there is no memory where a test says so. */
static bool has_memory = true;
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
    return has_memory ? __real_realloc(memory, size) : NULL;
}

TEST(test_index_without_memory)
{
    struct rex_index all = {.count = 0};
    struct rex_mapping made[] = {{0, 8, 0, 0}, {8, 16, 0, 0}, {16, 24, 0, 0}};
    assert_true(rex_index_add(&all, made, 1));
    has_memory = false;
    assert_false(rex_index_add(&all, made + 1, 2));
    has_memory = true;
    assert_true(all.count == 1 && rex_index_add(&all, made + 1, 2) && all.count == 3);
    free(all.entries);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

enum { CELL = 8, CELLS = 8, STEPS = 4 };
static char bytes[CELLS * CELL] __attribute__((aligned(16)));
static void *some_mapper[1] = {bytes}, *no_mapper[1];

/* One row of a call; WITH: what libomptarget has when the call returns, in cells. */
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
    {"mm......", true, {AFTER_ONE}},
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
    /* A row that is not mapped, that is mapped in part, or whose mapping may be larger, or end unseen. */
    {"........", true, {{REX_CALL_BEGINS, 0, 2, REX_MAP_LITERAL, {{0, 2}}, false, false}}},
    {"........", true, {{REX_CALL_BEGINS, 0, -1, REX_MAP_TO, {{0, 2}}, false, false}}},
    {"........", true, {{REX_CALL_BEGINS, 0, 0, REX_MAP_TO, {{0, 2}}, false, false}}},
    {"........", true, {{REX_CALL_BEGINS, 0, 2, REX_MAP_TO, {{0, 1}}, false, false}}},
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
    void *base[] = {bytes + (CELLS - 1) * CELL}, *begin[] = {bytes + step->at * CELL};
    int64_t sizes[] = {step->size * CELL}, types[] = {step->type};
    struct rex_map map = {1, base, begin, sizes, types, step->has_mapper ? some_mapper : no_mapper, NULL};
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
    if (strcmp(index, scenario->index) != 0 || rex_all_mappings_are_seen() != scenario->all_seen) {
        fprintf(stderr, "scenario %td: %s\n", scenario - scenarios, index);
        _exit(99);
    }
}

/* More than a call has places for without an allocation. */
TEST_IN_CHILD(many_rows)
{
    enum { ROWS = 17 };
    struct rex_mapping found;
    static char row[ROWS][3 * CELL];
    void *begin[ROWS];
    int64_t sizes[ROWS], types[ROWS];
    struct rex_map map = {ROWS, begin, begin, sizes, types, NULL, NULL};
    start();
    for (int i = 0; i < ROWS; i++) {
        begin[i] = row[ROWS - 1 - i];
        sizes[i] = 2 * CELL;
        types[i] = REX_MAP_TO;
    }
    rex_present_enter(REX_CALL_BEGINS, &map, 0);
    for (int i = 0; i < ROWS; i++)
        the_record()->mappings[i] = (struct fake_mapping){(uintptr_t)row[i], 2 * CELL, 0x10000};
    rex_present_leave(REX_CALL_BEGINS, &map, 0, false);
    CHECK_EQUAL(rex_mappings_left(&found), ROWS);
    rex_present_enter(REX_CALL_ENDS, &map, 0);
    memset(the_record()->mappings, 0, sizeof the_record()->mappings);
    rex_present_leave(REX_CALL_ENDS, &map, 0, false);
    CHECK_EQUAL(rex_mappings_left(&found), 0);
    struct rex_mapping made[2];
    for (int i = 0; i < 2; i++) {
        uintptr_t at = (uintptr_t)row[i];
        made[i] = (struct rex_mapping){at, at + 2 * CELL, 0, 0};
        the_record()->mappings[i] = (struct fake_mapping){at, 2 * CELL, 0x10000 * (uintptr_t)(i + 1)};
    }
    rex_mappings_add(made, 2);
    for (int i = 0; i < 2; i++)
        CHECK(rex_mapping_find(row[i], 2 * CELL, 0, &found) && found.device == 0x10000 * (uintptr_t)(i + 1));
}

/* Whether an end is the last is known of a mapping that one row has begun, and no other; it ends where a row hides it once and has it whole. */
TEST_IN_CHILD(last_end)
{
    struct rex_mapping found;
    void *begin[] = {bytes}, *device = NULL;
    int64_t sizes[] = {2 * CELL}, types[] = {REX_MAP_FROM};
    struct rex_map map = {1, begin, begin, sizes, types, NULL, NULL};
    start();
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)bytes, 2 * CELL, 0x10000};
    rex_mapping_made(bytes, 2 * CELL, 0);
    CHECK_EQUAL(rex_mappings_left(&found), 1);
    CHECK(rex_memory_find(bytes + CELL, CELL, 0, &device) == REX_PRESENT_WHOLE && device == (void *)(0x10000 + CELL));
    for (int begun = 0; begun < 4; begun++) {
        CHECK(!rex_mapping_is_ending(bytes, 2 * CELL, 0, &found));
        for (int hidden = 1; hidden < 3; hidden++) {
            rex_mappings_hide(&map, 0);
            CHECK_EQUAL(rex_mapping_is_ending(bytes, 2 * CELL, 0, &found), begun == 1 && hidden == 1);
            CHECK(!rex_mapping_is_ending(bytes, CELL, 0, &found) && !rex_mapping_is_ending(bytes + CELL, CELL, 0, &found));
        }
        rex_mappings_show(&map, 0, false);
        rex_mappings_show(&map, 0, false);
        CHECK(rex_mapping_begun(bytes, 2 * CELL, 0));
    }
    rex_mapping_made(bytes, CELL, 0);
    CHECK(!rex_mapping_begun(bytes, 3 * CELL, 0));
    rex_mappings_hide(&map, 0);
    CHECK(!rex_mapping_is_ending(bytes, 2 * CELL, 0, &found));
}
