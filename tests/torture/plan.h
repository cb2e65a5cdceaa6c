/*
 * plan.h - which call of librex's fails, and how; and how often each was made.
 *
 * The program is linked with librex's own objects, in which the names of the C library's functions are those of libc.c; its dlsym() gives
 * it the functions of tables.c in the place of the driver's and libomptarget's. So what counts here are the calls of librex alone.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TORTURE_PLAN_H
#define REX_TORTURE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum kind { KIND_MEMORY, KIND_FILES, KIND_LOADER, KIND_THREADS, KIND_DRIVER, KIND_RUNTIME };

/* Beside errno's values: less is read or written than was asked for; nothing is, as at the end of a file. */
enum { CODE_SHORT = -1, CODE_END = -2 };

#define CODES_MAX 6

struct call {
    const char *name;
    enum kind kind;
    int codes[CODES_MAX]; /* the likely ones, 0 at the end; none: it cannot fail */
};
extern const struct call torture_calls[];
extern const size_t torture_call_count;

/* The call of this name; -1: there is none. */
int torture_find(const char *name);

/* "ENOMEM", "CUDA_ERROR_OUT_OF_MEMORY", "short", and back; 0: there is no such word. */
const char *torture_word(enum kind kind, int code);
int torture_code_of(enum kind kind, const char *word);

/*
 * The plan is "NAME:NUMBER:once:WORD" or "NAME:NUMBER:lasting:WORD" in the environment's TORTURE_PLAN: which call, counted from 1, fails
 * with what, alone or with all that come after. Memory that has run out lasts for every kind of allocation, a lost device for every call of
 * the driver.
 */
#define PLAN_VARIABLE "TORTURE_PLAN"

struct plan {
    int call; /* -1: none */
    int number, code;
    bool lasting;
};
const struct plan *torture_plan(void);

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
/* How often each call was made. */
void torture_tell_counts(void);

/* This thread is inside a call of librex's of somebody else: what comes back into librex from there is not librex's doing. */
extern __thread int torture_inside;

#endif
