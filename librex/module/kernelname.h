/*
 * kernelname.h - a kernel by its host key.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_KERNELNAME_H
#define REX_INTERNAL_KERNELNAME_H

/*
 * The name that the entry with KEY has, of a module or of a descriptor that another compiler's code
 * has registered; NULL if there is none. It stays as long as that is registered.
 */
const char *rex_kernel_name(const void *key);

#endif
