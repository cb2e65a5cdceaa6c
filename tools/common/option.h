/*
 * option.h - names the option that getopt_long() refused.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_OPTION_H
#define TOOLS_OPTION_H

/*
 * Returns "OPTION: no such option", or another reason, for tool_error(); the caller frees it. Call
 * it right after getopt_long() has returned '?', with opterr 0. LETTERS is what getopt_long() got.
 */
char *refused_option(char *const *arguments, const char *letters);

#endif
