/*
 * parts.h - a module with several images in memory, which static libraries have brought: each image
 * has some of its entries, and is registered with them as a part of the module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PARTS_H
#define REX_INTERNAL_PARTS_H

#include "module/registration.h"

/*
 * If IMAGE is one of several of WHOLE's module, divides the entries among them by name, and makes
 * IMAGE that of the share. Any other image has all entries. Returns 0 or an error; either way the
 * caller closes IMAGE.
 */
int rex_parts_divide(struct rex_registration *whole, struct rex_module_image *image);

/* The next registered part after PART, which is a module's registration first; NULL: none. */
struct rex_registration *rex_parts_next(const struct rex_registration *part);

/* The entry with KEY in *PART or a part after it, which *PART then is; NULL: none has it. */
struct rex_kernel *rex_parts_find(struct rex_registration **part, const void *key);

#endif
