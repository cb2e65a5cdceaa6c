/* srad.c - pictures that srad reads. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "srad/srad.h"

#include "fuzz.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct picture picture;
    if (read_picture(fuzz_file(0, bytes, size), &picture) != 0)
        return;
    for (int64_t i = 0; i < picture.rows * picture.columns; i++)
        FUZZ_CHECK(picture.grey[i] <= picture.white);
    free(picture.grey);
}
