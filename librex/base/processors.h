/*
 * processors.h - the processors that the process may use.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PROCESSORS_H
#define REX_INTERNAL_PROCESSORS_H

/*
 * How many there are for this process: those that it was bound to when librex was loaded, no more
 * than the limits of its control groups leave, and no more than its share where a launcher of MPI
 * has started several processes on this machine. At least 1. Files are looked for under ROOT, "/"
 * left out: "" but for tests.
 */
int rex_processors(const char *root);

/* The calling thread may run on all processors that the process was bound to when librex was
 * loaded. */
void rex_processors_unbind(void);

#endif
