/* What the host and the kernels of mappers know. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TREE_H
#define TREE_H

#include <stdint.h>

/* Values behind a pointer. */
struct leaf {
    int64_t count;
    int64_t *values;
    int64_t sum; /* the device's */
};

/* Leaves behind a pointer, each of which points on. */
struct branch {
    int64_t leaves;
    struct leaf *leaf;
    int64_t visits; /* the device's */
};

#endif
