/*
 * tracephase.c - what is noted by those who do it, and not by forward.c's table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stddef.h>

#include "trace.h"
#include "traceline.h"

static void put_object(struct rex_line *line, const void *object)
{
    rex_line_add(line, "\"object\":");
    rex_line_string(line, object);
}

void rex_phase_took(uint64_t begin, const char *name, const char *object)
{
    struct rex_slice slice = {.name = name, .category = "phase", .counted = REX_COUNTED_PHASE, .begin = begin, .end = rex_trace_clock()};
    if (object != NULL) {
        slice.details = put_object;
        slice.context = object;
    }
    rex_trace_slice(&slice);
}

static void put_device(struct rex_line *line, const void *number)
{
    rex_line_add(line, "\"device\":%d", *(const int *)number);
}

void rex_copy_took(uint64_t begin, uint64_t size, bool to_host, int number)
{
    struct rex_slice slice = {.name = to_host ? "copy from device" : "copy to device", .category = "data", .counted = REX_COUNTED_TRANSFER,
                              .begin = begin, .end = rex_trace_clock(), .details = put_device, .context = &number};
    if (rex_trace_depth > 0)
        return;
    slice.to = to_host ? 0 : size;
    slice.from = to_host ? size : 0;
    slice.on = rex_track_take(number);
    rex_trace_slice(&slice);
    rex_track_give((struct rex_track *)(uintptr_t)slice.on);
}
