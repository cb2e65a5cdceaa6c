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
 * Returns the word of the command line that getopt_long() refused. Usually optind is the index
 * after this word. If the refused letter is in a word such as -xyz, and is not the last letter,
 * optind is the index of the word itself.
 */
static const char *word_of(char *const *arguments)
{
    const char *before = arguments[optind - 1];
    bool letter = optopt > 0 && optopt <= UCHAR_MAX && strncmp(before, "--", 2) != 0;
    return letter && (*before != '-' || strchr(before, optopt) == NULL) ? arguments[optind]
                                                                        : before;
}

char *refused_option(char *const *arguments, const char *letters)
{
    const char *word = word_of(arguments), *why = "no such option", *known;
    if (strncmp(word, "--", 2) == 0 && optopt != 0)
        why = strchr(word, '=') != NULL ? "it takes no value" : "its value is missing";
    else if (optopt != 0 && (known = strchr(letters, optopt)) != NULL && known[1] == ':')
        why = "its value is missing";
    return tool_format("%s: %s", word, why);
}
