/*
 * hostfile.c - checks the includes of host sources, and that they call rex_offload_init() at most
 * once, and before they read a clock.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "hostfile.h"

#include <string.h>

void check_includes(const struct tokens *tokens, struct report *report)
{
    const struct token *first = NULL, *needed = NULL;
    /*
     * brought: the file has declared the structs of rex_kmp.h, or has included a header of librex.
     * unknown: the file has included a header of the program, which may declare the structs.
     */
    bool brought = false, unknown = false;
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->list[i], *next = token_at(tokens, i + 1);
        bool include = token->kind == TOKEN_INCLUDE, kmp = include && token_has(token, "rex_kmp.h");
        if (kmp && first != NULL && !first->conditional && !token->conditional)
            report_finding_at(report, FINDING_INCLUDE, (struct place){tokens->path, token->line},
                              NULL, "rex_kmp.h is included a second time; the first is in line %zu",
                              first->line);
        first = kmp && first == NULL ? token : first;
        brought |= include && token_has(token, "rex");
        unknown |= include && !kmp && token_has(token, "\"");
        bool needs = token->kind == TOKEN_NAME &&
                     (token_has(token, "__tgt_") || token_has(token, "REX_KERNEL"));
        if (!needs || brought || needed != NULL)
            continue;
        /* "{" or ";" after the name: the file itself declares the struct, without the header. */
        brought = token_is(next, "{") || token_is(next, ";");
        needed = brought ? NULL : token;
    }
    if (needed != NULL && (first != NULL || !unknown))
        report_finding_at(report, FINDING_INCLUDE, (struct place){tokens->path, needed->line}, NULL,
                          "%.*s is used, but rex_kmp.h is %s", (int)needed->length, needed->text,
                          first == NULL ? "not included" : "included only after it");
}

#define MOST_OF_CLOCK 100 /* maximum tokens of a function that returns the time */

enum pass { PASS_NAMES, PASS_CLOCKS, PASS_REPORT };

struct calls {
    const struct token *own; /* name of the program's function that returns the time, or NULL */
    /*
     * `clock`: place of the first clock call, which is a call of a function that returns the time,
     * such as clock(). `init`: place of the latest call of rex_offload_init().
     */
    struct place clock, init;
    bool times, has_main, registers;
};

static bool is_clock(const struct calls *calls, const struct tokens *tokens, size_t index)
{
    static const char *const names[] = {"clock",   "clock_gettime", "gettimeofday",
                                        "ftime",   "omp_get_wtime", "MPI_Wtime",
                                        "__rdtsc", "rdtsc",         NULL};
    const struct token *token = &tokens->list[index], *own = calls->own;
    bool same = own != NULL && own->length == token->length &&
                memcmp(own->text, token->text, own->length) == 0;
    bool chrono = token_is(token, "now") && token_is(token_at(tokens, index - 1), ":");
    return same || chrono || token_is_any(token, names);
}

/*
 * Returns the name of the function with BODY if the function may be a clock: it has the form `TYPE
 * NAME(void)` or `TYPE NAME()`, is short, returns a value, and is not main(). Otherwise returns
 * NULL.
 */
static const struct token *own_clock(const struct tokens *tokens, size_t body)
{
    size_t name = body - (token_is(token_at(tokens, body - 2), "void") ? 4 : 3);
    const struct token *type = token_at(tokens, name - 1);
    bool tells = type->kind == TOKEN_NAME && !token_is(type, "void") &&
                 !token_is(token_at(tokens, name), "main");
    return body > 0 && tells && token_is(token_at(tokens, name + 1), "(") &&
                   token_closing(tokens, name + 1) == body - 1 &&
                   token_closing(tokens, body) - body < MOST_OF_CLOCK
               ? token_at(tokens, name)
               : NULL;
}

/*
 * Returns true if the program stores the result of the clock call at INDEX in a variable, as in `t0
 * = clock();`. The program then measures time, even if rex-check finds only one clock call: the
 * second call may be in a file that was not given. A variable with "seed" in its name is an
 * exception: its value is the seed of random numbers, not a time.
 */
static bool is_kept(const struct tokens *tokens, size_t index)
{
    size_t at = index - 1;
    while (token_is(token_at(tokens, at), ":") ||
           (token_at(tokens, at)->kind == TOKEN_NAME && token_is(token_at(tokens, at + 1), ":")))
        at--;
    while (token_is(token_at(tokens, at), ")")) { /* skips a cast */
        while (at > 0 && !token_is(token_at(tokens, at), "("))
            at--;
        at--;
    }
    return token_is(token_at(tokens, at), "=") && !token_has(token_at(tokens, at - 1), "seed");
}

/*
 * TOKEN is a call of rex_offload_init(). CLOCK is an earlier clock call in the same function of the
 * program, or NULL if there is no such call. Reports TOKEN in two cases:
 * - TOKEN is not inside an #if, and is a second call, without a rex_offload_fini() between the two
 *   calls.
 * - CLOCK is not NULL, and the program measures time.
 */
static void check_call(struct calls *calls, struct place at, const struct token *token,
                       const struct token *clock, struct report *report)
{
    if (calls->init.path != NULL && !token->conditional)
        report_finding_at(report, FINDING_INIT, at, NULL,
                          "rex_offload_init() is called a second time; the first is in %s:%zu",
                          calls->init.path, calls->init.line);
    if (clock != NULL && calls->times)
        report_finding_at(
            report, FINDING_INIT, at, NULL,
            "rex_offload_init() comes after %.*s() in line %zu: the time includes the registration "
            "of the image: call rex_offload_init() before the clock is read",
            (int)clock->length, clock->text, clock->line);
    if (!token->conditional)
        calls->init = at;
    calls->registers = true;
}

static void read_calls(struct calls *calls, const struct tokens *tokens, enum pass pass,
                       struct report *report)
{
    /* A program that calls one of these functions chooses the time of the registration itself. */
    static const char *const registers[] = {"rex_module_register", "rex_module_init",
                                            "register_cubin", NULL};
    const struct token *clock = NULL; /* first clock call in this function */
    for (size_t i = 0, body = 0, before = 0; i < tokens->count; i++, before = body) {
        const struct token *token = &tokens->list[i], *own;
        struct place at = {tokens->path, token->line};
        body = token_body(tokens, i, body);
        if (body != before)
            clock = NULL;
        calls->has_main |= body == 0 && token_is(token, "main");
        if (!token_is_call(tokens, i))
            continue;
        calls->registers |= token_is_any(token, registers);
        if (is_clock(calls, tokens, i)) {
            own = own_clock(tokens, body);
            if (calls->own == NULL)
                calls->own = own;
            if (own != NULL)
                continue;
            if (pass == PASS_CLOCKS) {
                calls->times |= calls->clock.path != NULL || is_kept(tokens, i);
                calls->clock = calls->clock.path != NULL ? calls->clock : at;
            }
            clock = clock != NULL ? clock : token;
        } else if (pass == PASS_REPORT && token_is(token, "rex_offload_fini"))
            calls->init.path = NULL;
        else if (pass == PASS_REPORT && token_is(token, "rex_offload_init"))
            check_call(calls, at, token, clock, report);
    }
}

void check_init(const struct tokens *hosts, size_t count, bool launches, struct report *report)
{
    struct calls calls = {.own = NULL};
    for (enum pass pass = PASS_NAMES; pass <= PASS_REPORT; pass++)
        for (size_t i = 0; i < count; i++)
            read_calls(&calls, &hosts[i], pass, report);
    if (launches && calls.has_main && !calls.registers && calls.times)
        report_finding_at(
            report, FINDING_INIT, calls.clock, NULL,
            "the program reads a clock in this line, but never calls rex_offload_init(): "
            "the time includes the registration of the image: call rex_offload_init() before the "
            "clock is read");
}
