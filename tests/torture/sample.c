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

/* Whether an earlier call came from there; if not, it is kept. */
static bool is_known(const struct made *made)
{
    static struct made known[MADE_MAX];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (known[i].call == made->call && known[i].place == made->place)
            return true;
    if (count == MADE_MAX)
        abort();
    known[count++] = *made;
    return false;
}

/* The NUMBER-th call of CALL, from a new place. */
static void add_all_codes(struct sample *sample, size_t scenario, int number, int call)
{
    for (int c = 0; c < CODES_MAX && torture_calls[call].codes[c] != 0; c++) {
        int code = torture_calls[call].codes[c];
        struct plan plan = {.call = call, .number = number, .code = code};
        if (!is_likely(&torture_calls[call], code))
            continue;
        add(sample, scenario, plan, c);
        plan.lasting = true;
        if (c == 0 || (torture_calls[call].kind == KIND_DRIVER && code == 700))
            add(sample, scenario, plan, c);
    }
}

/* From a known place. The codes take turns. */
static void add_one_code(struct sample *sample, size_t scenario, int number, int call)
{
    int likely[CODES_MAX], count = 0;
    for (int c = 0; c < CODES_MAX && torture_calls[call].codes[c] != 0; c++)
        if (is_likely(&torture_calls[call], torture_calls[call].codes[c]))
            likely[count++] = c;
    if (count == 0)
        return;
    int c = likely[((int)scenario + number) % count];
    struct plan plan = {.call = call, .number = number, .code = torture_calls[call].codes[c]};
    add(sample, scenario, plan, c);
}

void sample_add(struct sample *sample, size_t scenario, const struct report *before, bool is_whole)
{
    int numbers[CALLS_MAX] = {0};
    if (before->made_count > MADE_MAX)
        abort();
    for (int i = 0; i < before->made_count; i++) {
        const struct made *made = &before->made[i];
        int number = ++numbers[made->call];
        if (is_whole || !is_known(made))
            add_all_codes(sample, scenario, number, made->call);
        else
            add_one_code(sample, scenario, number, made->call);
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
