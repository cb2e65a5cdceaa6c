/*
 * fatbin.c - reads nvcc's fatbin: lists its members, and unpacks compressed members.
 *
 * A fatbin is a header and members. A member is a header and a payload, such as a CUBIN. A member's
 * header has at least 64 bytes. After these 64 bytes, the header may have a name, options and data
 * for sm_100 and later. Payloads are padded to 8 bytes.
 *
 * NVIDIA does not document this layout. fatbinary of CUDA 13.0 writes it for sm_75 to sm_121, and
 * compresses with Zstandard, or with LZ4 for -compress-mode=speed. Older toolkits compress only
 * with LZ4; public readers of their fatbins describe an equal layout.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/fatbin.h"

#include <dlfcn.h>
#include <limits.h>
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
    uint64_t size; /* size of all members together, in bytes */
};

struct member_header {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t payload_size;
    /* packed_size: bytes of the payload without padding; 0 if the payload is not compressed */
    uint32_t packed_size, options;
    uint16_t minor, major; /* version of the PTX language or of the CUBIN's format */
    uint32_t architecture;
    uint32_t name, name_size;
    uint64_t flags, unused, size; /* size: bytes after unpacking; 0 if not compressed */
};

enum { KIND_PTX = 1, KIND_CUBIN = 2 }; /* other kinds exist */

#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAG_EXACT 0x100000u  /* suffix a: sm_90a runs only on sm_90 */
#define FLAG_FAMILY 0x200000u /* suffix f: sm_100f runs on GPUs of major number 10 */

/*
 * Maximum size of an image. It is above any real size, and prevents a hostile size from using up
 * memory.
 */
#define MOST_BYTES ((uint64_t)1 << 30)

bool rex_fatbin_is(const void *bytes, size_t size)
{
    uint32_t magic;
    if (size < sizeof magic)
        return false;
    memcpy(&magic, bytes, sizeof magic);
    return magic == MAGIC;
}

/* Sets and returns the error for the member at byte AT, or for the whole fatbin if AT is 0. */
static int refuse_fatbin(const char *name, size_t at, const char *why)
{
    if (at == 0)
        return rex_fail(REX_EIMAGE, "device image %s cannot be used: %s", name, why);
    return rex_fail(REX_EIMAGE,
                    "device image %s cannot be used: the member at byte %zu of the fatbin %s", name,
                    at, why);
}

int rex_fatbin_list(struct rex_list *list, size_t offset, size_t size, const char *name)
{
    const unsigned char *bytes = list->bytes + offset;
    struct header header;
    if (size < sizeof header)
        return refuse_fatbin(name, 0, "the fatbin is truncated inside its header");
    memcpy(&header, bytes, sizeof header);
    if (header.version != VERSION || header.header_size < sizeof header ||
        header.header_size > size)
        return refuse_fatbin(name, 0, "the fatbin has an unknown format");
    if (header.size > size - header.header_size)
        return refuse_fatbin(name, 0, "the fatbin is truncated: it ends before its last member");
    size_t at = header.header_size, end = at + (size_t)header.size;
    /*
     * A module registers one fatbin. Refuse a second fatbin: librex would not read it, and its
     * kernels would be missing without an error.
     */
    if (rex_fatbin_is(bytes + end, size - end))
        return refuse_fatbin(name, 0,
                             "several fatbins follow one another; link the kernels into one "
                             "image with nvcc -dlink, or give each fatbin a module of its own");
    while (at < end) {
        struct member_header member;
        size_t room = end - at;
        if (room < sizeof member)
            return refuse_fatbin(name, at, "is truncated inside its header");
        memcpy(&member, list->bytes + offset + at, sizeof member);
        if (member.header_size < sizeof member || member.header_size > room ||
            member.payload_size > room - member.header_size)
            return refuse_fatbin(name, at, "is truncated");
        enum rex_packing packing = member.flags & FLAG_ZSTD  ? REX_PACKED_ZSTD
                                   : member.flags & FLAG_LZ4 ? REX_PACKED_LZ4
                                                             : REX_UNPACKED;
        bool packed = packing != REX_UNPACKED;
        uint64_t stored = packed ? member.packed_size : member.payload_size,
                 whole = packed ? member.size : member.payload_size;
        if (stored > member.payload_size || (whole == 0) != (stored == 0))
            return refuse_fatbin(name, at, "has an impossible size");
        if (whole > MOST_BYTES)
            return refuse_fatbin(name, at, "claims to unpack to more than 1 GiB");
        const struct rex_image_item item = {
            .kind = member.kind == KIND_CUBIN ? REX_IMAGE_CUBIN
                    : member.kind == KIND_PTX ? REX_IMAGE_PTX
                                              : REX_IMAGE_OTHER,
            .architecture = member.architecture,
            .suffix = member.flags & FLAG_EXACT    ? 'a'
                      : member.flags & FLAG_FAMILY ? 'f'
                                                   : '\0',
            .compressed = packed,
            .offset = offset + at + member.header_size,
            .stored = (size_t)stored,
            .size = (size_t)whole,
        };
        at += member.header_size + (size_t)member.payload_size;
        int result = rex_list_add(list, &item, packing);
        if (result != REX_OK)
            return result;
    }
    return REX_OK;
}

/* ---- unpacking with libzstd or liblz4 -------------------------------------------------------- */

static const struct packer {
    const char *method, *library, *function, *package;
} packers[] = {
    [REX_PACKED_ZSTD] = {"Zstandard", "libzstd.so.1", "ZSTD_decompress", "libzstd1"},
    [REX_PACKED_LZ4] = {"LZ4", "liblz4.so.1", "LZ4_decompress_safe", "liblz4-1"},
};

int rex_unpack(enum rex_packing packing, const void *from, size_t stored, size_t size,
               unsigned char **bytes, const char *name)
{
    const struct packer *packer = &packers[packing];
    bool packed = packing != REX_UNPACKED, is_whole = true;
    union {
        void *found;
        size_t (*zstd)(void *, size_t, const void *, size_t);
        int (*lz4)(const char *, char *, int, int);
    } unpack = {NULL};
    /* Do not close the library, because the images of the next module usually need the library. */
    void *library =
        packed && rex_can_open_libraries() ? dlopen(packer->library, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library != NULL)
        unpack.found = dlsym(library, packer->function);
    if (packed && unpack.found == NULL)
        return rex_fail(REX_EUNSUPPORTED,
                        "device image %s is compressed with %s, and %s (package %s) cannot be "
                        "used: install it, or build the image with nvcc --no-compress",
                        name, packer->method, packer->library, packer->package);
    unsigned char *to = malloc(size + 1);
    if (to == NULL)
        return rex_fail_memory(size + 1, "a device image");
    if (!packed)
        memcpy(to, from, size);
    else if (packing == REX_PACKED_ZSTD) /* on an error the result is above any size */
        is_whole = unpack.zstd(to, size, from, stored) == size;
    else
        is_whole =
            stored <= INT_MAX && unpack.lz4(from, (char *)to, (int)stored, (int)size) == (int)size;
    if (!is_whole) {
        free(to);
        return rex_fail(REX_EIMAGE,
                        "device image %s cannot be unpacked: its %s data is damaged, or does "
                        "not unpack to the %zu bytes in its header",
                        name, packer->method, size);
    }
    to[size] = '\0';
    *bytes = to;
    return REX_OK;
}
