/*
 * findings.h - what a trace tells of a program that could be done better, in numbers.
 *
 * All thresholds are of counts and bytes, so that what is found depends on the program and not on
 * the machine; times alone come from it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_FINDINGS_H
#define REX_REPORT_FINDINGS_H

#include "event.h"
#include "mappings.h"

#define MOST_REPEATS 256
#define MOST_REASONS 16 /* the last one counts launches for others, too */
#define THREADS 1024

/*
 * Memory that was copied before, and is again: by a row of a kernel's launches, or by data calls.
 */
struct repeat {
    char *kernel; /* NULL: by data calls */
    unsigned row;
    uint64_t begin, size;     /* where it was last */
    uint64_t calls, to, from; /* calls with copies; copies to the device and back */
    uint64_t bytes, took;     /* of the copies; of the calls, in nanoseconds */
};

/* Bytes that were copied, and the nanoseconds of the calls that copied nothing else. */
struct speed {
    uint64_t bytes, took;
};

/* Launches that libomptarget sent to a GPU and not the driver, and why. */
struct by_runtime {
    char *because, *kernel; /* the first one */
    bool others;            /* other kernels as well */
    uint64_t launches, rows, took;
};

struct findings {
    bool gpu;         /* a GPU was used: on the CPU, pinned memory and queues change nothing */
    bool is_complete; /* the trace has its end */
    struct mappings mappings;
    struct seen *seen; /* a hash of copies that were made */
    struct repeat repeats[MOST_REPEATS];
    size_t repeat_count;
    /* Each thread's last event that was a launch, whose number it has, and how long it took. */
    struct {
        uint64_t thread, took;
    } last[THREADS];
    uint64_t waited, waited_took; /* launches that the same thread's next launch followed */
    uint64_t queued, queued_took; /* launches put in queues, one by one */
    uint64_t pageable;            /* bytes copied from and to memory that is not pinned */
    struct speed copies;          /* of data calls that copy much */
    struct by_runtime by_runtime[MOST_REASONS];
    size_t reasons;
    uint64_t failed;
    int64_t result; /* of the last that failed, */
    char *failed_kernel;
    uint64_t launches, calls; /* calls: launches, data calls and calls of queues */
    uint64_t deferred;        /* launches that returned before their kernels were done */
    uint64_t to, from;        /* bytes copied in all */
};

void findings_begin(struct findings *findings);

/* EVENT, in the order of the trace; *TO and *FROM: bytes that were copied for it. */
void findings_add(struct findings *findings, const struct event *event, uint64_t *to,
                  uint64_t *from);

void findings_end(struct findings *findings);

#endif
