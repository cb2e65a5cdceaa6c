/* serial.h - interface of serial.c. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HOTSPOT_RAW_SERIAL_H
#define HOTSPOT_RAW_SERIAL_H

/* Takes @steps steps of @size x @size temperatures. @scratch has room for @size x @size values. */
void simulate_serially(const float *power, double *temp, double *scratch, int size, int steps);

#endif
