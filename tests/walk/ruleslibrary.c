/*
 * ruleslibrary.c - kernels by name. They are launched with zeros: over no elements, so that no argument is wrong whatever the kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rules.h"

static struct rex_library *library_of(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    return number >= 0 ? walk_now.library[number] : NULL;
}

/* A variable that no library is stored in, or NULL. */
static bool is_free(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    return number < 0 || walk_now.library[number] == NULL;
}

static void keep_library(const struct call *call, int number, int file, struct rex_library *made)
{
    walk_now.library[number] = made;
    walk_now.library_file[number] = file;
    walk_now.library_device[number] = walk_device(call, 1);
}

/* Where it fails for what the sequence did before, as LLVM 18 after a device was used, it is an error like others. */
RULE(rex_library_load, "JdBN", 4)
{
    int number = walk_variable(call, 0), file = walk_variable(call, 2);
    struct rex_library *made = NULL;
    size_t size = 0;
    const void *bytes = walk_image(call, 2, &size);
    if (!is_free(call, 0))
        return;
    bool wrong = number < 0 || walk_string(call, 3) == NULL || file < 0 || file > 2;
    walk_before();
    int result = rex_library_load(number >= 0 ? &made : NULL, walk_integer(call, 1), bytes, size, walk_string(call, 3));
    if (walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER))
        keep_library(call, number, file, made);
    else if (made != NULL)
        walk_found("it fails, and has stored a library");
}

RULE(rex_library_kernel, "KY", 2)
{
    const struct rex_library *library = library_of(call, 0);
    const char *name = walk_string(call, 1);
    const struct rex_image_symbol *symbol = library != NULL && name != NULL ? rex_image_view_find(rex_library_view(library), name) : NULL;
    walk_before();
    const void *key = rex_library_kernel(library, name);
    walk_judge(call, key == NULL, 0, symbol != NULL && symbol->kernel ? MUST_WORK : MUST_FAIL);
}

RULE(rex_library_view, "K", 1)
{
    const struct rex_library *library = library_of(call, 0);
    walk_before();
    walk_judge(call, rex_library_view(library) == NULL, 0, library == NULL ? MUST_FAIL : MUST_WORK);
}

RULE(rex_library_global, "Kd", 2)
{
    struct rex_library *library = library_of(call, 0);
    void *address = &walk_now;
    size_t size = 1;
    walk_before();
    int result = rex_library_global(&address, &size, library, walk_integer(call, 1), "walk_global");
    if (walk_judge_int(call, result, library == NULL ? MUST_FAIL : EITHER) ? size != 8 || address == NULL
                                                                           : size != 1 || address != &walk_now)
        walk_found("it stores %p and %zu", address, size);
}

static struct rex_launch_config launch_of(const struct call *call)
{
    const struct rex_library *library = library_of(call, 1);
    const char *name = walk_string(call, 2);
    const void *key = library != NULL && name != NULL ? rex_library_kernel(library, name) : NULL;
    struct rex_launch_config launch = rex_launch_config_of(key, (uint32_t)walk_integer(call, 3), 1);
    launch.queue = walk_queue(call, 0);
    return launch;
}

static enum verdict verdict_of(const struct call *call, const struct rex_launch_config *launch)
{
    return walk_queue(call, 0) == NULL || library_of(call, 1) == NULL || launch->key == NULL ? MUST_FAIL : EITHER;
}

RULE(rex_library_launch, "qKYtI", 4)
{
    static int64_t zero;
    static void *arguments[] = {&zero, &zero, &zero, &zero};
    struct rex_launch_config launch = launch_of(call);
    int64_t count = walk_integer(call, 4);
    /* The model of a graph counts the launches that it knows of. */
    if (walk_is_captured(walk_queue_of(call, 0)))
        return;
    walk_before();
    int result = rex_library_launch(library_of(call, 1), &launch, arguments, (size_t)count);
    walk_judge_int(call, result, count < 0 || count > 4 ? MUST_FAIL : verdict_of(call, &launch));
}

/* y += a * x of device memory, which are arguments as they are. */
OWN_RULE(library_add, "qKniyy", 4)
{
    const struct walk_queue *queue = walk_queue_of(call, 0);
    struct rex_library *library = library_of(call, 1);
    int64_t n = walk_integer(call, 2), a = walk_integer(call, 3);
    int x = walk_variable(call, 4), y = walk_variable(call, 5);
    if (queue == NULL || library == NULL || x < 0 || y < 0 || queue->device < 0 ||
        walk_now.library_device[walk_variable(call, 1)] != queue->device ||
        walk_now.library_file[walk_variable(call, 1)] != 0 || n > CELLS)
        return;
    if (walk_memory_of(call, 4) == NULL || walk_memory_of(call, 5) == NULL ||
        !walk_may_use(queue, x, 8 * n) || !walk_may_use(queue, y, 8 * n))
        return;
    struct command command = {.kind = LIBRARY_ADD, .memory = y, .from = x, .host = -1,
                              .cells = n, .a = a, .map = {.memory = -1}};
    const void *key = rex_library_kernel(library, "walk_add__kernel__");
    struct rex_launch_config launch = rex_launch_config_of(key, 1, 1);
    void *addresses[] = {walk_memory_of(call, 4), walk_memory_of(call, 5)};
    void *arguments[] = {&n, &a, &addresses[0], &addresses[1]};
    launch.queue = queue->queue;
    walk_order_command(queue, &command);
    walk_before();
    int result = rex_library_launch(library, &launch, arguments, 4);
    if (walk_judge_int(call, result, walk_is_captured(queue) ? EITHER : MUST_WORK))
        walk_took(queue, &command);
}

/* With the last module all that is libomptarget's ends. */
RULE(rex_library_unload, "K", 2)
{
    int number = walk_variable(call, 0);
    bool is_used = model_any_mapping();
    for (int i = 0; i < MEMORIES; i++)
        is_used |= walk_now.memory[i].address != NULL;
    for (int i = 0; i < QUEUES; i++)
        is_used |= walk_now.queue[i].queue != NULL;
    if (is_used && !walk_is_registered())
        return;
    walk_before();
    if (walk_judge_int(call, rex_library_unload(library_of(call, 0)), EITHER) && number >= 0)
        walk_now.library[number] = NULL;
}
