/*
 * open.h - look inside an image, by itself or in a list, with the reader of its kind.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_OPEN_H
#define REX_INTERNAL_OPEN_H

#include "image/list.h"
#include "image/view.h"

/*
 * View an image. 0, or an error with its message; NAME is what messages call the image.
 * BYTES must outlive the view, which rex_view_close() closes.
 */
int rex_view_open(struct rex_view *view, const void *bytes, size_t size, const char *name);

/* The same, of an image whose view may take MOST bytes of memory. */
int rex_view_open_within(struct rex_view *view, const void *bytes, size_t size, size_t most,
                         const char *name);

/*
 * Bytes of image INDEX, unpacked, of malloc(), with a NUL behind them; *SIZE how many. Errors as
 * those of rex_unpack(), and REX_EIMAGE where it would unpack to more than a file of this size may.
 */
int rex_list_bytes(const struct rex_list *list, size_t index, const char *name,
                   unsigned char **bytes, size_t *size);

/* Bytes that a view of image INDEX may take, for rex_view_open_within(). */
size_t rex_list_view_most(const struct rex_list *list, size_t index);

#endif
