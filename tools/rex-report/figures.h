/*
 * figures.h - numbers as one says them, in texts that the caller frees.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_FIGURES_H
#define REX_REPORT_FIGURES_H

#include <stdint.h>

/* "4 280" */
char *figure_count(uint64_t count);

/* "120 ms": three digits, of nanoseconds. */
char *figure_time(uint64_t nanoseconds);

/* "400 MB": three digits, and powers of 1000. */
char *figure_bytes(uint64_t bytes);

/* "11.2 GB/s"; "-" where either is 0. */
char *figure_speed(uint64_t bytes, uint64_t nanoseconds);

/* "12.5 %" of WHOLE; "-" where that is 0. */
char *figure_share(uint64_t part, uint64_t whole);

/* PART of WHOLE as a product that does not overflow: NUMBER * PART / WHOLE; 0 where WHOLE is 0. */
uint64_t scaled(uint64_t number, uint64_t part, uint64_t whole);

#endif
