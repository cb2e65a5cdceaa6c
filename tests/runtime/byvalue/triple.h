/* triple.h - a struct of 24 bytes. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TESTS_TRIPLE_H
#define REX_TESTS_TRIPLE_H

struct triple {
    double x;
    float y;
    long z;
};

#endif
