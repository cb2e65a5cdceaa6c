/*
 * hostfile.h - checks the includes of host sources, and that they call rex_offload_init() at most
 * once, and before they read a clock.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_HOSTFILE_H
#define CHECK_HOSTFILE_H

#include "report.h"
#include "tokens.h"

/* Checks that rex_kmp.h is included once, and before it is needed. */
void check_includes(const struct tokens *tokens, struct report *report);

/*
 * Checks that the COUNT files together call rex_offload_init() at most once, and before they read a
 * clock. LAUNCHES is true if the files launch kernels. If LAUNCHES is true and the files measure
 * time, checks that they call rex_offload_init().
 */
void check_init(const struct tokens *hosts, size_t count, bool launches, struct report *report);

#endif
