/*
 * calltrace.h - a call of libomptarget in the trace.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CALLTRACE_H
#define REX_INTERNAL_CALLTRACE_H

#include <stdint.h>

#include "omp/forward.h"

struct rex_call_trace {
    const char *function; /* of libomptarget; NULL: the call is not traced */
    int64_t device;
    /* Rows, grid and trip count from before the call: libomptarget changes the caller's packet. */
    struct __tgt_kernel_arguments packet;
    struct rex_track *on; /* the device's line in the trace */
    uint64_t begin, end;
    const void *key; /* of a launch, as is the result */
    int result;
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
