/* hand.h - offloading written by hand. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HAND_H
#define HAND_H

/* Fill and add on the device, by launches and data calls; prints the sums. 0, or what went wrong. */
int hand(void);
#endif
