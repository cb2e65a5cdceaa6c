/*
 * forward.h - the slots of the exported `__tgt_*` functions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FORWARD_H
#define REX_INTERNAL_FORWARD_H

#include <stdbool.h>

#include "omp/entrypoints.h"

/* Reads a slot. The atomic is needed because other threads may call while binding writes it. */
#define REX_REAL(name) __atomic_load_n(&rex_real.name, __ATOMIC_ACQUIRE)

extern struct rex_entry_points rex_real __attribute__((visibility("hidden")));

/*
 * As rex_runtime_bind(), and start the CUDA driver, or try it again. A GPU that is not there is no
 * error.
 */
int rex_runtime_start(void);

/*
 * Whether the loader binds the `__tgt_*` names to librex, so that all calls of the process come
 * through here. The answer is kept: a library loaded later is searched later.
 */
bool rex_forward_first(void);

#endif
