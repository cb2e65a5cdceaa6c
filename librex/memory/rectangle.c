/*
 * rectangle.c - copies of rectangular parts of arrays between devices. Implements
 * rex_device_copy_part() of rex/launch.h.
 *
 * A run is a group of adjacent elements that one copy can copy. omp_target_memcpy_rect() waits for
 * each run. librex gathers small runs, and waits once for many.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>

#include "base/error.h"
#include "memory/devicememory.h"
#include "memory/makecopy.h"
#include "memory/section.h"
#include "omp/device.h"

static const char caller[] = "rex_device_copy_part";

#define COPIES 256 /* maximum number of runs (adjacent elements) that are copied together */

struct side {
    char *base;
    const struct rex_dimension *dimensions;
    int64_t pitch[REX_MOST_DIMENSIONS];
    int number; /* number of the device */
};

struct rectangle {
    struct side to, from;
    int host;
    /* librex may make the copies itself: one side is the host, and the other may be a GPU */
    bool may_gather;
    size_t gathered; /* number of elements of `copy` in use: runs that are not copied yet */
    struct rex_copy copy[COPIES];
};

/* ---- runs ------------------------------------------------------------------------------------ */

static int copy_by_runtime(const struct rectangle *all, void *to, const void *from, size_t size)
{
    if (rex_runtime_omp()->copy(to, from, size, 0, 0, all->to.number, all->from.number) == 0)
        return REX_OK;
    return rex_fail(REX_ERUNTIME,
                    "%s: libomptarget could not copy %zu bytes from device %d to device %d, from "
                    "%p to %p",
                    caller, size, all->from.number, all->to.number, from, to);
}

/* Makes the copies in `copy`. If librex cannot make a copy, libomptarget makes it. */
static int copy_gathered(struct rectangle *all)
{
    int result = REX_OK, number = all->to.number;
    bool is_made = false;
    if (number == all->host)
        number = all->from.number;
    for (size_t i = 0, end; i < all->gathered && result == REX_OK; i = end) {
        end = i + rex_copy_some(&all->copy[i], all->gathered - i, number, &is_made);
        for (size_t j = i; j < end && !is_made && result == REX_OK; j++) {
            const struct rex_copy *copy = &all->copy[j];
            void *device = (void *)(uintptr_t)copy->device;
            result = copy_by_runtime(all, copy->to_host ? copy->host : device,
                                     copy->to_host ? device : copy->host, copy->size);
        }
    }
    all->gathered = 0;
    return result;
}

static int copy_run(struct rectangle *all, char *to, char *from, size_t size)
{
    bool to_host = all->to.number == all->host;
    struct rex_copy copy = {.host = to_host ? to : from,
                            .device = (uint64_t)(uintptr_t)(to_host ? from : to),
                            .size = size,
                            .to_host = to_host};
    if (!all->may_gather || !rex_copy_is_ours(&copy))
        return copy_by_runtime(all, to, from, size);
    all->copy[all->gathered++] = copy;
    if (all->gathered < COPIES)
        return REX_OK;
    return copy_gathered(all);
}

/* ---- all runs -------------------------------------------------------------------------------- */

static int64_t offset_of(const struct side *side, const int64_t *index, int last)
{
    int64_t offset = 0;
    for (int d = 0; d <= last; d++)
        offset +=
            (side->dimensions[d].lower + index[d] * side->dimensions[d].stride) * side->pitch[d];
    return offset;
}

/* Advances INDEX in the dimensions up to LAST. Returns false after the last index. */
static bool step_index(const struct side *side, int64_t *index, int last)
{
    for (int d = last; d >= 0; d--) {
        if (++index[d] < side->dimensions[d].length)
            return true;
        index[d] = 0;
    }
    return false;
}

static int copy_runs(struct rectangle *all, int count)
{
    const struct side *to = &all->to, *from = &all->from;
    int64_t index[REX_MOST_DIMENSIONS] = {0};
    int run = count - 1, result = REX_OK;
    /*
     * A run is a group of adjacent elements. A run spans the dimensions from `run` to the last.
     * Example: both parts are [2:3][0:20]. If both arrays are [10][20], one run copies all 60
     * elements, and `run` is 0. If one array is [10][30], 3 runs of 20 elements copy the part, and
     * `run` is 1.
     */
    while (run > 0 && rex_dimension_is_whole(&to->dimensions[run]) &&
           rex_dimension_is_whole(&from->dimensions[run]))
        run--;
    int last = run;
    size_t size = (size_t)to->pitch[run];
    if (to->dimensions[run].stride == 1 && from->dimensions[run].stride == 1) {
        size *= (size_t)to->dimensions[run].length;
        last--; /* one run copies the whole dimension, so its index stays 0 */
    }
    do
        result = copy_run(all, to->base + offset_of(to, index, run),
                          from->base + offset_of(from, index, run), size);
    while (result == REX_OK && step_index(to, index, last));
    if (result != REX_OK)
        return result;
    return copy_gathered(all);
}

/* ---- the call -------------------------------------------------------------------------------- */

static int open_side(struct side *side, const struct rex_array_part *part, int64_t element_size,
                     int count)
{
    if (part->base == NULL || part->dimensions == NULL)
        return rex_fail_null(caller, part->base == NULL ? "base" : "array of dimensions");
    *side = (struct side){.base = part->base, .dimensions = part->dimensions};
    int result = rex_part_check(caller, element_size, part->dimensions, count, side->pitch);
    if (result == REX_OK)
        result = rex_device_resolve(part->device, &side->number);
    if (result == REX_OK)
        result = rex_await_device(side->number, caller);
    return result;
}

int rex_device_copy_part(const struct rex_array_part *to, const struct rex_array_part *from,
                         int64_t element_size, int count)
{
    struct rectangle *all;
    bool is_empty = false;
    if (to == NULL || from == NULL)
        return rex_fail_null(caller, to == NULL ? "destination" : "source");
    if (rex_device_count() == 0)
        return rex_none_registered(caller);
    all = calloc(1, sizeof *all);
    if (all == NULL)
        return rex_fail_memory(sizeof *all, caller);
    all->host = rex_device_count();
    int result = open_side(&all->to, to, element_size, count);
    if (result == REX_OK)
        result = open_side(&all->from, from, element_size, count);
    for (int d = 0; d < count && result == REX_OK; d++) {
        int64_t length = to->dimensions[d].length;
        is_empty |= length == 0;
        if (length != from->dimensions[d].length)
            result =
                rex_fail(REX_EINVAL,
                         "%s: dimension %d: the part has length %lld in the source and %lld in the "
                         "destination",
                         caller, d, (long long)from->dimensions[d].length, (long long)length);
    }
    if (result != REX_OK || is_empty)
        goto free_all;
    bool is_on_host = all->to.number == all->host, is_of_host = all->from.number == all->host;
    all->may_gather = is_on_host != is_of_host && rex_copies_are_allowed();
    result = copy_runs(all, count);
free_all:
    free(all);
    return result;
}
