/*
 * signature.h - a kernel's signature by rex/kernel.h in its image, and parameters in words.
 *
 * A signature is numbers: a form and the kind of each parameter. In a CUBIN and in PTX they are in
 * the mangled name of an empty kernel, in a host image they are an array.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SIGNATURE_H
#define REX_INTERNAL_SIGNATURE_H

#include "image/view.h"

/* Whether the kernel of a CUBIN or PTX called NAME is a signature. */
bool rex_signature_is_mangled(const char *name);

/* In a host image a signature has this and the kernel's name. */
#define REX_SIGNATURE_PREFIX "rex_signature_"

/*
 * For the readers, once the parameters of all kernels are known: the signature MANGLED, or of
 * KERNEL the SIZE bytes of numbers at BYTES, tells a kernel's form and the kinds of its parameters.
 * A signature that is malformed, or not of a kernel with as many parameters, tells nothing. One
 * with a parameter that is wider than the image's tells nothing either, and a warning says so.
 * Numbers may need rex_view_add_parameters().
 */
void rex_signature_read_mangled(struct rex_view *view, const char *mangled);
void rex_signature_read_numbers(struct rex_view *view, struct rex_image_symbol *kernel,
                                const char *bytes, size_t size);

/* PARAMETER in words: "pointer", "double", or "struct of 4 bytes", which is put into TEXT. */
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
