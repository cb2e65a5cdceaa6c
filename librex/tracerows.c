/*
 * tracerows.c - rows of a map in a timeline.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex/map.h"
#include "rowlog.h"
#include "traceline.h"

#define MOST_ROWS 32
#define NON_CONTIGUOUS INT64_C(0x100000000000) /* OMP_MAP_NON_CONTIG: begin points to dimensions, size is their number */

/* As libomptarget has it (LLVM 14 to 22): outermost first. */
struct dimension {
    uint64_t offset, count, stride;
};

static uint64_t bytes_of_dimensions(const struct dimension *dimension, int64_t dimensions)
{
    uint64_t bytes = dimensions > 0 ? dimension[dimensions - 1].stride : 0;
    for (int64_t i = 0; i < dimensions; i++)
        if (__builtin_mul_overflow(bytes, dimension[i].count, &bytes))
            return UINT64_MAX;
    return bytes;
}

static uint64_t bytes_of(const void *begin, int64_t size, int64_t type)
{
    if (type & (REX_TYPE_LITERAL | REX_TYPE_PRIVATE) || size < 0)
        return 0;
    return type & NON_CONTIGUOUS ? bytes_of_dimensions(begin, size) : (uint64_t)size;
}

uint64_t rex_rows_bytes(int64_t count, void **begin, const int64_t *sizes, const int64_t *types, int64_t direction)
{
    uint64_t all = 0;
    for (int64_t i = 0; begin != NULL && sizes != NULL && types != NULL && i < count; i++)
        if ((types[i] & direction) && __builtin_add_overflow(all, bytes_of(begin[i], sizes[i], types[i]), &all))
            return UINT64_MAX;
    return all;
}

static void add_row(struct rex_line *line, const void *begin, int64_t size, int64_t type)
{
    char words[256];
    rex_type_text(type, words, sizeof words);
    if (type & REX_TYPE_LITERAL)
        rex_line_add(line, "\"%s 0x%llx, %lld bytes\"", words, (unsigned long long)(uintptr_t)begin, (long long)size);
    else
        rex_line_add(line, "\"%s %lld bytes at %p\"", words, (long long)(type & NON_CONTIGUOUS ? (int64_t)bytes_of(begin, size, type) : size), begin);
}

void rex_line_rows(struct rex_line *line, int64_t count, void **begin, const int64_t *sizes, const int64_t *types)
{
    if (count <= 0 || begin == NULL || sizes == NULL || types == NULL)
        return;
    rex_line_add(line, ",\"rows\":[");
    for (int64_t i = 0; i < count && i < MOST_ROWS; i++) {
        if (i > 0)
            rex_line_add(line, ",");
        add_row(line, begin[i], sizes[i], types[i]);
    }
    if (count > MOST_ROWS)
        rex_line_add(line, ",\"and %lld more\"", (long long)(count - MOST_ROWS));
    rex_line_add(line, "]");
}
