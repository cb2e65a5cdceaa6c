/*
 * Lesson 11: interface of the plug-in libshift.so. See ../shared_objects.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef SHIFT_H
#define SHIFT_H

#include <stdint.h>

/*
 * Type of the plug-in's function `shift`, which adds @amount to @count values on the default
 * device. If the values are not mapped, it copies them there and back. Returns 0 or an error.
 */
typedef int shift_function(double *x, int64_t count, double amount);

#endif
