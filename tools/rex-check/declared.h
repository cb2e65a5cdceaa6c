/*
 * declared.h - the parameters of kernels, as a program and its images declare them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_DECLARED_H
#define CHECK_DECLARED_H

#include "images.h"
#include "program.h"
#include "report.h"

/* The kernels of IMAGE against those that the program tells of, and those of OTHER, or NULL. */
void check_declared(const struct program *program, const struct image *image,
                    const struct image *other, struct report *report);

/* The parameters of KERNEL, "(int64_t, pointer)", as its signature has them; the caller frees it.
 */
char *declared_list(const struct rex_image_symbol *kernel);

#endif
