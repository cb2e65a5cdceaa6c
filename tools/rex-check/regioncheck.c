/*
 * regioncheck.c - regions in host sources, and the columns that are allocated for calls.
 *
 * A region may begin in one function and end in another, as `target enter data` and its exit do.
 * So what a function leaves open is a mistake only where no function has the other half.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "regioncheck.h"

#include <stdlib.h>

#include "common/memory.h"

/* Calls behind the beginning of a region among which its end is looked for. */
#define WINDOW 256

static size_t line_of(const struct host *host, const struct call *call)
{
    return token_at(host->tokens, call->name)->line;
}

/* Whether two calls may be about the same rows: false only where the columns say that not. */
static bool same_rows(const struct calls *calls, const struct call *one, const struct call *other)
{
    const struct tokens *tokens = calls->variables->tokens;
    const struct variable *a = call_column(calls, one, COLUMN_BEGIN);
    const struct variable *b = call_column(calls, other, COLUMN_BEGIN);
    if (a == b || a == NULL || b == NULL || a->kind != VARIABLE_ARRAY ||
        b->kind != VARIABLE_ARRAY || a->changed || b->changed)
        return true;
    return elements_same(tokens, a->value + 1, token_closing(tokens, a->value), b->value + 1,
                         token_closing(tokens, b->value));
}

/* What happens to the region that call number BEGIN begins, in the same function. */
struct course {
    bool ended;
    const struct call *left; /* a return before that, or NULL */
};

static struct course follow(const struct calls *calls, size_t begin, bool *used)
{
    const struct call *first = &calls->list[begin];
    struct course course = {false, NULL};
    for (size_t i = begin + 1; i < calls->count && i < begin + WINDOW; i++) {
        const struct call *call = &calls->list[i];
        if (call->body != first->body)
            break;
        if (call->kind == CALL_RETURN && !course.ended && course.left == NULL)
            course.left = call;
        if (call->kind == CALL_END && same_rows(calls, first, call))
            course.ended = used[i] = true;
    }
    return course;
}

struct half {
    const struct host *host;
    const struct call *call;
};

struct halves {
    struct half *list;
    size_t count;
};

static void add(struct halves *halves, const struct host *host, const struct call *call)
{
    halves->list = tool_grow(halves->list, halves->count, sizeof *halves->list);
    halves->list[halves->count++] = (struct half){host, call};
}

static void check_file(const struct host *host, const struct calls *calls, struct halves *begins,
                       struct halves *ends)
{
    bool *used = tool_alloc(calls->count, sizeof *used);
    for (size_t i = 0; i < calls->count; i++) {
        const struct call *call = &calls->list[i];
        if (call->kind == CALL_END && !used[i])
            add(ends, host, call);
        if (call->kind != CALL_BEGIN)
            continue;
        struct course course = follow(calls, i, used);
        if (!course.ended)
            add(begins, host, call);
        else if (course.left != NULL)
            report_finding_at(host->report, FINDING_REGION_END, host->path,
                              line_of(host, course.left), NULL,
                              "returns from the region that begins in line %zu, without ending it",
                              line_of(host, call));
    }
    free(used);
}

static void tell(const struct halves *halves, const char *what)
{
    for (size_t i = 0; i < halves->count; i++) {
        const struct half *half = &halves->list[i];
        report_finding_at(half->host->report, FINDING_REGION_END, half->host->path,
                          line_of(half->host, half->call), NULL, "%s", what);
    }
}

void check_regions(const struct host *hosts, const struct calls *calls, size_t count)
{
    struct halves begins = {0}, ends = {0};
    for (size_t i = 0; i < count; i++)
        check_file(&hosts[i], &calls[i], &begins, &ends);
    if (begins.count == 0 || ends.count == 0) {
        tell(&begins, "the region that begins here is ended nowhere");
        tell(&ends, "the region that ends here is begun nowhere");
    }
    free(begins.list);
    free(ends.list);
}

/* ---- what is allocated ----------------------------------------------------------------------- */

static void check_column(const struct host *host, const struct variable *column)
{
    const struct token *name = token_at(host->tokens, column->name);
    const struct token *used = token_at(host->tokens, column->used);
    if (column->freed == NONE)
        report_finding_at(host->report, FINDING_COLUMN_FREED, host->path, name->line, NULL,
                          "the column %.*s is allocated and never freed", (int)name->length,
                          name->text);
    else if (column->freed < column->used)
        report_finding_at(host->report, FINDING_COLUMN_FREED, host->path,
                          token_at(host->tokens, column->freed)->line, NULL,
                          "the column %.*s is freed before its last use, by %.*s() in line %zu",
                          (int)name->length, name->text, (int)used->length, used->text, used->line);
}

void check_freed(const struct host *host, const struct calls *calls)
{
    for (size_t i = 0; i < calls->variables->count; i++) {
        const struct variable *variable = &calls->variables->list[i];
        if (variable->kind == VARIABLE_ALLOCATED && variable->used != NONE && !variable->given)
            check_column(host, variable);
    }
}
