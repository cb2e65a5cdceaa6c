/*
 * cachefolder.h - the folder of the cache.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CACHEFOLDER_H
#define REX_INTERNAL_CACHEFOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* The folder, opened; -1 where there is to be none. With MAKE it is made where it is missing. */
int rex_cache_folder(bool make);

/*
 * Remove what was used longest ago until at most MOST bytes are left, and what was never finished.
 * Other files than librex's own, as the folder may be one that the user has chosen, are neither
 * counted nor touched.
 */
void rex_cache_trim(int folder, uint64_t most);

/*
 * What librex's own files are known by: sixteen hexadecimal digits, "-sm_90.cubin", and the first
 * bytes. While one is being written its name begins otherwise.
 */
#define REX_CACHE_SUFFIX ".cubin"
#define REX_CACHE_UNFINISHED ".new-"
#define REX_CACHE_MAGIC "librex cache 1\n"
#define REX_CACHE_NAME_MAX 64

#endif
