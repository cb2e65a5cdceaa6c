/*
 * sample.h - which failures a run goes through.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TORTURE_SAMPLE_H
#define REX_TORTURE_SAMPLE_H

#include "plan.h"

struct sample {
    struct task {
        size_t scenario;
        struct plan plan;
        int code_place; /* of its code in those that are likely for the call */
    } *task;
    size_t count;
};

/* SCENARIO as it is without a failure. */
void sample_add_none(struct sample *sample, size_t scenario);

/*
 * Each call of SCENARIO, of which COUNTS says how often it is made, with each likely code, alone;
 * and with the first and a lost device for good.
 */
void sample_add(struct sample *sample, size_t scenario, const int *counts);

/*
 * Each call with each likely code, once, and MOST others that are spread evenly over all: the same
 * ones every time. Failures of memory that pass are all in it, where they are no more than MOST.
 */
void sample_thin_out(struct sample *sample, size_t most);

#endif
