/*
 * list.c - the public list of the images in a file (rex/inspect.h), and a view of each: fatbins,
 * OffloadBinaries, one in the other, and files that are one image.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "images.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    fuzz_images(bytes, size);
}
