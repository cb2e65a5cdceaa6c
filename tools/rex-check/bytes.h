/*
 * bytes.h - runs rex-check on bytes in memory, for fuzzing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_BYTES_H
#define CHECK_BYTES_H

#include <stddef.h>

/*
 * Check a program, or a source, without printing. Return the number of findings, or -1 if the bytes
 * cannot be used.
 */
int check_program_bytes(const void *bytes, size_t size);
int check_source_bytes(const void *bytes, size_t size);

#endif
