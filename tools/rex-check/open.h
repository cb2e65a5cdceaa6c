/*
 * open.h - reads a program, shared object or object.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_OPEN_H
#define CHECK_OPEN_H

#include "program.h"

/*
 * program_open() reads the file at PATH; program_view() reads the SIZE bytes at BYTES and calls
 * them NAME. Both return 0, or -1 with the reason in PROGRAM->file.why.
 */
int program_open(struct program *program, const char *path);
int program_view(struct program *program, const char *name, const void *bytes, size_t size);
void program_close(struct program *program);

#endif
