/*
 * plan.h - the plan of a launch by the driver: its rows are read, pinned and placed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PLAN_H
#define REX_INTERNAL_PLAN_H

#include "launch/pack.h"
#include "launch/request.h"
#include "present/present.h"

/*
 * Offsets in the staged memory of a launch, in bytes: its end, the end of the rows copied to the
 * device, and begin and end of the rows copied back.
 */
struct rex_staged {
    size_t total, in, out_begin, out_end;
};

/* A row that has device memory only during the launch. */
struct rex_own_row {
    struct rex_row_span span; /* the memory on the host */
    int64_t type;
    uint32_t outer;  /* index of the own row that contains it, or its own index */
    size_t offset;   /* offset in the staged memory */
    uint64_t device; /* device memory, if the row is not staged */
};

/* A launch by the driver: its rows, kernel, grid and memory. */
struct rex_plan {
    struct rex_launch_context *context; /* the context of its GPU is current */
    const struct rex_map *map;
    const struct rex_release *release;
    int64_t types; /* type bits of all rows, in one word */
    enum rex_kernel_form form;
    struct rex_packed packed;     /* the arguments are in `context` */
    struct rex_range_lock ranges; /* the rows that may be mapped */
    struct rex_own_row *own;      /* array of `own_count` rows */
    size_t own_count;
    uintptr_t *device; /* array of the device address of each row of `map` */
    struct rex_staged staged;
    bool may_be_mapped; /* all rows may be values and mapped memory: rex_present_pin_rows() */
    bool is_mapped;     /* libomptarget has mapped the rows for this launch */
    bool is_exact;      /* each own row has its own allocation */
    bool has_empty;     /* an unmapped row has no elements */
    bool has_updates;   /* a mapped row has the always modifier: every launch copies it */
    bool is_pageable; /* all own rows that are copied are pageable memory, or too large to stage */
    bool is_staged;   /* the own rows are staged; rex_plan_run() sets it */
};

/* Returns the fallback reasons of row I of MAP, without regard to other rows. */
unsigned rex_reasons_of_row(const struct rex_map *map, int32_t i);

/*
 * Checks the launch and begins PLAN, but pins no row. The grid of REQUEST is complete. Returns 0,
 * with any fallback reasons in REQUEST, or an error.
 */
int rex_plan_check(struct rex_request *request, struct rex_plan *plan);

/*
 * Pins the rows, and finds the device address of each row or plans its memory. If REQUEST has
 * fallback reasons after the call, or the launch has to wait, no row is pinned. Otherwise log lines
 * are held back until rex_plan_end(). The program's log function may launch, and that launch could
 * wait for this launch.
 */
void rex_plan_place(struct rex_request *request, struct rex_plan *plan);
void rex_plan_end(struct rex_plan *plan);

#endif
