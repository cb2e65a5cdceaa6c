/*
 * plan.h - plans a launch by the driver. First the rows are read. Then they are pinned: no call
 * changes how they are mapped until the launch ends. Then each row is placed: it gets a device
 * address, or an offset in the staged memory. Staged memory is one block for several rows, so that
 * one copy for each direction is enough (launch/run.c).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PLAN_H
#define REX_INTERNAL_PLAN_H

#include "launch/pack.h"
#include "launch/request.h"
#include "present/present.h"

/*
 * Offsets in the staged memory of a launch, in bytes. `total` is the end of the staged memory. `in`
 * is the end of the rows that are copied to the device. The rows that are copied back lie from
 * `out_begin` to `out_end`.
 */
struct rex_staged {
    size_t total, in, out_begin, out_end;
};

/* An own row: a row that is not mapped, and has device memory only during the launch. */
struct rex_own_row {
    struct rex_row_span span; /* host memory of the row */
    int64_t type;
    uint32_t outer;  /* index of the own row that contains this row, otherwise index of this row */
    size_t offset;   /* if the row is staged: offset in the staged memory */
    uint64_t device; /* if the row is not staged: address of its device memory */
};

/* A launch by the driver: its rows, kernel, grid and memory. */
struct rex_plan {
    struct rex_launch_context *context; /* the launch context; its GPU's CUDA context is current */
    const struct rex_map *map;
    const struct rex_release *release;
    int64_t types; /* type bits that at least one row has */
    enum rex_kernel_form form;
    struct rex_packed packed;     /* kernel and grid; the arguments are in `context` */
    struct rex_range_lock ranges; /* ranges of the rows that may be mapped */
    struct rex_own_row *own;      /* array of `own_count` own rows */
    size_t own_count;
    uintptr_t *device; /* array: the device address of each row of `map` */
    struct rex_staged staged;
    /*
     * Each row is a value or probably lies in a mapping, so rex_present_pin_rows() is tried first.
     */
    bool may_be_mapped;
    bool is_mapped;   /* libomptarget has mapped the rows for this launch */
    bool is_exact;    /* do not stage own rows: allocate exactly the size of each own row */
    bool has_empty;   /* a row of size 0 has no mapping */
    bool has_updates; /* a mapped row has REX_MAP_ALWAYS, so each launch copies it */
    /* each own row that is copied is pageable memory; rows too large to stage are not counted */
    bool is_pageable;
    bool is_staged; /* the own rows are staged; set by rex_plan_run() */
};

/*
 * Returns the fallback reasons that follow from the mapper, type, address and size of row I of MAP.
 * Does not look up mappings.
 */
unsigned rex_reasons_of_row(const struct rex_map *map, int32_t i);

/*
 * Checks the launch and begins PLAN, but pins no row. The grid of REQUEST must be complete. Stores
 * fallback reasons in REQUEST. Returns 0 or an error.
 */
int rex_plan_check(struct rex_request *request, struct rex_plan *plan);

/*
 * Pins and places the rows. If REQUEST has fallback reasons after the call, or the launch has to
 * wait, no row is pinned. In any other case the rows stay pinned until rex_plan_end(). Until then,
 * librex stores log lines and does not call the program's log function. The log function may itself
 * launch. Its launch could wait for the launch of PLAN, which is in the same thread: a deadlock.
 */
void rex_plan_place(struct rex_request *request, struct rex_plan *plan);
void rex_plan_end(struct rex_plan *plan);

#endif
