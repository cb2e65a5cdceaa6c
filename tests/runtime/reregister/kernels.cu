/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define FACTOR 3
#include "kernels.h"
