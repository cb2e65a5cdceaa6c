/*
 * elsewhere.h - runs a program on another libomptarget than the linked one. If the loader does not
 * find the linked libomptarget, finds it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_ELSEWHERE_H
#define REX_RUN_ELSEWHERE_H

#include <stdbool.h>

#include "program.h"

/*
 * Makes PROGRAM find LIBRARY under the names of libomptarget that PROGRAM is linked with. Returns
 * true if the function has made a folder, which run_and_tidy() removes after the program has ended.
 */
bool lead_to(const struct program *program, const char *library);

/*
 * Makes PROGRAM find the libomptarget that it is linked with. If librex finds this libomptarget and
 * the loader does not, puts the folder of this libomptarget first in LD_LIBRARY_PATH.
 */
void find_linked(const struct program *program);

#endif
