/* module.c - room for a struct rex_module in a shared object. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
_Alignas(16) unsigned char fake_module[256] = {1};
