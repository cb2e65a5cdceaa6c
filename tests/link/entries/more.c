/* more.c - an entry of another file. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "entries.h"

REX_KERNEL(second);
