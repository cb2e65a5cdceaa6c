/*
 * cache.c - what the CUDA driver made of PTX, kept in the user's cache folder.
 *
 * A file is called after a hash of its key, and holds the whole key: it is used if that is equal to
 * what is asked for, and its checksum is right. Nobody else can have written it: folder and file
 * have to be the user's own, and closed to others. Files appear whole, by rename(), so that any
 * number of processes may read and write, and any file may be removed at any time.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/cache.h"

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

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/settings.h"

#define MAGIC "librex cache 1\n"
#define MOST_BYTES ((uint64_t)256 << 20)

/* Behind it lie the source and the result. */
struct header {
    char magic[sizeof MAGIC];
    char maker[REX_CACHE_MAKER_MAX];
    uint64_t architecture, source_size, size;
    uint64_t sum; /* of the rest, with 0 here */
};

static struct header header_of(const struct rex_cache_key *key, size_t size)
{
    struct header header = {.magic = MAGIC,
                            .architecture = key->architecture,
                            .source_size = key->source_size,
                            .size = size};
    snprintf(header.maker, sizeof header.maker, "%s", key->maker);
    return header;
}

static uint64_t mix(uint64_t sum, uint64_t hash)
{
    return (sum ^ hash) * 0x9e3779b97f4a7c15u;
}

static uint64_t sum_of(struct header header, const unsigned char *source,
                       const unsigned char *bytes)
{
    header.sum = 0;
    uint64_t sum =
        mix(rex_hash_bytes(&header, sizeof header), rex_hash_bytes(source, header.source_size));
    return mix(sum, rex_hash_bytes(bytes, header.size));
}

#define NAME_MAX_BYTES 64
static void name_of(const struct rex_cache_key *key, char name[NAME_MAX_BYTES])
{
    uint64_t hash = mix(rex_hash_string(key->maker), rex_hash_bytes(key->source, key->source_size));
    snprintf(name, NAME_MAX_BYTES, "%016llx-sm_%u" REX_CACHE_SUFFIX, (unsigned long long)hash,
             key->architecture);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Why the file is not what is asked for; NULL: it is. */
static const char *wrong(const struct rex_bytes *file, const struct rex_cache_key *key)
{
    struct header header;
    if (file->status.st_uid != geteuid() || file->status.st_mode & (S_IWGRP | S_IWOTH))
        return "it is another user's, or others can write it";
    if (file->size < sizeof header)
        return "it is cut off";
    memcpy(&header, file->bytes, sizeof header);
    size_t rest = file->size - sizeof header;
    const struct header wanted = header_of(key, 0);
    if (memcmp(header.magic, wanted.magic, sizeof header.magic) != 0)
        return "it is no file of this cache";
    if (header.source_size > rest || header.size != rest - header.source_size || header.size == 0)
        return "it is cut off";
    if (memcmp(header.maker, wanted.maker, sizeof header.maker) != 0 ||
        header.architecture != wanted.architecture || header.source_size != wanted.source_size ||
        memcmp(file->bytes + sizeof header, key->source, key->source_size) != 0)
        return "it belongs to another source";
    const unsigned char *source = file->bytes + sizeof header;
    return header.sum == sum_of(header, source, source + header.source_size) ? NULL
                                                                             : "it is damaged";
}

/* The result alone, in place. */
static void take(struct rex_bytes *file, const struct rex_cache_key *key, unsigned char **bytes,
                 size_t *size)
{
    size_t before = sizeof(struct header) + key->source_size;
    memmove(file->bytes, file->bytes + before, file->size - before);
    *size = file->size - before;
    *bytes = file->bytes;
}

static int load_open(int fd, const struct rex_cache_key *key, const char *file_name,
                     unsigned char **bytes, size_t *size)
{
    struct rex_bytes file;
    char why[128];
    if (rex_file_read_open(fd, &file, why, sizeof why) != 0) {
        rex_log(REX_LOG_WARN, "the cache's %s is not used: %s", file_name, why);
        return -1;
    }
    const char *cause = wrong(&file, key);
    if (cause != NULL) {
        rex_log(REX_LOG_WARN, "the cache's %s is not used: %s", file_name, cause);
        free(file.bytes);
        return -1;
    }
    take(&file, key, bytes, size);
    futimens(fd, NULL); /* what is used stays longest */
    return 0;
}

int rex_cache_load(const struct rex_cache_key *key, const char *name, unsigned char **bytes,
                   size_t *size)
{
    char file_name[NAME_MAX_BYTES];
    int folder = rex_cache_folder(0);
    if (folder < 0)
        return -1;
    name_of(key, file_name);
    int fd = openat(folder, file_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno != ENOENT)
        rex_log(REX_LOG_WARN, "the cache's %s is not used: %s", file_name, strerror(errno));
    int result = fd >= 0 ? load_open(fd, key, file_name, bytes, size) : -1;
    if (fd >= 0)
        close(fd);
    close(folder);
    if (result == 0)
        rex_log(REX_LOG_INFO, "device image %s: compiled before, taken from the cache's %s", name,
                file_name);
    return result;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno != EINTR)
            return -1;
        at += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

static int write_file(int fd, const struct rex_cache_key *key, const unsigned char *bytes,
                      size_t size)
{
    struct header header = header_of(key, size);
    header.sum = sum_of(header, key->source, bytes);
    if (write_all(fd, &header, sizeof header) != 0 ||
        write_all(fd, key->source, key->source_size) != 0)
        return -1;
    return write_all(fd, bytes, size);
}

/* Under another name until it is whole, which no other thread or process uses. */
static int store_in(int folder, const struct rex_cache_key *key, const char *file_name,
                    const unsigned char *bytes, size_t size)
{
    static unsigned counter;
    char unfinished[NAME_MAX_BYTES + 64];
    snprintf(unfinished, sizeof unfinished, REX_CACHE_UNFINISHED "%ld-%u-%s", (long)getpid(),
             __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED), file_name);
    int fd = openat(folder, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                    S_IRUSR | S_IWUSR);
    if (fd < 0)
        return -1;
    int result = write_file(fd, key, bytes, size);
    if (close(fd) != 0)
        result = -1;
    if (result == 0)
        result = renameat(folder, unfinished, folder, file_name);
    int error = errno;
    if (result != 0)
        unlinkat(folder, unfinished, 0);
    errno = error;
    return result;
}

void rex_cache_store(const struct rex_cache_key *key, const unsigned char *bytes, size_t size)
{
    char file_name[NAME_MAX_BYTES];
    int folder = rex_cache_folder(1);
    if (folder < 0)
        return;
    name_of(key, file_name);
    if (store_in(folder, key, file_name, bytes, size) != 0)
        rex_log(REX_LOG_WARN, "the cache's %s cannot be written: %s", file_name, strerror(errno));
    else
        rex_log(REX_LOG_DEBUG, "kept in the cache as %s", file_name);
    rex_cache_trim(folder, MOST_BYTES);
    close(folder);
}

/* ---- the folder ------------------------------------------------------------------------------ */

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
static int folder_path(char path[PATH_MAX])
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

/* ---- how full it may get --------------------------------------------------------------------- */

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
        if (!ends_with(entry->d_name, REX_CACHE_SUFFIX) ||
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
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
