/*
 * program.h - the file that is to run.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_PROGRAM_H
#define REX_RUN_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

struct program {
    char path[PATH_MAX];
    bool script; /* begins with #!; nothing below is known */
    /*
     * DT_RPATH, which the loader searches before LD_LIBRARY_PATH; "" where there is none that
     * counts
     */
    char rpath[PATH_MAX];
};

/*
 * Find NAME as execvp(3) would, and look at it. Exits, with the reason, if librex cannot be put in
 * front of it.
 */
void find_program(struct program *program, const char *name);

#endif
