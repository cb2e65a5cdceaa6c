/*
 * open.h - look inside an image with the reader of its kind.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_OPEN_H
#define REX_INTERNAL_OPEN_H

#include "image/view.h"

/*
 * View an image. 0, or an error with its message recorded; NAME is what messages call the image.
 * BYTES must outlive the view, which rex_view_close() closes.
 */
int rex_view_open(struct rex_image_view *view, const void *bytes, size_t size, const char *name);

/* The same, of an image whose view may take MOST bytes of memory. */
int rex_view_open_within(struct rex_image_view *view, const void *bytes, size_t size, size_t most,
                         const char *name);

#endif
