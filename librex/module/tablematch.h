/*
 * tablematch.h - a module's entries against its image, and what the image says of each kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TABLEMATCH_H
#define REX_INTERNAL_TABLEMATCH_H

#include "image/view.h"
#include "module/table.h"
#include "omp/release.h"

/*
 * Check all entries of TABLE, or KERNEL alone, against the image that VIEW shows and messages call
 * PATH, and take the kernels' facts from it. RELEASE: whose libomptarget is to launch them; NULL:
 * none. By one thread at a time. 0 or an error.
 */
int rex_table_match(struct rex_table *table, const struct rex_view *view, const char *path,
                    const struct rex_release *release);
int rex_kernel_match(struct rex_table *table, struct rex_kernel *kernel,
                     const struct rex_view *view, const char *path,
                     const struct rex_release *release);

/* The image that VIEW shows and messages call PATH has no such KERNEL, or global: REX_ENOKERNEL. */
int rex_table_lacks(const struct rex_view *view, const char *path, const char *name, bool kernel);

#endif
