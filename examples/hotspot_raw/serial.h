/* serial.h - what serial.c offers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HOTSPOT_RAW_SERIAL_H
#define HOTSPOT_RAW_SERIAL_H

/* @steps steps of @size x @size temperatures; @scratch has room for as many. */
void simulate_serially(const float *power, double *temp, double *scratch, int size, int steps);

#endif
