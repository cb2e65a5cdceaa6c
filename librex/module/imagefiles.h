/*
 * imagefiles.h - the bytes of images: files and memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_IMAGEFILES_H
#define REX_INTERNAL_IMAGEFILES_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/file.h"
#include "image/list.h"
#include "rex/offload.h"

/* A file, or bytes in memory, with the images in it. */
struct rex_source {
    char path[PATH_MAX];   /* what messages call it */
    struct rex_bytes file; /* none where the bytes are in memory: they are the caller's */
    bool searched;         /* a file that was found by its bare name */
    struct rex_list list;
};

/* Those of one module, in the order in which they were named. */
struct rex_sources {
    struct rex_source *list;
    size_t count;
    bool asked_for;  /* REX_CUBIN or the caller named them: no other image takes their place */
    bool by_setting; /* REX_CUBIN did */
    const struct rex_image_row *row; /* of the module, which has the bytes; NULL: none has */
    char *names;                     /* that were looked for; NULL: none were */
    struct rex_report missing;       /* the paths at which no file was found */
};

/*
 * Read the file NAME: with a slash as given, else from the folders for a bare name. 0, with all of
 * SOURCE but its list; REX_ENOIMAGE, with the paths in TRIED and without a message; or another
 * error, with one.
 */
int rex_source_read(struct rex_source *source, const struct rex_module *module, const char *name,
                    struct rex_report *tried);

/*
 * Add the files of NAMES, separated by colons; once. 0 also where some do not exist; REX_ENOIMAGE,
 * without a message, where none does; or another error.
 */
int rex_sources_add_files(struct rex_sources *sources, const struct rex_module *module,
                          const char *names);

/* Add SIZE bytes in memory, which messages call NAME, and which outlive SOURCES. 0 or an error. */
int rex_sources_add_memory(struct rex_sources *sources, const void *bytes, size_t size,
                           const char *name);

void rex_sources_close(struct rex_sources *sources);

/*
 * A host image is code: refuse one, found by a bare name, that other users could have put there. 0
 * or REX_EUNSAFE.
 */
int rex_source_check_owner(const struct rex_source *source);

#endif
