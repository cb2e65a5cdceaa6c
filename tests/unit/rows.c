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

static void tell(FILE *to, const struct rex_row *row, const struct given *given, const double *data)
{
    char base[32], begin[32];
    const uint64_t kind = (uint64_t)row->type >> 32 & 0xff;
    const bool is_value = (row->type & REX_MAP_LITERAL) && kind != REX_KIND_POINTER;
    tell_address(base, (uintptr_t)row->base, given, data);
    tell_address(begin, (uintptr_t)row->begin, given, data);
    fprintf(to, "type %#x, kind %d, parent %d: %lld bytes", (unsigned)row->type, (int)kind, (int)((uint64_t)row->type >> 48), (long long)row->size);
    if (is_value)
        fprintf(to, ", %lld\n", (long long)(intptr_t)row->base);
    else
        fprintf(to, " at %s, base %s\n", begin, base);
    assert_true(!is_value || row->begin == row->base);
}

/* A line for each row. To be freed. */
static char *rows_of(int32_t (*rows)(struct rex_row *to, struct given *given))
{
    struct rex_row row[MOST];
    double data[4];
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    struct given given = {.n = 4, .data = data};
    int32_t count = rows(row, &given);
    for (int i = 0; i < count; i++)
        tell(to, &row[i], &given, data);
    assert_int_equal(given.evaluations, 8 + 10);
    assert_int_equal(given.made, 0);
    for (int i = 0; i < given.built.count; i++)
        tell(to, &(struct rex_row){given.built.base[i], given.built.begin[i], given.built.sizes[i], given.built.types[i]}, &given, data);
    rex_map_free(&given.built);
    fclose(to);
    return text;
}

TEST(same_in_both)
{
    char *c11 = rows_of(rows_c11), *cxx11 = rows_of(rows_cxx11), *rest = c11;
    assert_string_equal(cxx11, c11);
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';)
        says("%s", line);
    free(c11);
    free(cxx11);
}
