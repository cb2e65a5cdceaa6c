/*
 * rows.c - what each row macro puts into a row, in C11 and in C++11: rows/rows.h has the rows, tests/golden/messages/map.txt what is in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "unit/common.h"

#include "rows/given.h"
#include "support/messages.h"

MESSAGES("map");

enum { MOST = 64, MATRIX = 96 };

/* An address of what was given, by its name; of a local of the function nothing is known but that it is one. */
static void tell_address(char *to, uintptr_t address, const struct given *given, const double *data)
{
    if (address - (uintptr_t)given < sizeof *given)
        sprintf(to, "given+%zu", (size_t)(address - (uintptr_t)given));
    else if (address - given->matrix < MATRIX)
        sprintf(to, "matrix+%zu", (size_t)(address - given->matrix));
    else if (address - (uintptr_t)data < 32)
        sprintf(to, "data+%zu", (size_t)(address - (uintptr_t)data));
    else
        strcpy(to, "a local");
}

static void tell(const struct rex_row *row, const struct given *given, const double *data)
{
    char base[32], begin[32];
    const uint64_t kind = (uint64_t)row->type >> 32 & 0xff;
    const bool is_value = (row->type & REX_MAP_LITERAL) && kind != REX_KIND_POINTER;
    tell_address(base, (uintptr_t)row->base, given, data);
    tell_address(begin, (uintptr_t)row->begin, given, data);
    if (is_value)
        says("type %#x, kind %d, parent %d: %lld bytes, %lld", (unsigned)row->type, (int)kind, (int)((uint64_t)row->type >> 48),
             (long long)row->size, (long long)(intptr_t)row->base);
    else
        says("type %#x, kind %d, parent %d: %lld bytes at %s, base %s", (unsigned)row->type, (int)kind, (int)((uint64_t)row->type >> 48),
             (long long)row->size, begin, base);
    assert_true(!is_value || row->begin == row->base);
}

static void tell_rows(int32_t (*rows)(struct rex_row *to, struct given *given))
{
    struct rex_row row[MOST];
    double data[4];
    struct given given = {.n = 4, .data = data};
    int32_t count = rows(row, &given);
    for (int i = 0; i < count; i++)
        tell(&row[i], &given, data);
    assert_int_equal(given.evaluations, 8 + 10);
    assert_int_equal(given.made, 0);
    for (int i = 0; i < given.built.count; i++)
        tell(&(struct rex_row){given.built.base[i], given.built.begin[i], given.built.sizes[i], given.built.types[i]}, &given, data);
    rex_map_free(&given.built);
}

TEST(in_c11)
{
    tell_rows(rows_c11);
}

TEST(in_cxx11)
{
    tell_rows(rows_cxx11);
}
