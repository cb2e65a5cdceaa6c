/*
 * declared.h - compares the parameters of kernels in a program and its images.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_DECLARED_H
#define CHECK_DECLARED_H

#include "images.h"
#include "program.h"
#include "report.h"

/*
 * Compares the kernels of IMAGE with the kernels that the program declares. If OTHER, another
 * image, is not NULL, also compares the kernels of IMAGE with the kernels of OTHER.
 */
void check_declared(const struct program *program, const struct image *image,
                    const struct image *other, struct report *report);

/*
 * Returns a text such as "(int64_t, pointer)": the parameters in KERNEL's signature. The caller
 * frees the text.
 */
char *declared_list(const struct rex_image_symbol *kernel);

#endif
