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
    struct rex_fatbin fatbin = {.bytes = bytes, .size = size, .name = "bytes"};
    struct rex_image_item member;
    enum rex_packing packing;
    int more;
    while ((more = rex_fatbin_next(&fatbin, &member, &packing)) > 0) {
        FUZZ_CHECK(rex_fatbin_is(bytes, size));
        FUZZ_CHECK(member.offset <= size && member.stored <= size - member.offset);
        look_at(&member, packing, bytes + member.offset);
    }
    FUZZ_CHECK(more == 0 || *rex_last_error() != '\0');
}
