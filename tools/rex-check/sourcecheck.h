/*
 * sourcecheck.h - checks generated sources, host and device, before they are compiled.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_SOURCECHECK_H
#define CHECK_SOURCECHECK_H

#include "report.h"

struct source {
    const char *path;
    char *bytes;
    size_t size;
};

/* Reads the file PATH, which may be a pipe. Returns 0, or -1 with the reason in WHY. */
int source_read(struct source *source, const char *path, char why[WHY_MAX]);

/* Checks the COUNT files in SOURCES together. */
void check_sources(const struct source *sources, size_t count, struct report *report);

#endif
