/*
 * option.h - which option of the command line getopt_long() did not take.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_OPTION_H
#define TOOLS_OPTION_H

/*
 * Right after getopt_long() has returned '?', with opterr 0, so that a tool says it with
 * tool_error(): "OPTION: no such option, or ...". The caller frees it.
 */
char *refused_option(char *const *arguments);

#endif
