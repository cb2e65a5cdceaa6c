/*
 * callreport.h - reports calls to libomptarget: logs the rows of a call, and writes a slice of the
 * call to the trace.
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
 * Logs each row of PACKET at debug, for the call WHAT on DEVICE. The packet of a data call has only
 * rows, and its number of teams is 0.
 */
void rex_rows_log(const char *what, int64_t device, const struct __tgt_kernel_arguments *packet);

static inline bool rex_rows_wanted(void)
{
    return __builtin_expect(rex_log_wanted(REX_LOG_DEBUG), 0);
}

/* Logs the rows of MAP if the log is at debug. */
static inline void rex_map_log(const char *what, int64_t device, const struct rex_map *map)
{
    if (rex_rows_wanted()) {
        struct __tgt_kernel_arguments packet = rex_packet_of_map(map);
        rex_rows_log(what, device, &packet);
    }
}

/* ---- in the trace ---------------------------------------------------------------------------- */

struct rex_call_trace {
    const char *function; /* libomptarget's function; NULL: the call is not traced */
    int64_t device;
    /*
     * Rows, grid and trip count, copied before the call because libomptarget changes the caller's
     * packet.
     */
    struct __tgt_kernel_arguments packet;
    struct rex_track *on; /* the device's track in the trace, or NULL */
    uint64_t begin, end;
    bool is_launch;
    const void *key; /* host key of a launch */
    int result;
    struct rex_reason reason; /* why libomptarget launches; `mask` is 0 if the driver launches */
    bool is_deferred;         /* the launch is deferred, so its kernel has a separate slice */
    bool is_awaited;          /* the call has waited for the kernel */
    const char *kernel;       /* the kernel's name */
};

/* Begins the trace of a call of FUNCTION on DEVICE. The caller has set `packet` of TRACE. */
void rex_call_trace_begin(struct rex_call_trace *trace, const char *function, int64_t device);

/*
 * Both functions end the trace of a call, and write the slice of the call. rex_call_trace_data()
 * gives the slice the name NAME, and the bytes of the rows that copy in DIRECTIONS (REX_MAP_TO,
 * REX_MAP_FROM or both). rex_call_trace_launch() gives the slice the name of the kernel, or
 * "deferred launch" for a deferred launch.
 */
void rex_call_trace_data(struct rex_call_trace *trace, const char *name, int64_t directions);
void rex_call_trace_launch(struct rex_call_trace *trace, const void *key, int result);

#endif
