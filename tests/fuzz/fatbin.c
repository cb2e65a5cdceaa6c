/* fatbin.c - nvcc's fatbins: the walk through the members, and each as it is unpacked and looked into.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/fatbin.h"

#include "images.h"

/* More is slow, and the library's that unpacks it. */
#define MOST_UNPACKED ((size_t)1 << 16)

static void look_at(const struct rex_fatbin_member *member)
{
    unsigned char *bytes = NULL;
    uint8_t *payload = fuzz_copy(member->payload, member->stored);
    if (member->size <= MOST_UNPACKED && rex_unpack(member->packing, payload, member->stored, member->size, &bytes, "bytes") == REX_OK) {
        FUZZ_CHECK(bytes[member->size] == '\0');
        fuzz_images(bytes, member->size);
        free(bytes);
    }
    free(payload);
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct rex_fatbin fatbin = {.bytes = bytes, .size = size};
    struct rex_fatbin_member member;
    int more;
    while ((more = rex_fatbin_next(&fatbin, &member)) > 0) {
        FUZZ_CHECK(rex_fatbin_is(bytes, size));
        FUZZ_CHECK(member.payload >= bytes && member.stored <= size - (size_t)(member.payload - bytes));
        look_at(&member);
    }
    FUZZ_CHECK(more == 0 || *fatbin.why != '\0');
}
