/* images.h - everything that can be asked of the images in a file.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TESTS_FUZZ_IMAGES_H
#define REX_TESTS_FUZZ_IMAGES_H

#include "fuzz.h"
#include "rex/inspect.h"

/* Look at SIZE BYTES and ask everything; what the answers promise has to hold. */
void fuzz_images(const uint8_t *bytes, size_t size);

#endif
