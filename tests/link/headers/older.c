/* older.c - the older output of REX, with __cubin_desc.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex_kmp.h>
struct __tgt_bin_desc *__cubin_desc = 0;
