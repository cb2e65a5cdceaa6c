/*
 * place.h - where a record is, on the host and on the device.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef NN_PLACE_H
#define NN_PLACE_H

/* In degrees. Side by side: those of a window are one piece of memory, and one copy. */
struct place {
    double latitude;
    double longitude;
};

#endif
