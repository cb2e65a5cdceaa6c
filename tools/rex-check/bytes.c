/*
 * bytes.c - runs rex-check on bytes in memory, for fuzzing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bytes.h"

#include "entries.h"
#include "find.h"
#include "keys.h"
#include "match.h"
#include "open.h"
#include "sourcecheck.h"

int check_program_bytes(const void *bytes, size_t size)
{
    struct program program;
    struct report report = {0};
    struct images images = {0};
    char why[WHY_MAX], kind[96];
    int result = -1;
    if (program_view(&program, "bytes", bytes, size) == 0) {
        program_kind(&program, kind);
        check_entries(&program, &report);
        check_keys(&program, &report);
        if (program.module.embedded_count == 0 || images_find(&images, &program, &report, why) == 0)
            check_images(&program, &images, &report);
        result = (int)report.findings;
    }
    images_close(&images);
    report_free(&report);
    program_close(&program);
    return result;
}

/* Reads the bytes twice: as a C file and as a CUDA file. */
int check_source_bytes(const void *bytes, size_t size)
{
    const struct source sources[] = {{"bytes.c", (char *)(uintptr_t)bytes, size},
                                     {"bytes.cu", (char *)(uintptr_t)bytes, size}};
    struct report report = {0};
    check_sources(sources, 2, &report);
    int findings = (int)report.findings;
    report_free(&report);
    return findings;
}
