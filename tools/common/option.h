/*
 * option.h - names the option that getopt_long() refused.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_OPTION_H
#define TOOLS_OPTION_H

/*
 * Returns a text for tool_error(), such as "OPTION: no such option". The caller frees the text. Set
 * opterr to 0 before getopt_long(), and call this function directly after getopt_long() has
 * returned '?'. LETTERS is the string of short options that was passed to getopt_long().
 */
char *refused_option(char *const *arguments, const char *letters);

#endif
