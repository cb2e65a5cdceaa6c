/*
 * option.c - which option of the command line getopt_long() did not take.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/option.h"

#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "common/memory.h"

/* getopt_long() is already behind an option, but for a letter in front of others of one word. */
static const char *word_of(char *const *arguments)
{
    const char *before = arguments[optind - 1];
    bool letter = optopt > 0 && optopt <= UCHAR_MAX && strncmp(before, "--", 2) != 0;
    return letter && (*before != '-' || strchr(before, optopt) == NULL) ? arguments[optind]
                                                                        : before;
}

char *refused_option(char *const *arguments)
{
    return tool_format("%s: no such option, or its value is missing or too much",
                       word_of(arguments));
}
