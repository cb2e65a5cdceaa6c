/*
 * columncheck.c - the columns of each call in a host source, by themselves.
 *
 * Columns are arrays with braces, or allocated and filled in by an index. Of the latter, places in
 * the source are compared: each row is one place, which a loop may run often.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "columncheck.h"

#include "constants.h"

/* Rows of a column that are looked at one by one. */
#define MOST_ROWS 65536

#define LITERAL 0x100

struct site {
    const struct host *host;
    const struct calls *calls;
    const struct call *call;
    struct variable *columns[COLUMNS]; /* NULL: not known */
};

static const struct token *named(const struct site *site, size_t index)
{
    return token_at(site->host->tokens, index);
}

#define NAME_OF(site, variable) \
    (int)named(site, (variable)->name)->length, named(site, (variable)->name)->text

static size_t line_of(const struct site *site)
{
    return named(site, site->call->name)->line;
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* How many rows COLUMN has, at least where it is filled by assignments; -1: not known. */
static int64_t length_of(const struct site *site, const struct variable *column)
{
    int64_t length = -1;
    if (column == NULL || column->kind != VARIABLE_ARRAY)
        return -1;
    if (!column->changed)
        return (int64_t)column->elements;
    return column->length != NONE && constant_at(site->calls->variables, column->length, &length)
               ? length
               : -1;
}

static const char *counter_of(const struct call *call)
{
    return call->kind == CALL_LAUNCH ? "NumArgs" : "the number of rows";
}

static void check_length(const struct site *site, const struct variable *column, int64_t rows)
{
    int64_t length = length_of(site, column);
    if (length < 0 || rows == length || (column->changed && length > rows))
        return;
    report_finding_at(site->host->report, FINDING_COLUMN_LENGTH, site->host->path, line_of(site),
                      NULL, "the column %.*s has %lld row%s, but %s is %lld", NAME_OF(site, column),
                      (long long)length, length == 1 ? "" : "s", counter_of(site->call),
                      (long long)rows);
}

/* The number of rows is not known: columns in braces are as long as each other. */
static void check_each_other(const struct site *site)
{
    const struct variable *first = NULL;
    for (enum column i = 0; i < COLUMNS; i++) {
        const struct variable *column = site->columns[i];
        if (length_of(site, column) < 0 || column->changed)
            continue;
        if (first == NULL)
            first = column;
        else if (length_of(site, column) != length_of(site, first))
            report_finding_at(site->host->report, FINDING_COLUMN_LENGTH, site->host->path,
                              line_of(site), NULL, "the column %.*s has %lld rows, %.*s has %lld",
                              NAME_OF(site, column), (long long)length_of(site, column),
                              NAME_OF(site, first), (long long)length_of(site, first));
    }
}

/* ---- lengths of what is allocated ------------------------------------------------------------ */

/* Not a name that could be a count: sizes, casts and operators around it. */
static size_t skip_size(const struct tokens *tokens, size_t index)
{
    if (token_is(token_at(tokens, index), "sizeof"))
        return token_is(token_at(tokens, index + 1), "(") ? token_closing(tokens, index + 1) + 1
                                                          : index + 3;
    bool cast = token_is(token_at(tokens, index), "(") &&
                token_is(token_at(tokens, index + 2), ")") &&
                (token_at(tokens, index + 3)->kind == TOKEN_NAME ||
                 token_is(token_at(tokens, index + 3), "("));
    return cast ? index + 3 : index + 1;
}

/* The next token at or behind INDEX, before END, that says how many; END: none. */
static size_t next_of_count(const struct tokens *tokens, size_t index, size_t end)
{
    while (index < end) {
        size_t next = skip_size(tokens, index);
        bool around = token_is(&tokens->list[index], "*") || token_is(&tokens->list[index], "(") ||
                      token_is(&tokens->list[index], ")") || token_is(&tokens->list[index], ",");
        if (next == index + 1 && !around)
            return index;
        index = next;
    }
    return end;
}

/* Whether two expressions say the same count. */
static bool same_count(const struct tokens *tokens, size_t one, size_t one_end, size_t other,
                       size_t other_end)
{
    for (;; one++, other++) {
        one = next_of_count(tokens, one, one_end);
        other = next_of_count(tokens, other, other_end);
        if (one >= one_end || other >= other_end)
            return one >= one_end && other >= other_end;
        if (!elements_same(tokens, one, one + 1, other, other + 1))
            return false;
    }
}

/* The parenthesis of malloc() where that is what COLUMN's value is; NONE: it is not told. */
static size_t allocation_of(const struct site *site, const struct variable *column)
{
    if (column == NULL || column->kind != VARIABLE_ALLOCATED || column->value == NONE)
        return NONE;
    size_t name = token_behind_casts(site->host->tokens, column->value);
    return allocates(named(site, name)) && token_is(named(site, name + 1), "(") ? name + 1 : NONE;
}

static void check_allocations(const struct site *site)
{
    const struct tokens *tokens = site->host->tokens;
    size_t first = NONE, number = 0;
    for (enum column i = 0; i < COLUMNS; i++) {
        size_t open = allocation_of(site, site->columns[i]);
        if (open == NONE)
            continue;
        if (first == NONE) {
            first = open;
            number = i;
        } else if (!same_count(tokens, first + 1, token_closing(tokens, first), open + 1,
                               token_closing(tokens, open)))
            report_finding_at(
                site->host->report, FINDING_COLUMN_LENGTH, site->host->path, line_of(site), NULL,
                "the column %.*s is allocated in line %zu for another number of rows than %.*s",
                NAME_OF(site, site->columns[i]), named(site, open)->line,
                NAME_OF(site, site->columns[number]));
    }
}

/* A column for which a row was forgotten: it is filled in fewer places than each of the others. */
static void check_places(const struct site *site)
{
    size_t fewest = 0, more = 0;
    for (enum column i = 0; i < COLUMNS; i++) {
        if (site->columns[i] == NULL || site->columns[i]->given)
            return;
        if (site->columns[i]->assignments < site->columns[fewest]->assignments)
            fewest = i;
    }
    const struct variable *column = site->columns[fewest];
    for (enum column i = 0; i < COLUMNS; i++)
        more += site->columns[i]->assignments > column->assignments;
    if (more == COLUMNS - 1)
        report_finding_at(
            site->host->report, FINDING_COLUMN_LENGTH, site->host->path, line_of(site), NULL,
            "the column %.*s is filled in %zu place%s, each of the others in more",
            NAME_OF(site, column), column->assignments, column->assignments == 1 ? "" : "s");
}

/* ---- literal rows ---------------------------------------------------------------------------- */

static bool is_literal(const struct site *site, size_t type)
{
    int64_t bits;
    return constant_at(site->calls->variables, type, &bits) && (bits & LITERAL) != 0;
}

/* How many characters of the element at INDEX are told: all, if it is on one line. */
static int told(const struct site *site, size_t index)
{
    const struct tokens *tokens = site->host->tokens;
    const struct token *first = token_at(tokens, index);
    const struct token *last = token_at(tokens, element_end(tokens, index) - 1);
    return (int)(last->line == first->line ? (size_t)(last->text - first->text) + last->length
                                           : first->length);
}

static void check_same(const struct site *site, size_t line, size_t row, size_t base, size_t begin)
{
    const struct tokens *tokens = site->host->tokens;
    if (!elements_same(tokens, base, element_end(tokens, base), begin, element_end(tokens, begin)))
        report_finding_at(site->host->report, FINDING_LITERAL_BASE, site->host->path, line, NULL,
                          "row %zu is a literal, but %.*s has %.*s there, and %.*s has %.*s", row,
                          NAME_OF(site, site->columns[COLUMN_BASE]), told(site, base),
                          named(site, base)->text, NAME_OF(site, site->columns[COLUMN_BEGIN]),
                          told(site, begin), named(site, begin)->text);
}

static void check_literals(const struct site *site)
{
    const struct tokens *tokens = site->host->tokens;
    size_t at[COLUMNS] = {0}, ends[COLUMNS], row;
    for (enum column i = 0; i < COLUMNS; i++)
        if (i != COLUMN_SIZE)
            ends[i] = site->columns[i]->value;
    for (row = 0; row < MOST_ROWS; row++) {
        for (enum column i = 0; i < COLUMNS; i++)
            if (i != COLUMN_SIZE && (at[i] = element_next(tokens, ends[i], &ends[i])) == NONE)
                return;
        if (is_literal(site, at[COLUMN_TYPE]))
            check_same(site, line_of(site), row, at[COLUMN_BASE], at[COLUMN_BEGIN]);
    }
}

/* The same where each column is assigned in as many places, from the last one on. */
static void check_assigned_literals(const struct site *site)
{
    const struct assignment *all = site->calls->variables->assignments;
    size_t base = site->columns[COLUMN_BASE]->last_assignment;
    size_t begin = site->columns[COLUMN_BEGIN]->last_assignment;
    size_t type = site->columns[COLUMN_TYPE]->last_assignment;
    for (size_t row = site->columns[COLUMN_TYPE]->assignments; type != NONE && row-- > 0;) {
        if (is_literal(site, all[type].value))
            check_same(site, named(site, all[type].name)->line, row, all[base].value,
                       all[begin].value);
        base = all[base].previous;
        begin = all[begin].previous;
        type = all[type].previous;
    }
}

/* Once for each base column, however many calls get it. */
static void check_rows(const struct site *site)
{
    struct variable *base = site->columns[COLUMN_BASE];
    bool braces = true, places = true;
    size_t count = base != NULL ? base->assignments : 0;
    if (base == NULL || base->judged)
        return;
    base->judged = true;
    for (enum column i = 0; i < COLUMNS; i++) {
        const struct variable *column = site->columns[i];
        if (i == COLUMN_SIZE)
            continue;
        braces &= column != NULL && column->kind == VARIABLE_ARRAY && !column->changed;
        places &= column != NULL && !column->given && column->assignments == count;
    }
    if (braces)
        check_literals(site);
    else if (places && count > 0 && count <= MOST_ROWS)
        check_assigned_literals(site);
}

/* ---- versions -------------------------------------------------------------------------------- */

static void check_version(const struct site *site)
{
    int64_t version = 0;
    if (!site->call->no_version &&
        (site->call->version == NONE ||
         !constant_at(site->calls->variables, site->call->version, &version)))
        return;
    if (version < 1 || version > 3)
        report_finding_at(site->host->report, FINDING_PACKET_VERSION, site->host->path,
                          line_of(site), NULL,
                          "the packet's Version is %lld, which no release of LLVM has; write 3",
                          (long long)version);
}

void check_columns(const struct host *host, const struct calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        struct site site = {host, calls, &calls->list[i], {NULL}};
        int64_t rows;
        if (site.call->kind == CALL_RETURN)
            continue;
        for (enum column k = 0; k < COLUMNS; k++)
            site.columns[k] = call_column(calls, site.call, k);
        if (site.call->rows != NONE && constant_at(calls->variables, site.call->rows, &rows))
            for (enum column k = 0; k < COLUMNS; k++)
                check_length(&site, site.columns[k], rows);
        else
            check_each_other(&site);
        check_allocations(&site);
        check_places(&site);
        check_rows(&site);
        check_version(&site);
    }
}
