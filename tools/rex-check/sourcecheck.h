/*
 * sourcecheck.h - check generated sources, host and device, before they are compiled.
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

/* Read the file PATH, which may be a pipe: 0, or -1 with the reason in WHY. */
int source_read(struct source *source, const char *path, char why[WHY_MAX]);

/* Check COUNT files together. */
void check_sources(const struct source *sources, size_t count, struct report *report);

#endif
