/*
 * rex/offload.h - errors and modules: rex/error.h and rex/module.h.
 *
 * Everything here is since 0.2 unless it says otherwise. Guide: librex(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_OFFLOAD_H
#define REX_OFFLOAD_H

#include "rex/error.h"
#include "rex/module.h"

#endif
