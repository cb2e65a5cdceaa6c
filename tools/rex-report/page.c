/*
 * page.c - writes a report as one page of HTML and SVG. The page has no script and loads no other
 * file.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "common/memory.h"
#include "common/print.h"
#include "figures.h"
#include "picture.h"
#include "tables.h"

#define MOST_SHOWN 64 /* maximum number of tracks */
#define MOST_ADVISED 12

static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --ink: #1c2126; --soft: #5b6672; --line: #d8dde2;\n"
    "  --paper: #fff; --bed: #f1f3f5; --k0: #2f7ed8; --k1: #e08a1e; --k2: #8a63d2; --k3: #8d99a6 "
    "}\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa5b1;\n"
    "  --line: #39424c; --paper: #171b20; --bed: #22282f } }\n"
    "body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);\n"
    "  max-width: 76rem; margin: 0 auto; padding: 1rem }\n"
    "h1 { font-size: 1.5rem; margin: 0 0 .25rem; overflow-wrap: anywhere }\n"
    "h2 { font-size: 1.15rem; margin: 2rem 0 .5rem }\n"
    "p, li { max-width: 60rem; overflow-wrap: anywhere } li { margin: .4rem 0 }\n"
    ".soft { color: var(--soft) }\n"
    ".tracks { display: grid; grid-template-columns: fit-content(16rem) 1fr 4.5rem; gap: 4px "
    "8px;\n"
    "  align-items: center }\n"
    ".tracks > span { overflow-wrap: anywhere; font-size: .9rem; line-height: 1.2 }\n"
    ".share { text-align: right; font-variant-numeric: tabular-nums }\n"
    ".track { width: 100%; height: 28px; background: var(--bed); display: block }\n"
    ".axis { position: relative; height: 1.6rem; grid-column: 2; font-size: .8rem;\n"
    "  color: var(--soft); overflow: hidden }\n"
    ".axis span { position: absolute; padding-left: 3px; border-left: 1px solid var(--soft) }\n"
    ".busy0 { fill: var(--k0) } .busy1 { fill: var(--k1) } .busy2 { fill: var(--k2) }\n"
    ".busy3 { fill: var(--k3) }\n"
    ".key span { white-space: nowrap; margin-right: 1.2em }\n"
    ".key i { display: inline-block; width: .9em; height: .9em; margin-right: .4em;\n"
    "  vertical-align: -.1em }\n"
    ".wide { overflow-x: auto }\n"
    "table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums }\n"
    "th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid var(--line);\n"
    "  white-space: nowrap }\n"
    "th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal;\n"
    "  overflow-wrap: anywhere; min-width: 9rem }\n"
    "th { color: var(--soft); font-weight: 600 }\n"
    "code { font-size: .9em; overflow-wrap: anywhere }\n"
    "@media (max-width: 600px) { .tracks { grid-template-columns: 1fr 4.5rem }\n"
    "  .tracks > span { grid-column: 1 / -1 } .tracks > .share { grid-column: 2 }\n"
    "  .axis { grid-column: 1 } }\n"
    "</style>\n";

/* ---- text of unknown origin ------------------------------------------------------------------ */

/*
 * Returns a copy of TEXT for the page. The caller frees the copy. print_text() escapes bytes that
 * could control a terminal. Characters with a meaning in HTML become entities, such as &lt; for <.
 */
static char *harmless(const char *text)
{
    char *safe = NULL, *marked = NULL;
    size_t size;
    FILE *out = open_memstream(&safe, &size);
    if (out == NULL)
        return tool_format("?");
    print_text(out, text);
    fclose(out);
    out = open_memstream(&marked, &size);
    for (const char *at = safe; out != NULL && at != NULL && *at != '\0'; at++)
        switch (*at) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: putc(*at, out);
        }
    if (out != NULL)
        fclose(out);
    free(safe);
    return marked != NULL ? marked : tool_format("?");
}

/* Escapes TEXT, and writes it between BEFORE and AFTER. */
static void put(FILE *out, const char *before, const char *text, const char *after)
{
    char *safe = harmless(text);
    fprintf(out, "%s%s%s", before, safe, after);
    free(safe);
}

/* Calls put() if TEXT is not NULL, and frees TEXT. */
static void put_and_free(FILE *out, const char *before, char *text, const char *after)
{
    if (text != NULL)
        put(out, before, text, after);
    free(text);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void put_advice(FILE *out, const struct study *study)
{
    static struct advice advice[MOST_ADVICE];
    size_t count = advise(&study->findings, advice);
    fputs("<h2>Advice</h2>\n", out);
    if (count == 0)
        fputs("<p>None: the trace shows no wasted work.</p>\n", out);
    fputs(count > 0 ? "<ul id=\"advice\">\n" : "", out);
    for (size_t i = 0; i < count; i++)
        if (i < MOST_ADVISED)
            put_and_free(out, "<li>", advice[i].text, "</li>\n");
        else
            free(advice[i].text);
    fputs(count > 0 ? "</ul>\n" : "", out);
    if (count > MOST_ADVISED)
        fprintf(out, "<p class=\"soft\">and %zu more like these</p>\n", count - MOST_ADVISED);
}

static void put_track(FILE *out, const struct timeline *timeline, const struct track *track)
{
    char *share = figure_share(track_busy(track), timeline->span.end - timeline->span.begin);
    char *name = track_name(track), *safe = harmless(name);
    char *label = tool_format("%s, busy for %s of the run", safe, share);
    fprintf(out, "<span>%s</span>", safe);
    picture_track(out, timeline, track, label);
    fprintf(out, "<span class=\"share\">%s</span>\n", share);
    free(label);
    free(safe);
    free(name);
    free(share);
}

static void put_key(FILE *out)
{
    fputs("<p class=\"key soft\">", out);
    for (int kind = 0; kind < BUSY_KINDS; kind++)
        fprintf(out, "<span><i style=\"background:var(--k%d)\"></i>%s</span> ", kind,
                busy_names[kind]);
    fputs("</p>\n", out);
}

static void put_tracks(FILE *out, const struct timeline *timeline)
{
    size_t shown = 0, more = timeline->left_out;
    if (timeline->span.begin >= timeline->span.end)
        return;
    fputs("<h2>How busy each thread, device and queue was</h2>\n", out);
    put_key(out);
    fputs("<div class=\"tracks\">\n", out);
    for (size_t i = 0; i < timeline->count; i++) {
        bool is_shown = timeline->tracks[i].slices > 0 && shown < MOST_SHOWN;
        shown += is_shown;
        more += !is_shown && timeline->tracks[i].slices > 0;
        if (is_shown)
            put_track(out, timeline, &timeline->tracks[i]);
    }
    fputs("<div class=\"axis\">", out);
    picture_axis(out, timeline);
    fputs("</div>\n</div>\n", out);
    if (more > 0)
        fprintf(out, "<p class=\"soft\">and %zu more</p>\n", more);
}

static void put_row(FILE *out, const struct table *table, const char *const *cells, const char *tag)
{
    fputs("<tr>", out);
    for (size_t i = 0; i < COLUMNS && table->columns[i] != NULL; i++) {
        fprintf(out, "<%s>", tag);
        put(out, "", cells[i], "");
        fprintf(out, "</%s>", tag);
    }
    fputs("</tr>\n", out);
}

static void put_table(FILE *out, const struct table *table)
{
    if (table->rows == 0)
        return;
    fprintf(out, "<h2>%s</h2>\n<div class=\"wide\"><table>\n<thead>", table->title);
    put_row(out, table, table->columns, "th");
    fputs("</thead><tbody>\n", out);
    for (size_t row = 0; row < table->rows; row++)
        put_row(out, table, (const char *const *)table->cells[row], "td");
    fputs("</tbody></table></div>\n", out);
    if (table->note != NULL)
        put(out, "<p class=\"soft\">", table->note, "</p>\n");
}

static void put_viewer(FILE *out, const char *trace)
{
    fputs("<h2>Single calls</h2>\n<p>To see each call by itself, open ", out);
    put(out, "<code>", trace, "</code>");
    fputs(" at <a href=\"https://ui.perfetto.dev\">ui.perfetto.dev</a>, or in Chromium at "
          "<code>chrome://tracing</code>. The trace stays in the browser.</p>\n",
          out);
}

/* ---- the whole page -------------------------------------------------------------------------- */

void page_write(FILE *out, const struct study *study, const char *trace)
{
    struct table tables[TABLES];
    fputs(head, out);
    put(out, "<title>", study->program, ": where the time went</title>\n");
    put(out, "<h1>", study->program, ": where the time went</h1>\n");
    put_and_free(out, "<p class=\"soft\">", facts_line(study), "</p>\n");
    put_and_free(out, "<p>", doubts_line(study), "</p>\n");
    put_advice(out, study);
    put_tracks(out, &study->timeline);
    tables_make(tables, study);
    for (int i = 0; i < TABLES; i++)
        put_table(out, &tables[i]);
    tables_free(tables);
    put_viewer(out, trace);
    fputs("</html>\n", out);
}
