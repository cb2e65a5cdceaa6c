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
 * Writes the path of the loaded object whose file name begins with one of PREFIXES
 * (NULL-terminated). False if there is none.
 */
bool rex_loaded(const char *const *prefixes, char path[PATH_MAX]);

/* The folder of the OpenMP runtime that this process has; false if it has none. */
bool rex_openmp_folder(char folder[PATH_MAX]);

/*
 * Make sure of one OpenMP runtime, visible to libomptarget, before CANDIDATE is opened. It is the
 * one in the process, else the one beside CANDIDATE, else another. Returns 0, or -1 with the reason
 * in WHY.
 */
int rex_openmp_ready(const struct rex_candidate *candidate, const struct rex_candidate *others,
                     size_t count, char *why, size_t why_size);

/* libomptarget is bound: from now on the libomp in the process tells the default device. */
void rex_openmp_bind(void);

/* libomp's default device number (OMP_DEFAULT_DEVICE, omp_set_default_device). */
int rex_openmp_default_device(void);

/* The number of DEVICE; -1 is the default device. */
static inline int rex_openmp_number(int64_t device)
{
    return device == -1 ? rex_openmp_default_device() : (int)device;
}

#endif
