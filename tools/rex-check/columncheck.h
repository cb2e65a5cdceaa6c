/*
 * columncheck.h - the columns of each call in a host source, by themselves.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_COLUMNCHECK_H
#define CHECK_COLUMNCHECK_H

#include "calls.h"
#include "hostfile.h"

/* Lengths of columns, literal rows, versions of packets. */
void check_columns(const struct host *host, const struct calls *calls);

#endif
