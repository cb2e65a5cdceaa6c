/*
 * study.c - reads a trace once, and collects all data of a report.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "study.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define LONGEST_LINE 20480 /* librex writes at most 16384 bytes */

/* ---- lines ----------------------------------------------------------------------------------- */

/*
 * Reads the next line, without the newline at its end. Returns false at the end of the file. A line
 * that is too long becomes "?".
 */
static bool next_line(FILE *file, char line[LONGEST_LINE])
{
    if (fgets(line, LONGEST_LINE, file) == NULL)
        return false;
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\n') {
        line[length - 1] = '\0';
    } else if (length == LONGEST_LINE - 1) {
        strcpy(line, "?");
        for (int byte = getc(file); byte != '\n' && byte != EOF;)
            byte = getc(file);
    }
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void add_process(struct study *study, const struct event *event)
{
    free(study->program);
    study->program = tool_format("%s", event->name);
    study->process = event->process;
}

static void add_event(struct study *study, const struct event *event)
{
    uint64_t to, from;
    if (event->kind == EVENT_PROCESS)
        add_process(study, event);
    study->events += event->kind != EVENT_PROCESS && event->kind != EVENT_TRACK;
    findings_add(&study->findings, event, &to, &from);
    totals_add(&study->totals, event, to, from);
    timeline_add(&study->timeline, event);
}

static void read_line(struct study *study, char *line)
{
    struct event event;
    if (strcmp(line, "]") == 0)
        study->findings.is_complete = true;
    else if (event_read(&event, line + (*line == ',')))
        add_event(study, &event);
    else
        study->strange += *line != '\0';
}

/* ---- the whole trace ------------------------------------------------------------------------- */

static bool refuse(struct study *study, const char **why, const char *text)
{
    *why = text;
    study_end(study);
    return false;
}

bool study_trace(struct study *study, FILE *file, const char **why)
{
    static char line[LONGEST_LINE];
    *study = (struct study){.program = NULL};
    findings_begin(&study->findings);
    timeline_begin(&study->timeline);
    totals_begin(&study->totals);
    if (!next_line(file, line))
        return refuse(study, why, ferror(file) ? "it cannot be read" : "it is empty");
    if (strcmp(line, "[") != 0)
        return refuse(study, why, "it does not begin like a trace of librex");
    while (next_line(file, line))
        read_line(study, line);
    if (ferror(file))
        return refuse(study, why, "it cannot be read to its end");
    if (study->program == NULL)
        return refuse(study, why, "it has no line of librex");
    timeline_sort(&study->timeline);
    totals_sort(&study->totals);
    return true;
}

void study_end(struct study *study)
{
    free(study->program);
    findings_end(&study->findings);
    timeline_end(&study->timeline);
    totals_end(&study->totals);
}
