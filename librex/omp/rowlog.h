/*
 * rowlog.h - launches and data calls, row by row, in the log.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ROWLOG_H
#define REX_INTERNAL_ROWLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "omp/columns.h"

/*
 * A row of each, at debug: WHAT is done on DEVICE with PACKET, of which a data call (no teams) has
 * the columns alone.
 */
void rex_rows_log(const char *what, int64_t device, const struct __tgt_kernel_arguments *packet);

static inline bool rex_rows_wanted(void)
{
    return __builtin_expect(rex_log_wanted(REX_LOG_DEBUG), 0);
}

/* The rows of MAP, if they are wanted. */
static inline void rex_map_log(const char *what, int64_t device, const struct rex_map *map)
{
    if (rex_rows_wanted()) {
        struct __tgt_kernel_arguments packet = rex_packet_of_map(map);
        rex_rows_log(what, device, &packet);
    }
}

#endif
