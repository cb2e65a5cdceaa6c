/*
 * cachefolder.c - the folder of the cache: which one, whether to trust it, how full it may get.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "config.h"
#include "log.h"

/* ---- which one --------------------------------------------------------------------------------------------------------- */

static int in_folder_of(const char *variable, const char *rest, char path[PATH_MAX])
{
    const char *folder = secure_getenv(variable);
    /* A relative path is not valid by the XDG specification. */
    return folder != NULL && *folder == '/' && snprintf(path, PATH_MAX, "%s%s", folder, rest) < PATH_MAX ? 0 : -1;
}

/* 0, or -1: there is to be no cache. */
static int folder_path(char path[PATH_MAX])
{
    char value[REX_CONFIG_MAX];
    if (getauxval(AT_SECURE) != 0 && !rex_config_chosen(REX_OPTION_CACHE))
        return -1; /* a set-user-ID program leaves nothing in its caller's name */
    if (rex_config(REX_OPTION_CACHE, value)) {
        if (strcasecmp(value, "off") == 0)
            return -1;
        return snprintf(path, PATH_MAX, "%s", value) < PATH_MAX ? 0 : -1;
    }
    return in_folder_of("XDG_CACHE_HOME", "/librex", path) == 0 || in_folder_of("HOME", "/.cache/librex", path) == 0 ? 0 : -1;
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

/* ---- whether to trust it ----------------------------------------------------------------------------------------------- */

static const char *distrust(int folder)
{
    struct stat status;
    if (fstat(folder, &status) != 0)
        return strerror(errno);
    if (status.st_uid != geteuid())
        return "it belongs to another user";
    return status.st_mode & (S_IWGRP | S_IWOTH) ? "others can write it: chmod go-w" : NULL;
}

int rex_cache_folder(int make)
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

/* ---- how full it may get ----------------------------------------------------------------------------------------------- */

struct found {
    char name[NAME_MAX + 1];
    time_t used;
    uint64_t size;
};

#define MOST_FILES 4096
#define ABANDONED 3600 /* seconds after which nobody finishes a file any more */

static int ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);
    return length >= end && strcmp(name + length - end, suffix) == 0;
}

static int is_unfinished(const char *name)
{
    return strncmp(name, REX_CACHE_UNFINISHED, strlen(REX_CACHE_UNFINISHED)) == 0;
}

static int earlier(const void *a, const void *b)
{
    const struct found *one = a, *other = b;
    return one->used < other->used ? -1 : one->used > other->used;
}

/* The cache's own files, of which ABANDONED ones are removed. */
static size_t find_files(DIR *directory, int folder, struct found *files, uint64_t *total)
{
    size_t count = 0;
    const struct dirent *entry;
    struct stat status;
    while (count < MOST_FILES && (entry = readdir(directory)) != NULL) {
        if (!ends_with(entry->d_name, REX_CACHE_SUFFIX) || fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (is_unfinished(entry->d_name)) {
            if (status.st_mtime + ABANDONED < time(NULL))
                unlinkat(folder, entry->d_name, 0);
            continue;
        }
        snprintf(files[count].name, sizeof files[count].name, "%s", entry->d_name);
        files[count].used = status.st_mtime;
        files[count].size = (uint64_t)status.st_size;
        *total += files[count++].size;
    }
    return count;
}

void rex_cache_trim(int folder, uint64_t most)
{
    uint64_t total = 0;
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = again >= 0 ? fdopendir(again) : NULL;
    struct found *files = directory != NULL ? calloc(MOST_FILES, sizeof *files) : NULL;
    size_t count = files != NULL ? find_files(directory, folder, files, &total) : 0;
    if (count > 1)
        qsort(files, count, sizeof *files, earlier);
    for (size_t i = 0; i < count && total > most; i++) {
        total -= files[i].size;
        if (unlinkat(folder, files[i].name, 0) == 0)
            rex_log(REX_LOG_DEBUG, "the cache's %s is removed: the cache is full", files[i].name);
    }
    free(files);
    if (directory != NULL)
        closedir(directory);
    else if (again >= 0)
        close(again);
}
