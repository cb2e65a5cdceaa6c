/* What a kernel of kernels.cu writes back. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REPORT_H
#define REPORT_H

#include <stdint.h>

struct report {
    int64_t calls;        /* launches that wrote here */
    uint64_t ran;         /* threads that ran in all launches */
    int64_t teams[3];     /* the grid of the last one */
    int64_t threads[3];   /* and its block */
    uint64_t environment; /* an env kernel's leading parameter */
    uint64_t arguments[4];
};

#endif
