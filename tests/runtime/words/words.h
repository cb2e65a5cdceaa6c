/*
 * What both sides compute, in the words that they share: functions of <math.h> whose result is exact on every device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <math.h>
#include <stdlib.h>

enum { EXACT = 33, LANES = 64, TOGETHER = 5 * LANES + 32 };

#define PUT_EXACT(out, x, y, z)                                                                                                    \
    do {                                                                                                                           \
        float f = (float)(x), g = (float)(y), h = (float)(z);                                                                      \
        (out)[0] = sqrt(fabs(x)), (out)[1] = fabs(x), (out)[2] = floor(x), (out)[3] = ceil(x), (out)[4] = trunc(x);                \
        (out)[5] = rint(x), (out)[6] = nearbyint(x), (out)[7] = round(x), (out)[8] = fma(x, y, z), (out)[9] = fmin(x, y);          \
        (out)[10] = fmax(x, y), (out)[11] = copysign(y, x), (out)[12] = fdim(x, y), (out)[13] = (double)lrint(y);                  \
        (out)[14] = (double)llrint(y), (out)[15] = (double)lround(y), (out)[16] = (double)llround(y);                              \
        (out)[17] = sqrtf(fabsf(f)), (out)[18] = fabsf(f), (out)[19] = floorf(f), (out)[20] = ceilf(f), (out)[21] = truncf(f);     \
        (out)[22] = rintf(f), (out)[23] = nearbyintf(f), (out)[24] = roundf(f), (out)[25] = fmaf(f, g, h);                         \
        (out)[26] = fminf(f, g), (out)[27] = fmaxf(f, g), (out)[28] = copysignf(g, f), (out)[29] = fdimf(f, g);                    \
        (out)[30] = (double)lroundf(g), (out)[31] = abs((int)(y)) + (double)labs((long)(y)), (out)[32] = (double)llabs((long)(y)); \
    } while (0)
