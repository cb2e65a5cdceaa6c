/* container.c - LLVM's OffloadBinary, and the images in it as a registration that is adopted gets them fitted.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/list.h"
#include "image/cubin.h"

#include "fuzz.h"
#include "module/fitimage.h"

static void fit_images(uint8_t *bytes, size_t size, const struct rex_release *release)
{
    struct rex_span span;
    for (size_t i = 0; i < rex_container_images(bytes, size) && i < 64; i++) {
        if (rex_container_image(bytes, size, i, &span) != 0)
            continue;
        FUZZ_CHECK(span.offset <= size && span.size <= size - span.offset);
        uint8_t *copy = fuzz_copy(bytes + span.offset, span.size);
        rex_image_fit_header(copy, span.size, "bytes", release);
        rex_cubin_architecture(copy, span.size);
        free(copy);
    }
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct rex_span span;
    size_t count = rex_container_images(bytes, size);
    FUZZ_CHECK(count == 0 || rex_container_version(bytes, size) != 0);
    FUZZ_CHECK(rex_container_image(bytes, size, count, &span) != 0);
    uint8_t *copy = fuzz_copy(bytes, size);
    fit_images(copy, size, rex_release_row(19));
    free(copy);
}
