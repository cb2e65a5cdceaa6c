/*
 * cachefolder.c - the folder of the cache: where it is, whether to trust it, how full it may get.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/cachefolder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

/* ---- which one ------------------------------------------------------------------------------- */

static int in_folder_of(const char *variable, const char *rest, char path[PATH_MAX])
{
    const char *folder = secure_getenv(variable);
    /* A relative path is not valid by the XDG specification. */
    return folder != NULL && *folder == '/' &&
                   snprintf(path, PATH_MAX, "%s%s", folder, rest) < PATH_MAX
               ? 0
               : -1;
}

/* 0, or -1: there is to be no cache. */
static __attribute__((noinline)) int folder_path(char path[PATH_MAX])
{
    char folder[REX_SETTING_MAX];
    if (getauxval(AT_SECURE) != 0 && !rex_setting_by_program(REX_OPTION_CACHE))
        return -1; /* a set-user-ID program leaves nothing in its caller's name */
    if (!rex_setting_cache(folder))
        return -1;
    if (*folder != '\0')
        return snprintf(path, PATH_MAX, "%s", folder) < PATH_MAX ? 0 : -1;
    return in_folder_of("XDG_CACHE_HOME", "/librex", path) == 0 ||
                   in_folder_of("HOME", "/.cache/librex", path) == 0
               ? 0
               : -1;
}

/* The folder and those above it, for the user alone. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, S_IRWXU);
        *slash = '/';
    }
    mkdir(path, S_IRWXU);
}

/* ---- whether to trust it --------------------------------------------------------------------- */

static const char *distrust(int folder)
{
    struct stat status;
    if (fstat(folder, &status) != 0)
        return strerror(errno);
    if (status.st_uid != geteuid())
        return "it belongs to another user";
    return status.st_mode & (S_IWGRP | S_IWOTH) ? "others can write it: chmod go-w" : NULL;
}

int rex_cache_folder(bool make)
{
    char path[PATH_MAX];
    if (folder_path(path) != 0)
        return -1;
    if (make)
        make_folders(path);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *why = folder < 0 ? strerror(errno) : distrust(folder);
    if (folder < 0 && errno == ENOENT && !make)
        return -1;
    if (why == NULL)
        return folder;
    rex_log(REX_LOG_WARN, "the cache folder %s is not used: %s", path, why);
    if (folder >= 0)
        close(folder);
    return -1;
}

/* ---- which files are librex's own ------------------------------------------------------------ */

#define DIGITS "0123456789"

/* "0123456789abcdef-sm_90.cubin" */
static bool is_own_name(const char *name)
{
    if (strspn(name, DIGITS "abcdef") != 16 || strncmp(name + 16, "-sm_", 4) != 0)
        return false;
    const char *number = name + 20;
    size_t length = strspn(number, DIGITS);
    return length > 0 && length < 10 && strcmp(number + length, REX_CACHE_SUFFIX) == 0;
}

/* ".new-PROCESS-NUMBER-" before such a name */
static bool is_unfinished(const char *name)
{
    if (strncmp(name, REX_CACHE_UNFINISHED, strlen(REX_CACHE_UNFINISHED)) != 0)
        return false;
    name += strlen(REX_CACHE_UNFINISHED);
    for (int i = 0; i < 2; i++) {
        size_t length = strspn(name, DIGITS);
        if (length == 0 || name[length] != '-')
            return false;
        name += length + 1;
    }
    return is_own_name(name);
}

/* Whether the file begins as librex's do; an unfinished one as far as it goes. */
static bool begins_as_own(int folder, const char *name, bool unfinished)
{
    char start[sizeof REX_CACHE_MAGIC];
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t have = fd >= 0 ? read(fd, start, sizeof start) : -1;
    if (fd >= 0)
        close(fd);
    return have >= (unfinished ? 0 : (ssize_t)sizeof start) &&
           memcmp(start, REX_CACHE_MAGIC, (size_t)have) == 0;
}

/* ---- how full it may get --------------------------------------------------------------------- */

struct found {
    char name[REX_CACHE_NAME_MAX];
    time_t used;
    uint64_t size;
};

struct findings {
    struct found *files;
    size_t count, room;
    uint64_t total; /* bytes */
};

#define ABANDONED 3600 /* seconds after which nobody finishes a file any more */

static int earlier(const void *a, const void *b)
{
    const struct found *one = a, *other = b;
    return one->used < other->used ? -1 : one->used > other->used;
}

static bool add(struct findings *findings, const char *name, const struct stat *status)
{
    if (findings->count == findings->room) {
        size_t room = findings->room == 0 ? 64 : findings->room * 2;
        struct found *grown = reallocarray(findings->files, room, sizeof *grown);
        if (grown == NULL)
            return false;
        findings->files = grown;
        findings->room = room;
    }
    struct found *found = &findings->files[findings->count++];
    memcpy(found->name, name, strlen(name) + 1); /* is_own_name() has seen how long it is */
    found->used = status->st_mtime;
    found->size = (uint64_t)status->st_size;
    findings->total += found->size;
    return true;
}

/* All files that have names of the cache. What nobody finishes is removed. */
static void find_files(DIR *directory, int folder, struct findings *findings)
{
    const struct dirent *entry;
    struct stat status;
    while ((entry = readdir(directory)) != NULL) {
        const char *name = entry->d_name;
        bool unfinished = is_unfinished(name);
        if ((!unfinished && !is_own_name(name)) ||
            fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
            continue;
        if (!unfinished && !add(findings, name, &status))
            return;
        if (unfinished && status.st_mtime + ABANDONED < time(NULL) &&
            begins_as_own(folder, name, true))
            unlinkat(folder, name, 0);
    }
}

static void remove_oldest(int folder, struct findings *findings, uint64_t most)
{
    if (findings->count > 1)
        qsort(findings->files, findings->count, sizeof *findings->files, earlier);
    for (size_t i = 0; i < findings->count && findings->total > most; i++) {
        const struct found *file = &findings->files[i];
        if (!begins_as_own(folder, file->name, false))
            findings->total -= file->size; /* the user's: it does not count */
        else if (unlinkat(folder, file->name, 0) == 0 || errno == ENOENT) {
            findings->total -= file->size;
            rex_log(REX_LOG_DEBUG, "the cache's %s is removed: the cache is full", file->name);
        }
    }
}

void rex_cache_trim(int folder, uint64_t most)
{
    struct findings findings = {.files = NULL};
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = again >= 0 ? fdopendir(again) : NULL;
    if (directory != NULL) {
        find_files(directory, folder, &findings);
        remove_oldest(folder, &findings, most);
        closedir(directory);
    } else if (again >= 0)
        close(again);
    free(findings.files);
}
