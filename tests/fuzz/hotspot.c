/* hotspot.c - numbers that hotspot reads. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "hotspot/hotspot.h"

#include "fuzz.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    double values[16];
    for (size_t count = 1; count <= sizeof values / sizeof *values; count *= 4)
        read_values(fuzz_file(0, bytes, size), values, count);
}
