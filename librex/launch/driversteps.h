/*
 * driversteps.h - the driver's steps for one launch: copies, the kernel, the wait.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DRIVERSTEPS_H
#define REX_INTERNAL_DRIVERSTEPS_H

#include "launch/driverrows.h"

struct rex_driver_launch {
    struct rex_slot *slot;    /* its context is current */
    int number;               /* libomptarget's number of the device */
    struct rex_packed packed; /* its arguments are in the slot */
    bool is_exact;            /* each row has its own allocation */
    struct rex_driver_rows rows;
};

/*
 * Launch a kernel of FORM with the rows of MAP, which LAUNCH has claimed, and wait: 0 or an error.
 */
int rex_driver_launch(struct rex_driver_launch *launch, const struct rex_map *map,
                      enum rex_kernel_form form);

#endif
