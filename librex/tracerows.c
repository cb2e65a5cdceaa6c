/*
 * tracerows.c - launches and rows of a map in a timeline.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "hash.h"
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
            return INT64_MAX;
    return bytes < INT64_MAX ? bytes : INT64_MAX;
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
            return INT64_MAX;
    return all < INT64_MAX ? all : INT64_MAX;
}

/* The words for TYPE. The last few stay: a program has few types. Only one thread at a time is here, by the lock of trace.c. */
static const char *words_of(int64_t type)
{
    static struct {
        int64_t type;
        char words[128];
    } known[32];
    size_t at = rex_hash_bytes(&type, sizeof type) % (sizeof known / sizeof *known);
    if (known[at].words[0] == '\0' || known[at].type != type) {
        rex_type_text(type, known[at].words, sizeof known[at].words);
        known[at].type = type;
    }
    return known[at].words;
}

static void add_row(struct rex_line *line, const void *begin, int64_t size, int64_t type)
{
    bool literal = (type & REX_TYPE_LITERAL) != 0;
    rex_line_text(line, "\"");
    rex_line_text(line, words_of(type));
    rex_line_text(line, " ");
    if (literal) {
        rex_line_hexadecimal(line, (uintptr_t)begin);
        rex_line_text(line, ", ");
    }
    rex_line_number(line, type & NON_CONTIGUOUS ? (int64_t)bytes_of(begin, size, type) : size);
    rex_line_text(line, literal ? " bytes\"" : " bytes at ");
    if (!literal) {
        rex_line_hexadecimal(line, (uintptr_t)begin);
        rex_line_text(line, "\"");
    }
}

void rex_line_rows(struct rex_line *line, int64_t count, void **begin, const int64_t *sizes, const int64_t *types)
{
    if (count <= 0 || begin == NULL || sizes == NULL || types == NULL)
        return;
    rex_line_text(line, ",\"rows\":[");
    for (int64_t i = 0; i < count && i < MOST_ROWS; i++) {
        if (i > 0)
            rex_line_text(line, ",");
        add_row(line, begin[i], sizes[i], types[i]);
    }
    if (count > MOST_ROWS)
        rex_line_add(line, ",\"and %lld more\"", (long long)(count - MOST_ROWS));
    rex_line_text(line, "]");
}

void rex_line_launch(struct rex_line *line, const void *key, const uint32_t teams[3], const uint32_t threads[3], int64_t arguments)
{
    rex_line_text(line, ",\"key\":\"");
    rex_line_hexadecimal(line, (uintptr_t)key);
    rex_line_text(line, "\",\"teams\":");
    rex_line_three(line, teams);
    rex_line_text(line, ",\"threads\":");
    rex_line_three(line, threads);
    rex_line_text(line, ",\"arguments\":");
    rex_line_number(line, arguments);
}
