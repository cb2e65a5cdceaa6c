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
 * Bytes of the rows that one launch stages: of all rows; the end of those copied to the device;
 * begin and end of those copied back.
 */
struct rex_staged {
    size_t total, in, out_begin, out_end;
};

/* A row that has device memory for the time of the launch. */
struct rex_own_row {
    struct rex_row_span span; /* on the host */
    int64_t type;
    uint32_t outer;  /* the own row in which it lies; its own index if in no other */
    size_t offset;   /* in the staged memory */
    uint64_t device; /* its device memory, if it is not staged */
};

/* A launch whose rows are pinned, with all that the driver needs. */
struct rex_plan {
    struct rex_launch_context *context; /* its GPU's context is current */
    const struct rex_map *map;
    const struct rex_release *release;
    int64_t types; /* the type bits of all rows */
    enum rex_kernel_form form;
    struct rex_packed packed;     /* its arguments are in the launch context */
    struct rex_range_lock ranges; /* of the rows that may be mapped */
    struct rex_own_row *own;      /* OWN_COUNT rows */
    size_t own_count;
    uintptr_t *device; /* the device address of each row of the map */
    struct rex_staged staged;
    bool is_mapped;   /* libomptarget has mapped the rows for this launch */
    bool is_exact;    /* each own row has its own allocation */
    bool has_empty;   /* some rows have no elements, and are not mapped */
    bool has_updates; /* some mapped rows are copied at every launch (always) */
    bool is_pageable; /* so are all own rows that are copied; the driver copies others in place */
    bool is_staged;   /* the own rows are staged; set as the plan runs */
};

/* The fallback reasons of row I of MAP alone. */
unsigned rex_reasons_of_row(const struct rex_map *map, int32_t i);

/*
 * Check the launch and begin PLAN; the grid of REQUEST is complete. No row is pinned. Returns 0,
 * maybe with fallback reasons in REQUEST, or an error.
 */
int rex_plan_check(struct rex_request *request, struct rex_plan *plan);

/*
 * Pin the rows, and find the device address of each or plan its memory. Nothing is pinned if
 * REQUEST has fallback reasons then, or if the launch has to wait. Otherwise lines for the
 * program's function are held back, as by rex_log_hold(), until rex_plan_end(): the function may
 * launch, and would wait for a launch that waits for it.
 */
void rex_plan_place(struct rex_request *request, struct rex_plan *plan);
void rex_plan_end(struct rex_plan *plan);

#endif
