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
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/driver.h"
#include "torture.h"

/* ---- which calls there are ------------------------------------------------------------------- */

#define LIBC_CALL(name, kind, ...) {#name, KIND_##kind, {__VA_ARGS__}},
#define DRIVER_CALL(group, function, suffix, since, parameters) \
    {#function, KIND_DRIVER, {2, 1, 3, 700, 209}},
#define RUNTIME_CALL(name) {#name, KIND_RUNTIME, {1}},
#define RUNTIME_VOID(name) {#name, KIND_RUNTIME, {0}},
const struct call torture_calls[] = {TORTURE_LIBC(LIBC_CALL) REX_CUDA_FUNCTIONS(DRIVER_CALL)
                                         TORTURE_RUNTIME(RUNTIME_CALL, RUNTIME_VOID)};
const size_t torture_call_count = sizeof torture_calls / sizeof *torture_calls;
_Static_assert(sizeof torture_calls / sizeof *torture_calls <= CALLS_MAX, "each call has a count");
static int counts[CALLS_MAX], made_count;
static struct made made[MADE_MAX];

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

static const char *word_of(bool is_driver, int code)
{
    for (size_t i = 0; i < WORDS; i++)
        if (words[i].is_driver == is_driver && words[i].code == code)
            return words[i].word;
    return "?";
}

/* 0: there is no such word. */
static int code_of(bool is_driver, const char *word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (words[i].is_driver == is_driver && strcmp(words[i].word, word) == 0)
            return words[i].code;
    return 0;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static struct plan plan = {.call = -1};
static bool armed = true, fired;
static const void *first_site; /* where the plan's call was made */
static const void *again;      /* and from where the next one fails, too */
__thread int torture_inside;

bool plan_read(struct plan *to, const char *text)
{
    char name[64], how[16], word[64];
    *to = (struct plan){.call = -1};
    if (sscanf(text, "%63[^:]:%d:%15[^:]:%63s", name, &to->number, how, word) == 4)
        to->call = torture_find(name);
    if (to->call < 0)
        return strcmp(text, "-") == 0;
    to->code = code_of(torture_calls[to->call].kind == KIND_DRIVER, word);
    to->lasting = strcmp(how, "lasting") == 0;
    return to->code != 0;
}

void plan_write(const struct plan *from, char text[PLAN_MAX])
{
    const struct call *call = from->call < 0 ? NULL : &torture_calls[from->call];
    snprintf(text, PLAN_MAX, "-");
    if (call != NULL)
        snprintf(text, PLAN_MAX, "%s:%d:%s:%s", call->name, from->number,
                 from->lasting ? "lasting" : "once",
                 word_of(call->kind == KIND_DRIVER, from->code));
}

void torture_follow(struct report *report)
{
    torture_report = report;
    plan = report->plan;
}

static void follow_descriptor(const char *number)
{
    void *report =
        mmap(NULL, sizeof(struct report), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(number), 0);
    if (report == MAP_FAILED)
        _exit(97);
    close(atoi(number));
    torture_follow(report);
}

/* librex's constructors call before main(). */
const struct plan *torture_plan(void)
{
    static bool has_looked;
    const char *number = has_looked ? NULL : getenv(REPORT_VARIABLE);
    has_looked = true;
    if (number != NULL)
        follow_descriptor(number);
    return &plan;
}

bool torture_is_early(const struct plan *of)
{
    return of->call >= 0 && of->number <= counts[of->call];
}

static bool is_lost(const struct plan *of)
{
    return torture_calls[of->call].kind == KIND_DRIVER && of->code == 700;
}

/* Whether a failure of the plan's that lasts is one of CALL's, too. */
static bool is_shared(const struct plan *of, int call)
{
    enum kind kind = torture_calls[call].kind;
    return call == of->call ||
           (kind == torture_calls[of->call].kind && (kind == KIND_MEMORY || is_lost(of)));
}

static void note_place(int call, const void *site)
{
    int i = __atomic_fetch_add(&made_count, 1, __ATOMIC_RELAXED);
    if (i < MADE_MAX)
        made[i] = (struct made){(unsigned short)call, (unsigned)torture_offset(site)};
}

int torture_next(int call, const void *site)
{
    if (torture_inside > 0)
        return 0;
    const struct plan *now = torture_plan();
    if (!__atomic_load_n(&armed, __ATOMIC_RELAXED))
        return 0;
    int number = __atomic_add_fetch(&counts[call], 1, __ATOMIC_RELAXED);
    if (now->call < 0) {
        note_place(call, site);
        return 0;
    }
    bool is_again = site != NULL && __atomic_load_n(&again, __ATOMIC_RELAXED) == site;
    bool is_it = call == now->call && (number == now->number || is_again);
    if (is_it && !torture_fired()) {
        __atomic_store_n(&fired, true, __ATOMIC_RELAXED);
        first_site = site;
        torture_report->fired = torture_offset(site);
    }
    if (is_again)
        __atomic_store_n(&again, NULL, __ATOMIC_RELAXED);
    bool lasts = now->lasting && __atomic_load_n(&fired, __ATOMIC_RELAXED) && is_shared(now, call);
    return is_it || lasts ? now->code : 0;
}

void torture_arm(void)
{
    memset(counts, 0, sizeof counts);
    made_count = 0;
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
    memcpy(torture_report->counts, counts, sizeof counts);
    torture_report->made_count = made_count;
    memcpy(torture_report->made, made, sizeof made);
}
