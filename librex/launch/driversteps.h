/*
 * driversteps.h - what the driver does for one launch: copies, the kernel, the wait.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DRIVERSTEPS_H
#define REX_INTERNAL_DRIVERSTEPS_H

#include "launch/driverrows.h"

struct rex_driver_launch {
    struct rex_slot *slot;    /* whose context is current */
    int number;               /* libomptarget's, of the device */
    struct rex_packed packed; /* its arguments are in the slot's room for them */
    bool is_exact;            /* each row has an allocation of its own */
    struct rex_driver_rows rows;
};

/*
 * Launch with the rows of MAP, which LAUNCH has claimed, for a kernel of FORM, and wait: 0 or an
 * error.
 */
int rex_driver_launch(struct rex_driver_launch *launch, const struct rex_map *map,
                      enum rex_kernel_form form);

#endif
