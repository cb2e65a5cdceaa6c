/*
 * adopt.h - the descriptors of other compilers' code, and kernels by their host keys.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ADOPT_H
#define REX_INTERNAL_ADOPT_H

/*
 * The name of the entry with KEY in a descriptor that somebody other than librex has registered
 * through librex; NULL if there is none. It stays as long as that descriptor is registered. The
 * tables are walked: who asks often keeps the answer.
 */
const char *rex_adopted_name(const void *key);

/*
 * The name that the entry with KEY has, of a module or of a descriptor that another compiler's code
 * has registered; NULL if there is none. It stays as long as that is registered.
 */
const char *rex_kernel_name(const void *key);

#endif
