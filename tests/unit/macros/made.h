/*
 * made.h - what a map of three rows holds, in words that macros/names.h does not define.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef MADE_H
#define MADE_H

#include <stdint.h>

struct made {
    int32_t rows;
    void *based[3];
    int64_t wide[3], bits[3];
};

#endif
