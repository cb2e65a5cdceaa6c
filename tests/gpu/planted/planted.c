/*
 * Launches a kernel with a fault: planted astray | unwritten | race | neither. Status 0 whatever comes of it: compute-sanitizer tells.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inqueue.h"

REX_KERNEL(astray);
REX_KERNEL(unwritten);
REX_KERNEL(race);

enum { VALUES = 128 };

static int put(struct rex_queue *queue, const char *fault, char *memory)
{
    int64_t distance = strcmp(fault, "astray") == 0 ? INT64_C(1) << 30 : 0;
    struct rex_launch_config astray = rex_launch_config_of(REX_KERNEL_ID(astray), 1, 1);
    struct rex_launch_config unwritten = rex_launch_config_of(REX_KERNEL_ID(unwritten), 1, 1);
    struct rex_launch_config race = rex_launch_config_of(REX_KERNEL_ID(race), 1, VALUES);
    REX_MAP(astray_args, REX_VALUE(distance), REX_IS_DEVICE_PTR(memory));
    REX_MAP(args, REX_IS_DEVICE_PTR(memory));
    if (strcmp(fault, "unwritten") == 0)
        return launch_in(queue, &unwritten, &args);
    return strcmp(fault, "race") == 0 ? launch_in(queue, &race, &args) : launch_in(queue, &astray, &astray_args);
}

int main(int argc, char **argv)
{
    struct rex_queue *queue;
    if (argc != 2 || rex_queue_create(&queue, -1, "planted", 0) != REX_OK)
        return 2;
    char *memory = rex_device_alloc(VALUES * sizeof(int64_t), -1);
    if (memory == NULL || put(queue, argv[1], memory) != REX_OK)
        return 2;
    rex_queue_sync(queue);
    fflush(NULL);
    _exit(0); /* what libomptarget does with a context that is lost is its own affair */
}
