/*
 * adopt.h - kernels by their host keys, also those of other compilers' code.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ADOPT_H
#define REX_INTERNAL_ADOPT_H

/*
 * The name that the entry with KEY has, of a module or of a descriptor that another compiler's code
 * has registered; NULL if there is none. It stays as long as that is registered. The tables are
 * walked: a caller that asks often keeps the answer.
 */
const char *rex_kernel_name(const void *key);

#endif
