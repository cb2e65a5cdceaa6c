/*
 * option.c - names the option that getopt_long() refused.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/option.h"

#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "common/memory.h"

/*
 * Returns the refused word. optind is usually after this word. If a word of several letters has the
 * refused letter and another letter follows, optind is still at the word.
 */
static const char *word_of(char *const *arguments)
{
    const char *before = arguments[optind - 1];
    bool letter = optopt > 0 && optopt <= UCHAR_MAX && strncmp(before, "--", 2) != 0;
    return letter && (*before != '-' || strchr(before, optopt) == NULL) ? arguments[optind]
                                                                        : before;
}

char *refused_option(char *const *arguments)
{
    return tool_format("%s: no such option, or its value is missing or unexpected",
                       word_of(arguments));
}
