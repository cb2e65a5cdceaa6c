/*
 * sample.c - which failures a run goes through.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "sample.h"

#include <stdlib.h>
#include <string.h>

static void add(struct sample *sample, size_t scenario, struct plan plan, int code_place)
{
    struct task *grown = realloc(sample->task, (sample->count + 1) * sizeof *grown);
    if (grown == NULL)
        abort();
    sample->task = grown;
    grown[sample->count++] =
        (struct task){.scenario = scenario, .plan = plan, .code_place = code_place};
}

void sample_add_none(struct sample *sample, size_t scenario)
{
    add(sample, scenario, (struct plan){.call = -1}, 0);
}

/*
 * librex tells two errors of the driver from others in one place each: CUDA_ERROR_NOT_INITIALIZED
 * where the driver starts, CUDA_ERROR_NO_BINARY_FOR_GPU where an image is loaded.
 */
static bool is_likely(const struct call *call, int code)
{
    bool starts = strncmp(call->name, "cuInit", 6) == 0 || strncmp(call->name, "cuDevice", 8) == 0,
         loads = strncmp(call->name, "cuModule", 8) == 0 || strncmp(call->name, "cuLink", 6) == 0;
    return call->kind != KIND_DRIVER || (code == 3 ? starts : code != 209 || loads);
}

void sample_add(struct sample *sample, size_t scenario, const int *counts)
{
    for (size_t i = 0; i < torture_call_count; i++) {
        const struct call *call = &torture_calls[i];
        for (int number = 1; number <= counts[i]; number++)
            for (int c = 0; c < CODES_MAX && call->codes[c] != 0; c++) {
                if (!is_likely(call, call->codes[c]))
                    continue;
                bool is_lost = call->kind == KIND_DRIVER && call->codes[c] == 700;
                struct plan plan = {.call = (int)i, .number = number, .code = call->codes[c]};
                add(sample, scenario, plan, c);
                plan.lasting = true;
                if (c == 0 || is_lost)
                    add(sample, scenario, plan, c);
            }
    }
}

/* A number for each code of each call, alone. */
static size_t cell_of(const struct task *task)
{
    return (size_t)(task->plan.call * CODES_MAX + task->code_place);
}

static bool is_memory(const struct task *task)
{
    return !task->plan.lasting && torture_calls[task->plan.call].kind == KIND_MEMORY;
}

/* Of all places where a call could fail, the codes take different ones. */
void sample_thin_out(struct sample *sample, size_t most)
{
    size_t found[CALLS_MAX * CODES_MAX] = {0}, seen[CALLS_MAX * CODES_MAX] = {0}, kept = 0;
    size_t memory = 0;
    for (size_t i = 0; i < sample->count; i++)
        memory += is_memory(&sample->task[i]);
    for (size_t i = 0; i < sample->count; i++)
        found[cell_of(&sample->task[i])] += !sample->task[i].plan.lasting;
    for (size_t i = 0; i < sample->count; i++) {
        const struct task *task = &sample->task[i];
        size_t cell = cell_of(task),
               wanted = found[cell] * (2 * (size_t)task->code_place + 1) / (2 * CODES_MAX);
        bool is_first = !task->plan.lasting && seen[cell]++ == wanted;
        bool is_next =
            most >= sample->count || (i + 1) * most / sample->count > i * most / sample->count;
        if (is_first || is_next || (is_memory(task) && memory <= most))
            sample->task[kept++] = *task;
    }
    sample->count = kept;
}
