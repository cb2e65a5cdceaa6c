/*
 * exported.h - the exported wrappers of libomptarget's functions, in the place of the inline ones of rex_kmp.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_WALK_EXPORTED_H
#define REX_TESTS_WALK_EXPORTED_H

#define REX_KMP_INTERNAL
#include <rex_kmp.h>

#define EXPORTED(result, name, parameters) result exported_##name parameters __asm__("rex___tgt_" #name)
#define ROWS int32_t, void **, void **, int64_t *, int64_t *
EXPORTED(int, target, (int64_t, void *, ROWS));
EXPORTED(int, target_teams, (int64_t, void *, ROWS, int32_t, int32_t));
EXPORTED(int, target_kernel, (int64_t, int32_t, int32_t, void *, struct __tgt_kernel_arguments *));
EXPORTED(void, target_data_begin, (int64_t, ROWS));
EXPORTED(void, target_data_end, (int64_t, ROWS));
EXPORTED(void, target_data_update, (int64_t, ROWS));

#endif
