/* source.c - rex-check --source over a host and a device file. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "fuzz.h"
#include "rex-check/bytes.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    check_source_bytes(bytes, size);
}
