/*
 * source.h - where a module's images come from: files and memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SOURCE_H
#define REX_INTERNAL_SOURCE_H

#include "image/list.h"
#include "module/imagefile.h"

/* A file, or bytes in memory, with the images in it. */
struct rex_source {
    char *path; /* what messages call it */
    struct rex_bytes file;
    bool searched; /* a file that was found by its bare name */
    struct rex_image_list list;
};

/* Those of one module, in the order in which they were named. */
struct rex_sources {
    struct rex_source *list;
    size_t count, room;
    bool asked_for; /* REX_CUBIN or the caller named them: no other image takes their place */
    char *names;    /* the first list of names that was looked for */
    struct rex_report missing; /* the paths at which no file was found */
};

/*
 * Add the files of NAMES, separated by colons. 0 also where some do not exist; REX_ENOIMAGE,
 * without a message, where none does; or another error.
 */
int rex_sources_add_files(struct rex_sources *sources, const struct rex_module *module,
                          const char *names);

/* Add a copy of SIZE bytes in memory. 0 or an error. */
int rex_sources_add_memory(struct rex_sources *sources, const void *bytes, size_t size);

void rex_sources_close(struct rex_sources *sources);

#endif
