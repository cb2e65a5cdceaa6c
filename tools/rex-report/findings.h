/*
 * findings.h - finds what a program could do better, from its trace, in numbers.
 *
 * All thresholds are counts and bytes, except for short launches. So the findings depend on the
 * program more than on the machine.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_FINDINGS_H
#define REX_REPORT_FINDINGS_H

#include "event.h"
#include "mappings.h"

#define MOST_REPEATS 256
#define MOST_REASONS 16 /* the last reason also counts the launches of further reasons */
#define THREADS 1024

/* Memory that was copied again: by a row of a kernel's launches, or by data calls. */
struct repeat {
    char *kernel; /* NULL: copied by data calls */
    unsigned row;
    uint64_t begin, size;     /* host memory of the last copy */
    uint64_t calls, to, from; /* calls that copied; copies to the device and from the device */
    uint64_t bytes, took;     /* bytes of the copies; nanoseconds of the calls */
};

/* Bytes copied by calls that only copy, and the nanoseconds that these calls took. */
struct speed {
    uint64_t bytes, took;
};

/* Launches on a GPU that libomptarget made, and the reason why the driver did not make them. */
struct by_runtime {
    char *because, *kernel; /* kernel: the kernel of the first launch */
    bool others;            /* launches of kernels other than `kernel` are counted, too */
    uint64_t launches, rows, took;
};

struct findings {
    bool gpu;         /* a GPU was used: on the CPU, pinned memory and queues change nothing */
    bool is_complete; /* the trace has its last line, "]" */
    struct mappings mappings;
    struct seen *seen; /* hash table of the copies made */
    struct repeat repeats[MOST_REPEATS];
    size_t repeat_count;
    /*
     * If the last call of the thread was a short launch that copied nothing and waited for its
     * kernel, `took` is the time of that launch in nanoseconds. Otherwise `took` is 0. In a queue
     * such a launch would not wait.
     */
    struct {
        uint64_t thread, took;
    } last[THREADS];
    /*
     * short launches without copies that came directly before another launch of their thread:
     * number of these launches, and the nanoseconds that they took
     */
    uint64_t waited, waited_took;
    uint64_t queued, queued_took; /* launches put in queues one by one */
    uint64_t pageable;            /* bytes copied from and to memory that is not pinned */
    struct speed copies;          /* the copies of data calls that copy many bytes */
    struct by_runtime by_runtime[MOST_REASONS];
    size_t reasons;
    uint64_t failed;
    int64_t result; /* result and kernel of the last failure */
    char *failed_kernel;
    uint64_t launches, calls; /* calls: launches, data calls and calls of queues */
    uint64_t deferred;        /* launches that returned before their kernels were done */
    uint64_t to, from;        /* bytes copied in all */
};

void findings_begin(struct findings *findings);

/*
 * Adds EVENT, in the order of the trace. *TO and *FROM become the numbers of bytes that EVENT
 * copied to the device and from the device.
 */
void findings_add(struct findings *findings, const struct event *event, uint64_t *to,
                  uint64_t *from);

void findings_end(struct findings *findings);

#endif
