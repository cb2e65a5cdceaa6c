/* types.h - structs that shapes and kernels share. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ORACLE_TYPES_H
#define ORACLE_TYPES_H

struct record {
    int n;
    double x;
    int *p;
    int a[4];
};

struct small {
    int x, y;
};

struct inner {
    int k;
    int *q;
};

struct outer {
    int h;
    struct inner in;
    struct inner *ip;
};

struct part {
    int n;
    int *v;
};

struct box {
    int c;
    struct part part;
};

#endif
