/*
 * Lesson 6: the struct that is mapped. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef LESSON_LIST_H
#define LESSON_LIST_H

#include <stdint.h>

struct list {
    int64_t count;
    double *values; /* in the device's copy: address of the values there */
};

#endif
