/*
 * rectangle.c - a rectangular part of an array, as rows of neighbouring bytes.
 *
 * libomptarget has an entry for such parts; LLVM 14 to 22 copy too little of many and 23 reads its
 * numbers in another unit, so it is not used.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/cursor.h"
#include "base/error.h"
#include "rex/launch.h"

#define MOST_DIMENSIONS 8

static int check_dimension(const struct rex_dimension *dimension, int number)
{
    int64_t last;
    if (dimension->extent <= 0 || dimension->lower < 0 || dimension->lower > dimension->extent ||
        dimension->length < 0 || dimension->stride <= 0)
        return rex_fail(REX_EINVAL,
                        "dimension %d: extent %lld, lower %lld, length %lld, stride %lld", number,
                        (long long)dimension->extent, (long long)dimension->lower,
                        (long long)dimension->length, (long long)dimension->stride);
    if (dimension->length > 0 &&
        (__builtin_mul_overflow(dimension->length - 1, dimension->stride, &last) ||
         __builtin_add_overflow(last, dimension->lower, &last) || last >= dimension->extent))
        return rex_fail(REX_EINVAL, "dimension %d: the part reaches past its %lld elements", number,
                        (long long)dimension->extent);
    return REX_OK;
}

/* Bytes from one element of each dimension to the next. */
static int pitches(const struct rex_dimension *dimensions, int count, int64_t element_size,
                   int64_t *pitch)
{
    int64_t bytes = element_size;
    for (int d = count - 1; d >= 0; d--) {
        pitch[d] = bytes;
        if (__builtin_mul_overflow(bytes, dimensions[d].extent, &bytes))
            return rex_fail(REX_EINVAL,
                            "dimension %d: the array's size in bytes is not representable", d);
    }
    return REX_OK;
}

/* Trailing dimensions that are taken whole make one run with the dimension before them. */
static int run_dimension(const struct rex_dimension *dimensions, int count)
{
    int d = count - 1;
    while (d > 0 && dimensions[d].stride == 1 && dimensions[d].lower == 0 &&
           dimensions[d].length == dimensions[d].extent)
        d--;
    return d;
}

struct part {
    const struct rex_dimension *dimensions;
    const int64_t *pitch;
    int run; /* the dimension whose neighbours make a run */
    int64_t type;
};

static int push_part(struct rex_cursor *cursor, const struct part *part, int d, char *base,
                     int64_t offset)
{
    const struct rex_dimension *dimension = &part->dimensions[d];
    int one_run = d == part->run && dimension->stride == 1;
    int64_t steps = one_run ? 1 : dimension->length;
    int64_t bytes = part->pitch[d] * (one_run ? dimension->length : 1);
    int result = REX_OK;
    for (int64_t i = 0; i < steps && result == REX_OK; i++) {
        int64_t at = offset + (dimension->lower + i * dimension->stride) * part->pitch[d];
        result = d == part->run ? rex_push(cursor, rex_row_of(base, base + at, bytes, part->type))
                                : push_part(cursor, part, d + 1, base, at);
    }
    return result;
}

int rex_push_rectangle(struct rex_cursor *cursor, void *base, int64_t element_size,
                       const struct rex_dimension *dimensions, int count, int64_t type)
{
    int64_t pitch[MOST_DIMENSIONS];
    int result = REX_OK;
    if (base == NULL || dimensions == NULL || element_size <= 0 || count < 1 ||
        count > MOST_DIMENSIONS)
        return rex_fail(
            REX_EINVAL,
            "rex_push_rectangle: base %p, elements of %lld bytes, %d dimensions of at most %d",
            base, (long long)element_size, count, MOST_DIMENSIONS);
    int empty = 0;
    for (int d = 0; d < count && result == REX_OK; d++) {
        result = check_dimension(&dimensions[d], d);
        empty |= dimensions[d].length == 0;
    }
    if (result == REX_OK)
        result = pitches(dimensions, count, element_size, pitch);
    if (empty)
        return result;
    struct part part = {dimensions, pitch, run_dimension(dimensions, count), type};
    return result == REX_OK ? push_part(cursor, &part, 0, base, 0) : result;
}
