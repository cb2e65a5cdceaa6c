/*
 * bytes.h - runs rex-check on bytes in memory, for fuzzing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_BYTES_H
#define CHECK_BYTES_H

#include <stddef.h>

/*
 * check_program_bytes() checks a program, check_source_bytes() a source. Neither prints. Both
 * return the number of findings, or -1 if the bytes cannot be used.
 */
int check_program_bytes(const void *bytes, size_t size);
int check_source_bytes(const void *bytes, size_t size);

#endif
