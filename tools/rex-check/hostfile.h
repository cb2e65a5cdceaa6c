/*
 * hostfile.h - one host source: what it includes, and when it initialises.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_HOSTFILE_H
#define CHECK_HOSTFILE_H

#include <stddef.h>

#include "report.h"
#include "tokens.h"

struct host {
    const char *path;
    const struct tokens *tokens;
    struct report *report;
};

/* Whether rex_kmp.h is included once, and before it is needed. */
void check_includes(const struct host *host);

/*
 * Calls of rex_offload_init() in one file, counted on from COUNT: a second one, and timers in main
 * that come before the first. The new count.
 */
size_t check_calls(const struct host *host, size_t count);

/* Whether the COUNT files, which have CALLS of it together, need one. */
void check_missing_init(const struct host *hosts, size_t count, size_t calls);

#endif
