/*
 * Lesson 11: interface of the plug-in libshift.so. See ../shared_objects.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef SHIFT_H
#define SHIFT_H

#include <stdint.h>

/*
 * Type of the plug-in's function `shift`: adds @amount to @count values on the default device. They
 * are brought there and back if they are not mapped. 0, or an error.
 */
typedef int shift_function(double *x, int64_t count, double amount);

#endif
