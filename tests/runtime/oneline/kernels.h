/* The kernels of oneline, as the host and the device know them. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ONELINE_KERNELS_H
#define ONELINE_KERNELS_H

#define ADD (int64_t) n, (int32_t *) x
#define CUBE (int64_t) ni, (int64_t) nj, (int64_t) nk, (int32_t *) x
/* As many parameters as there are rows. */
#define MANY \
    (int64_t *) out, (int64_t) p1, (int64_t) p2, (int64_t) p3, (int64_t) p4, (int64_t) p5, (int64_t) p6, (int64_t) p7, (int64_t) p8, \
    (int64_t) p9, (int64_t) p10, (int64_t) p11, (int64_t) p12, (int64_t) p13, (int64_t) p14, (int64_t) p15, (int64_t) p16, \
    (int64_t) p17, (int64_t) p18, (int64_t) p19, (int64_t) p20, (int64_t) p21, (int64_t) p22, (int64_t) p23, (int64_t) p24, \
    (int64_t) p25, (int64_t) p26, (int64_t) p27, (int64_t) p28, (int64_t) p29, (int64_t) p30, (int64_t) p31, (int64_t) p32, \
    (int64_t) p33, (int64_t) p34, (int64_t) p35, (int64_t) p36, (int64_t) p37, (int64_t) p38, (int64_t) p39, (int64_t) p40, \
    (int64_t) p41, (int64_t) p42, (int64_t) p43, (int64_t) p44, (int64_t) p45, (int64_t) p46, (int64_t) p47, (int64_t) p48, \
    (int64_t) p49, (int64_t) p50, (int64_t) p51, (int64_t) p52, (int64_t) p53, (int64_t) p54, (int64_t) p55, (int64_t) p56, \
    (int64_t) p57, (int64_t) p58, (int64_t) p59, (int64_t) p60, (int64_t) p61, (int64_t) p62, (int64_t) p63

#endif
