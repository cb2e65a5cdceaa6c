/* define.c - the definitions that a helper leaves to librex, where every file of the program has REX_KMP_INTERNAL.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define REX_KMP_INTERNAL
#define REX_KMP_DEFINE
#include "rex_kmp.h"
