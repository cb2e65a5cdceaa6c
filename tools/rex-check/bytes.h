/*
 * bytes.h - rex-check over bytes in memory, for fuzzing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_BYTES_H
#define CHECK_BYTES_H

#include <stddef.h>

/*
 * Everything that rex-check does with a program, or with a source, but printing. The number of
 * findings, or -1: it cannot be used.
 */
int check_program_bytes(const void *bytes, size_t size);
int check_source_bytes(const void *bytes, size_t size);

#endif
