/*
 * source.h - where a module's images come from: files and memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SOURCE_H
#define REX_INTERNAL_SOURCE_H

#include <limits.h>
#include <stdbool.h>

#include "base/file.h"
#include "image/list.h"
#include "omp/search.h"
#include "rex/offload.h"

/* A file, or bytes in memory, with the images in it. */
struct rex_source {
    char *path; /* what messages call it */
    struct rex_bytes file;
    bool searched; /* a file that was found by its bare name */
    struct rex_list list;
};

/* Those of one module, in the order in which they were named. */
struct rex_sources {
    struct rex_source *list;
    size_t count, room;
    bool asked_for;  /* REX_CUBIN or the caller named them: no other image takes their place */
    bool by_setting; /* REX_CUBIN did */
    char *names;     /* the first list of names that was looked for */
    struct rex_report missing; /* the paths at which no file was found */
};

/*
 * Read the file NAME: with a slash as given, else from the folders for a bare name. 0;
 * REX_ENOIMAGE, with the paths in TRIED and without a message; or another error, with one. PATH
 * gets the file's path, *SEARCHED whether it was a bare name.
 */
int rex_source_read(const struct rex_module *module, const char *name, struct rex_bytes *file,
                    char path[PATH_MAX], bool *searched, struct rex_report *tried);

/*
 * Add the files of NAMES, separated by colons. 0 also where some do not exist; REX_ENOIMAGE,
 * without a message, where none does; or another error.
 */
int rex_sources_add_files(struct rex_sources *sources, const struct rex_module *module,
                          const char *names);

/* Add a copy of SIZE bytes in memory, which messages call NAME. 0 or an error. */
int rex_sources_add_memory(struct rex_sources *sources, const void *bytes, size_t size,
                           const char *name);

void rex_sources_close(struct rex_sources *sources);

/*
 * A host image is code: refuse one, found by a bare name, that other users could have put there. 0
 * or REX_EUNSAFE.
 */
int rex_source_check_owner(const char *path, const struct rex_bytes *file);

#endif
