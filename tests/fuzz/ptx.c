/* ptx.c - the reader of PTX, whatever the text begins with. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "images.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    static const char head[] = ".version 8.0\n.target sm_75\n";
    uint8_t *text = malloc(sizeof head - 1 + size);
    FUZZ_CHECK(text != NULL);
    memcpy(text, head, sizeof head - 1);
    if (size > 0)
        memcpy(text + sizeof head - 1, bytes, size);
    fuzz_images(text, sizeof head - 1 + size);
    free(text);
    fuzz_images(bytes, size);
}
