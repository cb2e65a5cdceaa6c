/*
 * rowcheck.h - the rows of a launch in a host source against the parameters of its kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_ROWCHECK_H
#define CHECK_ROWCHECK_H

#include "calls.h"
#include "hostfile.h"
#include "source.h"

/* KERNEL is the one that CALL launches; NULL: not known. */
void check_parameters(const struct host *host, const struct calls *calls, const struct call *call,
                      const struct source_kernel *kernel);

#endif
