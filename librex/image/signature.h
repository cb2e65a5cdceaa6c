/*
 * signature.h - what rex/kernel.h says of a kernel's parameters in its image.
 *
 * In a CUBIN and in PTX it is the mangled name of an empty kernel, in a host image the text of the
 * kernel's declaration.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SIGNATURE_H
#define REX_INTERNAL_SIGNATURE_H

#include "image/parameter.h"

/* Whether the kernel of a CUBIN or PTX called NAME is a signature. */
bool rex_signature_is_mangled(const char *name);

/* The name of the kernel whose signature in a host image is the symbol NAME; NULL: it is none. */
const char *rex_signature_of(const char *name);

/*
 * For the readers, once the parameters of all kernels are known: have the kernel whose signature is
 * MANGLED, or TEXT for the kernel called NAME, tell its form and the kinds of its parameters. What
 * is no signature, or not of a kernel with as many parameters, tells nothing. One with a parameter
 * that is wider than the image's tells nothing either, and a warning says so. 0 or -1, as
 * rex_view_add_parameters(), which a text alone may need.
 */
void rex_signature_read_mangled(struct rex_image_view *view, const char *mangled);
int rex_signature_read_text(struct rex_image_view *view, const char *name, const char *text);

#endif
