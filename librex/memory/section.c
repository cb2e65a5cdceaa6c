/*
 * section.c - sections that need more than one row: rectangular parts of arrays, and elements that
 * have a mapper. The rows go into a map or to libomptarget.
 *
 * libomptarget has a row type for rectangular parts, which librex does not use. LLVM 14 to 22 copy
 * too little of many parts. LLVM 23 reads the sizes in another unit. So librex makes a row for
 * each run of adjacent bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/section.h"

#include "base/error.h"
#include "calls/forward.h"
#include "rex/launch.h"

/* ---- rectangles ------------------------------------------------------------------------------ */

struct part {
    const struct rex_dimension *dimensions;
    const int64_t *pitch;
    /*
     * Index of the last dimension in which the array has elements outside the part; 0 if there is
     * none. Example: the index is 1 for the part [2:3][4:5][0:30] of a[10][20][30]. If the stride
     * of this dimension is 1, its elements are adjacent and make one row. The example has 3 rows of
     * 5 * 30 array elements. For a larger stride, each element of the dimension makes a row.
     */
    int run;
    int64_t type;
};

static int push_part(struct rex_map_builder *builder, const struct part *part, int d, char *base,
                     int64_t offset)
{
    const struct rex_dimension *dimension = &part->dimensions[d];
    bool one_run = d == part->run && dimension->stride == 1;
    int64_t steps = one_run ? 1 : dimension->length;
    int64_t bytes = part->pitch[d] * (one_run ? dimension->length : 1);
    int result = REX_OK;
    for (int64_t i = 0; i < steps && result == REX_OK; i++) {
        int64_t at = offset + (dimension->lower + i * dimension->stride) * part->pitch[d];
        if (d == part->run)
            result = rex_map_add(builder, rex_row_of(base, base + at, bytes, part->type));
        else
            result = push_part(builder, part, d + 1, base, at);
    }
    return result;
}

int rex_part_check(const char *caller, int64_t element_size, const struct rex_dimension *dimensions,
                   int count, int64_t pitch[REX_MOST_DIMENSIONS])
{
    if (element_size <= 0)
        return rex_fail(REX_EINVAL, "%s: the element size, %lld, is not positive", caller,
                        (long long)element_size);
    if (count < 1 || count > REX_MOST_DIMENSIONS)
        return rex_fail(REX_EINVAL, "%s: the number of dimensions, %d, is not from 1 to %d", caller,
                        count, REX_MOST_DIMENSIONS);
    int64_t bytes = element_size;
    for (int d = 0; d < count; d++) {
        const struct rex_dimension *one = &dimensions[d];
        int64_t last;
        if (one->extent <= 0)
            return rex_fail(REX_EINVAL, "%s: dimension %d: the extent, %lld, is not above 0",
                            caller, d, (long long)one->extent);
        if (one->lower < 0 || one->lower > one->extent)
            return rex_fail(REX_EINVAL,
                            "%s: dimension %d: lower, %lld, is not from 0 to the extent, %lld",
                            caller, d, (long long)one->lower, (long long)one->extent);
        if (one->length < 0)
            return rex_fail(REX_EINVAL, "%s: dimension %d: the length, %lld, is negative", caller,
                            d, (long long)one->length);
        if (one->stride <= 0)
            return rex_fail(REX_EINVAL, "%s: dimension %d: the stride, %lld, is not above 0",
                            caller, d, (long long)one->stride);
        if (one->length > 0 &&
            (__builtin_mul_overflow(one->length - 1, one->stride, &last) ||
             __builtin_add_overflow(last, one->lower, &last) || last >= one->extent))
            return rex_fail(REX_EINVAL,
                            "%s: dimension %d: lower %lld + (length %lld - 1) * stride %lld is not "
                            "below the extent, %lld",
                            caller, d, (long long)one->lower, (long long)one->length,
                            (long long)one->stride, (long long)one->extent);
    }
    for (int d = count - 1; d >= 0; d--) {
        pitch[d] = bytes;
        if (__builtin_mul_overflow(bytes, dimensions[d].extent, &bytes))
            return rex_fail(REX_EINVAL,
                            "%s: dimension %d: the array's size in bytes does not fit in int64_t",
                            caller, d);
    }
    return REX_OK;
}

int rex_map_add_strided(struct rex_map_builder *builder, void *base, int64_t element_size,
                        const struct rex_dimension *dimensions, int count, int64_t type)
{
    int64_t pitch[REX_MOST_DIMENSIONS];
    int run = count - 1;
    if (builder == NULL || base == NULL || dimensions == NULL)
        return rex_fail_null("rex_map_add_strided", builder == NULL ? "builder"
                                                    : base == NULL  ? "base"
                                                                    : "array of dimensions");
    int result = rex_part_check("rex_map_add_strided", element_size, dimensions, count, pitch);
    if (result != REX_OK)
        return result;
    for (int d = 0; d < count; d++)
        if (dimensions[d].length == 0)
            return REX_OK;
    /*
     * If the part has all elements of the last dimensions, one row spans these dimensions and the
     * dimension before them. Example: a[2:3][0:20] of an array a[10][20] makes one row of the map.
     */
    while (run > 0 && rex_dimension_is_whole(&dimensions[run]))
        run--;
    struct part part = {dimensions, pitch, run, type};
    /* Refuse a part of too many rows before the first pass, which would count for hours. */
    int64_t rows = 1;
    for (int d = 0; d <= run; d++)
        if ((d < run || dimensions[d].stride != 1) &&
            (__builtin_mul_overflow(rows, dimensions[d].length, &rows) ||
             rows > INT32_MAX - builder->row))
            return rex_fail(
                REX_EINVAL,
                "rex_map_add_strided: the map has no room for the rows: the maximum is %d",
                INT32_MAX);
    return push_part(builder, &part, 0, base, 0);
}

/* ---- elements with a mapper ------------------------------------------------------------------ */

#define DEEPEST 64

/*
 * The type bits that the rows of an element take over from their section, besides the directions.
 */
#define PASSED_ON \
    (REX_MAP_ALWAYS | REX_MAP_DELETE | REX_MAP_CLOSE | REX_MAP_PRESENT | REX_MAP_OMPX_HOLD)

/*
 * The rows of an element become members of the row of the section. If they were not members,
 * libomptarget would find their memory mapped by the row of the section. libomptarget would add a
 * second reference for each row, but it copies only at the first and the last reference. So
 * libomptarget would copy nothing, and attached pointers would stay mapped until the end of the
 * process.
 */
int64_t rex_type_inside(const struct rex_map_builder *builder, int64_t type)
{
    if (builder->depth == 0)
        return type;
    type &= ~REX_MAP_TARGET_PARAM & (~REX_MAP_TOFROM | (builder->section & REX_MAP_TOFROM));
    type |= builder->section & PASSED_ON;
    if ((type & REX_MAP_MEMBER_OF_MASK) == 0)
        type |= REX_MAP_MEMBER_OF(builder->parent);
    return type;
}

int rex_map_add_mapped(struct rex_map_builder *builder, rex_mapper *mapper, struct rex_row section,
                       int64_t element_size)
{
    if (builder == NULL)
        return rex_fail_null("rex_map_add_mapped", "builder");
    long long row = builder->row;
    if (mapper == NULL)
        return rex_fail(REX_EINVAL, "rex_map_add_mapped: map row %lld: the mapper is NULL", row);
    if (element_size <= 0 || section.size < 0 || section.size % element_size != 0)
        return rex_fail(
            REX_EINVAL,
            "rex_map_add_mapped: map row %lld: a section of %lld bytes is not a whole number of "
            "elements of %lld bytes",
            row, (long long)section.size, (long long)element_size);
    if (section.begin == NULL && section.size > 0)
        return rex_fail(
            REX_EINVAL,
            "rex_map_add_mapped: map row %lld: the section begins at NULL (elements: %lld)", row,
            (long long)(section.size / element_size));
    if (builder->depth >= DEEPEST)
        return rex_fail(
            REX_EINVAL,
            "rex_map_add_mapped: mappers nest deeper than %d: does a mapper call itself without "
            "end?",
            DEEPEST);
    if (builder->depth == 0 && row > REX_PARENT_MAX)
        return rex_fail(
            REX_EINVAL,
            "rex_map_add_mapped: map row %lld is a section with a mapper, and the last row that "
            "can have members is %d",
            row, REX_PARENT_MAX);
    /* Map the section in one row, so that its elements are adjacent on the device. */
    struct rex_row whole = section;
    whole.type = (whole.type & ~REX_MAP_TOFROM) | REX_MAP_IMPLICIT;
    int result = rex_map_add(builder, whole);
    if (result != REX_OK)
        return result;
    const struct rex_map_builder around = *builder;
    int64_t own = builder->row - 1;
    builder->section = rex_type_inside(builder, section.type);
    /*
     * A type cannot name a parent after row REX_PARENT_MAX. If the section comes after that row,
     * its elements name the innermost surrounding section that does not come after that row.
     * libomptarget does not check which row is the parent.
     */
    builder->parent = own <= REX_PARENT_MAX ? own : around.parent;
    builder->part = section;
    builder->element_size = element_size;
    builder->depth++;
    for (int64_t at = 0; at < section.size && result == REX_OK; at += element_size) {
        builder->part.base = (char *)section.begin + at;
        result = mapper(builder, builder->part.base);
    }
    builder->depth--;
    builder->section = around.section;
    builder->part = around.part;
    builder->element_size = around.element_size;
    builder->parent = around.parent;
    return result;
}

/* ---- called by libomptarget ------------------------------------------------------------------ */

void rex_map_for_runtime(rex_mapper *mapper, int64_t element_size, void *handle, void *base,
                         void *begin, int64_t size, int64_t type)
{
    struct rex_map_builder builder = {.handle = handle};
    struct rex_row section = {base, begin, size, type};
    if (handle == NULL || mapper == NULL) {
        rex_fail_null("rex_map_for_runtime", handle == NULL ? "handle" : "mapper");
        return;
    }
    /*
     * A component is a row that a mapper gives to libomptarget. LLVM 14 to 22 count no reference
     * for the first component of each mapper call. If this component were a real row, its memory
     * would stay mapped. So push an empty component first. libomptarget numbers all components. So
     * begin `row` at the number of components that libomptarget already has: members then name
     * their real parents.
     */
    REX_REAL(push_mapper_component)
    (handle, NULL, NULL, 0, 0, NULL);
    builder.row = REX_REAL(mapper_num_components)(handle);
    /*
     * The mapper may return an error without setting a message. Clear the last error, because an
     * older error may have the number that the mapper returns.
     */
    struct rex_kept_error last;
    rex_error_keep(&last);
    if (last.code != REX_OK)
        rex_fail_again(REX_OK, "");
    int result = rex_map_add_mapped(&builder, mapper, section, element_size);
    if (rex_last_error_code() == REX_OK)
        rex_error_restore(&last);
    else if (rex_last_error_code() == result)
        return;
    if (result != REX_OK)
        rex_fail(
            result,
            "the mapper for the section of %lld bytes at %p returned %d (%s): the mapper's further "
            "rows and the later elements are not mapped",
            (long long)size, begin, result, rex_error_name(result));
}
