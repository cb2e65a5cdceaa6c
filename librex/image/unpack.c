/*
 * unpack.c - compressed members of fatbins: libzstd and liblz4, opened when the first such member
 * is used.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/unpack.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct packer {
    const char *method, *library, *function, *measure, *package;
};

static const struct packer packers[] = {
    [REX_PACKED_ZSTD] = {"Zstandard", "libzstd.so.1", "ZSTD_decompress", "ZSTD_getFrameContentSize",
                         "libzstd1"},
    [REX_PACKED_LZ4] = {"LZ4", "liblz4.so.1", "LZ4_decompress_safe", NULL, "liblz4-1"},
};

/* A byte of LZ4 stands for at most 255. */
#define MOST_OF_LZ4 255

/* Never closed: it costs nothing, and the next module has the same kind. */
static int open_library(const struct packer *packer, void **function, void **measure,
                        const char *name)
{
    void *library = dlopen(packer->library, RTLD_NOW | RTLD_LOCAL);
    *function = library != NULL ? dlsym(library, packer->function) : NULL;
    *measure = library != NULL && packer->measure != NULL ? dlsym(library, packer->measure) : NULL;
    if (*function != NULL && (*measure != NULL || packer->measure == NULL))
        return REX_OK;
    return rex_fail(REX_EUNSUPPORTED,
                    "device image %s is compressed with %s, and %s (package %s) cannot be used: "
                    "install it, or build the image with nvcc --no-compress",
                    name, packer->method, packer->library, packer->package);
}

/* The size that the compressed bytes say themselves: no memory is taken for one that cannot be. */
static bool is_possible(enum rex_packing packing, void *measure, const void *from, size_t stored,
                        size_t size)
{
    unsigned long long (*content_size)(const void *, size_t);
    if (packing == REX_PACKED_LZ4)
        return stored <= INT_MAX && size <= INT_MAX && size / MOST_OF_LZ4 <= stored;
    memcpy(&content_size, &measure, sizeof content_size);
    return content_size(from, stored) == size;
}

static bool unpack(enum rex_packing packing, void *function, const void *from, size_t stored,
                   unsigned char *to, size_t size)
{
    size_t (*zstd)(void *, size_t, const void *, size_t);
    int (*lz4)(const char *, char *, int, int);
    if (packing == REX_PACKED_ZSTD) {
        memcpy(&zstd, &function, sizeof zstd);
        return zstd(to, size, from, stored) == size; /* an error is a number that no size reaches */
    }
    memcpy(&lz4, &function, sizeof lz4);
    return lz4(from, (char *)to, (int)stored, (int)size) == (int)size;
}

int rex_unpack(enum rex_packing packing, const void *from, size_t stored, size_t size,
               unsigned char **bytes, const char *name)
{
    const struct packer *packer = &packers[packing];
    void *function = NULL, *measure = NULL;
    int result = packing != REX_UNPACKED ? open_library(packer, &function, &measure, name) : REX_OK;
    if (result != REX_OK)
        return result;
    if (packing != REX_UNPACKED && !is_possible(packing, measure, from, stored, size))
        return rex_fail(REX_EIMAGE,
                        "device image %s is compressed with %s, and does not unpack to the %zu "
                        "bytes that its header says",
                        name, packer->method, size);
    unsigned char *to = malloc(size + 1);
    if (to == NULL)
        return rex_fail_memory(size + 1, "a device image");
    if (packing == REX_UNPACKED)
        memcpy(to, from, size);
    else if (!unpack(packing, function, from, stored, to, size)) {
        free(to);
        return rex_fail(REX_EIMAGE, "device image %s cannot be unpacked: its %s data is damaged",
                        name, packer->method);
    }
    to[size] = '\0';
    *bytes = to;
    return REX_OK;
}
