/*
 * plan.c - counts librex's calls, and says which one fails.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "plan.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "torture.h"

/* ---- which calls there are ---------------------------------------------------------------------------------------------------------- */

#define LIBC_CALL(name, kind, ...) {#name, KIND_##kind, {__VA_ARGS__}},
#define DRIVER_CALL(group, function, name, since, parameters) {#function, KIND_DRIVER, {2, 1, 3, 700, 209}},
#define RUNTIME_CALL(name) {#name, KIND_RUNTIME, {1}},
#define RUNTIME_VOID(name) {#name, KIND_RUNTIME, {0}},
const struct call torture_calls[] = {TORTURE_LIBC(LIBC_CALL) REX_CUDA_FUNCTIONS(DRIVER_CALL) TORTURE_RUNTIME(RUNTIME_CALL, RUNTIME_VOID)};
const size_t torture_call_count = sizeof torture_calls / sizeof *torture_calls;
static int counts[sizeof torture_calls / sizeof *torture_calls];

int torture_find(const char *name)
{
    for (size_t i = 0; i < torture_call_count; i++)
        if (strcmp(torture_calls[i].name, name) == 0)
            return (int)i;
    return -1;
}

static const struct {
    bool is_driver;
    int code;
    const char *word;
} words[] = {
#define ERRNO(name) {false, name, #name}
    ERRNO(ENOMEM),
    ERRNO(EMFILE),
    ERRNO(EINTR),
    ERRNO(EIO),
    ERRNO(EACCES),
    ERRNO(ENOENT),
    ERRNO(ENOSPC),
    ERRNO(EPIPE),
    ERRNO(EAGAIN),
    ERRNO(ENOLCK),
    ERRNO(EINVAL),
    ERRNO(EROFS),
    ERRNO(ERANGE),
    ERRNO(ELOOP),
    {false, CODE_SHORT, "short"},
    {false, CODE_END, "end"},
    {false, 1, "fails"},
    {true, 1, "CUDA_ERROR_INVALID_VALUE"},
    {true, 2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {true, 3, "CUDA_ERROR_NOT_INITIALIZED"},
    {true, 209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {true, 700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
};
enum { WORDS = sizeof words / sizeof *words };

const char *torture_word(enum kind kind, int code)
{
    for (size_t i = 0; i < WORDS; i++)
        if (words[i].is_driver == (kind == KIND_DRIVER) && words[i].code == code)
            return words[i].word;
    return "?";
}

int torture_code_of(enum kind kind, const char *word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (words[i].is_driver == (kind == KIND_DRIVER) && strcmp(words[i].word, word) == 0)
            return words[i].code;
    return 0;
}

/* ---- the plan ----------------------------------------------------------------------------------------------------------------------- */

static struct plan plan = {.call = -1};
static bool is_read, armed = true, fired;
static const void *first_site; /* where the plan's call was made */
static const void *again;      /* and from where the next one fails, too */
__thread int torture_inside;

static void read_plan(void)
{
    char name[64], how[16], word[64];
    int number;
    const char *text = getenv(PLAN_VARIABLE);
    is_read = true;
    if (text == NULL || sscanf(text, "%63[^:]:%d:%15[^:]:%63s", name, &number, how, word) != 4)
        return;
    int call = torture_find(name);
    if (call >= 0)
        plan = (struct plan){call, number, torture_code_of(torture_calls[call].kind, word), strcmp(how, "lasting") == 0};
}

/* librex's constructors call before main(). */
const struct plan *torture_plan(void)
{
    if (!is_read)
        read_plan();
    return &plan;
}

static bool is_lost(const struct plan *of)
{
    return torture_calls[of->call].kind == KIND_DRIVER && of->code == 700;
}

/* Whether a failure of the plan's that lasts is one of CALL's, too. */
static bool is_shared(const struct plan *of, int call)
{
    enum kind kind = torture_calls[call].kind;
    return call == of->call || (kind == torture_calls[of->call].kind && (kind == KIND_MEMORY || is_lost(of)));
}

int torture_next(int call, const void *site)
{
    if (torture_inside > 0)
        return 0;
    const struct plan *now = torture_plan();
    if (!__atomic_load_n(&armed, __ATOMIC_RELAXED))
        return 0;
    int number = __atomic_add_fetch(&counts[call], 1, __ATOMIC_RELAXED);
    if (now->call < 0)
        return 0;
    bool is_again = site != NULL && __atomic_load_n(&again, __ATOMIC_RELAXED) == site;
    bool is_it = call == now->call && (number == now->number || is_again);
    if (is_it && !torture_fired()) {
        __atomic_store_n(&fired, true, __ATOMIC_RELAXED);
        first_site = site;
        torture_tell("fired %zx", torture_offset(site));
    }
    if (is_again)
        __atomic_store_n(&again, NULL, __ATOMIC_RELAXED);
    bool lasts = now->lasting && __atomic_load_n(&fired, __ATOMIC_RELAXED) && is_shared(now, call);
    return is_it || lasts ? now->code : 0;
}

void torture_arm(void)
{
    memset(counts, 0, sizeof counts);
    __atomic_store_n(&armed, true, __ATOMIC_RELAXED);
}

void torture_disarm(void)
{
    __atomic_store_n(&armed, false, __ATOMIC_RELAXED);
}

void torture_fail_again(void)
{
    if (torture_fired())
        __atomic_store_n(&again, first_site, __ATOMIC_RELAXED);
}

bool torture_armed(void)
{
    return __atomic_load_n(&armed, __ATOMIC_RELAXED);
}

bool torture_fired(void)
{
    return __atomic_load_n(&fired, __ATOMIC_RELAXED);
}

void torture_tell_counts(void)
{
    for (size_t i = 0; i < torture_call_count; i++)
        if (counts[i] > 0)
            torture_tell("count %s %d", torture_calls[i].name, counts[i]);
}
