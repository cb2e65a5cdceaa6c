/*
 * library.c - a file that may be a libomptarget: which release its dynamic symbols tell.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "fuzz.h"
#include "omp/search.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    const struct rex_release *release = NULL;
    char why[256] = "";
    int result = rex_search_tell(fuzz_file(0, bytes, size), &release, why, sizeof why);
    FUZZ_CHECK(result == 0 ? release != NULL : *why != '\0');
}
