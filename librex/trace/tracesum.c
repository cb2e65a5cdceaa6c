/*
 * tracesum.c - the summary of a trace: how often, how long, how many bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "trace/tracesum.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/error.h"

/* A program with more kernels than fit has the rest in one row. */
#define ROWS 2048
#define MOST (ROWS / 2)
#define NAME_WIDTH 40
#define REASONS 32 /* likewise the last one of these */

struct row {
    char name[128];           /* as much as fits */
    uint64_t hash;            /* of all of it, of who launched and why */
    enum rex_counted counted; /* NOWHERE: a free row */
    const char *by;           /* who launched; NULL: nobody did, or several */
    unsigned reason;          /* why, from 1; 0: for none */
    uint64_t calls, total, most, to, from;
};

static struct {
    struct row rows[ROWS];
    unsigned used;
    char reasons[REASONS][256]; /* why libomptarget launched; "": none yet */
} summary;

/* The number of BECAUSE, from 1. */
static unsigned number_of(const char *because)
{
    unsigned at = 0;
    while (at < REASONS - 1 && *summary.reasons[at] != '\0' &&
           strncmp(summary.reasons[at], because, sizeof *summary.reasons - 1) != 0)
        at++;
    if (*summary.reasons[at] == '\0')
        snprintf(summary.reasons[at], sizeof *summary.reasons, "%s",
                 at < REASONS - 1 ? because : "one of other reasons");
    return at + 1;
}

static struct row *find(enum rex_counted counted, const char *name, const char *by, unsigned reason)
{
    uint64_t hash = rex_hash_string(name) + (uint64_t)counted + ((uint64_t)reason << 8) +
                    (by != NULL ? rex_hash_string(by) : 0);
    size_t at = hash % ROWS;
    while (summary.rows[at].counted != REX_COUNTED_NOWHERE && summary.rows[at].hash != hash)
        at = (at + 1) % ROWS;
    struct row *row = &summary.rows[at];
    if (row->counted == REX_COUNTED_NOWHERE) {
        row->hash = hash;
        row->by = by;
        row->reason = reason;
        snprintf(row->name, sizeof row->name, "%s", name);
        rex_escape(row->name, sizeof row->name);
    }
    return row;
}

void rex_summary_add(const struct rex_slice *slice)
{
    unsigned reason = slice->because != NULL ? number_of(slice->because) : 0;
    struct row *row = find(slice->counted, slice->name, slice->by, reason);
    if (row->counted == REX_COUNTED_NOWHERE && summary.used >= MOST)
        row = find(slice->counted, "others", NULL, 0);
    summary.used += row->counted == REX_COUNTED_NOWHERE;
    row->counted = slice->counted;
    uint64_t took = slice->end - slice->begin;
    row->calls++;
    row->total += took;
    row->most = took > row->most ? took : row->most;
    row->to += slice->to;
    row->from += slice->from;
}

void rex_summary_forget(void)
{
    memset(&summary, 0, sizeof summary);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* To standard error, where somebody still reads it. */
static __attribute__((format(printf, 1, 2))) void print(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rex_file_say(text);
}

/* The longest first, free rows last. */
static int compare(const void *one, const void *other)
{
    const struct row *a = one, *b = other;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void print_row(const struct row *row)
{
    print("  %-*s %9llu %13.1f %11.1f %11.1f", NAME_WIDTH, row->name,
          (unsigned long long)row->calls, (double)row->total / 1e3,
          (double)row->total / 1e3 / (double)row->calls, (double)row->most / 1e3);
    if (row->counted != REX_COUNTED_PHASE)
        print(" %15llu %15llu", (unsigned long long)row->to, (unsigned long long)row->from);
    if (row->by != NULL)
        print("  %s", row->by);
    if (row->reason != 0)
        print(" [%u]", row->reason);
    print("\n");
}

static void print_reasons(void)
{
    for (unsigned i = 0; i < REASONS && *summary.reasons[i] != '\0'; i++) {
        rex_escape(summary.reasons[i], sizeof *summary.reasons);
        print("  [%u] %s\n", i + 1, summary.reasons[i]);
    }
    if (*summary.reasons[0] != '\0')
        print("\n");
}

static void print_part(enum rex_counted counted, const char *title)
{
    bool is_titled = false;
    for (size_t i = 0; i < ROWS; i++) {
        if (summary.rows[i].counted != counted)
            continue;
        if (!is_titled)
            print("  %-*s %9s %13s %11s %11s%s%s\n", NAME_WIDTH, title, "calls", "total us",
                  "mean us", "max us",
                  counted != REX_COUNTED_PHASE ? "        bytes to      bytes from" : "",
                  counted == REX_COUNTED_KERNEL ? "  by" : "");
        is_titled = true;
        print_row(&summary.rows[i]);
    }
    if (is_titled)
        print("\n");
}

void rex_summary_print(void)
{
    char program[256];
    if (summary.used == 0)
        return;
    qsort(summary.rows, ROWS, sizeof *summary.rows, compare);
    snprintf(program, sizeof program, "%s", program_invocation_short_name);
    rex_escape(program, sizeof program);
    print("\nlibrex: what %s, process %ld, offloaded\n\n", program, (long)getpid());
    print_part(REX_COUNTED_KERNEL, "kernel");
    print_reasons();
    print_part(REX_COUNTED_TRANSFER, "data");
    print_part(REX_COUNTED_PHASE, "start and end");
}
