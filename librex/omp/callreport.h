/*
 * callreport.h - what is written of a call of libomptarget: its rows in the log, and a slice in the
 * trace.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CALLREPORT_H
#define REX_INTERNAL_CALLREPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "omp/columns.h"
#include "omp/forward.h"
#include "omp/sender.h"

/* ---- in the log ------------------------------------------------------------------------------ */

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

/* ---- in the trace ---------------------------------------------------------------------------- */

struct rex_call_trace {
    const char *function; /* of libomptarget; NULL: the call is not traced */
    int64_t device;
    /* Rows, grid and trip count from before the call: libomptarget changes the caller's packet. */
    struct __tgt_kernel_arguments packet;
    struct rex_track *on; /* the device's line in the trace */
    uint64_t begin, end;
    const void *key; /* of a launch, as is what follows */
    int result;
    struct rex_reason reason; /* why libomptarget launches; none: the driver does */
};

/* Before a call of FUNCTION on DEVICE. TRACE has the packet already. */
void rex_call_trace_begin(struct rex_call_trace *trace, const char *function, int64_t device);

/*
 * After it: write it down, a data call by NAME, with the bytes of rows that have DIRECTIONS, a
 * launch by the name of its kernel.
 */
void rex_call_trace_data(struct rex_call_trace *trace, const char *name, int64_t directions);
void rex_call_trace_launch(struct rex_call_trace *trace, const void *key, int result);

#endif
