/*
 * inqueue.h - a launch in a queue, for tests that put one description in several or launch it by itself as well.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_INQUEUE_H
#define REX_TESTS_INQUEUE_H

#include <rex.h>
#include <rex/library.h>

static inline int launch_module_in(struct rex_queue *queue, struct rex_module *module, const struct rex_launch_config *launch,
                                   const struct rex_map *map)
{
    struct rex_launch_config in_queue = *launch;
    in_queue.queue = queue;
    return rex_module_launch_map(module, &in_queue, map);
}

static inline int launch_in(struct rex_queue *queue, const struct rex_launch_config *launch, const struct rex_map *map)
{
    return launch_module_in(queue, &rex_this_module, launch, map);
}

static inline int launch_library_in(struct rex_queue *queue, struct rex_library *library, const struct rex_launch_config *launch,
                                    void *const *arguments, size_t count)
{
    struct rex_launch_config in_queue = *launch;
    in_queue.queue = queue;
    return rex_library_launch(library, &in_queue, arguments, count);
}

#endif
