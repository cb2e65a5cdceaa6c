/*
 * memory.c - allocates memory for tools; if there is too little, the tool exits.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/print.h"

static void *or_exit(void *memory)
{
    if (memory != NULL)
        return memory;
    tool_error(program_invocation_short_name, "out of memory");
    exit(2);
}

void *tool_alloc(size_t count, size_t size)
{
    return or_exit(calloc(count + (count == 0), size));
}

void *tool_grow(void *array, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return array;
    return or_exit(reallocarray(array, count == 0 ? 1 : count * 2, size));
}

char *tool_format(const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return or_exit(length >= 0 ? text : NULL);
}
