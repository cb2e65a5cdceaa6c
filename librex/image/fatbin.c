/*
 * fatbin.c - nvcc's fatbin: its members, and how compressed ones are unpacked.
 *
 * A fatbin is a header, then members, each with a header of its own before its payload. NVIDIA
 * documents no layout. This is what fatbinary of CUDA 13.0 writes for sm_75 to sm_121, with
 * Zstandard or, for -compress-mode=speed, LZ4; public readers of what older toolkits wrote, with
 * LZ4 alone, agree with it. A member's header has 64 bytes and may be longer: a name, options, what
 * sm_100 and later need. Payloads are padded to 8 bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/fatbin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"

/* ---- members --------------------------------------------------------------------------------- */

#define MAGIC 0xba55ed50u
#define VERSION 1

struct header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of all members */
};

struct member_header {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t payload_size;
    uint32_t packed_size, options; /* without the padding; 0 where the payload is not compressed */
    uint16_t minor, major;         /* of PTX, or of the CUBIN's form */
    uint32_t architecture;
    uint32_t name, name_size;
    uint64_t flags, unused, size; /* unpacked; 0 where the payload is not compressed */
};

#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAG_EXACT 0x100000u  /* sm_90a: that GPU and no other */
#define FLAG_FAMILY 0x200000u /* sm_100f: the GPUs of its major number */

/* Larger than any image, so that what a file says cannot take all memory. */
#define MOST_BYTES ((uint64_t)1 << 30)

static int refuse(struct rex_fatbin *fatbin, const char *why)
{
    snprintf(fatbin->why, sizeof fatbin->why, "%s", why);
    return -1;
}

static int refuse_member(struct rex_fatbin *fatbin, const char *why)
{
    snprintf(fatbin->why, sizeof fatbin->why, "the member at byte %zu of the fatbin %s", fatbin->at,
             why);
    return -1;
}

bool rex_fatbin_is(const void *bytes, size_t size)
{
    uint32_t magic;
    if (size < sizeof magic)
        return false;
    memcpy(&magic, bytes, sizeof magic);
    return magic == MAGIC;
}

static int start(struct rex_fatbin *fatbin)
{
    struct header header;
    if (fatbin->size < sizeof header)
        return refuse(fatbin, "the fatbin is truncated inside its header");
    memcpy(&header, fatbin->bytes, sizeof header);
    if (header.magic != MAGIC)
        return refuse(fatbin, "it is no fatbin");
    if (header.version != VERSION || header.header_size < sizeof header ||
        header.header_size > fatbin->size)
        return refuse(fatbin, "the fatbin is of a form that is not known");
    if (header.size > fatbin->size - header.header_size)
        return refuse(fatbin, "the fatbin is truncated: it ends before its last member");
    fatbin->at = header.header_size;
    fatbin->end = header.header_size + (size_t)header.size;
    /*
     * One table of kernels has one image: a second fatbin would hold other kernels, and nobody
     * would notice that they are missing.
     */
    if (rex_fatbin_is(fatbin->bytes + fatbin->end, fatbin->size - fatbin->end))
        return refuse(fatbin, "several fatbins lie one behind the other; link the kernels into one "
                              "image with nvcc -dlink, or give each a module");
    return 0;
}

static enum rex_packing packing_of(uint64_t flags)
{
    return flags & FLAG_ZSTD ? REX_PACKED_ZSTD : flags & FLAG_LZ4 ? REX_PACKED_LZ4 : REX_UNPACKED;
}

static int read_member(struct rex_fatbin *fatbin, const struct member_header *header,
                       struct rex_fatbin_member *member)
{
    enum rex_packing packing = packing_of(header->flags);
    bool packed = packing != REX_UNPACKED;
    uint64_t stored = packed ? header->packed_size : header->payload_size,
             size = packed ? header->size : header->payload_size;
    if (stored > header->payload_size || (size == 0) != (stored == 0))
        return refuse_member(fatbin, "has no size that can be");
    if (size > MOST_BYTES)
        return refuse_member(fatbin, "says that it unpacks to more than a GiB");
    *member = (struct rex_fatbin_member){
        .kind = header->kind,
        .architecture = header->architecture,
        .suffix = header->flags & FLAG_EXACT    ? 'a'
                  : header->flags & FLAG_FAMILY ? 'f'
                                                : '\0',
        .packing = packing,
        .payload = fatbin->bytes + fatbin->at + header->header_size,
        .stored = (size_t)stored,
        .size = (size_t)size,
    };
    return 0;
}

int rex_fatbin_next(struct rex_fatbin *fatbin, struct rex_fatbin_member *member)
{
    struct member_header header;
    if (fatbin->end == 0 && start(fatbin) != 0)
        return -1;
    size_t room = fatbin->end - fatbin->at;
    if (room == 0)
        return 0;
    if (room < sizeof header)
        return refuse_member(fatbin, "is truncated inside its header");
    memcpy(&header, fatbin->bytes + fatbin->at, sizeof header);
    if (header.header_size < sizeof header || header.header_size > room ||
        header.payload_size > room - header.header_size)
        return refuse_member(fatbin, "does not end inside it");
    if (read_member(fatbin, &header, member) != 0)
        return -1;
    fatbin->at += header.header_size + (size_t)header.payload_size;
    return 1;
}

/* ---- unpacked, by libzstd or liblz4 ---------------------------------------------------------- */

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
    void *library =
        rex_can_open_libraries() ? dlopen(packer->library, RTLD_NOW | RTLD_LOCAL) : NULL;
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
