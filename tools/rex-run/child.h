/*
 * child.h - run the program as a child, behind which a folder is removed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_CHILD_H
#define REX_RUN_CHILD_H

#include "program.h"

/* From here on signals wait for run_and_tidy(): none may end rex-run while there is a folder. */
void hold_signals(void);

/*
 * Run PROGRAM as a child, hand on signals, remove the folder, and call BEHIND, unless it is NULL.
 * Ends as the program ended.
 */
void run_and_tidy(const struct program *program, char **arguments, void (*behind)(void))
    __attribute__((noreturn));

#endif
