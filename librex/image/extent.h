/*
 * extent.h - how many bytes of a file are an image.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_EXTENT_H
#define REX_INTERNAL_EXTENT_H

#include "base/file.h"

/*
 * As rex_file_want: of a large file as much as its headers say that the image takes, and of one
 * that is no image no more than its readers need to say so. None of an image that is larger than
 * any.
 */
size_t rex_image_extent(int fd, size_t size, char *why, size_t why_size);

#endif
