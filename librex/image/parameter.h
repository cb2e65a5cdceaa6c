/*
 * parameter.h - what a kernel's parameter is: its kind, its width, and both in words.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PARAMETER_H
#define REX_INTERNAL_PARAMETER_H

#include "image/view.h"

#define REX_KINDS (REX_KIND_BOOL + 1)

/* Make it one of KIND, of WIDTH bytes where the kind does not tell; unknown where neither is. */
void rex_parameter_set(struct rex_image_parameter *to, unsigned long kind, unsigned long width);

/* What PARAMETER is: "pointer", "double", or "struct of 4 bytes", which is put into TEXT. */
#define REX_PARAMETER_MAX 40
const char *rex_parameter_print(const struct rex_image_parameter *parameter,
                                char text[REX_PARAMETER_MAX]);

/*
 * The parameters of a kernel as messages list them, cut off where TEXT ends: "(int64_t,
 * double, pointer)".
 */
#define REX_SIGNATURE_MAX 400
void rex_signature_print(const struct rex_image_parameter *parameters, size_t count,
                         char text[REX_SIGNATURE_MAX]);

#endif
