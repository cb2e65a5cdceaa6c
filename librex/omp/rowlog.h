/*
 * rowlog.h - launches and data calls, row by row, in the log.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ROWLOG_H
#define REX_INTERNAL_ROWLOG_H

#include "omp/forward.h"
#include "base/log.h"

/*
 * A row of each, at debug: WHAT is done on DEVICE with PACKET, of which a data call (no teams) has
 * the columns alone.
 */
void rex_rows_log(const char *what, int64_t device, const struct __tgt_kernel_arguments *packet);

/* The same for a call of librex's own, which this thread makes next; see logcalls.c. */
extern __thread bool rex_rows_logged;
static inline void rex_rows_log_own(const char *what, int64_t device,
                                    const struct __tgt_kernel_arguments *packet)
{
    rex_rows_log(what, device, packet);
    rex_rows_logged = true;
}

static inline bool rex_rows_wanted(void)
{
    return __builtin_expect(rex_log_wanted(REX_LOG_DEBUG), 0);
}

#endif
