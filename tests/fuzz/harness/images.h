/* images.h - everything that can be asked of the view of an image. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TESTS_FUZZ_IMAGES_H
#define REX_TESTS_FUZZ_IMAGES_H

#include "fuzz.h"
#include "image/view.h"

/* Look at SIZE BYTES and ask everything; what the answers promise has to hold. */
void fuzz_view(const uint8_t *bytes, size_t size);

#endif
