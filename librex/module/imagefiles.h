/*
 * imagefiles.h - reads the bytes of images from files and memory.
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

/* A file, or bytes in memory, with one or more images. */
struct rex_source {
    char path[PATH_MAX];   /* path of the file; for bytes in memory their name in messages */
    struct rex_bytes file; /* bytes of the file; empty for bytes in the caller's memory */
    bool searched;         /* librex found the file by a bare name, in the folders for images */
    struct rex_list list;
};

/* The sources of one module, in the order of their names. */
struct rex_sources {
    struct rex_source *list;
    size_t count;
    /* REX_CUBIN or the caller named the sources, so no other image replaces them */
    bool asked_for;
    bool by_setting; /* REX_CUBIN named the sources */
    /* element of the module's array `images_begin`, if the image comes from the array; else NULL */
    const struct rex_image_row *row;
    char *names;               /* names of the files; NULL if no file was searched */
    struct rex_report missing; /* paths at which there is no file */
};

/*
 * Reads the file NAME. If NAME has a slash, NAME is the path. If NAME has no slash, reads the first
 * file of this name in the folders for bare names. Returns 0 and fills all members of SOURCE except
 * `list`. Adds each path at which there is no file to TRIED. If none of the paths has a file,
 * returns REX_ENOIMAGE without a message. Any other error has a message.
 */
int rex_source_read(struct rex_source *source, const struct rex_module *module, const char *name,
                    struct rex_report *tried);

/*
 * Adds the files in the list NAMES, whose separator is a colon. Call this at most once for SOURCES.
 * Returns 0 if at least one file exists. If no file exists, returns REX_ENOIMAGE without a message.
 * Any other error has a message.
 */
int rex_sources_add_files(struct rex_sources *sources, const struct rex_module *module,
                          const char *names);

/*
 * Adds the SIZE BYTES, which must outlive SOURCES. Messages use NAME as the name of the bytes.
 * Returns 0 or an error.
 */
int rex_sources_add_memory(struct rex_sources *sources, const void *bytes, size_t size,
                           const char *name);

void rex_sources_close(struct rex_sources *sources);

/*
 * Call this if a host image was found by a bare name. The user did not choose the folder of such a
 * file, and the process executes the file. Returns REX_EUNSAFE if another user could have written
 * the image, otherwise 0.
 */
int rex_source_check_owner(const struct rex_source *source);

#endif
