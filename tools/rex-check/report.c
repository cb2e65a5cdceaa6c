/*
 * report.c - collects findings and notes, and prints them as lines or as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/print.h"

static const struct {
    const char *name, *meaning;
} findings[] = {
#define X(constant, name, meaning) {name, meaning},
    CHECK_FINDINGS(X)
#undef X
};

const char *finding_name(enum finding finding)
{
    return findings[finding].name;
}

const char *finding_meaning(enum finding finding)
{
    return findings[finding].meaning;
}

static void add(struct report *report, struct remark remark, const char *format, va_list arguments)
{
    if (vasprintf(&remark.text, format, arguments) < 0)
        remark.text = tool_format("%s", format);
    report->remarks = tool_grow(report->remarks, report->count, sizeof *report->remarks);
    report->remarks[report->count++] = remark;
}

/* The report frees OBJECT. */
static void add_finding(struct report *report, enum finding finding, char *object,
                        const char *nearest, const char *format, va_list arguments)
{
    struct remark remark = {.finding = finding, .object = object};
    if (nearest != NULL)
        remark.nearest = tool_format("%s", nearest);
    add(report, remark, format, arguments);
    report->findings++;
}

void report_finding(struct report *report, enum finding finding, const char *object,
                    const char *nearest, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_finding(report, finding, tool_format("%s", object), nearest, format, arguments);
    va_end(arguments);
}

void report_finding_at(struct report *report, enum finding finding, struct place at,
                       const char *nearest, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_finding(report, finding, tool_format("%s:%zu", at.path, at.line), nearest, format,
                arguments);
    va_end(arguments);
}

void report_note(struct report *report, const char *object, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(report, (struct remark){.note = true, .object = tool_format("%s", object)}, format,
        arguments);
    va_end(arguments);
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        free(report->remarks[i].object);
        free(report->remarks[i].text);
        free(report->remarks[i].nearest);
    }
    free(report->remarks);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void print_remark(const struct remark *remark, bool colour)
{
    const char *word = remark->note ? "note" : "finding",
               *on = remark->note ? "\033[36m" : "\033[1;31m";
    print_text(stdout, remark->object);
    printf(": %s%s:%s ", colour ? on : "", word, colour ? "\033[0m" : "");
    print_text(stdout, remark->text);
    if (remark->nearest != NULL) {
        fputs("; the nearest is ", stdout);
        print_text(stdout, remark->nearest);
    }
    if (!remark->note)
        printf(" [%s]", findings[remark->finding].name);
    putchar('\n');
}

void report_print(const struct report *report, bool colour)
{
    for (size_t i = 0; i < report->count; i++)
        print_remark(&report->remarks[i], colour);
    if (report->findings == 0)
        puts("no findings");
    else
        printf("%zu finding%s\n", report->findings, report->findings == 1 ? "" : "s");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_remark_json(const struct remark *remark)
{
    printf("{");
    if (!remark->note)
        printf("\"finding\": \"%s\", ", findings[remark->finding].name);
    printf("\"object\": ");
    print_json(stdout, remark->object);
    printf(", \"text\": ");
    print_json(stdout, remark->text);
    if (!remark->note) {
        printf(", \"nearest\": ");
        print_json(stdout, remark->nearest);
    }
    printf("}");
}

static void print_list(const struct report *report, const char *name, bool notes)
{
    bool first = true;
    printf("  \"%s\": [", name);
    for (size_t i = 0; i < report->count; i++) {
        if (report->remarks[i].note != notes)
            continue;
        fputs(first ? "\n    " : ",\n    ", stdout);
        print_remark_json(&report->remarks[i]);
        first = false;
    }
    printf("%s]", first ? "" : "\n  ");
}

void report_print_json(const struct report *report)
{
    print_list(report, "findings", false);
    printf(",\n");
    print_list(report, "notes", true);
    printf("\n");
}
