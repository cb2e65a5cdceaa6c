/*
 * rowcheck.c - the rows of a launch in a host source against the parameters of its kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rowcheck.h"

#include "constants.h"

#define PARAMETER 0x20
#define LITERAL 0x100

/* Rows of one launch that are looked at: more than any kernel has parameters. */
#define MOST_ROWS 512

struct launch {
    const struct host *host;
    const struct calls *calls;
    const struct call *call;
    const struct source_kernel *kernel;
    const struct variable *types, *begins; /* the latter may be NULL */
};

static size_t line_of(const struct launch *launch)
{
    return token_at(launch->host->tokens, launch->call->name)->line;
}

/* ---- packed values --------------------------------------------------------------------------- */

/* The parenthesis of the rex_pack_literal_arg_bytes() whose result is the value at INDEX, or NONE.
 */
static size_t packing(const struct launch *launch, size_t index)
{
    const struct tokens *tokens = launch->host->tokens;
    const struct variable *variable =
        variable_at(launch->calls->variables, token_behind_casts(tokens, index));
    if (variable != NULL && variable->kind == VARIABLE_VALUE)
        index = variable->changed ? NONE : variable->value;
    if (index == NONE)
        return NONE;
    size_t name = token_behind_casts(tokens, index);
    return token_is(token_at(tokens, name), "rex_pack_literal_arg_bytes") ? name + 1 : NONE;
}

/* Whether what is packed there is of a type that is no pointer's. */
static bool packs_number(const struct launch *launch, size_t open)
{
    const struct tokens *tokens = launch->host->tokens;
    size_t end = 0, value = element_next(tokens, open, &end);
    size_t size = value != NONE ? element_next(tokens, end, &end) : NONE;
    if (size == NONE || !token_is(token_at(tokens, size), "sizeof") ||
        !token_is(token_at(tokens, size + 1), "("))
        return false;
    size_t close = token_closing(tokens, size + 1);
    return constant_size(tokens, size + 2) != 0 && !token_is(token_at(tokens, close - 1), "*");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void finding(const struct launch *launch, size_t row, const char *what)
{
    report_finding_at(launch->host->report, FINDING_ROW_PARAMETER, launch->host->path,
                      line_of(launch), NULL, "row %zu of the launch of %s %s", row,
                      launch->kernel->name, what);
}

static void against(const struct launch *launch, size_t row, const struct parameter *parameter,
                    const char *what, const char * not )
{
    report_finding_at(launch->host->report, FINDING_ROW_PARAMETER, launch->host->path,
                      line_of(launch), NULL, "row %zu of the launch of %s is %s, but %.*s is %s",
                      row, launch->kernel->name, what, (int)parameter->name.length,
                      parameter->name.text, not );
}

/* PARAMETER may be NULL: the kernel has none left. */
static void check_row(const struct launch *launch, size_t row, int64_t bits, size_t value,
                      const struct parameter *parameter)
{
    size_t packed = value != NONE ? packing(launch, value) : NONE;
    if (packed != NONE && (bits & LITERAL) == 0)
        finding(launch, row, "is a packed value, but its type has no literal bit (0x100)");
    else if (parameter == NULL)
        return;
    else if (parameter->kind == PARAMETER_VALUE && (bits & LITERAL) == 0)
        against(launch, row, parameter, "an address", "a value");
    else if (parameter->kind == PARAMETER_POINTER && packed != NONE && packs_number(launch, packed))
        against(launch, row, parameter, "a number", "a pointer");
}

/* The rows that are parameters, counted; each is compared with PARAMETERS where these are known. */
static bool walk(const struct launch *launch, const struct parameter *parameters, size_t count,
                 size_t *rows, size_t *others)
{
    const struct tokens *tokens = launch->host->tokens;
    size_t type_end = launch->types->value, begin_end = 0;
    bool begins = launch->begins != NULL && !launch->begins->changed &&
                  launch->begins->kind == VARIABLE_ARRAY;
    *rows = *others = 0;
    if (begins)
        begin_end = launch->begins->value;
    for (size_t row = 0; row < MOST_ROWS; row++) {
        int64_t bits;
        size_t type = element_next(tokens, type_end, &type_end);
        size_t value = begins ? element_next(tokens, begin_end, &begin_end) : NONE;
        if (type == NONE)
            return true;
        begins = value != NONE;
        if (!constant_at(launch->calls->variables, type, &bits))
            return false;
        if (parameters != NULL)
            check_row(launch, row, bits, value,
                      (bits & PARAMETER) != 0 && *rows < count ? &parameters[*rows] : NULL);
        *rows += (bits & PARAMETER) != 0;
        *others += (bits & PARAMETER) == 0;
    }
    return false;
}

void check_parameters(const struct host *host, const struct calls *calls, const struct call *call,
                      const struct source_kernel *kernel)
{
    struct launch launch = {host,
                            calls,
                            call,
                            kernel,
                            call_column(calls, call, COLUMN_TYPE),
                            call_column(calls, call, COLUMN_BEGIN)};
    size_t rows, others;
    if (kernel == NULL || launch.types == NULL || launch.types->kind != VARIABLE_ARRAY ||
        launch.types->changed || !walk(&launch, NULL, 0, &rows, &others))
        return;
    const struct parameters *own = &kernel->parameters;
    /* One in front may be the runtime's, where no macro says otherwise. */
    size_t hidden =
        !kernel->by_macro && own->count == rows + 1 && own->list[0].kind == PARAMETER_POINTER;
    if (own->count - hidden != rows)
        report_finding_at(host->report, FINDING_ROW_PARAMETER, host->path, line_of(&launch), NULL,
                          "%zu rows of the launch are parameters, but %s has %zu%s", rows,
                          kernel->name, own->count,
                          others > 0 ? "; a parameter's row has the bit 0x20 in its type" : "");
    else
        walk(&launch, own->list + hidden, own->count - hidden, &rows, &others);
}
