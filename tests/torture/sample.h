/*
 * sample.h - which failures a run goes through.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TORTURE_SAMPLE_H
#define REX_TORTURE_SAMPLE_H

#include "torture.h"

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
 * Each call of SCENARIO, as BEFORE reports them, with each likely code, alone; and with the first
 * and a lost device for good. If !IS_WHOLE: so once for each place in librex; each further call
 * from a place fails alone, with one code.
 */
void sample_add(struct sample *sample, size_t scenario, const struct report *before, bool is_whole);

/*
 * Each call with each likely code, once, and up to MOST others that are spread evenly over all: the
 * same ones for the same calls. Failures of memory that pass are all in it, where they are no more
 * than MOST.
 */
void sample_thin_out(struct sample *sample, size_t most);

#endif
