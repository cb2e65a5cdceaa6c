/*
 * openmp.h - libomp in this process.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_OPENMP_H
#define REX_INTERNAL_OPENMP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/search.h"

/*
 * Path of the loaded object whose file name begins with one of PREFIXES (NULL-terminated); false if
 * there is none.
 */
bool rex_loaded(const char *const *prefixes, char path[PATH_MAX]);

/* Folder of the OpenMP runtime that this process has; false if it has none. */
bool rex_openmp_folder(char folder[PATH_MAX]);

/*
 * Make sure of one OpenMP runtime, visible to libomptarget, before CANDIDATE is opened: the one
 * that the process has, else the one beside it, else another. 0, or -1 with the reason in WHY.
 */
int rex_openmp_ready(const struct rex_candidate *candidate, const struct rex_candidate *others,
                     size_t count, char *why, size_t why_size);

/* libomptarget is bound: the default device is asked of the libomp that is there now. */
void rex_openmp_bind(void);

/* The default device number as libomp has it (OMP_DEFAULT_DEVICE, omp_set_default_device). */
int rex_openmp_default_device(void);

/* The number of DEVICE, which is -1 for the default one. */
static inline int rex_openmp_number(int64_t device)
{
    return device == -1 ? rex_openmp_default_device() : (int)device;
}

#endif
