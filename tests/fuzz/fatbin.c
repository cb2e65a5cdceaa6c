/* fatbin.c - nvcc's fatbins: the walk through the members, and each as it is unpacked and looked into.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/fatbin.h"

#include "images.h"

/* More is slow, and the library's that unpacks it. */
#define MOST_UNPACKED ((size_t)1 << 16)

static void look_at(const struct rex_image_item *member, enum rex_packing packing, const uint8_t *stored)
{
    unsigned char *bytes = NULL;
    uint8_t *payload = fuzz_copy(stored, member->stored);
    if (member->size <= MOST_UNPACKED && rex_unpack(packing, payload, member->stored, member->size, &bytes, "bytes") == REX_OK) {
        FUZZ_CHECK(bytes[member->size] == '\0');
        fuzz_images(bytes, member->size);
        free(bytes);
    }
    free(payload);
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct rex_list list = {.bytes = bytes, .size = size};
    int result = rex_fatbin_list(&list, 0, size, "bytes");
    FUZZ_CHECK(result == REX_OK || *rex_last_error() != '\0');
    for (size_t i = 0; i < list.count; i++) {
        const struct rex_image_item *member = &list.entries[i].item;
        FUZZ_CHECK(member->offset <= size && member->stored <= size - member->offset);
        look_at(member, list.entries[i].packing, bytes + member->offset);
    }
    rex_list_close(&list);
}
