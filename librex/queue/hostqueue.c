/*
 * hostqueue.c - commands on a device that is no NVIDIA GPU: libomptarget does them, at once, by the
 * rules that hold for queues.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/hostqueue.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "launch/launch.h"
#include "omp/runtime.h"

static int launch(int number, const struct rex_command *command)
{
    struct rex_kernel_launch description = command->launch.description;
    description.device = number;
    return rex_launch_map(command->launch.module, &description, &command->launch.map,
                          REX_FOR_QUEUE);
}

static int check_launch(int number, const struct rex_command *command)
{
    struct rex_kernel_launch description = command->launch.description;
    description.device = number;
    return rex_launch_check(command->launch.module, &description, &command->launch.map,
                            REX_FOR_QUEUE);
}

/* ---- copies and fills ------------------------------------------------------------------------ */

static int check_copy(int number, const struct rex_command *command)
{
    if (command->copy.device != NULL || rex_runtime_disabled() || number == rex_device_count() ||
        rex_memory_presence(command->copy.host, command->copy.size, number) == REX_PRESENT_WHOLE)
        return REX_OK;
    return rex_fail(REX_EABSENT, "queue update: %zu bytes at %p are not mapped whole on device %d",
                    command->copy.size, command->copy.host, number);
}

static int copy(int number, const struct rex_command *command)
{
    int result = check_copy(number, command);
    bool is_update = command->copy.device == NULL;
    if (result != REX_OK || (is_update && (rex_runtime_disabled() || number == rex_device_count())))
        return result;
    void *device =
        is_update ? rex_device_address(command->copy.host, number) : command->copy.device;
    return command->kind == REX_COMMAND_COPY_TO
               ? rex_device_copy_to(device, command->copy.host, command->copy.size, number)
               : rex_device_copy_from(command->copy.host, device, command->copy.size, number);
}

#define FILL_BYTES 65536 /* at a time; a multiple of every pattern's width */

static int fill(int number, const struct rex_command *command)
{
    size_t most = command->fill.size < FILL_BYTES ? command->fill.size : FILL_BYTES;
    unsigned char *pattern = malloc(most > 0 ? most : 1);
    int result = REX_OK;
    if (pattern == NULL)
        return rex_fail_memory(most, "a fill");
    for (size_t at = 0; at < most; at += command->fill.width)
        memcpy(pattern + at, &command->fill.value, command->fill.width);
    for (size_t done = 0, part; done < command->fill.size && result == REX_OK; done += part) {
        part = command->fill.size - done < most ? command->fill.size - done : most;
        result = rex_device_copy_to((char *)command->fill.to + done, pattern, part, number);
    }
    free(pattern);
    return result;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int rex_command_check(const struct rex_command *command, int number)
{
    switch (command->kind) {
    case REX_COMMAND_LAUNCH: return check_launch(number, command);
    case REX_COMMAND_COPY_TO:
    case REX_COMMAND_COPY_FROM: return check_copy(number, command);
    default: return REX_OK;
    }
}

int rex_command_do(int number, const struct rex_command *command)
{
    switch (command->kind) {
    case REX_COMMAND_LAUNCH: return launch(number, command);
    case REX_COMMAND_COPY_TO:
    case REX_COMMAND_COPY_FROM: return copy(number, command);
    case REX_COMMAND_FILL: return fill(number, command);
    case REX_COMMAND_CALL: command->call.function(command->call.argument); return REX_OK;
    default: return REX_OK;
    }
}
