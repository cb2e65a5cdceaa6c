/*
 * source.c - where a module's images come from: files, which folders they are looked for in and
 * when to trust them; and memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "module/modules.h"

/* ---- where a file is ------------------------------------------------------------------------- */

static void executable(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
}

/* 0, REX_ENOIMAGE without a message where there is no such file, or an error. */
static int read_file(const char *path, struct rex_bytes *file)
{
    char why[256];
    if (rex_file_read(path, file, why, sizeof why) == 0)
        return REX_OK;
    if (errno == ENOENT || errno == ENOTDIR)
        return REX_ENOIMAGE;
    if (errno == ENOMEM)
        return rex_fail(REX_ENOMEM, "device image %s: %s", path, why);
    return rex_fail(strcmp(why, "it is empty") == 0 ? REX_EIMAGE : REX_EREAD,
                    "device image %.3900s cannot be read: %s", path, why);
}

/* What is tried goes behind what was tried before. */
static const char *separator(const struct rex_report *tried)
{
    return tried->length > 0 ? ", " : "";
}

static __attribute__((noinline)) int read_in(const char *folder, size_t length, const char *name,
                                             struct rex_bytes *file, char path[PATH_MAX],
                                             struct rex_report *tried)
{
    char whole[PATH_MAX];
    if (length == 0)
        return REX_ENOIMAGE;
    if ((size_t)snprintf(whole, sizeof whole, "%.*s/%s", (int)length, folder, name) >=
        sizeof whole) {
        rex_report_add(tried, "%s%.60s..., which is too long for a path", separator(tried), whole);
        return REX_ENOIMAGE;
    }
    int result = read_file(whole, file);
    if (result == REX_OK)
        snprintf(path, PATH_MAX, "%s", whole);
    else if (result == REX_ENOIMAGE)
        rex_report_add(tried, "%s%s", separator(tried), whole);
    return result;
}

static int read_in_list(const char *folders, const char *name, struct rex_bytes *file,
                        char path[PATH_MAX], struct rex_report *tried)
{
    int result = REX_ENOIMAGE;
    while (result == REX_ENOIMAGE && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        result = read_in(folders, length, name, file, path, tried);
        folders += length + (folders[length] == ':');
    }
    return result;
}

/* Of a name that no file can have its beginning is told: the whole would leave no room for why. */
static int check_length(const char *name, size_t most)
{
    size_t length = strlen(name);
    return length <= most ? REX_OK
                          : rex_fail(REX_EREAD,
                                     "device image %.60s...: its name is %zu bytes long, and one "
                                     "of a file can have %zu",
                                     name, length, most);
}

static __attribute__((noinline)) int read_beside(const char *binary, const char *name,
                                                 struct rex_bytes *file, char path[PATH_MAX],
                                                 struct rex_report *tried)
{
    char folder[PATH_MAX];
    rex_folder_of(binary, folder);
    return read_in(folder, strlen(folder), name, file, path, tried);
}

int rex_source_read(const struct rex_module *module, const char *name, struct rex_bytes *file,
                    char path[PATH_MAX], bool *searched, struct rex_report *tried)
{
    char binary[PATH_MAX];
    int result = REX_ENOIMAGE;
    *searched = strchr(name, '/') == NULL;
    if (check_length(name, *searched ? NAME_MAX : PATH_MAX - 1) != REX_OK)
        return REX_EREAD;
    if (!*searched) {
        result = read_file(name, file);
        if (result == REX_ENOIMAGE)
            rex_report_add(tried, "%s%s", separator(tried), name);
        else if (result == REX_OK)
            snprintf(path, PATH_MAX, "%s", name);
        return result;
    }
    _Static_assert(REX_SETTING_MAX <= sizeof binary, "the folders' names fit, too");
    if (rex_setting_text(REX_OPTION_CUBIN_PATH, binary))
        result = read_in_list(binary, name, file, path, tried);
    if (result == REX_ENOIMAGE && !rex_in_program(module, binary))
        result = read_beside(binary, name, file, path, tried);
    if (result == REX_ENOIMAGE) {
        executable(binary);
        result = read_beside(binary, name, file, path, tried);
    }
    return result == REX_ENOIMAGE ? read_in(".", 1, name, file, path, tried) : result;
}

static __attribute__((noinline)) bool trusted_owner(uid_t owner)
{
    char program[PATH_MAX];
    struct stat status;
    executable(program);
    return owner == 0 || owner == geteuid() ||
           (stat(program, &status) == 0 && owner == status.st_uid);
}

int rex_source_check_owner(const char *path, const struct rex_bytes *file)
{
    char folder[PATH_MAX];
    struct stat folder_status;
    rex_folder_of(path, folder);
    if (stat(folder, &folder_status) != 0)
        return rex_fail(REX_EUNSAFE, "host image %s: its folder cannot be examined: %s", path,
                        strerror(errno));
    if (file->status.st_mode & S_IWOTH)
        return rex_fail(REX_EUNSAFE,
                        "host image %s can be written by every user; it is code: chmod o-w, or "
                        "name it with a slash",
                        path);
    if (folder_status.st_mode & S_IWOTH)
        return rex_fail(REX_EUNSAFE,
                        "host image %s lies in a folder that every user can write; it is code: "
                        "move it, or name it with a slash",
                        path);
    if (!trusted_owner(file->status.st_uid) || !trusted_owner(folder_status.st_uid))
        return rex_fail(REX_EUNSAFE,
                        "host image %s or its folder belongs to another user (%u, %u); it is code: "
                        "name it with a slash",
                        path, (unsigned)file->status.st_uid, (unsigned)folder_status.st_uid);
    return REX_OK;
}

/* ---- the images of a module ------------------------------------------------------------------ */

static int make_room(struct rex_sources *sources)
{
    if (sources->count < sources->room)
        return REX_OK;
    size_t room = sources->room == 0 ? 4 : sources->room * 2;
    struct rex_source *grown = reallocarray(sources->list, room, sizeof *grown);
    if (grown == NULL)
        return rex_fail_memory(room * sizeof *grown, "a list of images");
    sources->list = grown;
    sources->room = room;
    return REX_OK;
}

/* Takes over the bytes. */
static int add(struct rex_sources *sources, const char *path, struct rex_bytes file, bool searched)
{
    struct rex_source source = {.file = file, .searched = searched};
    int result = make_room(sources);
    if (result == REX_OK && (source.path = strdup(path)) == NULL)
        result = rex_fail_memory(strlen(path) + 1, "an image's name");
    if (result == REX_OK)
        result = rex_list_open(&source.list, file.bytes, file.size, path);
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
    int result = rex_source_read(module, name, &file, path, &searched, &sources->missing);
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

int rex_sources_add_memory(struct rex_sources *sources, const void *bytes, size_t size,
                           const char *name)
{
    struct rex_bytes copy = {.bytes = malloc(size + 1), .size = size};
    if (copy.bytes == NULL)
        return rex_fail_memory(size, "a copy of the device image");
    memcpy(copy.bytes, bytes, size);
    return size == 0 ? (free(copy.bytes), rex_fail(REX_EIMAGE, "device image in memory is empty"))
                     : add(sources, name, copy, false);
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
