/*
 * signature.h - what rex/kernel.h says of a kernel's parameters in its image.
 *
 * A signature is numbers: a form and the kind of each parameter. In a CUBIN and in PTX they are in
 * the mangled name of an empty kernel, in a host image they are an array.
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
 * MANGLED, or the SIZE bytes of numbers at BYTES for the kernel called NAME, tell its form and the
 * kinds of its parameters. What is no signature, or not of a kernel with as many parameters, tells
 * nothing. One with a parameter that is wider than the image's tells nothing either, and a warning
 * says so. 0 or -1, as rex_view_add_parameters(), which numbers alone may need.
 */
void rex_signature_read_mangled(struct rex_view *view, const char *mangled);
int rex_signature_read_numbers(struct rex_view *view, const char *name, const char *bytes,
                               size_t size);

#endif
