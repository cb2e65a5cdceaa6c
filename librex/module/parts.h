/*
 * parts.h - a module with several images in memory, for example from static libraries. Each image
 * has some of the module's entries. librex registers each image, with its entries, as a part of the
 * module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PARTS_H
#define REX_INTERNAL_PARTS_H

#include "module/registration.h"

/*
 * WHOLE is the registration of a module, and IMAGE is the image that was chosen for it. If the
 * module has several images in memory for IMAGE's kind of device, divides the entries among these
 * images by name. Then WHOLE registers only the first part of the module, and IMAGE becomes the
 * image of the first part. If the module has only one such image, IMAGE keeps all entries. Returns
 * 0 or an error; the caller closes IMAGE even after an error.
 */
int rex_parts_divide(struct rex_registration *whole, struct rex_module_image *image);

/*
 * Returns the next registered part after PART, or NULL. The first part is the module's
 * registration.
 */
struct rex_registration *rex_parts_next(const struct rex_registration *part);

/*
 * Finds the entry with KEY in *PART or a later part, and sets *PART to the part with the entry.
 * Returns NULL if no part has KEY.
 */
struct rex_kernel *rex_parts_find(struct rex_registration **part, const void *key);

#endif
