/*
 * launcher.c - what launchers of parallel jobs tell a process, in its environment.
 *
 * It is there before MPI_Init() as after it. A launcher that was started by another one comes
 * first: in a batch script Slurm sets SLURM_LOCALID to 0, which all that mpirun starts there
 * inherit.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/launcher.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

int rex_launcher_number(const char *text)
{
    char *end = NULL;
    if (text == NULL || *text < '0' || *text > '9')
        return -1;
    long number = strtol(text, &end, 10);
    return *end == '\0' && number <= INT_MAX ? (int)number : -1;
}

int rex_launcher_local_rank(void)
{
    static const char *const variables[] = {
        "OMPI_COMM_WORLD_LOCAL_RANK", /* Open MPI */
        "MVP_COMM_WORLD_LOCAL_RANK",  /* MVAPICH 3 and later */
        "MV2_COMM_WORLD_LOCAL_RANK",  /* MVAPICH 2 */
        "MPI_LOCALRANKID",            /* hydra: MPICH and Intel MPI */
        "PALS_LOCAL_RANKID",          /* Cray's mpiexec */
        "PMI_LOCAL_RANK",             /* Cray's PMI */
        "FLUX_TASK_LOCAL_ID",         /* Flux */
        "PMIX_LOCAL_RANK",            /* some launchers with PMIx */
        "SLURM_LOCALID",              /* srun */
        "PMIX_RANK", /* PMIx itself tells only the rank in the whole job: right on one machine */
    };
    int rank = -1;
    for (size_t i = 0; i < sizeof variables / sizeof *variables && rank < 0; i++)
        rank = rex_launcher_number(secure_getenv(variables[i]));
    return rank;
}

int rex_launcher_device(int count)
{
    int chosen = rex_launcher_number(secure_getenv("OMP_DEFAULT_DEVICE"));
    int rank = chosen < 0 ? rex_launcher_local_rank() : 0;
    return chosen >= 0 ? chosen : rank >= 0 && count > 0 ? rank % count : 0;
}

int rex_launcher_local_processes(void)
{
    static const char *const variables[] = {
        "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
        "MV2_COMM_WORLD_LOCAL_SIZE",  "PMI_LOCAL_SIZE",
        "SLURM_STEP_TASKS_PER_NODE", /* "4(x2),3": the first is the largest */
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = secure_getenv(variables[i]);
        long count = value != NULL ? strtol(value, NULL, 10) : 0;
        if (count > 0)
            return count < INT_MAX ? (int)count : INT_MAX;
    }
    return 1;
}
