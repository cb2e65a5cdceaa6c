/*
 * figures.h - formats numbers for people, in texts that the caller frees.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_FIGURES_H
#define REX_REPORT_FIGURES_H

#include <stdint.h>

/* Returns "4 280". */
char *figure_count(uint64_t count);

/* Returns a time with three digits and a unit, such as "120 ms". */
char *figure_time(uint64_t nanoseconds);

/* Returns a size with three digits and a unit, such as "400 MB" (a power of 1000). */
char *figure_bytes(uint64_t bytes);

/* Returns a speed, such as "11.2 GB/s"; "-" if an argument is 0. */
char *figure_speed(uint64_t bytes, uint64_t nanoseconds);

/* Returns PART as a share of WHOLE, such as "12.5 %"; "-" if WHOLE is 0. */
char *figure_share(uint64_t part, uint64_t whole);

/* Returns NUMBER * PART / WHOLE without an overflow; 0 if WHOLE is 0. */
uint64_t scaled(uint64_t number, uint64_t part, uint64_t whole);

#endif
