/* gaussian.c - systems of equations that gaussian reads. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "gaussian/gaussian.h"

#include "fuzz.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct equations system;
    if (read_equations(fuzz_file(0, bytes, size), &system) == 0)
        free_equations(&system);
}
