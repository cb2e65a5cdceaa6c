/* program.c - rex-check over a program, shared object or object. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "fuzz.h"
#include "rex-check/bytes.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    check_program_bytes(bytes, size);
}
