/*
 * launcher.h - what launchers of parallel jobs (those of MPI, Slurm, Flux) tell a process.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LAUNCHER_H
#define REX_INTERNAL_LAUNCHER_H

/*
 * The number, from 0, of this process among those that its job has on this machine; -1 where no
 * launcher says it.
 */
int rex_launcher_local_rank(void);

/*
 * Which of COUNT devices is this process's: what OMP_DEFAULT_DEVICE says, whatever COUNT is; else
 * the one whose turn it is among the processes here; 0 where there are none.
 */
int rex_launcher_device(int count);

/* How many processes its job has on this machine; 1 where no launcher says it. */
int rex_launcher_local_processes(void);

/* TEXT, NULL for none, as a number that is not negative, and nothing but it; else -1. */
int rex_launcher_number(const char *text);

#endif
