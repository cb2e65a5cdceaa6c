/* nn.c - records that nn reads, from the one file that a list names. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "nn/nn.h"

#include "fuzz.h"

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    char text[WINDOW][RECORD_LENGTH];
    struct place places[WINDOW];
    struct records records;
    const char *file = fuzz_file(0, bytes, size);
    if (open_records(&records, fuzz_file(1, file, strlen(file))) != 0)
        return;
    while (read_window(&records, text, places) > 0)
        ;
    close_records(&records);
}
