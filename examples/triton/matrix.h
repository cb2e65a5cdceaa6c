/*
 * The matrix of this example. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef MATRIX_H
#define MATRIX_H

enum { ROWS = 64, COLUMNS = 12288 };

#endif
