/*
 * text.c - prints a report to a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "text.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "advice.h"
#include "common/print.h"
#include "figures.h"
#include "tables.h"

#define NAME_WIDTH 44 /* longer names lose their middle */
#define MOST_ADVISED 8
#define BAR 60

/* ---- words ----------------------------------------------------------------------------------- */

/*
 * Returns the width of the terminal OUT in columns. Returns 80 if OUT is no terminal, or is
 * narrower than 40 columns.
 */
static size_t line_width(FILE *out)
{
    struct winsize size;
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 80;
}

/*
 * Prints TEXT in lines that are broken at blanks. Each line after the first begins with INDENT
 * blanks.
 */
static void print_wrapped(FILE *out, const char *text, size_t indent)
{
    size_t width = line_width(out), column = indent;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (column > indent && column + 1 + length > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            putc(' ', out);
            column++;
        }
        print_text(out, word);
        column += length;
        text += length + strspn(text + length, " ");
    }
    putc('\n', out);
}

/*
 * Prints TEXT, and blanks up to WIDTH columns. Leaves out the middle of a TEXT longer than
 * NAME_WIDTH.
 */
static void print_name(FILE *out, const char *text, size_t width)
{
    char name[NAME_WIDTH + 4];
    size_t length = strlen(text), half = NAME_WIDTH / 2 - 1;
    if (length > NAME_WIDTH)
        snprintf(name, sizeof name, "%.*s..%s", (int)half, text, text + length - half);
    else
        snprintf(name, sizeof name, "%s", text);
    print_text(out, name);
    for (length = strlen(name); length < width; length++)
        putc(' ', out);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static size_t longest(const struct table *table, size_t column)
{
    size_t width = strlen(table->columns[column]);
    for (size_t row = 0; row < table->rows; row++) {
        size_t length = strlen(table->cells[row][column]);
        width = length > width ? length : width;
    }
    return width < NAME_WIDTH ? width : NAME_WIDTH;
}

static void print_row(FILE *out, const struct table *table, const char *const *cells,
                      const size_t *widths)
{
    fputs("  ", out);
    print_name(out, cells[0], widths[0]);
    for (size_t i = 1; i < COLUMNS && table->columns[i] != NULL; i++)
        fprintf(out, "  %*s", (int)widths[i], cells[i]);
    putc('\n', out);
}

static void print_table(FILE *out, const struct table *table)
{
    size_t widths[COLUMNS];
    if (table->rows == 0)
        return;
    for (size_t i = 0; i < COLUMNS && table->columns[i] != NULL; i++)
        widths[i] = longest(table, i);
    fprintf(out, "\n%s\n", table->title);
    print_row(out, table, table->columns, widths);
    for (size_t row = 0; row < table->rows; row++)
        print_row(out, table, (const char *const *)table->cells[row], widths);
    if (table->note != NULL) {
        fputs("  ", out);
        print_wrapped(out, table->note, 2);
    }
}

/* ---- how busy tracks were -------------------------------------------------------------------- */

/*
 * Returns a character for the share BUSY of WHOLE: a blank for none, and a full block for all of
 * WHOLE.
 */
static const char *level(uint64_t busy, uint64_t whole)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    uint64_t at = whole > 0 ? (busy * 8 + whole - 1) / whole : 0;
    bool is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    return (is_utf8 ? blocks : plain)[at < 8 ? at : 8];
}

/* Prints one character for the bins of TRACK from BEGIN to END. */
static void print_bins(FILE *out, const struct timeline *timeline, const struct track *track,
                       size_t begin, size_t end)
{
    double busy = 0;
    for (size_t i = begin; i < end; i++)
        for (int kind = 0; kind < BUSY_KINDS; kind++)
            busy += (double)track->bins[i][kind];
    double whole = (double)(end - begin) * (double)(UINT64_C(1) << timeline->shift);
    fputs(level((uint64_t)(busy / whole * 1e6 + 0.5), 1000000), out);
}

static void print_track(FILE *out, const struct timeline *timeline, const struct track *track)
{
    size_t first, count = timeline_bins(timeline, &first);
    char *name = track_name(track);
    char *share = figure_share(track_busy(track), timeline->span.end - timeline->span.begin);
    fputs("  ", out);
    print_name(out, name, 24);
    fputs(" |", out);
    for (size_t i = 0; i < BAR; i++) {
        size_t begin = first + i * count / BAR, end = first + (i + 1) * count / BAR;
        print_bins(out, timeline, track, begin, end > begin ? end : begin + 1);
    }
    fprintf(out, "| %s\n", share);
    free(name);
    free(share);
}

static void print_tracks(FILE *out, const struct timeline *timeline)
{
    if (timeline->span.begin >= timeline->span.end)
        return;
    fputs("\nHow busy each thread, device and queue was, from begin to end\n", out);
    for (size_t i = 0; i < timeline->count && i < 32; i++)
        if (timeline->tracks[i].slices > 0)
            print_track(out, timeline, &timeline->tracks[i]);
    size_t more = timeline->left_out + (timeline->count > 32 ? timeline->count - 32 : 0);
    if (more > 0)
        fprintf(out, "  and %zu more\n", more);
}

/* ---- the whole report ------------------------------------------------------------------------ */

static void print_advice(FILE *out, const struct study *study)
{
    static struct advice advice[MOST_ADVICE];
    size_t count = advise(&study->findings, advice);
    fputs("\nAdvice\n", out);
    for (size_t i = 0; i < count; i++) {
        if (i < MOST_ADVISED) {
            fputs("  - ", out);
            print_wrapped(out, advice[i].text, 4);
        }
        free(advice[i].text);
    }
    if (count > MOST_ADVISED)
        fprintf(out, "  and %zu more like these\n", count - MOST_ADVISED);
    if (count == 0)
        fputs("  none: the trace shows no wasted work\n", out);
}

static void print_line(FILE *out, char *line)
{
    if (line != NULL)
        print_wrapped(out, line, 0);
    free(line);
}

void text_write(FILE *out, const struct study *study)
{
    struct table tables[TABLES];
    print_line(out, facts_line(study));
    print_line(out, doubts_line(study));
    print_advice(out, study);
    print_tracks(out, &study->timeline);
    tables_make(tables, study);
    for (int i = 0; i < TABLES; i++)
        print_table(out, &tables[i]);
    tables_free(tables);
}
