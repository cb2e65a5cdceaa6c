/* The program `arguments`, linked with librex.a (rules.mk). SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "../arguments/arguments.c"
