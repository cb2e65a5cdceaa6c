/*
 * driverrows.h - the rows of a launch by the driver: the mapped ones, and those of the launch
 * alone.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DRIVERROWS_H
#define REX_INTERNAL_DRIVERROWS_H

#include "launch/slot.h"
#include "omp/present.h"

/* A row that has device memory for the time of the launch. */
struct rex_own_row {
    uintptr_t begin, end; /* on the host */
    int64_t type;
    int32_t row;
    uint32_t outer;  /* the own row in which it lies; its own index if in no other */
    size_t offset;   /* in the launch's memory */
    uint64_t device; /* its device address, after the memory is allocated */
};

struct rex_driver_rows {
    const struct rex_map *map;
    struct rex_claim claim;  /* of the rows that may be mapped */
    struct rex_own_row *own; /* OWN_COUNT rows */
    size_t own_count;
    uintptr_t *device; /* the device address of each row of the map */
    /*
     * Bytes of the launch's memory: all of them; the end of those copied to the device; begin and
     * end of those copied back.
     */
    size_t total, in, out_begin, out_end;
    bool has_updates; /* some mapped rows are copied at every launch (always) */
    bool is_mapped;   /* by libomptarget, for this launch */
};

/* The fallback reasons of MAP's rows; REX_AGAINST_ bits. */
unsigned rex_against_rows(const struct rex_map *map);

/*
 * Claim the rows of MAP on device NUMBER, and find or plan their device addresses. IS_MAPPED:
 * libomptarget has mapped them for this launch, and will unmap them. Returns 0 or REX_ENOMEM. If
 * *AGAINST has fallback reasons, the claim is undone. MAP must stay; SLOT owns the memory.
 */
int rex_driver_rows_begin(struct rex_driver_rows *rows, struct rex_slot *slot,
                          const struct rex_map *map, int number, bool is_mapped, unsigned *against);
void rex_driver_rows_end(struct rex_driver_rows *rows);

/* Fill in the device address of each row of the map; the own rows have theirs already. */
void rex_driver_rows_settle(struct rex_driver_rows *rows);

#endif
