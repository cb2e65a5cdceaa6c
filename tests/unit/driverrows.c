/*
 * driverrows.c - the rows of a launch by the driver: which ones the driver can send, where each lies, and what is copied.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "launch/driverrows.h"
#include "omp/sender.h"
#include "rex/entry.h"
#include "rex_kmp.h"

/* ---- what the driver can send
 * ------------------------------------------------------------------------------------------------------------------------- */

#define ARGUMENT REX_MAP_TARGET_PARAM
#define VALUE (REX_MAP_LITERAL | ARGUMENT)

/* One row, of SIZE bytes at BEGIN. */
static unsigned ask_row(int64_t type, int64_t size, uintptr_t begin)
{
    void *at = (void *)begin;
    struct rex_map map = {.count = 1, .base = &at, .begin = &at, .sizes = &size, .types = &type};
    return rex_against_rows(&map);
}

TEST(test_types)
{
    enum { SOME = 4096, LARGE = 1 << 30 };
    static const int64_t most = INT64_C(1) << 40;
    const struct {
        int64_t type, size;
        uintptr_t begin;
        unsigned against;
    } all[] = {
        /* memory, of every direction, with what the driver can do */
        {REX_MAP_TOFROM | ARGUMENT, 8, SOME, 0},
        {REX_MAP_TOFROM | REX_MAP_ALWAYS | ARGUMENT, 8, SOME, 0},
        {REX_MAP_ALLOC | REX_MAP_IMPLICIT | ARGUMENT, 8, SOME, 0},
        {REX_MAP_TO | REX_MAP_CLOSE, 8, SOME, 0},
        {REX_MAP_FROM | REX_MAP_PRESENT | REX_MAP_OMPX_HOLD, 8, SOME, 0},
        /* and with what only libomptarget does */
        {REX_MAP_DELETE, 8, SOME, REX_AGAINST_TYPE},
        {REX_MAP_TO | REX_MAP_PTR_AND_OBJ, 8, SOME, REX_AGAINST_TYPE},
        {REX_MAP_TO | REX_MAP_RETURN_PARAM | ARGUMENT, 8, SOME, REX_AGAINST_TYPE},
        {REX_MAP_TO | REX_MAP_MEMBER_OF(0), 8, SOME, REX_AGAINST_TYPE},
        {REX_MAP_TO | 0x4000, 8, SOME, REX_AGAINST_TYPE},
        {REX_MAP_TO | 0x800, 8, SOME, REX_AGAINST_TYPE},
        {REX_MAP_TO | REX_MAP_KIND(1), 8, SOME, REX_AGAINST_TYPE},
        /* a value is anything, of any size */
        {VALUE, 8, 0, 0},
        {VALUE | REX_MAP_IMPLICIT | REX_MAP_KIND(3), 8, 0, 0},
        {VALUE, most + 1, UINTPTR_MAX, 0},
        {VALUE, -1, SOME, REX_AGAINST_ROWS},
        {VALUE | REX_MAP_TO, 8, SOME, REX_AGAINST_TYPE},
        {VALUE | REX_MAP_PRIVATE, 8, SOME, REX_AGAINST_TYPE},
        /* a private copy comes from the host, and goes nowhere */
        {REX_MAP_PRIVATE | REX_MAP_TO | ARGUMENT, 8, SOME, 0},
        {REX_MAP_PRIVATE | REX_MAP_IMPLICIT | ARGUMENT, 8, SOME, 0},
        {REX_MAP_PRIVATE | REX_MAP_FROM | ARGUMENT, 8, SOME, REX_AGAINST_TYPE},
        {REX_MAP_PRIVATE | REX_MAP_ALWAYS | ARGUMENT, 8, SOME, REX_AGAINST_TYPE},
        {REX_MAP_PRIVATE | ARGUMENT, 0, SOME, REX_AGAINST_ROWS},
        /* where it lies, and how large it is */
        {REX_MAP_TO, 0, 0, 0},
        {REX_MAP_TO, 0, UINTPTR_MAX, 0},
        {REX_MAP_TO, 1, 0, REX_AGAINST_ROWS},
        {REX_MAP_TO, -1, SOME, REX_AGAINST_ROWS},
        {REX_MAP_TO, most, SOME, 0},
        {REX_MAP_TO, most + 1, SOME, REX_AGAINST_ROWS},
        {REX_MAP_TO, LARGE, UINTPTR_MAX - LARGE, 0},
        {REX_MAP_TO, LARGE, UINTPTR_MAX - LARGE + 1, REX_AGAINST_ROWS},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        if (ask_row(all[i].type, all[i].size, all[i].begin) != all[i].against)
            fail_msg("row %zu: 0x%x", i, ask_row(all[i].type, all[i].size, all[i].begin));
}

TEST(test_columns)
{
    void *at[] = {&at, &at}, *mappers[] = {NULL, NULL};
    int64_t sizes[] = {8, 8}, types[] = {REX_MAP_TO, REX_MAP_DELETE};
    struct rex_map map = {.count = 1, .base = at, .begin = at, .sizes = sizes, .types = types, .mappers = mappers};
    assert_int_equal(rex_against_rows(&map), 0);
    map.count = 2;
    assert_int_equal(rex_against_rows(&map), REX_AGAINST_TYPE);
    mappers[0] = at;
    assert_int_equal(rex_against_rows(&map), REX_AGAINST_MAPPER | REX_AGAINST_TYPE);
    map.count = -1;
    assert_int_equal(rex_against_rows(&map), REX_AGAINST_ROWS);
    assert_int_equal(rex_against_rows(&(struct rex_map){.count = 0}), 0);
    assert_int_equal(rex_against_rows(&(struct rex_map){2, NULL, at, sizes, types, NULL, NULL}), REX_AGAINST_ROWS);
    assert_int_equal(rex_against_rows(&(struct rex_map){2, at, NULL, sizes, types, NULL, NULL}), REX_AGAINST_ROWS);
    assert_int_equal(rex_against_rows(&(struct rex_map){2, at, at, NULL, types, NULL, NULL}), REX_AGAINST_ROWS);
    assert_int_equal(rex_against_rows(&(struct rex_map){2, at, at, sizes, NULL, NULL, NULL}), REX_AGAINST_ROWS);
}

/* ---- memory for the launch ---------------------------------------------------------------------------------------------------------- */

static char memory[1 << 16];
enum { MOST = 8 };

/* A row of SIZE bytes from AT on. */
struct row {
    int64_t type;
    size_t at, size;
};

static struct rex_slot slot;
static void *begins[MOST];
static int64_t sizes[MOST], types[MOST];
static struct rex_map map = {.base = begins, .begin = begins, .sizes = sizes, .types = types};

/* What stands against them; to be ended by who calls, if nothing does. */
static unsigned place(struct rex_driver_rows *rows, const struct row *row, size_t count)
{
    unsigned against = ~0u;
    for (size_t i = 0; i < count; i++) {
        begins[i] = memory + row[i].at;
        sizes[i] = (int64_t)row[i].size;
        types[i] = row[i].type | ARGUMENT;
    }
    map.count = (int32_t)count;
    CHECK_EQUAL(rex_driver_rows_begin(rows, &slot, &map, 0, false, &against), REX_OK);
    return against;
}

/* The own row that is ROW of the map. */
static struct rex_own_row *own_of(struct rex_driver_rows *rows, int32_t row)
{
    for (size_t i = 0; i < rows->own_count; i++)
        if (rows->own[i].row == row)
            return &rows->own[i];
    return NULL;
}

/* What is copied in comes first, what is copied back last, each as aligned as an object of its size may have to be. */
TEST(test_arena)
{
    static const struct row row[] = {{REX_MAP_FROM, 0, 10},      {REX_MAP_ALLOC, 100, 1}, {REX_MAP_TOFROM, 200, 600},
                                     {REX_MAP_TO, 1000, 100},    {REX_MAP_TO, 2000, 20},  {REX_MAP_PRIVATE | REX_MAP_TO, 1000, 9},
                                     {REX_MAP_PRIVATE, 2000, 5}, {REX_MAP_LITERAL, 1, 8}};
    static const size_t offsets[] = {1120, 1136, 512, 0, 128, 160, 1152};
    struct rex_driver_rows rows;
    assert_int_equal(place(&rows, row, COUNT(row)), 0);
    assert_int_equal(rows.own_count, COUNT(offsets));
    for (int32_t i = 0; i < (int32_t)COUNT(offsets); i++)
        assert_int_equal(own_of(&rows, i)->offset, offsets[i]);
    assert_int_equal(rows.out_begin, 169);
    assert_int_equal(rows.in, 1112);
    assert_int_equal(rows.out_end, 1130);
    assert_int_equal(rows.total, 1157);
    assert_false(rows.has_updates);
    /* private ones are nobody else's */
    assert_int_equal(rows.claim.count, 5);
    rex_driver_rows_end(&rows);
}

/* What is claimed: a byte at least; what is copied back is changed. */
TEST(test_claims)
{
    static const struct row row[] = {
        {REX_MAP_TO, 0, 10}, {REX_MAP_FROM, 100, 10}, {REX_MAP_TOFROM, 200, 10}, {REX_MAP_ALLOC, 300, 10}, {REX_MAP_TOFROM, 400, 0}};
    struct rex_driver_rows rows;
    assert_int_equal(place(&rows, row, COUNT(row)), REX_AGAINST_UNSEEN);
    for (size_t i = 0; i < COUNT(row); i++) {
        assert_int_equal(rows.claim.place[i].begin, (uintptr_t)memory + row[i].at);
        assert_int_equal(rows.claim.place[i].end - rows.claim.place[i].begin, row[i].size > 0 ? 10 : 1);
        assert_int_equal(rows.claim.place[i].is_changed, i == 1 || i == 2);
    }
}

/* ---- rows in rows ------------------------------------------------------------------------------------------------------------------- */

struct overlap {
    struct row row[3];
    unsigned against;
    size_t total;
    int outer[3]; /* of each row, the row that it lies in */
};

TEST(test_overlaps)
{
    enum { BOTH = REX_MAP_TOFROM };
    static const struct overlap all[] = {
        {{{BOTH, 0, 100}, {BOTH, 100, 100}}, 0, 228, {0, 1}},                                     /* one beside the other */
        {{{BOTH, 100, 100}, {BOTH, 0, 100}}, 0, 228, {0, 1}},
        {{{BOTH, 0, 100}, {BOTH, 0, 100}}, 0, 100, {0, 0}},                                       /* the same twice */
        {{{BOTH, 0, 100}, {BOTH, 60, 40}}, 0, 100, {0, 0}},                                       /* up to the end */
        {{{BOTH, 0, 100}, {BOTH, 0, 40}}, 0, 100, {0, 0}},
        {{{BOTH, 0, 100}, {BOTH, 60, 41}}, REX_AGAINST_OVERLAP, 0, {0}},                          /* and beyond it */
        {{{BOTH, 0, 40}, {BOTH, 0, 100}}, REX_AGAINST_OVERLAP, 0, {0}},                           /* the larger one later */
        {{{BOTH, 50, 10}, {BOTH, 0, 100}}, REX_AGAINST_OVERLAP, 0, {0}},
        {{{BOTH, 0, 100}, {REX_MAP_TO, 50, 10}}, REX_AGAINST_OVERLAP, 0, {0}},                   /* not copied alike */
        {{{BOTH, 0, 100}, {REX_MAP_FROM, 50, 10}}, REX_AGAINST_OVERLAP, 0, {0}},
        {{{BOTH, 0, 100}, {BOTH | REX_MAP_CLOSE, 50, 10}}, 0, 100, {0, 0}},                      /* but for what changes nothing here */
        {{{BOTH, 0, 100}, {BOTH, 10, 10}, {BOTH, 30, 10}}, 0, 100, {0, 0, 0}},                    /* two in one */
        {{{BOTH, 0, 100}, {BOTH, 10, 50}, {BOTH, 20, 10}}, 0, 100, {0, 0, 0}},                    /* one in one in one */
        {{{BOTH, 0, 100}, {BOTH, 10, 50}, {BOTH, 100, 10}}, 0, 122, {0, 0, 2}},
        {{{BOTH, 0, 100}, {BOTH, 100, 100}, {BOTH, 120, 10}}, 0, 228, {0, 1, 1}},                 /* the last in the second */
        {{{BOTH, 0, 100}, {BOTH, 200, 100}, {BOTH, 150, 51}}, REX_AGAINST_OVERLAP, 0, {0}},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        struct rex_driver_rows rows;
        size_t count = all[i].row[2].size > 0 ? 3 : 2;
        if (place(&rows, all[i].row, count) != all[i].against)
            fail_msg("case %zu", i);
        if (all[i].against != 0)
            continue;
        assert_int_equal(rows.total, all[i].total);
        for (size_t j = 0; j < rows.own_count; j++)
            rows.own[j].device = rows.own[j].outer == j ? 4096 + rows.own[j].offset : 0;
        rex_driver_rows_settle(&rows);
        for (int32_t j = 0; j < (int32_t)count; j++) {
            const struct rex_own_row *outer = own_of(&rows, all[i].outer[j]);
            assert_true(&rows.own[own_of(&rows, j)->outer] == outer);
            assert_int_equal(rows.device[j], outer->device + all[i].row[j].at - all[i].row[all[i].outer[j]].at);
        }
        rex_driver_rows_end(&rows);
    }
}

/* ---- what is mapped ----------------------------------------------------------------------------------------------------------------- */

static char key;
static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"axpy__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/stateless_sm_90.cubin"};

enum { BEGIN = 1000, SIZE = 1000, DEVICE = 0x10000000 };

static void expect(const struct row *row, unsigned against, uintptr_t device, bool has_updates)
{
    struct rex_driver_rows rows;
    CHECK_EQUAL(place(&rows, row, 1), against);
    if (against != 0)
        return;
    CHECK_EQUAL(rows.own_count, device == 0);
    CHECK_EQUAL(rows.device[0] * (device != 0), device);
    CHECK_EQUAL(rows.has_updates, has_updates);
    rex_driver_rows_end(&rows);
}

#define EXPECT(against, device, has_updates, ...) expect(&(struct row){__VA_ARGS__}, against, device, has_updates)

/* One row, where libomptarget has mapped all rows just before: what it has not is the host's address, if that has no elements. */
static void expect_around(size_t at, size_t size, unsigned against, uintptr_t device)
{
    struct rex_driver_rows rows;
    unsigned found = 0;
    begins[0] = memory + at;
    sizes[0] = (int64_t)size;
    types[0] = REX_MAP_TOFROM | ARGUMENT;
    map.count = 1;
    CHECK_EQUAL(rex_driver_rows_begin(&rows, &slot, &map, 0, true, &found), REX_OK);
    CHECK_EQUAL(found, against);
    CHECK(rows.own_count == 0 && rows.device[0] == device);
    if (against == 0)
        rex_driver_rows_end(&rows);
}

TEST_IN_CHILD(ask_mapped)
{
    void *pointer = memory + BEGIN;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory + BEGIN, SIZE, DEVICE};
    REX_MAP(region, REX_TO((char *)pointer, SIZE));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    /* all of it, a part, a place in it */
    EXPECT(0, DEVICE, false, REX_MAP_TOFROM, BEGIN, SIZE);
    EXPECT(0, DEVICE + 10, false, REX_MAP_TOFROM | REX_MAP_PRESENT, BEGIN + 10, SIZE - 10);
    EXPECT(0, DEVICE + SIZE - 1, false, REX_MAP_TOFROM | REX_MAP_ALWAYS, BEGIN + SIZE - 1, 0);
    /* a part of it and more, and nothing of it */
    EXPECT(REX_AGAINST_UNSEEN, 0, false, REX_MAP_TO, BEGIN - 1, 2);
    EXPECT(REX_AGAINST_UNSEEN, 0, false, REX_MAP_TO, BEGIN + SIZE - 1, 2);
    EXPECT(REX_AGAINST_UNSEEN, 0, false, REX_MAP_TO, BEGIN - 1, SIZE + 2);
    EXPECT(0, 0, false, REX_MAP_TO | REX_MAP_ALWAYS, BEGIN + SIZE, 1);
    EXPECT(0, 0, false, REX_MAP_TO, BEGIN - 1, 1);
    EXPECT(REX_AGAINST_UNSEEN, 0, false, REX_MAP_TO | REX_MAP_PRESENT, BEGIN + SIZE, 1);
    EXPECT(REX_AGAINST_UNSEEN, 0, false, REX_MAP_TO, BEGIN + SIZE, 0);
    /* what is always copied */
    EXPECT(0, DEVICE, true, REX_MAP_TO | REX_MAP_ALWAYS, BEGIN, 8);
    EXPECT(0, DEVICE, true, REX_MAP_FROM | REX_MAP_ALWAYS, BEGIN, 8);
    EXPECT(0, DEVICE, false, REX_MAP_ALLOC | REX_MAP_ALWAYS, BEGIN, 8);
    expect_around(BEGIN, SIZE, 0, DEVICE);
    expect_around(BEGIN + 10, 1, 0, DEVICE + 10);
    expect_around(BEGIN + SIZE, 0, 0, (uintptr_t)memory + BEGIN + SIZE);
    expect_around(BEGIN + SIZE, 1, REX_AGAINST_UNSEEN, (uintptr_t)memory + BEGIN + SIZE);
    /* but over a pointer to the device's memory, which may be in it from now on */
    void *base = &pointer, *begin = pointer;
    int64_t size = 8, type = REX_MAP_TO | REX_MAP_PTR_AND_OBJ;
    __rex_real___tgt_target_data_begin(0, 1, &base, &begin, &size, &type);
    EXPECT(REX_AGAINST_UNSEEN, 0, false, REX_MAP_FROM | REX_MAP_ALWAYS, BEGIN, 8);
    EXPECT(0, DEVICE, false, REX_MAP_FROM, BEGIN, 8);
}
