/*
 * process.h - what the process is: how it was linked, what it may open, its place in a job, its
 * processors.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PROCESS_H
#define REX_INTERNAL_PROCESS_H

#include <limits.h>
#include <stdbool.h>

/*
 * False in a program that was linked with -static or -static-pie. A library that dlopen() opens
 * there brings a second C library with it, and the process crashes in that one.
 */
bool rex_can_open_libraries(void);

/* Whether ADDRESS is in the main program. PATH gets the file of its binary, "" for the program. */
bool rex_in_program(const void *address, char path[PATH_MAX]);

/* dlclose() unloads the shared object of ADDRESS, at PATH, no more. False where that failed. */
bool rex_keep_loaded(const void *address, char path[PATH_MAX]);

/*
 * Which of COUNT devices is this process's: what OMP_DEFAULT_DEVICE says, whatever COUNT is. Else
 * the one whose turn it is among the processes that its job has on this machine, by what a launcher
 * (of MPI, Slurm, Flux) says; 0 where there are none.
 */
int rex_launcher_device(int count);

/*
 * How many processors there are for this process: those that it was bound to when librex was
 * loaded, no more than the limits of its control groups leave, and no more than its share where a
 * launcher of MPI has started several processes on this machine. At least 1. Files are looked for
 * under ROOT, "/" left out: "" but for tests.
 */
int rex_processors(const char *root);

/* The calling thread may run on all processors that the process was bound to when librex was
 * loaded. */
void rex_processors_unbind(void);

#endif
