/*
 * What each row macro puts into a row, in C11 and in C++11: rows/rows.h has the rows.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "unit/common.h"

#include "rows/given.h"

#define MOST 64
#define UNKNOWN UINT64_MAX /* not compared: an address of a local */

struct expected {
    uint64_t base, into, size, type;
};

static uint64_t bits_of(const void *value, size_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, value, bytes);
    return bits;
}

static void check(const struct rex_row *row, int number, const struct expected *expected)
{
    uint64_t base = (uintptr_t)row->base, into = (uintptr_t)row->begin - base;
    if ((expected->base != UNKNOWN && base != expected->base) || (expected->into != UNKNOWN && into != expected->into) ||
        (uint64_t)row->size != expected->size || (uint64_t)row->type != expected->type)
        fail_msg("row %d is %#llx + %#llx, %lld bytes, type %#llx", number, (unsigned long long)base, (unsigned long long)into,
                 (long long)row->size, (unsigned long long)row->type);
}

#define LITERAL(kind) (0x120 | (uint64_t)(kind) << 32)
#define OF_39 (UINT64_C(40) << 48)

static void check_rows(int32_t (*rows)(struct rex_row *to, struct given *given))
{
    struct rex_row row[MOST];
    double data[4];
    const struct pair pair = {1.0f, 2.0f};
    const float half = 0.5f;
    const double half_double = 0.5;
    struct given given = {.n = 4, .data = data};
    int32_t count = rows(row, &given);
    const uint64_t array = (uintptr_t)given.array, matrix = given.matrix, all = (uintptr_t)&given;
    const uint64_t letter = (char)-1 < 0 ? REX_KIND_I8 : REX_KIND_U8;
    const struct expected expected[] = {
        {array, 0, 32, 0x21},
        {array, 0, 40, 0x22},
        {array, 0, 24, 0x23},
        {matrix, 0, 96, 0x20},
        {matrix, 0, 56, 0x20},
        {array + 8, 0, 16, 0x28},
        {array, 16, 8, 0x21},
        {array, 0, 0, 0x220},
        {all, 0, sizeof given, 0x22},
        {matrix, 0, 96, 0x21},
        {UNKNOWN, 0, 8, 0xa1},
        {matrix, 0, 96, 0xa0},
        {array, 0, 8, 0x1025},
        {array, 0, 8, 0x420},
        {array, 0, 8, 0x2020},
        {array, 0, 8, 0x220},
        {array, 0, 8, 0x61},
        {array, 0, 0, 0x40},
        {7, 0, 4, LITERAL(REX_KIND_I32)},
        {UINT64_MAX, 0, 1, LITERAL(REX_KIND_I8)},
        {255, 0, 1, LITERAL(REX_KIND_U8)},
        {(uint64_t)-3, 0, 2, LITERAL(REX_KIND_I16)},
        {65535, 0, 2, LITERAL(REX_KIND_U16)},
        {(uint64_t)-4, 0, 4, LITERAL(REX_KIND_I32)},
        {4000000000u, 0, 4, LITERAL(REX_KIND_U32)},
        {(uint64_t)-5, 0, 8, LITERAL(REX_KIND_I64)},
        {UINT64_MAX, 0, 8, LITERAL(REX_KIND_U64)},
        {bits_of(&half, 4), 0, 4, LITERAL(REX_KIND_F32)},
        {bits_of(&half_double, 8), 0, 8, LITERAL(REX_KIND_F64)},
        {1, 0, 1, LITERAL(REX_KIND_BOOL)},
        {'c', 0, 1, LITERAL(letter)},
        {(uint64_t)(char)-1, 0, 1, LITERAL(letter)},
        {1, 0, 4, LITERAL(REX_KIND_U32)},
        {(uint64_t)-2, 0, 4, LITERAL(REX_KIND_I32)},
        {bits_of(&pair, 8), 0, 8, LITERAL(REX_KIND_VALUE)},
        {UNKNOWN, 0, 8, LITERAL(REX_KIND_POINTER)},
        {all, 0, 8, LITERAL(REX_KIND_POINTER)},
        {all, 0, 8, LITERAL(REX_KIND_POINTER)},
        {all, 0, 8, LITERAL(REX_KIND_POINTER)},
        {all, offsetof(struct given, array), offsetof(struct given, after) - offsetof(struct given, array), 0x20},
        {all, offsetof(struct given, n), 8, 0x1 | OF_39},
        {all, offsetof(struct given, pair.y), 4, 0x1 | OF_39},
        {(uintptr_t)&given.data, (uintptr_t)(data + 1) - (uintptr_t)&given.data, 32, 0x13 | OF_39},
        {(uintptr_t)&given.data, (uintptr_t)data - (uintptr_t)&given.data, 16, 0x32},
        {(uintptr_t)&given.n, 0, 8, 0x1 | OF_39},
    };
    assert_int_equal(count, COUNT(expected));
    for (int i = 0; i < count; i++)
        check(&row[i], i, &expected[i]);
    assert_int_equal(given.evaluations, 8 + 10);

    assert_int_equal(given.made, 0);
    assert_int_equal(given.built.count, 3);
    for (int i = 0; i < 3; i++) {
        const struct rex_row built = {given.built.base[i], given.built.begin[i], given.built.sizes[i], given.built.types[i]};
        check(&built, i, &(const struct expected[]){{4, 0, 8, LITERAL(REX_KIND_I64)}, {array, 0, 32, 0x21}, {array, 0, 8, 0x1025}}[i]);
    }
    rex_map_free(&given.built);
}

TEST(in_c11)
{
    check_rows(rows_c11);
}

TEST(in_cxx11)
{
    check_rows(rows_cxx11);
}
