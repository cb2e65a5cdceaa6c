/*
 * Lesson 4: the parameters of the kernels, for kernels.cu and for the host files.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef PARAMETERS_H
#define PARAMETERS_H

#define PULL_PARAMETERS (int64_t) count, (const double *) position, (double *) velocity
#define MOVE_PARAMETERS (int64_t) count, (double *) position, (const double *) velocity
#define ENERGY_PARAMETERS \
    (int64_t) count, (const double *) position, (const double *) velocity, (double *) each

#endif
