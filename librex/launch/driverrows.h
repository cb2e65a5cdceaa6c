/*
 * driverrows.h - the rows of a launch by the driver: what is mapped, and what lives for the launch.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DRIVERROWS_H
#define REX_INTERNAL_DRIVERROWS_H

#include "launch/slot.h"
#include "omp/present.h"

/* Memory that the launch has on the device for its own time. */
struct rex_own_row {
    uintptr_t begin, end; /* on the host */
    int64_t type;
    int32_t row;
    uint32_t outer;  /* of the own rows, the one in which it lies: itself, or another */
    size_t offset;   /* from where the launch's memory begins */
    uint64_t device; /* where it lies, once there is memory */
};

struct rex_driver_rows {
    const struct rex_map *map;
    struct rex_claim claim;  /* of the rows that may be mapped */
    struct rex_own_row *own; /* OWN_COUNT of them */
    size_t own_count;
    uintptr_t *device; /* of each row of the map */
    /*
     * Bytes of the launch's memory: all of them; up to where those end that are copied to the
     * device; from where to where those lie that are copied back.
     */
    size_t total, in, out_begin, out_end;
    bool has_updates; /* rows are mapped, and always copied */
    bool is_mapped;   /* by libomptarget, for this launch */
};

/* What stands against the driver for the types of MAP's rows; REX_AGAINST_ bits. */
unsigned rex_against_rows(const struct rex_map *map);

/*
 * Claim the rows of MAP on device NUMBER, and find or plan where each lies; IS_MAPPED: libomptarget
 * has mapped them for this launch, and ends that. 0, with *AGAINST what stands against the driver,
 * which undoes the claim; or REX_ENOMEM. MAP stays, SLOT has the memory.
 */
int rex_driver_rows_begin(struct rex_driver_rows *rows, struct rex_slot *slot,
                          const struct rex_map *map, int number, bool is_mapped, unsigned *against);
void rex_driver_rows_end(struct rex_driver_rows *rows);

/* The own rows have their device addresses: so has each row of the map. */
void rex_driver_rows_settle(struct rex_driver_rows *rows);

#endif
