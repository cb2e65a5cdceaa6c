/*
 * tracerows.c - rows of a map in words.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex/map.h"
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

/* What is done with the memory of a row; a literal has none. */
static const char *motion(int64_t type)
{
    static const char *const words[] = {"alloc", "to", "from", "tofrom"};
    return type & REX_TYPE_LITERAL  ? "value"
           : type & REX_TYPE_DELETE ? "delete"
                                    : words[type & REX_TYPE_TOFROM];
}

static void add_row(struct rex_line *line, const void *begin, int64_t size, int64_t type)
{
    static const struct {
        int64_t bit;
        const char *word;
    } words[] = {
        {REX_TYPE_PARAMETER, "parameter"}, {REX_TYPE_POINTER, "pointer and object"}, {REX_TYPE_ALWAYS, "always"},
        {REX_TYPE_PRESENT, "present"},     {REX_TYPE_HOLD, "hold"},                  {REX_TYPE_CLOSE, "close"},
        {REX_TYPE_PRIVATE, "private"},     {REX_TYPE_IMPLICIT, "implicit"},          {REX_TYPE_RETURN, "return address"},
        {NON_CONTIGUOUS, "not contiguous"},
    };
    if (type & REX_TYPE_LITERAL)
        rex_line_add(line, "\"value 0x%llx, %lld bytes", (unsigned long long)(uintptr_t)begin, (long long)size);
    else
        rex_line_add(line, "\"%s %lld bytes at %p", motion(type), type & NON_CONTIGUOUS ? (long long)bytes_of(begin, size, type) : (long long)size,
                     begin);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (type & words[i].bit)
            rex_line_add(line, ", %s", words[i].word);
    if (type & REX_TYPE_MEMBER_MASK)
        rex_line_add(line, ", member of row %d", (int)((uint64_t)type >> 48) - 1);
    rex_line_add(line, "\"");
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
