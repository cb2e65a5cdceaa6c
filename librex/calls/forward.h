/*
 * forward.h - the slots of the exported `__tgt_*` functions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FORWARD_H
#define REX_INTERNAL_FORWARD_H

#include <stdbool.h>

#include "omp/entrypoints.h"

/*
 * Reads the slot of __tgt_NAME: a pointer to the function that the exported function calls. The
 * load is atomic, because a thread that binds libomptarget may write the slot at the same time.
 */
#define REX_REAL(name) __atomic_load_n(&rex_real.name, __ATOMIC_ACQUIRE)

extern struct rex_entry_points rex_real __attribute__((visibility("hidden")));

/*
 * Binds libomptarget as rex_runtime_bind() does, and starts the CUDA driver. If the last start of
 * the driver found no GPU, starts the driver again. A missing GPU is not an error.
 */
int rex_runtime_start(void);

/*
 * Returns true if the loader binds the `__tgt_*` names to librex, so that all calls of the process
 * come through the forwarders. The function computes the answer only once. A library that is loaded
 * later does not change the answer, because the loader searches later libraries last.
 */
bool rex_forward_first(void);

#endif
