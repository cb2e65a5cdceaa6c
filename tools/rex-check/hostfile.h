/*
 * hostfile.h - host sources: what each includes, and when they initialise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_HOSTFILE_H
#define CHECK_HOSTFILE_H

#include "report.h"
#include "tokens.h"

/* Whether rex_kmp.h is included once, and before it is needed. */
void check_includes(const struct tokens *tokens, struct report *report);

/*
 * Whether the COUNT files together call rex_offload_init() once at most, and before they read a
 * clock; whether they call it at all, if they time launches.
 */
void check_init(const struct tokens *hosts, size_t count, bool launches, struct report *report);

#endif
