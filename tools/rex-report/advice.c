/*
 * advice.c - advice that makes a program faster, in sentences with numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "figures.h"
#include "rex/error.h"

/* Minimum numbers for advice. */
#define LEAST_WAITED 100                  /* launches for which a thread waited without need */
#define LEAST_QUEUED 1000                 /* launches in queues */
#define LEAST_BY_RUNTIME 100              /* launches by libomptarget */
#define LEAST_CALLS 10                    /* calls that copy a row again */
#define LEAST_COPIES 100                  /* copies of small rows, on a GPU */
#define LEAST_BYTES UINT64_C(1000000)     /* bytes of rows that are copied again */
#define LEAST_PAGEABLE UINT64_C(16000000) /* bytes of pageable memory that are copied */

/*
 * A run with fewer calls and fewer copied bytes than these minimums gets no advice about speed,
 * because most of its calls are slow first calls. The first launch of a kernel also loads the
 * kernel. The first copy of new memory also waits until the operating system has allocated the
 * pages of the memory.
 */
#define LEAST_JUDGED 20
#define LEAST_JUDGED_BYTES LEAST_PAGEABLE

/* Nanoseconds on an H100. */
#define QUEUE_TAKES UINT64_C(4000)        /* to put a launch in a queue */
#define GRAPH_TAKES UINT64_C(800)         /* to launch in a graph */
#define COPY_TAKES UINT64_C(8000)         /* to copy a row */
#define RUNTIME_ADDS UINT64_C(5000)       /* extra time of a launch by libomptarget */
#define RUNTIME_ADDS_A_ROW UINT64_C(1000) /* extra time of each row of a launch by libomptarget */
#define USUAL_SPEED 10                    /* bytes per nanosecond, if the trace shows no speed */

struct list {
    struct advice *advice;
    size_t count;
};

static __attribute__((format(printf, 3, 4))) void add(struct list *list, uint64_t saves,
                                                      const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        text = tool_format("out of memory"); /* exits */
    list->advice[list->count++] = (struct advice){text, saves};
}

static uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* If RESULT is an error of librex, returns its name. Otherwise returns the number RESULT. */
static char *result_name(int64_t result)
{
    const char *name = rex_error_name((int)result);
    return strncmp(name, "REX_", 4) == 0 ? tool_format("%s", name)
                                         : tool_format("%" PRId64, result);
}

static void about_failures(struct list *list, const struct findings *findings)
{
    char *count = figure_count(findings->failed), *name = result_name(findings->result);
    if (findings->failed == 1)
        add(list, UINT64_MAX,
            "1 launch of %s failed and returned %s: its results are missing. "
            "REX_LOG=debug logs more.",
            findings->failed_kernel, name);
    else if (findings->failed > 1)
        add(list, UINT64_MAX,
            "%s launches failed, and the last one, of %s, returned %s: their results are missing. "
            "REX_LOG=debug logs more.",
            count, findings->failed_kernel, name);
    free(name);
    free(count);
}

static bool is_too_short(const struct findings *findings)
{
    return findings->calls < LEAST_JUDGED && findings->to + findings->from < LEAST_JUDGED_BYTES;
}

static void about_length(struct list *list, const struct findings *findings)
{
    add(list, 0,
        "The run is too short to judge (launches and data calls: %" PRIu64 "): the first launches "
        "take longer than later ones. Trace a run with at least %d launches and data calls.",
        findings->calls, LEAST_JUDGED);
}

static void about_waiting(struct list *list, const struct findings *findings)
{
    uint64_t saves = less(findings->waited_took, findings->waited * QUEUE_TAKES);
    if (!findings->gpu || findings->waited < LEAST_WAITED || saves == 0)
        return;
    char *count = figure_count(findings->waited), *took = figure_time(findings->waited_took);
    char *saved = figure_time(saves);
    add(list, saves,
        "%s launches were waited for, %s in all, though the next call of the same thread was "
        "another launch: a queue (rex_queue_create(3)) would save up to %s.",
        count, took, saved);
    free(count);
    free(took);
    free(saved);
}

static void about_graphs(struct list *list, const struct findings *findings)
{
    uint64_t saves = less(findings->queued_took, findings->queued * GRAPH_TAKES);
    if (!findings->gpu || findings->queued < LEAST_QUEUED || saves == 0)
        return;
    char *count = figure_count(findings->queued), *took = figure_time(findings->queued_took);
    char *saved = figure_time(saves);
    add(list, saves,
        "%s launches were put in queues one by one, which took %s: if they repeat, a graph "
        "(rex_graph_begin(3)) would save up to %s.",
        count, took, saved);
    free(count);
    free(took);
    free(saved);
}

static void about_sender(struct list *list, const struct by_runtime *by)
{
    uint64_t saves = by->launches * RUNTIME_ADDS + by->rows * RUNTIME_ADDS_A_ROW;
    if (by->launches < LEAST_BY_RUNTIME)
        return;
    saves = saves < by->took ? saves : by->took;
    char *count = figure_count(by->launches), *took = figure_time(by->took);
    char *saved = figure_time(saves);
    add(list, saves,
        "%s launches of %s%s took %s. libomptarget made them, for this reason: %s. By the CUDA "
        "driver, these launches would take up to %s less: see rex-launches(7).",
        count, by->kernel, by->others ? " and other kernels" : "", took, by->because, saved);
    free(count);
    free(took);
    free(saved);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/*
 * Returns the time to copy BYTES, at the speed of the copies in the trace. If the trace has no
 * copies, uses USUAL_SPEED.
 */
static uint64_t time_of(const struct findings *findings, uint64_t bytes)
{
    return findings->copies.took > 0 ? scaled(bytes, findings->copies.took, findings->copies.bytes)
                                     : bytes / USUAL_SPEED;
}

static uint64_t saved_by(const struct findings *findings, const struct repeat *repeat)
{
    uint64_t copies = findings->gpu ? (repeat->to + repeat->from) * COPY_TAKES : 0;
    uint64_t takes = time_of(findings, repeat->bytes) + copies;
    return takes < repeat->took ? takes : repeat->took;
}

static const char *direction(const struct repeat *repeat)
{
    return repeat->from == 0 ? "to the device" : repeat->to == 0 ? "from the device" : "both ways";
}

static const char *unless(const struct repeat *repeat)
{
    return repeat->from == 0 ? "changes" : repeat->to == 0 ? "reads" : "needs";
}

static void about_repeat(struct list *list, const struct findings *findings,
                         const struct repeat *repeat)
{
    if (repeat->calls < LEAST_CALLS ||
        (repeat->bytes < LEAST_BYTES &&
         !(findings->gpu && repeat->to + repeat->from >= LEAST_COPIES)))
        return;
    uint64_t saves = saved_by(findings, repeat);
    char *calls = figure_count(repeat->calls), *bytes = figure_bytes(repeat->bytes);
    char *size = figure_bytes(repeat->size), *saved = figure_time(saves);
    if (repeat->kernel != NULL)
        add(list, saves,
            "Row %u of %s (%s at 0x%" PRIx64 ") is copied %s again at each of %s launches, %s in "
            "all: a data region around them (rex_data_enter(3)) would save up to %s, unless the "
            "host %s the memory in between.",
            repeat->row, repeat->kernel, size, repeat->begin, direction(repeat), calls, bytes,
            saved, unless(repeat));
    else
        add(list, saves,
            "The %s at 0x%" PRIx64 " are copied %s again by %s data calls, %s in all: one data "
            "region around them would save up to %s, unless the host %s the memory in between.",
            size, repeat->begin, direction(repeat), calls, bytes, saved, unless(repeat));
    free(calls);
    free(bytes);
    free(size);
    free(saved);
}

static void about_pageable(struct list *list, const struct findings *findings)
{
    uint64_t takes = time_of(findings, findings->pageable), saves = takes / 4 * 3;
    if (!findings->gpu || findings->pageable < LEAST_PAGEABLE)
        return;
    char *bytes = figure_bytes(findings->pageable), *took = figure_time(takes);
    char *saved = figure_time(saves);
    add(list, saves,
        "%s of pageable memory were copied, which took about %s: pinned memory "
        "(rex_host_alloc(3)), which an H100 copies four times as fast, would save up to %s.",
        bytes, took, saved);
    free(bytes);
    free(took);
    free(saved);
}

static int compare(const void *one, const void *other)
{
    const struct advice *a = one, *b = other;
    return a->saves < b->saves ? 1 : a->saves > b->saves ? -1 : 0;
}

size_t advise(const struct findings *findings, struct advice advice[MOST_ADVICE])
{
    struct list list = {.advice = advice};
    about_failures(&list, findings);
    if (is_too_short(findings)) {
        about_length(&list, findings);
        return list.count;
    }
    about_waiting(&list, findings);
    about_graphs(&list, findings);
    about_pageable(&list, findings);
    for (size_t i = 0; i < findings->reasons; i++)
        about_sender(&list, &findings->by_runtime[i]);
    for (size_t i = 0; i < findings->repeat_count; i++)
        about_repeat(&list, findings, &findings->repeats[i]);
    qsort(advice, list.count, sizeof *advice, compare);
    return list.count;
}
