/*
 * source.c - where a module's images come from: files and memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"

/* Takes over the bytes. */
static int add(struct rex_sources *sources, const char *path, struct rex_bytes file, bool searched)
{
    struct rex_source source = {.path = strdup(path), .file = file, .searched = searched};
    struct rex_source *grown = sources->list;
    if (sources->count == sources->room) {
        size_t room = sources->room == 0 ? 4 : sources->room * 2;
        grown = reallocarray(sources->list, room, sizeof *grown);
        if (grown != NULL) {
            sources->list = grown;
            sources->room = room;
        }
    }
    int result = source.path == NULL || grown == NULL
                     ? rex_fail_memory(file.size, "an image's name")
                     : rex_list_open(&source.list, file.bytes, file.size, path);
    if (result == REX_OK) {
        sources->list[sources->count++] = source;
        return REX_OK;
    }
    free(source.path);
    free(file.bytes);
    return result;
}

static int add_file(struct rex_sources *sources, const struct rex_module *module, const char *name)
{
    struct rex_bytes file;
    char path[PATH_MAX];
    bool searched;
    size_t before = sources->missing.length;
    int result = rex_imagefile_read(module, name, &file, path, &searched, &sources->missing);
    if (result != REX_OK)
        return result;
    sources->missing.length = before; /* where else it was looked for matters no more */
    sources->missing.text[before] = '\0';
    return add(sources, path, file, searched);
}

int rex_sources_add_files(struct rex_sources *sources, const struct rex_module *module,
                          const char *names)
{
    char *copy = strdup(names), *rest = copy, *name;
    size_t before = sources->count;
    if (sources->names == NULL)
        sources->names = strdup(names);
    int result = copy != NULL && sources->names != NULL
                     ? REX_OK
                     : rex_fail_memory(strlen(names) + 1, "the names of images");
    while (result == REX_OK && (name = strsep(&rest, ":")) != NULL)
        if (*name != '\0' && (result = add_file(sources, module, name)) == REX_ENOIMAGE) {
            rex_log(REX_LOG_DEBUG, "there is no %s", name);
            result = REX_OK;
        }
    free(copy);
    return result == REX_OK && sources->count == before ? REX_ENOIMAGE : result;
}

int rex_sources_add_memory(struct rex_sources *sources, const void *bytes, size_t size)
{
    struct rex_bytes copy = {.bytes = malloc(size + 1), .size = size};
    if (copy.bytes == NULL)
        return rex_fail_memory(size, "a copy of the device image");
    memcpy(copy.bytes, bytes, size);
    return size == 0 ? (free(copy.bytes), rex_fail(REX_EIMAGE, "device image in memory is empty"))
                     : add(sources, "memory", copy, false);
}

void rex_sources_close(struct rex_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        rex_list_close(&sources->list[i].list);
        free(sources->list[i].path);
        free(sources->list[i].file.bytes);
    }
    free(sources->list);
    free(sources->names);
    *sources = (struct rex_sources){0};
}
