/*
 * rules.c - the table of rules, what they share, and how results are judged.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rules.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct variables walk_now;
bool walk_is_alone = true;

/* ---- the table
 * ------------------------------------------------------------------------------------------------------------------------------ */

bool walk_rules_complete(void)
{
    static const char *const exported[] = {EXPORTED_NAMES};
    bool complete = true;
    for (size_t i = 0; i < sizeof exported / sizeof *exported; i++) {
        bool found = false;
        for (int j = 0; j < WALK_RULE_COUNT; j++)
            found = found || strcmp(walk_rules[j]->name, exported[i]) == 0;
        if (!found)
            fprintf(stderr, "walk: %s has no rule: add one to tests/walk/rules*.c\n", exported[i]);
        complete = complete && found;
    }
    return complete;
}

/* ---- judging
 * ----------------------------------------------------------------------------------------------------------------------------- */

/* An error that no rule brings about: of so many bytes. */
enum { BYTES_OF_NONE = 77777 };
static _Thread_local char untouched[1024];

void walk_before(void)
{
    rex_literal_error(untouched, BYTES_OF_NONE);
    snprintf(untouched, sizeof untouched, "%s", rex_last_error());
    if (strstr(untouched, "77777") == NULL)
        walk_found("rex_literal_error() says \"%s\"", untouched);
}

bool walk_is_untouched(void)
{
    return strcmp(untouched, rex_last_error()) == 0;
}

bool walk_judge(const struct call *call, bool failed, int code, enum verdict verdict)
{
    int error = rex_last_error_code();
    bool is_untouched = walk_is_untouched();
    walk_count(call, !failed);
    const char *message = rex_last_error();
    bool silent = strncmp(call->rule->name, "rex___tgt_", 10) == 0 || strncmp(call->rule->name, "rex_module_launch", 17) == 0 ||
                  strcmp(call->rule->name, "rex_module_target_kernel") == 0;
    if (failed && is_untouched && !silent)
        walk_found("it fails with %d (%s), and sets no last error", code, rex_error_name(code));
    if (failed && code != 0 && code != error && !(silent && code == -1 && is_untouched))
        walk_found("it returns %d (%s), and the last error is %d (%s): %s", code, rex_error_name(code), error, rex_error_name(error),
                   message);
    if (failed && !is_untouched && (error >= 0 || error < -31 || *message == '\0'))
        walk_found("it sets the error %d with the message \"%s\"", error, message);
    if (failed && !is_untouched && call->rule->errors != 0 && !(call->rule->errors >> -error & 1))
        walk_found("its documentation does not list %s (%s)", rex_error_name(error), message);
    if (!failed && !is_untouched)
        walk_found("it succeeds, and sets the last error %s: %s", rex_error_name(error), message);
    if (failed && verdict == MUST_WORK)
        walk_found("nothing is wrong with it, and it fails: %s: %s", rex_error_name(error), message);
    if (!failed && verdict == MUST_FAIL)
        walk_found("it cannot succeed, and does");
    return !failed;
}

void walk_judge_loosely(const struct call *call)
{
    if (!walk_is_untouched())
        walk_judge(call, true, 0, EITHER);
}

/* ---- what arguments stand for
 * ------------------------------------------------------------------------------------------------------------ */

struct rex_module *walk_module(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    return number >= 0 ? &walk_modules[number] : NULL;
}

struct walk_queue *walk_queue_of(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    return number >= 0 && walk_now.queue[number].queue != NULL ? &walk_now.queue[number] : NULL;
}

struct rex_queue *walk_queue(const struct call *call, int argument)
{
    const struct walk_queue *queue = walk_queue_of(call, argument);
    return queue != NULL ? queue->queue : NULL;
}

struct walk_event *walk_event_of(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    return number >= 0 && walk_now.event[number].event != NULL ? &walk_now.event[number] : NULL;
}

struct rex_event *walk_event(const struct call *call, int argument)
{
    const struct walk_event *event = walk_event_of(call, argument);
    return event != NULL ? event->event : NULL;
}

struct walk_map *walk_map_of(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    if (number < 0)
        return NULL;
    walk_now.map[number].raw = false;
    return &walk_now.map[number];
}

void *walk_host_of(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    return number >= 0 ? walk_array[number] : NULL;
}

void *walk_memory_of(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    return number >= 0 ? walk_now.memory[number].address : NULL;
}

const char *walk_string(const struct call *call, int argument)
{
    static _Thread_local char texts[4][64], filled[5000];
    const char *text = walk_value_text(call->rule->kinds[argument], call->step->argument[argument]);
    if (strcmp(text, "NULL") == 0)
        return NULL;
    memset(filled, 'x', sizeof filled - 1);
    if (strcmp(text, "LONG") == 0)
        return filled;
    if (strcmp(text, "BOUND") == 0)
        return rex_runtime_path();
    snprintf(texts[argument % 4], sizeof texts[0], "%.*s", (int)strlen(text) - 2, text + 1);
    return texts[argument % 4];
}

bool walk_is_registered(void)
{
    return *rex_module_image_path(&walk_modules[0]) != '\0';
}

int walk_device(const struct call *call, int argument)
{
    int64_t device = walk_integer(call, argument);
    if (device == -1)
        device = 0;
    return device >= 0 && device < rex_device_count() && device < DEVICES ? (int)device : -1;
}

int walk_device_of_queue(const struct walk_queue *queue)
{
    return queue != NULL ? queue->device : -1;
}

bool walk_has_types(const struct walk_map *map, int64_t types)
{
    for (int i = 0; map != NULL && i < map->map.count; i++)
        if (map->part[i].type & types)
            return true;
    return false;
}

bool walk_has_empty(const struct walk_map *map)
{
    /* NULL is never present; else it is as good as no row. */
    for (int i = 0; map != NULL && i < map->map.count; i++)
        if (map->part[i].host >= 0 ? map->part[i].size == 0 : (map->part[i].type & REX_MAP_PRESENT) != 0)
            return true;
    return false;
}

int walk_parameters(int key)
{
    static const int parameters[] = {4, 3, 0, 2, 2};
    return key >= 0 && key < KERNELS ? parameters[key] : -1;
}

int walk_map_parameters(const struct walk_map *map)
{
    int count = 0;
    for (int i = 0; map != NULL && i < map->map.count; i++)
        count += (map->part[i].type & REX_MAP_TARGET_PARAM) != 0;
    return count;
}

bool walk_fits(int key, const struct walk_map *map)
{
    return walk_map_parameters(map) == walk_parameters(key) && (map == NULL || !map->mixed);
}

/* As many rows as parameters are no proof: they have to be those of the kernel. */
static const enum form forms[] = {FORM_ADD, FORM_SET, FORM_NOTHING, FORM_SUM, FORM_OBJECT};

int walk_kernel(const struct call *call, int argument, const struct walk_map *map)
{
    int number = walk_variable(call, argument);
    if (number != 0)
        return number > 0 ? number - 1 : -1;
    for (int kernel = 0; map != NULL && kernel < KERNELS; kernel++)
        if (forms[kernel] == map->form)
            return kernel;
    return NOTHING;
}

bool walk_is_harmless(int number, const struct walk_map *map)
{
    if (map != NULL && map->memory >= 0 &&
        walk_now.memory[map->memory].made != map->memory_made)
        return false;
    /* Its one parameter is any pointer, and the model does not compute it. */
    if (number == BUMP && walk_map_parameters(map) == 1)
        return false;
    return walk_parameters(number) <= 0 || (map != NULL && map->wrong) ||
           !walk_fits(number, map) || map->form == forms[number];
}

static bool some_not_waited_for; /* of all threads; atomic */

void walk_note_launch(const struct rex_launch_config *launch)
{
    if (launch->flags & REX_LAUNCH_NOWAIT)
        __atomic_store_n(&some_not_waited_for, true, __ATOMIC_SEQ_CST);
}

bool walk_may_refuse(void)
{
    const char *by = getenv("REX_LAUNCH_BY");
    bool is_18 = rex_runtime_release() == 18,
         not_waited_for = __atomic_load_n(&some_not_waited_for, __ATOMIC_SEQ_CST);
    return walk_settings.gpu &&
           (by != NULL ? is_18 || strcmp(by, "driver") == 0 : is_18 && not_waited_for);
}
