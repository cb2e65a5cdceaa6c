/*
 * figures.c - formats numbers for people.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"

char *figure_count(uint64_t count)
{
    char digits[24], text[32], *out = text;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ' ';
        *out++ = digits[i];
    }
    *out = '\0';
    return tool_format("%s", text);
}

/*
 * Formats VALUE with three digits and a unit. VALUE is in the first of UNITS. Each unit is 1000
 * times the unit before it.
 */
static char *in_units(double value, const char *const *units, size_t count)
{
    size_t at = 0;
    while (value >= 999.5 && at + 1 < count) {
        value /= 1000;
        at++;
    }
    int behind_point = value >= 99.95 || value == (double)(uint64_t)value ? 0
                       : value >= 9.995                                   ? 1
                                                                          : 2;
    return tool_format("%.*f %s", behind_point, value, units[at]);
}

char *figure_time(uint64_t nanoseconds)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return in_units((double)nanoseconds, units, 4);
}

char *figure_bytes(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    return in_units((double)bytes, units, 5);
}

char *figure_speed(uint64_t bytes, uint64_t nanoseconds)
{
    if (bytes == 0 || nanoseconds == 0)
        return tool_format("-");
    return tool_format("%.3g GB/s", (double)bytes / (double)nanoseconds);
}

char *figure_share(uint64_t part, uint64_t whole)
{
    if (whole == 0)
        return tool_format("-");
    return tool_format("%.1f %%", 100.0 * (double)part / (double)whole);
}

uint64_t scaled(uint64_t number, uint64_t part, uint64_t whole)
{
    return whole > 0 ? (uint64_t)((double)number * (double)part / (double)whole) : 0;
}
