/*
 * elsewhere.h - another libomptarget than the linked one, or that one where the loader lacks it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_ELSEWHERE_H
#define REX_RUN_ELSEWHERE_H

#include <stdbool.h>

#include "program.h"

/*
 * Make PROGRAM find LIBRARY under the names that it is linked to. Whether there is a folder now
 * that has to be removed when the program has ended: run_and_tidy() does.
 */
bool lead_to(const struct program *program, const char *library);

/*
 * Make PROGRAM find the libomptarget that it is linked with: where the loader does not find that,
 * the folder where librex does comes in front of LD_LIBRARY_PATH.
 */
void find_linked(const struct program *program);

#endif
