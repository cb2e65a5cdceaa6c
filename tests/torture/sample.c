/*
 * sample.c - which failures a run goes through, and in which order.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torture.h"

enum rank { SURE, EACH, SPREAD, LEFT_OUT, RANKS };

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL)
        abort();
    return memory;
}

/* ---- all of them -------------------------------------------------------------------------------------------------------------------- */

static void add(struct sample *sample, size_t scenario, struct plan plan, int code_place)
{
    struct task *grown = realloc(sample->task, (sample->count + 1) * sizeof *grown);
    if (grown == NULL)
        abort();
    sample->task = grown;
    grown[sample->count++] = (struct task){.scenario = scenario, .plan = plan, .code_place = code_place};
}

void sample_add(struct sample *sample, size_t scenario, const int *counts)
{
    for (size_t i = 0; i < torture_call_count; i++) {
        const struct call *call = &torture_calls[i];
        for (int number = 1; number <= counts[i]; number++)
            for (int c = 0; c < CODES_MAX && call->codes[c] != 0; c++) {
                bool is_lost = call->kind == KIND_DRIVER && call->codes[c] == 700;
                struct plan plan = {.call = (int)i, .number = number, .code = call->codes[c]};
                add(sample, scenario, plan, c);
                plan.lasting = true;
                if (c == 0 || is_lost)
                    add(sample, scenario, plan, c);
            }
    }
}

void sample_add_none(struct sample *sample, size_t scenario)
{
    add(sample, scenario, (struct plan){.call = -1}, 0);
}

/* ---- some of them ------------------------------------------------------------------------------------------------------------------- */

/* Each code of each call once, of all places where it could fail; the codes at different ones. */
static void choose_each(const struct sample *sample, enum rank *ranks)
{
    size_t cells = torture_call_count * CODES_MAX, *found = allocate(cells, sizeof *found), *seen = allocate(cells, sizeof *seen);
    for (size_t i = 0; i < sample->count; i++) {
        const struct task *task = &sample->task[i];
        found[task->plan.call * CODES_MAX + task->code_place] += !task->plan.lasting;
    }
    for (size_t i = 0; i < sample->count; i++) {
        const struct task *task = &sample->task[i];
        int cell = task->plan.call * CODES_MAX + task->code_place;
        size_t wanted = found[cell] * (2 * (size_t)task->code_place + 1) / (2 * CODES_MAX);
        if (!task->plan.lasting && seen[cell]++ == wanted)
            ranks[i] = torture_makes(task->plan.call) ? SURE : EACH;
    }
    free(found);
    free(seen);
}

/* So many of the rest, as far from each other as can be. */
static void choose_spread(const struct sample *sample, enum rank *ranks, size_t rest, size_t wanted)
{
    size_t passed = 0;
    for (size_t i = 0; i < sample->count; i++)
        if (ranks[i] == LEFT_OUT) {
            bool is_next = (passed + 1) * wanted / rest > passed * wanted / rest;
            passed++;
            if (is_next)
                ranks[i] = SPREAD;
        }
}

/* Those of one rank take turns among the scenarios: whoever stops early has seen some of each. */
static size_t take(const struct sample *from, const enum rank *ranks, enum rank rank, struct task *to)
{
    size_t *of_rank = allocate(from->count, sizeof *of_rank), count = 0, stride = 7919; /* a prime */
    for (size_t i = 0; i < from->count; i++)
        if (ranks[i] == rank)
            of_rank[count++] = i;
    if (count % stride == 0)
        stride = 1;
    for (size_t i = 0; i < count; i++)
        to[i] = from->task[of_rank[i * stride % count]];
    free(of_rank);
    return count;
}

void sample_thin_out(struct sample *sample, size_t most)
{
    enum rank *ranks = allocate(sample->count, sizeof *ranks);
    struct sample thin = {.task = allocate(sample->count, sizeof *thin.task)};
    size_t chosen = 0;
    for (size_t i = 0; i < sample->count; i++)
        ranks[i] = LEFT_OUT;
    choose_each(sample, ranks);
    for (size_t i = 0; i < sample->count; i++)
        chosen += ranks[i] != LEFT_OUT;
    if (chosen < sample->count && chosen < most)
        choose_spread(sample, ranks, sample->count - chosen, most < sample->count ? most - chosen : sample->count - chosen);
    for (enum rank rank = SURE; rank < LEFT_OUT; rank++) {
        thin.count += take(sample, ranks, rank, thin.task + thin.count);
        if (rank == SURE)
            thin.sure = thin.count;
    }
    free(ranks);
    free(sample->task);
    *sample = thin;
}

void sample_write_plan(const struct task *task, char text[PLAN_MAX])
{
    const struct call *call = &torture_calls[task->plan.call];
    snprintf(text, PLAN_MAX, "%s:%d:%s:%s", call->name, task->plan.number, task->plan.lasting ? "lasting" : "once",
             torture_word(call->kind, task->plan.code));
}
