/*
 * place.h - the place of a record, for host and device.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef NN_PLACE_H
#define NN_PLACE_H

/* A place in degrees. The pairs of a window are contiguous, so that one copy moves all. */
struct place {
    double latitude;
    double longitude;
};

#endif
