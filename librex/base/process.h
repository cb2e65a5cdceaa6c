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
 * The device, of COUNT, that this process uses: OMP_DEFAULT_DEVICE, whatever COUNT is. Otherwise
 * the process's number on this machine, which its launcher (of MPI, Slurm, Flux) tells, modulo
 * COUNT; 0 if COUNT is 0.
 */
int rex_launcher_device(int count);

/*
 * The number of processors for this process, at least 1: the processors to which it was bound when
 * librex was loaded, reduced to the limits of its control groups. If a launcher of MPI has started
 * several processes on this machine, each has its share. Files are looked for under ROOT: "" but
 * for tests.
 */
int rex_processors(const char *root);

/* The calling thread may run on all processors that the process was bound to when librex was
 * loaded. */
void rex_processors_unbind(void);

#endif
