/*
 * elsewhere.h - runs a program on another libomptarget than the linked one, or finds the linked
 * one.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_ELSEWHERE_H
#define REX_RUN_ELSEWHERE_H

#include <stdbool.h>

#include "program.h"

/*
 * Makes PROGRAM find LIBRARY under the names that it is linked with. Returns true if there is now a
 * folder to remove after the program has ended: run_and_tidy() does so.
 */
bool lead_to(const struct program *program, const char *library);

/*
 * Makes PROGRAM find the libomptarget that it is linked with. If the loader does not find it but
 * librex does, the library's folder is put first in LD_LIBRARY_PATH.
 */
void find_linked(const struct program *program);

#endif
