/* macros.c - entries by macros. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "entries.h"

int64_t entries_global = 3;

REX_KERNEL(first);
REX_KERNEL_STEM(OUT__1__solve__17__);
REX_GLOBAL(entries_global);
