/*
 * Maps at random: what the static form, the builder and mappers make of a list of rows, against a model that works the columns out by
 * itself, from the numbers that the OpenMP clauses stand for.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "unit/common.h"

#include <rex.h>

enum {
    ROUNDS = 3000,
    PART = 5,       /* rows of a fixed part */
    MOST_ROWS = 4000,
    MOST_ELEMENTS = 4,
};

static uint64_t random_state;

static int64_t draw(int64_t most)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((random_state >> 33) % (uint64_t)most);
}

/* ---- the model ------------------------------------------------------------------------------------------------------------ */

struct columns {
    int count;
    uint64_t base[MOST_ROWS], begin[MOST_ROWS], size[MOST_ROWS], type[MOST_ROWS];
};

static void expect(struct columns *columns, uint64_t base, uint64_t begin, uint64_t size, uint64_t type)
{
    assert_in_range(columns->count, 0, MOST_ROWS - 1);
    columns->base[columns->count] = base;
    columns->begin[columns->count] = begin;
    columns->size[columns->count] = size;
    columns->type[columns->count++] = type;
}

static void check(const struct rex_map *map, const struct columns *columns, const char *form)
{
    assert_int_equal(map->count, columns->count);
    for (int i = 0; i < columns->count; i++)
        if ((uint64_t)(uintptr_t)map->base[i] != columns->base[i] || (uint64_t)(uintptr_t)map->begin[i] != columns->begin[i] ||
            (uint64_t)map->sizes[i] != columns->size[i] || (uint64_t)map->types[i] != columns->type[i])
            fail_msg("%s: row %d of %d is %p %p %lld 0x%llx, not 0x%llx 0x%llx %llu 0x%llx", form, i, map->count, map->base[i],
                     map->begin[i], (long long)map->sizes[i], (unsigned long long)map->types[i], (unsigned long long)columns->base[i],
                     (unsigned long long)columns->begin[i], (unsigned long long)columns->size[i], (unsigned long long)columns->type[i]);
}

/* ---- rows of clauses -------------------------------------------------------------------------------------------------------- */

struct pair {
    int16_t small;
    int64_t large;
    double *pointer;
};

enum kind {
    SECTION,
    OBJECT,
    LITERAL_INT,
    LITERAL_DOUBLE,
    LITERAL_BYTE,
    FIRSTPRIVATE,
    OWN,
    POINTER,
    RETURNED,
    PARENT,
    MEMBER,
    POINTEE,
    KINDS
};

/* A row in words. */
struct clause {
    enum kind kind;
    int array, modifier, direction;
    int64_t lower, length, value;
    int parent; /* of a member, a row of the same part */
};

static double arrays[4][64];
static struct pair pairs[4];
static const uint64_t modifiers[] = {0, 0x4, 0x400, 0x1000, 0x2000, 0x200};

static void draw_clauses(struct clause *clauses, int count)
{
    int parent = -1;
    for (int i = 0; i < count; i++) {
        struct clause *clause = &clauses[i];
        *clause = (struct clause){(enum kind)draw(KINDS), (int)draw(4), (int)draw(6), (int)draw(4), draw(60), 0, 0, parent};
        clause->length = draw(64 - clause->lower);
        clause->value = (int64_t)((uint64_t)draw(INT32_MAX) << draw(32));
        if ((clause->kind == MEMBER || clause->kind == POINTEE) && parent < 0)
            clause->kind = PARENT;
        if (clause->kind == PARENT)
            parent = i;
    }
}

/* By the macros. */
static struct rex_row row_of(const struct clause *clause)
{
    double *array = arrays[clause->array], number = (double)clause->value;
    struct pair *pair = &pairs[clause->array];
    struct rex_row row;
    switch (clause->kind) {
    case SECTION:
        row = clause->lower > 0        ? REX_SECTION(clause->direction, array, clause->lower, clause->length)
              : clause->direction == 0 ? REX_ALLOC(array, clause->length)
              : clause->direction == 1 ? REX_TO(array, clause->length)
              : clause->direction == 2 ? REX_FROM(array, clause->length)
                                       : REX_TOFROM(array, clause->length);
        break;
    case OBJECT: row = REX_OBJECT(clause->direction, *pair); break;
    case LITERAL_INT: return REX_VALUE((int32_t)clause->value);
    case LITERAL_DOUBLE: return REX_VALUE(number);
    case LITERAL_BYTE: return REX_VALUE((uint8_t)clause->value);
    case FIRSTPRIVATE: return REX_FIRSTPRIVATE(*pair);
    case OWN: return REX_PRIVATE(*pair);
    case POINTER: return REX_POINTER(array);
    case RETURNED: return REX_RETURN(REX_TO(array, clause->length));
    case PARENT: row = REX_STRUCT(*pair, small, large); break;
    case MEMBER: row = REX_MEMBER(clause->parent, clause->direction, pairs[clause->array], large); break;
    default:
        row = REX_MEMBER_POINTER(clause->parent, clause->direction, pairs[clause->array], pointer, clause->lower, clause->length);
        break;
    }
    return clause->modifier == 1   ? REX_ALWAYS(row)
           : clause->modifier == 2 ? REX_CLOSE(row)
           : clause->modifier == 3 ? REX_PRESENT(row)
           : clause->modifier == 4 ? REX_HOLD(row)
           : clause->modifier == 5 ? REX_IMPLICIT(row)
                                   : row;
}

/* By the numbers; FIRST is the row where the clause's part begins. */
static void expect_clause(struct columns *columns, const struct clause *clause, int first)
{
    uint64_t array = (uint64_t)(uintptr_t)arrays + (uint64_t)clause->array * 512,
             pair = (uint64_t)(uintptr_t)pairs + (uint64_t)clause->array * 24;
    uint64_t lower = 8 * (uint64_t)clause->lower, bytes = 8 * (uint64_t)clause->length, direction = (uint64_t)clause->direction, bits;
    uint64_t modifier = modifiers[clause->modifier], member = (uint64_t)(first + clause->parent + 1) << 48;
    double number = (double)clause->value;
    memcpy(&bits, &number, sizeof bits);
    switch (clause->kind) {
    case SECTION: expect(columns, array, array + lower, bytes, direction | modifier | 0x20); break;
    case OBJECT: expect(columns, pair, pair, 24, direction | modifier | 0x20); break;
    case LITERAL_INT: expect(columns, (uint64_t)(int32_t)clause->value, (uint64_t)(int32_t)clause->value, 4, 0x900000120); break;
    case LITERAL_DOUBLE: expect(columns, bits, bits, 8, 0xe00000120); break;
    case LITERAL_BYTE: expect(columns, (uint64_t)clause->value & 0xff, (uint64_t)clause->value & 0xff, 1, 0x600000120); break;
    case FIRSTPRIVATE: expect(columns, pair, pair, 24, 0xa1); break;
    case OWN: expect(columns, pair, pair, 24, 0xa0); break;
    case POINTER: expect(columns, array, array, 0, 0x220); break;
    case RETURNED: expect(columns, array, array, bytes, 0x61); break;
    case PARENT: expect(columns, pair, pair, 16, modifier | 0x20); break;
    case MEMBER: expect(columns, pair, pair + 8, 8, direction | modifier | member); break;
    default: expect(columns, pair + 16, array + lower, bytes, direction | modifier | member | 0x10); break;
    }
}

/* ---- sections through mappers --------------------------------------------------------------------------------------------------- */

struct leaf {
    int64_t count;
    double *values;
};

struct branch {
    int64_t leaves;
    struct leaf *leaf;
    double *values;
};

static int map_leaf(struct rex_map_builder *builder, void *element)
{
    struct leaf *leaf = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *leaf));
    return result == 0 && leaf->count > 0 ? rex_map_add(builder, REX_ATTACH(REX_MAP_TO, leaf->values, 0, leaf->count)) : result;
}

static int map_branch(struct rex_map_builder *builder, void *element)
{
    struct branch *branch = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *branch));
    if (result == 0 && branch->leaves > 0)
        result = rex_map_add_mapped(builder, map_leaf, REX_ATTACH(REX_MAP_TOFROM, branch->leaf, 0, branch->leaves), sizeof *branch->leaf);
    return result == 0 ? rex_map_add(builder, REX_ATTACH(REX_MAP_FROM, branch->values, 1, 2)) : result;
}

static struct leaf leaves[MOST_ELEMENTS][MOST_ELEMENTS];
static struct branch branches[MOST_ELEMENTS];

static void draw_branches(void)
{
    for (int i = 0; i < MOST_ELEMENTS; i++) {
        branches[i] = (struct branch){draw(MOST_ELEMENTS + 1), leaves[i], arrays[i]};
        for (int j = 0; j < MOST_ELEMENTS; j++)
            leaves[i][j] = (struct leaf){draw(9), arrays[j]};
    }
}

/* What SECTION says of what its elements map, BITS of it being what an element's row would copy. */
static uint64_t inside(uint64_t section, uint64_t bits, int parent)
{
    return (section & bits) | (section & 0x340c & ~UINT64_C(0x8)) | (uint64_t)(parent + 1) << 48;
}

static void expect_branch(struct columns *columns, const struct branch *branch, uint64_t section, int parent)
{
    uint64_t address = (uint64_t)(uintptr_t)branch;
    expect(columns, address, address, sizeof *branch, inside(section, 3, parent));
    if (branch->leaves > 0) {
        int inner = columns->count;
        expect(columns, address + 8, (uint64_t)(uintptr_t)branch->leaf, 16 * (uint64_t)branch->leaves, inside(section, 0, parent) | 0x210);
        for (int64_t i = 0; i < branch->leaves; i++) {
            const struct leaf *leaf = &branch->leaf[i];
            expect(columns, (uint64_t)(uintptr_t)leaf, (uint64_t)(uintptr_t)leaf, 16, inside(section, 3, inner));
            if (leaf->count > 0)
                expect(columns, (uint64_t)(uintptr_t)leaf + 8, (uint64_t)(uintptr_t)leaf->values, 8 * (uint64_t)leaf->count,
                       inside(section, 1, inner) | 0x10);
        }
    }
    expect(columns, address + 16, (uint64_t)(uintptr_t)branch->values + 8, 16, inside(section, 2, parent) | 0x10);
}

struct middle {
    struct clause *clauses;
    int count;
    int64_t branches;
    uint64_t section;
};

static int push_middle(struct rex_map_builder *builder, void *context)
{
    const struct middle *middle = context;
    int result = 0;
    int32_t first = rex_map_next_row(builder);
    for (int i = 0; i < middle->count && result == 0; i++) {
        struct clause clause = middle->clauses[i];
        clause.parent += clause.parent >= 0 ? first : 0;
        result = rex_map_add(builder, row_of(&clause));
    }
    struct rex_row section = REX_SECTION((int64_t)middle->section, branches, 0, middle->branches);
    return result == 0 ? rex_map_add_mapped(builder, map_branch, section, sizeof *branches) : result;
}

static void expect_middle(struct columns *columns, const struct middle *middle)
{
    int first = columns->count;
    for (int i = 0; i < middle->count; i++)
        expect_clause(columns, &middle->clauses[i], first);
    int parent = columns->count;
    expect(columns, (uint64_t)(uintptr_t)branches, (uint64_t)(uintptr_t)branches, 24 * (uint64_t)middle->branches,
           (middle->section & ~UINT64_C(3)) | 0x220);
    for (int64_t i = 0; i < middle->branches; i++)
        expect_branch(columns, &branches[i], middle->section, parent);
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------------ */

/* A prefix and a suffix in the static form, which are maps themselves, and between them what is counted and filled. */
static void one_round(void)
{
    static struct columns columns;
    struct clause before[PART], within[4 * PART], after[PART];
    struct middle middle = {within, (int)draw(4 * PART + 1), draw(MOST_ELEMENTS + 1), (uint64_t)draw(4) | modifiers[draw(5)]};
    struct rex_map map;
    draw_clauses(before, PART);
    draw_clauses(within, middle.count);
    draw_clauses(after, PART);
    draw_branches();
    REX_MAP(prefix, row_of(&before[0]), row_of(&before[1]), row_of(&before[2]), row_of(&before[3]), row_of(&before[4]));
    REX_MAP(suffix, row_of(&after[0]), row_of(&after[1]), row_of(&after[2]), row_of(&after[3]), row_of(&after[4]));
    columns.count = 0;
    for (int i = 0; i < PART; i++)
        expect_clause(&columns, &before[i], 0);
    check(&prefix, &columns, "the static form");
    expect_middle(&columns, &middle);
    int first = columns.count;
    for (int i = 0; i < PART; i++)
        expect_clause(&columns, &after[i], first);
    assert_int_equal(rex_map_build(&map, &prefix, push_middle, &middle, &suffix), 0);
    check(&map, &columns, "the builder");
    rex_map_free(&map);
}

TEST(maps_at_random)
{
    for (int i = 0; i < 4; i++)
        pairs[i].pointer = arrays[i];
    for (int round = 0; round < ROUNDS; round++) {
        random_state = (uint64_t)round;
        one_round();
    }
}
