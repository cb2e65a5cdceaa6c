/*
 * plan.h - which call of librex's fails, and how; and how often each was made.
 *
 * The program is linked with librex's own objects, in which the names of the C library's functions
 * are those of libc.c; its dlsym() gives it the functions of tables.c in the place of the driver's
 * and libomptarget's. So what counts here are the calls of librex alone.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TORTURE_PLAN_H
#define REX_TORTURE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum kind { KIND_MEMORY, KIND_FILES, KIND_LOADER, KIND_THREADS, KIND_DRIVER, KIND_RUNTIME };

/*
 * Beside errno's values: less is read or written than was asked for; nothing is, as at the end of a
 * file.
 */
enum { CODE_SHORT = -1, CODE_END = -2 };

enum { CODES_MAX = 6, CALLS_MAX = 256, MADE_MAX = 4096 };

struct call {
    const char *name;
    enum kind kind;
    int codes[CODES_MAX]; /* the likely ones, 0 at the end; none: it cannot fail */
};
extern const struct call torture_calls[];
extern const size_t torture_call_count;

/* The call of this name; -1: there is none. */
int torture_find(const char *name);

/* Which call, counted from 1, fails with what, alone or with all that come after. */
struct plan {
    int call; /* -1: none */
    int number, code;
    bool lasting; /* memory that has run out for every kind of allocation, a lost device for every
                     call of the driver */
    int rounds;   /* so often: what stays behind once, and not more often, is a note that is kept */
};

/*
 * Without a call nothing fails in so many rounds; if lasting, the module ends in each of them.
 *
 * The plan is written "NAME:NUMBER:once:WORD" or "NAME:NUMBER:lasting:WORD", as
 * "malloc:3:once:ENOMEM"; "-": none.
 */
bool plan_read(struct plan *plan, const char *text);
#define PLAN_MAX 160
void plan_write(const struct plan *plan, char text[PLAN_MAX]);

struct report;

/* From now on the process follows the plan of REPORT, and tells there what comes of it. */
void torture_follow(struct report *report);
/* The plan of the report that the environment names; in the process that tries them all: none. */
const struct plan *torture_plan(void);

/* Whether librex's constructors, which run before main(), have made the plan's call. */
bool torture_is_early(const struct plan *plan);

/* Counts CALL, and is what it is to fail with, or 0; SITE is where librex calls it. */
int torture_next(int call, const void *site);

/* Counting and failing begin again from 0, or stop. */
void torture_arm(void);
void torture_disarm(void);

bool torture_armed(void);
/* The next call from where the plan's call was made fails like it. */
void torture_fail_again(void);

/* Whether the plan's call has come. */
bool torture_fired(void);
/* How often each call was made, and from where. */
void torture_tell_counts(void);

/*
 * This thread is inside a call of librex's of somebody else: what comes back into librex from there
 * is not librex's doing.
 */
extern __thread int torture_inside;

#endif
