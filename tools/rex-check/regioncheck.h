/*
 * regioncheck.h - regions in host sources, and the columns that are allocated for calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_REGIONCHECK_H
#define CHECK_REGIONCHECK_H

#include "calls.h"
#include "hostfile.h"

/* Each region begins and ends: CALLS[i] are the calls of HOSTS[i]. */
void check_regions(const struct host *hosts, const struct calls *calls, size_t count);

/* Columns that were allocated are freed behind the last call that they are given to. */
void check_freed(const struct host *host, const struct calls *calls);

#endif
