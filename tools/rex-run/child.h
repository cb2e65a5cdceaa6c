/*
 * child.h - runs the program as a child, then removes rex-run's private folder (folder.h).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_CHILD_H
#define REX_RUN_CHILD_H

#include "program.h"

/* Blocks signals until run_and_tidy(): no signal may end rex-run while the folder exists. */
void hold_signals(void);

/*
 * Runs PROGRAM as a child, and passes signals on to the child. After the child has ended, removes
 * the folder, calls BEHIND if it is not NULL, and ends rex-run as the program ended.
 */
void run_and_tidy(const struct program *program, char **arguments, void (*behind)(void))
    __attribute__((noreturn));

#endif
