/*
 * offload.h - makes an OffloadBinary, the format of clang's tools.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_SUPPORT_OFFLOAD_H
#define REX_TESTS_SUPPORT_OFFLOAD_H

#include <stdint.h>
#include <string.h>

struct offload_header {
    unsigned char magic[4];
    uint32_t version;
    uint64_t size, entries_offset;
    uint64_t entries_word; /* size of an entry; from version 2 on, number of entries */
};

struct offload_entry {
    uint16_t image_kind, producer;
    uint32_t flags;
    uint64_t strings_offset, strings_count, image_offset, image_size;
};

/* Returns the size of an OffloadBinary with COUNT images of SIZE bytes. */
static inline size_t offload_size(size_t size, size_t count)
{
    size_t step = (size + 7) / 8 * 8;
    return sizeof(struct offload_header) + count * (sizeof(struct offload_entry) + step);
}

/* Makes an OffloadBinary of COUNT copies of IMAGE in the zeroed memory TO. */
static inline void offload_make(unsigned char *to, uint32_t version, const void *image, size_t size,
                                size_t count)
{
    size_t entries = sizeof(struct offload_header), step = (size + 7) / 8 * 8,
           first = entries + count * sizeof(struct offload_entry);
    struct offload_header header = {{0x10, 0xff, 0x10, 0xad},
                                    version,
                                    offload_size(size, count),
                                    entries,
                                    version == 1 ? sizeof(struct offload_entry) : count};
    memcpy(to, &header, sizeof header);
    for (size_t i = 0; i < count; i++) {
        struct offload_entry entry = {1, 1, 0, entries, 0, first + i * step, size};
        memcpy(to + entries + i * sizeof entry, &entry, sizeof entry);
        memcpy(to + entry.image_offset, image, size);
    }
}

#endif
