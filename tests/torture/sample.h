/* sample.h - which failures a run goes through, and in which order. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TORTURE_SAMPLE_H
#define REX_TORTURE_SAMPLE_H

#include "plan.h"

struct task {
    size_t scenario;
    struct plan plan;
    int code_place; /* of its code in those that are likely for the call */
};

struct sample {
    struct task *task;
    size_t count;
    size_t sure; /* of a thinned out one: the first so many are gone through however long it takes */
};

/*
 * Each call of SCENARIO, of which COUNTS says how often it is made, with each likely code, alone; and with the first and a lost device for
 * good.
 */
void sample_add(struct sample *sample, size_t scenario, const int *counts);

/* SCENARIO as it is without a failure. */
void sample_add_none(struct sample *sample, size_t scenario);

/*
 * About MOST of them, the same ones every time. First comes what makes something of the driver's, or launches, with each likely code; then
 * each other call with each, though that be more than MOST; then what is spread evenly over all.
 */
void sample_thin_out(struct sample *sample, size_t most);

#define PLAN_MAX 160
/* The plan as PLAN_VARIABLE has it. */
void sample_write_plan(const struct task *task, char text[PLAN_MAX]);

#endif
