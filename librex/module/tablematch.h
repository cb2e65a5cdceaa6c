/*
 * tablematch.h - compares a module's entries with its image, and takes each kernel's facts from it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TABLEMATCH_H
#define REX_INTERNAL_TABLEMATCH_H

#include "image/view.h"
#include "module/table.h"
#include "omp/release.h"

/*
 * Compare all entries of TABLE, or KERNEL alone, with the image of VIEW, and take the kernels'
 * facts from it. PATH is the image's name in messages. RELEASE: of the libomptarget that launches
 * them; NULL: none does. One thread at a time. Returns 0 or an error.
 */
int rex_table_match(struct rex_table *table, const struct rex_view *view, const char *path,
                    const struct rex_release *release);
int rex_kernel_match(struct rex_table *table, struct rex_kernel *kernel,
                     const struct rex_view *view, const char *path,
                     const struct rex_release *release);

/* Fail with REX_ENOKERNEL: the image of VIEW, called PATH, has no such KERNEL or global. */
int rex_table_lacks(const struct rex_view *view, const char *path, const char *name, bool kernel);

#endif
