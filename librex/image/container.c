/*
 * container.c - LLVM's OffloadBinary: a header, entries that say where the images lie, strings,
 * images.
 *
 * clang 15 to 17 register their images inside one. Version 1 (LLVM 15 to 21) has one entry, whose
 * size stands where version 2 has the number of entries. Offsets count from the header.
 * llvm/Object/OffloadBinary.h of LLVM 16 and 19; version 2 as in LLVM's main of 2026.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/container.h"

#include <string.h>

static const unsigned char magic[] = {0x10, 0xff, 0x10, 0xad};

struct header {
    unsigned char magic[sizeof magic];
    uint32_t version;
    uint64_t size, entries_offset, entries_count; /* the count in version 2 alone */
};

struct entry {
    uint16_t image_kind, producer;
    uint32_t flags;
    uint64_t strings_offset, strings_count, image_offset, image_size;
};

#define MOST_IMAGES 65536 /* more than any file has */

_Static_assert(sizeof(struct header) == REX_CONTAINER_HEADER, "as the format has it");

/* The header if there is one of a known version; what it says may be wrong. */
static int read_header(const unsigned char *bytes, size_t size, struct header *header)
{
    if (size < sizeof *header)
        return -1;
    memcpy(header, bytes, sizeof *header);
    return memcmp(header->magic, magic, sizeof magic) == 0 ? 0 : -1;
}

uint32_t rex_container_version(const unsigned char *bytes, size_t size)
{
    struct header header;
    return read_header(bytes, size, &header) == 0 ? header.version : 0;
}

size_t rex_container_images(const unsigned char *bytes, size_t size)
{
    struct header header;
    if (read_header(bytes, size, &header) != 0 || header.version < 1 || header.version > 2 ||
        header.entries_offset > size)
        return 0;
    /* A hole of any size would be a table of empty images. */
    uint64_t room = (size - header.entries_offset) / sizeof(struct entry);
    room = room < MOST_IMAGES ? room : MOST_IMAGES;
    uint64_t count = header.version == 1 ? 1 : header.entries_count;
    return count <= room ? (size_t)count : 0;
}

int rex_container_image(const unsigned char *bytes, size_t size, size_t index,
                        struct rex_span *span)
{
    struct header header;
    struct entry entry;
    if (index >= rex_container_images(bytes, size) || read_header(bytes, size, &header) != 0)
        return -1;
    memcpy(&entry, bytes + header.entries_offset + index * sizeof entry, sizeof entry);
    if (entry.image_offset > size || entry.image_size > size - entry.image_offset)
        return -1;
    *span = (struct rex_span){(size_t)entry.image_offset, (size_t)entry.image_size};
    return 0;
}

size_t rex_container_size(const unsigned char *bytes, size_t size)
{
    struct header header;
    return read_header(bytes, size, &header) == 0 && header.size >= sizeof header &&
                   header.size <= size
               ? (size_t)header.size
               : 0;
}
