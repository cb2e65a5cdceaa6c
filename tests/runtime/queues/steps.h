/* steps.h - what the tests of queues and graphs launch. SPDX-License-Identifier: Apache-2.0 WITH
 * LLVM-exception */
#ifndef REX_TESTS_STEPS_H
#define REX_TESTS_STEPS_H

#include "runtime/checks.h"

enum { VALUES = 1000 };

struct rex_queue *new_queue(const char *name, unsigned flags);

/* Step number ADDEND of N values: each becomes three times as much, and so much more, modulo
 * 1000003. */
int put_follow(struct rex_queue *queue, int64_t *value, int64_t n, int64_t addend);

/*
 * Puts a kernel in that changes *VALUE when what is returned is set; NULL where there is no GPU to
 * run it on.
 */
int64_t *hold_queue(struct rex_queue *queue, int64_t *value);

/* What so many steps, from 0 on, make of VALUE. */
int64_t followed(int64_t value, int steps);

/* So many steps of VALUES values, in a graph. */
struct rex_graph *record(struct rex_queue *queue, int64_t *value, int launches);

#endif
