/*
 * tables.c - the words and figures of a report, for a terminal and for a page.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "figures.h"

#define MOST_ROWS 20 /* maximum rows of a table */

/* ---- rows ------------------------------------------------------------------------------------ */

/* Adds a row. Returns NULL if the table is full. */
static char **add_row(struct table *table)
{
    if (table->rows == MOST_ROWS) {
        table->left_out++;
        return NULL;
    }
    table->cells = tool_grow(table->cells, table->rows, sizeof *table->cells);
    memset(table->cells[table->rows], 0, sizeof *table->cells);
    return table->cells[table->rows++];
}

static void add_total(struct table *table, const struct total *total, uint64_t span)
{
    char **cell = add_row(table);
    if (cell == NULL)
        return;
    *cell++ = tool_format("%s", total->name);
    if (total->of <= TOTAL_DEFERRED)
        *cell++ = tool_format("%s", total->of == TOTAL_WAITED   ? "waited for"
                                    : total->of == TOTAL_QUEUED ? "in a queue"
                                                                : "deferred");
    *cell++ = figure_count(total->calls);
    *cell++ = figure_time(total->took);
    *cell++ = figure_time(total->took / total->calls);
    if (total->of != TOTAL_DATA) {
        *cell++ = figure_time(total->most);
        *cell++ = figure_share(total->took, span);
        return;
    }
    *cell++ = figure_bytes(total->to);
    *cell++ = figure_bytes(total->from);
    *cell++ = figure_speed(total->to + total->from, total->took);
}

static bool belongs(const struct total *total, enum tables_of table)
{
    return table == TABLE_KERNELS  ? total->of <= TOTAL_DEFERRED
           : table == TABLE_COPIES ? total->of == TOTAL_DATA
                                   : total->of == TOTAL_PHASE;
}

static void add_totals(struct table *table, const struct study *study, enum tables_of of,
                       uint64_t span)
{
    for (size_t i = 0; i < study->totals.count; i++)
        if (belongs(&study->totals.rows[i], of))
            add_total(table, &study->totals.rows[i], span);
    if (table->left_out > 0)
        table->note = tool_format("and %zu more, which took less time each", table->left_out);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/*
 * Adds a row for the thread TRACK: the time that each kind of call took, and the share of SPAN that
 * all these calls took.
 */
static void add_waiting(struct table *table, const struct track *track, uint64_t span)
{
    char **cell = track->sort == TRACK_THREAD && track_busy(track) > 0 ? add_row(table) : NULL;
    if (cell == NULL)
        return;
    *cell++ = track_name(track);
    for (int kind = 0; kind < BUSY_KINDS; kind++)
        *cell++ = figure_time(track->total[kind]);
    *cell++ = figure_share(track_busy(track), span);
}

/* ---- all tables ------------------------------------------------------------------------------ */

static uint64_t span_of(const struct study *study)
{
    const struct span *span = &study->timeline.span;
    return span->end > span->begin ? span->end - span->begin : 0;
}

static char *copies_note(const struct study *study)
{
    const struct findings *findings = &study->findings;
    char *to = figure_bytes(findings->to), *from = figure_bytes(findings->from);
    char *note = tool_format(
        "Copied in total, including the copies of launches: %s to devices, %s from devices. The "
        "trace may not show all mapped memory.",
        to, from);
    free(to);
    free(from);
    return note;
}

void tables_make(struct table tables[TABLES], const struct study *study)
{
    static const struct table empty[TABLES] = {
        [TABLE_KERNELS] = {.title = "Kernels",
                           .columns = {"kernel", "how", "launches", "total", "mean", "longest",
                                       "of the run"}},
        [TABLE_COPIES] = {.title = "Copies",
                          .columns = {"call", "calls", "total", "mean", "to device", "from device",
                                      "speed"}},
        [TABLE_WAITING] = {.title = "Time lost to waiting",
                           .columns = {"thread", "in launches", "in data calls", "in queue calls",
                                       "start and end", "of the run"}},
        [TABLE_START] = {.title = "Start and end",
                         .columns = {"part", "times", "total", "mean", "longest", "of the run"}}};
    uint64_t span = span_of(study);
    struct table *waiting = &tables[TABLE_WAITING];
    memcpy(tables, empty, sizeof empty);
    add_totals(&tables[TABLE_KERNELS], study, TABLE_KERNELS, span);
    add_totals(&tables[TABLE_COPIES], study, TABLE_COPIES, span);
    add_totals(&tables[TABLE_START], study, TABLE_START, span);
    for (size_t i = 0; i < study->timeline.count; i++)
        add_waiting(waiting, &study->timeline.tracks[i], span);
    if (waiting->left_out > 0)
        waiting->note = tool_format("and %zu more threads", waiting->left_out);
    if (tables[TABLE_COPIES].note == NULL)
        tables[TABLE_COPIES].note = copies_note(study);
}

void tables_free(struct table tables[TABLES])
{
    for (struct table *table = tables; table < tables + TABLES; table++) {
        for (size_t row = 0; row < table->rows; row++)
            for (size_t column = 0; column < COLUMNS; column++)
                free(table->cells[row][column]);
        free(table->cells);
        free(table->note);
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

char *facts_line(const struct study *study)
{
    char *events = figure_count(study->events), *launches = figure_count(study->findings.launches);
    char *took = figure_time(span_of(study)), *deferred = figure_count(study->findings.deferred);
    bool is_any = study->findings.deferred > 0;
    char *line = tool_format(
        "%s, process %" PRIu64 ": %s launch%s%s%s%s in %s on %s; %s event%s", study->program,
        study->process, launches, study->findings.launches == 1 ? "" : "es", is_any ? " (" : "",
        is_any ? deferred : "", is_any ? " of them deferred)" : "", took,
        study->findings.gpu ? "a GPU" : "the CPU", events, study->events == 1 ? "" : "s");
    free(deferred);
    free(events);
    free(launches);
    free(took);
    return line;
}

char *doubts_line(const struct study *study)
{
    const char *cut = "The trace ends before the program did: later events are missing.";
    if (study->strange > 0) {
        char *count = figure_count(study->strange);
        char *line = tool_format(
            "%s line%s of the trace could not be read.%s%s", count, study->strange == 1 ? "" : "s",
            study->findings.is_complete ? "" : " ", study->findings.is_complete ? "" : cut);
        free(count);
        return line;
    }
    return study->findings.is_complete ? NULL : tool_format("%s", cut);
}

char *track_name(const struct track *track)
{
    static const char *const sorts[] = {"thread", "device", "queue"};
    if (track->name == NULL)
        return tool_format("%s %" PRIu64, sorts[track->sort], track->id);
    if (track->sort != TRACK_THREAD || strcmp(track->name, "main thread") == 0)
        return tool_format("%s", track->name);
    return tool_format("%s (thread %" PRIu64 ")", track->name, track->id);
}
