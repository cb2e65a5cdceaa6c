/*
 * Launches a kernel with a fault: planted astray | unwritten | race | neither. Status 0 whatever comes of it: compute-sanitizer tells.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

REX_KERNEL(astray);
REX_KERNEL(unwritten);
REX_KERNEL(race);

enum { VALUES = 128 };

static int put(struct rex_queue *queue, const char *fault, char *memory)
{
    int64_t distance = strcmp(fault, "astray") == 0 ? INT64_C(1) << 30 : 0;
    struct rex_kernel_launch astray = rex_kernel_launch_of(REX_KERNEL_ID(astray), 1, 1);
    struct rex_kernel_launch unwritten = rex_kernel_launch_of(REX_KERNEL_ID(unwritten), 1, 1);
    struct rex_kernel_launch race = rex_kernel_launch_of(REX_KERNEL_ID(race), 1, VALUES);
    REX_MAP(astray_args, REX_VALUE(distance), REX_DEVICE_POINTER(memory));
    REX_MAP(args, REX_DEVICE_POINTER(memory));
    if (strcmp(fault, "unwritten") == 0)
        return rex_queue_launch(queue, &unwritten, &args);
    return strcmp(fault, "race") == 0 ? rex_queue_launch(queue, &race, &args) : rex_queue_launch(queue, &astray, &astray_args);
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
