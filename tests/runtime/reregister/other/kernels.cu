/* Kernels of the same names that compute something else. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define FACTOR 5
#include "../kernels.h"
