/*
 * imagefiles.c - reads the bytes of images, from files or from memory. Searches the folders for a
 * file with a bare name. Checks who owns the file and its folder, and whether every user can write
 * the file or the folder.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/imagefiles.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"

/* ---- finding a file -------------------------------------------------------------------------- */

#define PROGRAM "/proc/self/exe"

/* Adds PATH to TRIED, the list of paths without a file. Does nothing if the list has PATH. */
static void add_tried(struct rex_report *tried, const char *path)
{
    size_t length = strlen(path);
    for (const char *at = tried->text; (at = strstr(at, path)) != NULL; at += length)
        if ((at == tried->text || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return;
    rex_report_add(tried, tried->length > 0 ? ", " : "", "%s", path);
}

/* Reads the file at the source's path. The result is that of rex_source_read(). */
static int read_source(struct rex_source *source, struct rex_report *tried)
{
    char why[256];
    if (rex_file_read(source->path, &source->file, why, sizeof why) == 0)
        return REX_OK;
    if (errno == ENOENT || errno == ENOTDIR) {
        add_tried(tried, source->path);
        return REX_ENOIMAGE;
    }
    if (errno == ENOMEM)
        return rex_fail(REX_ENOMEM, "device image %s: %s", source->path, why);
    return rex_fail(strcmp(why, "it is empty") == 0 ? REX_EIMAGE : REX_EREAD,
                    "device image %.3900s cannot be read: %s", source->path, why);
}

static int read_in_folder(struct rex_source *source, const char *folder, size_t length,
                          const char *name, struct rex_report *tried)
{
    int whole = snprintf(source->path, PATH_MAX, "%.*s/%s", (int)length, folder, name);
    if ((size_t)whole < PATH_MAX)
        return read_source(source, tried);
    rex_report_add(tried, tried->length > 0 ? ", " : "", "%.60s... (too long for a path)",
                   source->path);
    return REX_ENOIMAGE;
}

static __attribute__((noinline)) int read_beside_binary(struct rex_source *source,
                                                        const char *binary, const char *name,
                                                        struct rex_report *tried)
{
    char folder[PATH_MAX];
    rex_folder_of(binary, folder);
    return read_in_folder(source, folder, strlen(folder), name, tried);
}

int rex_source_read(struct rex_source *source, const struct rex_module *module, const char *name,
                    struct rex_report *tried)
{
    /*
     * first the list of folders; later the path of a binary, whose folder is searched for the file
     */
    char places[PATH_MAX];
    size_t length = strlen(name);
    int result = REX_ENOIMAGE;
    source->searched = strchr(name, '/') == NULL;
    size_t most = source->searched ? NAME_MAX : PATH_MAX - 1;
    if (length > most) /* cut the name in the message, which must also have room for the reason */
        return rex_fail(REX_EREAD,
                        "device image %.60s...: its name is %zu bytes long, and the maximum is "
                        "%zu",
                        name, length, most);
    if (!source->searched) {
        snprintf(source->path, PATH_MAX, "%s", name);
        return read_source(source, tried);
    }
    _Static_assert(REX_SETTING_MAX <= sizeof places, "the folders' names fit, too");
    const char *folder = rex_setting_text(REX_OPTION_CUBIN_PATH, places) ? places : "";
    for (; result == REX_ENOIMAGE && *folder != '\0'; folder += length + (folder[length] == ':'))
        if ((length = strcspn(folder, ":")) > 0)
            result = read_in_folder(source, folder, length, name, tried);
    if (result == REX_ENOIMAGE && !rex_in_program(module, places))
        result = read_beside_binary(source, places, name, tried);
    if (result == REX_ENOIMAGE) {
        ssize_t got = readlink(PROGRAM, places, sizeof places - 1);
        places[got > 0 ? got : 0] = '\0';
        result = read_beside_binary(source, places, name, tried);
    }
    return result == REX_ENOIMAGE ? read_in_folder(source, ".", 1, name, tried) : result;
}

static bool is_owner_trusted(uid_t owner)
{
    struct stat program;
    return owner == 0 || owner == geteuid() ||
           (stat(PROGRAM, &program) == 0 && owner == program.st_uid);
}

int rex_source_check_owner(const struct rex_source *source)
{
    char folder[PATH_MAX];
    struct stat folder_status;
    const char *path = source->path;
    const struct stat *status = &source->file.status;
    rex_folder_of(path, folder);
    if (stat(folder, &folder_status) != 0)
        return rex_fail(REX_EUNSAFE, "host image %s: its folder cannot be examined: %s", path,
                        strerror(errno));
    if (status->st_mode & S_IWOTH)
        return rex_fail(
            REX_EUNSAFE,
            "host image %s can be written by every user: remove that permission (chmod o-w), or, "
            "to trust the image as it is, name it by a path with a slash, such as ./NAME (for the "
            "program's own image: REX_CUBIN=PATH)",
            path);
    if (folder_status.st_mode & S_IWOTH)
        return rex_fail(
            REX_EUNSAFE,
            "host image %s lies in a folder that every user can write: move the image, or, to "
            "trust the image as it is, name it by a path with a slash, such as ./NAME (for the "
            "program's own image: REX_CUBIN=PATH)",
            path);
    if (!is_owner_trusted(status->st_uid) || !is_owner_trusted(folder_status.st_uid))
        return rex_fail(
            REX_EUNSAFE,
            "host image %s belongs to user %u and its folder to user %u, and each must belong to "
            "root, to you or to the owner of the program: change the owner, or, to trust the image "
            "as it is, name it by a path with a slash, such as ./NAME (for the program's own "
            "image: REX_CUBIN=PATH)",
            path, (unsigned)status->st_uid, (unsigned)folder_status.st_uid);
    return REX_OK;
}

/* ---- the images of a module ------------------------------------------------------------------ */

/*
 * Returns a new element after the last source of the list, or NULL with an error if memory ran out.
 * The new element counts as a source only after list_source() has increased `count`.
 */
static struct rex_source *room_for_source(struct rex_sources *sources)
{
    size_t count = sources->count + 1;
    struct rex_source *grown = reallocarray(sources->list, count, sizeof *grown);
    if (grown == NULL) {
        rex_fail_memory(count * sizeof *grown, "a list of images");
        return NULL;
    }
    sources->list = grown;
    memset(&grown[count - 1], 0, sizeof *grown);
    return &grown[count - 1];
}

/* Lists the images in the bytes of SOURCE, the new last element. Returns 0 or an error. */
static int list_source(struct rex_sources *sources, struct rex_source *source, const void *bytes,
                       size_t size)
{
    int result = rex_list_open(&source->list, bytes, size, source->path);
    if (result == REX_OK)
        sources->count++;
    else
        free(source->file.bytes);
    return result;
}

int rex_sources_add_files(struct rex_sources *sources, const struct rex_module *module,
                          const char *names)
{
    char *copy = strdup(names), *rest = copy, *name;
    int result = REX_OK;
    sources->names = strdup(names);
    if (copy == NULL || sources->names == NULL)
        result = rex_fail_memory(strlen(names) + 1, "the names of images");
    while (result == REX_OK && (name = strsep(&rest, ":")) != NULL) {
        if (*name == '\0')
            continue;
        struct rex_report *missing = &sources->missing;
        size_t before = missing->length;
        struct rex_source *source = room_for_source(sources);
        if (source == NULL) {
            result = REX_ENOMEM;
            break;
        }
        result = rex_source_read(source, module, name, missing);
        if (result == REX_ENOIMAGE) {
            rex_log(REX_LOG_DEBUG, "there is no %s", name);
            result = REX_OK;
        } else if (result == REX_OK) {
            /* the file was found: remove from the report the folders that do not have the file */
            missing->length = before;
            missing->text[before] = '\0';
            result = list_source(sources, source, source->file.bytes, source->file.size);
        }
    }
    free(copy);
    return result == REX_OK && sources->count == 0 ? REX_ENOIMAGE : result;
}

int rex_sources_add_memory(struct rex_sources *sources, const void *bytes, size_t size,
                           const char *name)
{
    struct rex_source *source = room_for_source(sources);
    if (source == NULL)
        return REX_ENOMEM;
    if (size == 0)
        return rex_fail(REX_EIMAGE, "device image %s is empty", name);
    snprintf(source->path, PATH_MAX, "%s", name);
    return list_source(sources, source, bytes, size);
}

void rex_sources_close(struct rex_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        rex_list_close(&sources->list[i].list);
        free(sources->list[i].file.bytes);
    }
    free(sources->list);
    free(sources->names);
    *sources = (struct rex_sources){0};
}
