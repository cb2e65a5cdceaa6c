/* What generator.c offers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GENERATOR_H
#define GENERATOR_H

#include <stddef.h>
#include <stdint.h>

/* Its module, by number: 0 has its image in a file, 1 in memory. */
void generator_image(int number, const char *file, const void *bytes, size_t size);
int generator_add(int number);

/* Launches of shift and enveloped of module @number by the exported wrappers: packet, teams, plain. */
int generator_shift(int number, int64_t value, int64_t *result);
int generator_shift_teams(int number, int64_t value, int64_t *result);
int generator_shift_target(int number, int64_t value, int64_t *result);
int generator_enveloped(int number, int64_t value, int64_t *result);

/* The same in a data region that maps *@result, updated from the device before its end. */
int generator_shift_mapped(int number, int64_t value, int64_t *result, int64_t *updated);

#endif
