/* What kernels.cu and teams.c share. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
enum { PART = 256 };
