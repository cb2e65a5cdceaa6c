/*
 * program.h - the program that rex-run starts.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_PROGRAM_H
#define REX_RUN_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

struct program {
    char path[PATH_MAX];
    bool script; /* the file begins with #!; `rpath` is not known */
    /*
     * DT_RPATH, which the loader searches before LD_LIBRARY_PATH; "" if the file has no DT_RPATH,
     * or has a DT_RUNPATH.
     */
    char rpath[PATH_MAX];
};

/*
 * Finds the file NAME as execvp(3) would, and checks the file. If librex cannot be preloaded into
 * the file, prints the reason and exits.
 */
void find_program(struct program *program, const char *name);

#endif
