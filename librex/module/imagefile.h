/*
 * imagefile.h - where an image file is looked for.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_IMAGEFILE_H
#define REX_INTERNAL_IMAGEFILE_H

#include <limits.h>
#include <stdbool.h>

#include "base/file.h"
#include "omp/search.h"
#include "rex/offload.h"

/*
 * Read the file NAME: with a slash as given, else from the folders for a bare name. 0;
 * REX_ENOIMAGE, with the paths in TRIED and without a message; or another error, with
 * one. PATH
 * gets the file's path, *SEARCHED whether it was a bare name.
 */
int rex_imagefile_read(const struct rex_module *module, const char *name, struct rex_bytes *file,
                       char path[PATH_MAX], bool *searched, struct rex_report *tried);

/*
 * A host image is code: refuse one, found by a bare name, that other users could have put there. 0
 * or REX_EUNSAFE.
 */
int rex_imagefile_check_owner(const char *path, const struct rex_bytes *file);

#endif
