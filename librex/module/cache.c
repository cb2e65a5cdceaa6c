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

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "module/cachefolder.h"

#define MOST_BYTES ((uint64_t)256 << 20) /* of all files together */

/* Behind it lie the source and the result. */
struct header {
    char magic[sizeof REX_CACHE_MAGIC];
    char maker[REX_CACHE_MAKER_MAX];
    uint64_t architecture, source_size, size;
    uint64_t sum; /* of the rest, with 0 here */
};

static struct header header_of(const struct rex_cache_key *key, size_t size)
{
    struct header header = {.magic = REX_CACHE_MAGIC,
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

static void name_of(const struct rex_cache_key *key, char name[REX_CACHE_NAME_MAX])
{
    uint64_t hash = mix(rex_hash_string(key->maker), rex_hash_bytes(key->source, key->source_size));
    snprintf(name, REX_CACHE_NAME_MAX, "%016llx-sm_%u" REX_CACHE_SUFFIX, (unsigned long long)hash,
             key->architecture);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Why a file with this STATUS and HEADER is not what is asked for; NULL: it may be. */
static const char *wrong_header(const struct stat *status, const struct header *header,
                                const struct rex_cache_key *key)
{
    if (status->st_uid != geteuid() || status->st_mode & (S_IWGRP | S_IWOTH))
        return "it is another user's, or others can write it";
    const struct header wanted = header_of(key, 0);
    if (memcmp(header->magic, wanted.magic, sizeof header->magic) != 0)
        return "it is no file of this cache";
    uint64_t rest = (uint64_t)status->st_size - sizeof *header;
    if (header->source_size > rest || header->size != rest - header->source_size ||
        header->size == 0)
        return "it is cut off";
    if (rest > MOST_BYTES)
        return "it is larger than the cache may be";
    if (memcmp(header->maker, wanted.maker, sizeof header->maker) != 0 ||
        header->architecture != wanted.architecture || header->source_size != wanted.source_size)
        return "it belongs to another source";
    return NULL;
}

/* The same, before more of the file is read than that. */
static const char *wrong_start(int fd, const struct rex_cache_key *key)
{
    struct stat status;
    struct header header;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return "it is not a regular file";
    ssize_t have = pread(fd, &header, sizeof header, 0);
    return have == (ssize_t)sizeof header ? wrong_header(&status, &header, key) : "it is cut off";
}

/* The same, of all its bytes. */
static const char *wrong(const struct rex_bytes *file, const struct rex_cache_key *key)
{
    struct header header;
    if (file->size < sizeof header)
        return "it is cut off";
    memcpy(&header, file->bytes, sizeof header);
    const char *why = wrong_header(&file->status, &header, key);
    if (why != NULL)
        return why;
    const unsigned char *source = file->bytes + sizeof header;
    if (memcmp(source, key->source, key->source_size) != 0)
        return "it belongs to another source";
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
    struct rex_bytes file = {.bytes = NULL};
    char why[128];
    const char *cause = wrong_start(fd, key);
    if (cause == NULL)
        cause = rex_file_read_open(fd, &file, why, sizeof why) != 0 ? why : wrong(&file, key);
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
    char file_name[REX_CACHE_NAME_MAX];
    int folder = rex_cache_folder(false);
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
    size_t done;
    errno = rex_file_write(fd, bytes, size, &done);
    return errno == 0 ? 0 : -1;
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
    char unfinished[2 * REX_CACHE_NAME_MAX];
    /* Relaxed: a number that no other thread of the process has is all that is asked. */
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
    char file_name[REX_CACHE_NAME_MAX];
    int folder = rex_cache_folder(true);
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
