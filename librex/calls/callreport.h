/*
 * callreport.h - reports a call of libomptarget: its rows to the log, a slice to the trace.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CALLREPORT_H
#define REX_INTERNAL_CALLREPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "omp/backend.h"
#include "omp/columns.h"
#include "omp/entrypoints.h"

/* ---- in the log ------------------------------------------------------------------------------ */

/*
 * Log each row of PACKET at debug. WHAT names the call, DEVICE is its device. The packet of a data
 * call has columns alone, and no teams.
 */
void rex_rows_log(const char *what, int64_t device, const struct __tgt_kernel_arguments *packet);

static inline bool rex_rows_wanted(void)
{
    return __builtin_expect(rex_log_wanted(REX_LOG_DEBUG), 0);
}

/* Log the rows of MAP if the log is at debug. */
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
    /*
     * Rows, grid and trip count, copied before the call because libomptarget changes the caller's
     * packet.
     */
    struct __tgt_kernel_arguments packet;
    struct rex_track *on; /* the device's line in the trace */
    uint64_t begin, end;
    bool is_launch;
    const void *key; /* of a launch, as are `result` and `reason` */
    int result;
    struct rex_reason reason; /* why libomptarget launches; none: the driver does */
    bool is_deferred;         /* its kernel has a slice of its own */
    bool is_awaited;          /* and the call has waited for it */
    const char *kernel;       /* its name */
};

/* Begin the trace of a call of FUNCTION on DEVICE. TRACE has the packet already. */
void rex_call_trace_begin(struct rex_call_trace *trace, const char *function, int64_t device);

/*
 * End the trace of a call. A data call is written as NAME, with the bytes of rows that have
 * DIRECTIONS. A launch is written by the name of its kernel, unless it is deferred.
 */
void rex_call_trace_data(struct rex_call_trace *trace, const char *name, int64_t directions);
void rex_call_trace_launch(struct rex_call_trace *trace, const void *key, int result);

#endif
