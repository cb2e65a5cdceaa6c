/*
 * Lesson 11: interface of libscale.so. See ../shared_objects.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef SCALE_H
#define SCALE_H

#include <stdint.h>

/* Multiplies @count values, mapped on the default device, by @factor. Returns 0 or an error. */
int scale(double *x, int64_t count, double factor);

/* Returns the path of the library's device image; "" if the library is not registered. */
const char *scale_image(void);

#endif
