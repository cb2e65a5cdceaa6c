/*
 * hostfile.c - one host source: what it includes, and when it initialises.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "hostfile.h"

#include <stdint.h>
#include <string.h>

/* ---- includes -------------------------------------------------------------------------------- */

static bool includes(const struct token *token, const char *header)
{
    size_t length = strlen(header);
    if (token->kind != TOKEN_INCLUDE || token->length < length ||
        memcmp(token->text + token->length - length, header, length) != 0)
        return false;
    return token->length == length || token->text[token->length - length - 1] == '/';
}

/* Whether TOKEN includes rex_kmp.h, or a header of librex that includes that. */
static bool brings_kmp(const struct token *token)
{
    return includes(token, "rex_kmp.h") || includes(token, "rex.h") ||
           includes(token, "rex/entry.h") || includes(token, "rex/launch.h");
}

/* What rex_kmp.h declares: an entry, or a call of libomptarget. */
static bool needs_kmp(const struct token *token)
{
    return token->kind == TOKEN_NAME &&
           ((token->length > 6 && memcmp(token->text, "__tgt_", 6) == 0) ||
            token_is(token, "rex_offload_init") || token_is(token, "REX_KERNEL") ||
            token_is(token, "REX_KERNEL_STEM"));
}

/* A file may declare these itself: as a generator that wants no header does. */
#define MOST_OWN 64 /* names of libomptarget */

struct own {
    const struct token *name[MOST_OWN];
    size_t count;
};

static bool same(const struct token *one, const struct token *other)
{
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}

static bool is_own(const struct own *own, const struct token *token)
{
    size_t i = 0;
    while (i < own->count && !same(own->name[i], token))
        i++;
    return i < own->count;
}

/* Whether the name at INDEX is declared there: a struct, a pointer to one, a function. */
static bool is_declared(const struct tokens *tokens, size_t index)
{
    const struct token *next = token_at(tokens, index + 1);
    if (token_is(token_before(tokens, index, 1), "struct"))
        return token_is(next, "{") || token_is(next, ";") || token_is(next, "*");
    return token_is(next, "(") && !token_is_call(tokens, index);
}

/* Whether the name at INDEX needs rex_kmp.h, in a file that has declared OWN names so far. */
static bool needs_include(const struct tokens *tokens, size_t index, struct own *own)
{
    const struct token *token = &tokens->list[index];
    if (!needs_kmp(token) || is_own(own, token))
        return false;
    if (own->count == MOST_OWN || !is_declared(tokens, index))
        return true;
    if (!token_is(token_at(tokens, index + 1), "*"))
        own->name[own->count++] = token;
    return false;
}

void check_includes(const struct host *host)
{
    struct own own = {.count = 0};
    size_t direct = 0, first = SIZE_MAX, needed = SIZE_MAX;
    for (size_t i = 0; i < host->tokens->count; i++) {
        const struct token *token = &host->tokens->list[i];
        if (includes(token, "rex_kmp.h") && ++direct == 2)
            report_finding_at(host->report, FINDING_INCLUDE, host->path, token->line, NULL,
                              "rex_kmp.h is included a second time");
        if (brings_kmp(token) && first == SIZE_MAX)
            first = i;
        if (needed == SIZE_MAX && needs_include(host->tokens, i, &own))
            needed = i;
    }
    if (needed == SIZE_MAX || first < needed)
        return;
    const struct token *token = token_at(host->tokens, needed);
    report_finding_at(host->report, FINDING_INCLUDE, host->path, token->line, NULL,
                      "%.*s is used, but rex_kmp.h is %s", (int)token->length, token->text,
                      first == SIZE_MAX ? "not included" : "included only below");
}

/* ---- initialisation and timers --------------------------------------------------------------- */

static bool contains(const struct token *token, const char *part)
{
    size_t length = strlen(part);
    for (size_t i = 0; i + length <= token->length; i++)
        if (strncasecmp(token->text + i, part, length) == 0)
            return true;
    return false;
}

/* Functions that tell the time, and what programs call their own. */
static bool is_timer(const struct token *token)
{
    static const char *const names[] = {"clock",   "times",  "timespec_get", "ftime",
                                        "__rdtsc", "_rdtsc", "getrusage"};
    static const char *const parts[] = {"gettime", "get_time", "wtime", "timer", "seconds"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (token_is(token, names[i]))
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (contains(token, parts[i]))
            return true;
    return false;
}

/* The braces of main's body; false where this file has none. */
static bool find_main(const struct tokens *tokens, size_t *open, size_t *close)
{
    for (size_t i = 0; i < tokens->count; i++) {
        if (!token_is(&tokens->list[i], "main") || !token_is(token_at(tokens, i + 1), "("))
            continue;
        *open = token_closing(tokens, i + 1) + 1;
        if (!token_is(token_at(tokens, *open), "{"))
            continue;
        *close = token_closing(tokens, *open);
        return true;
    }
    return false;
}

static size_t first_timer(const struct tokens *tokens, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (is_timer(&tokens->list[i]) && token_is_call(tokens, i))
            return i;
    return SIZE_MAX;
}

size_t check_calls(const struct host *host, size_t count)
{
    const struct tokens *tokens = host->tokens;
    size_t open = 0, close = 0;
    bool has_main = find_main(tokens, &open, &close);
    size_t first = has_main ? first_timer(tokens, open, close) : SIZE_MAX;
    for (size_t i = 0; i < tokens->count; i++) {
        size_t line = tokens->list[i].line;
        if (!token_is(&tokens->list[i], "rex_offload_init") || !token_is_call(tokens, i))
            continue;
        if (++count > 1)
            report_finding_at(host->report, FINDING_INIT, host->path, line, NULL,
                              "rex_offload_init() is called a second time");
        if (first < i && i < close)
            report_finding_at(
                host->report, FINDING_INIT, host->path, line, NULL,
                "rex_offload_init() comes after %.*s() in line %zu: registration is timed too",
                (int)tokens->list[first].length, tokens->list[first].text,
                tokens->list[first].line);
    }
    return count;
}

/* Registration by other names counts, too: who writes these knows when. */
static bool registers(const struct tokens *tokens)
{
    static const char *const names[] = {"rex_module_register", "rex_module_init", "register_cubin",
                                        NULL};
    for (size_t i = 0; i < tokens->count; i++)
        if (token_is_any(&tokens->list[i], names) && token_is_call(tokens, i))
            return true;
    return false;
}

void check_missing_init(const struct host *hosts, size_t count, size_t calls)
{
    size_t open, close;
    for (size_t i = 0; i < count; i++)
        calls += registers(hosts[i].tokens);
    for (size_t i = 0; i < count; i++)
        if (find_main(hosts[i].tokens, &open, &close)) {
            size_t line = token_at(hosts[i].tokens, open)->line;
            if (calls == 0)
                report_finding_at(hosts[i].report, FINDING_INIT, hosts[i].path, line, NULL,
                                  "main does not call rex_offload_init()");
            return;
        }
    if (calls == 0 && count > 0)
        report_note(hosts->report, hosts->path,
                    "no file given has a main: where rex_offload_init() is called cannot be told");
}
