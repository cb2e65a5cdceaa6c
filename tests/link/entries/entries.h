/* entries.h - what the files of the entry test share. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ENTRIES_H
#define ENTRIES_H

#include <rex/entry.h>
#include <rex_kmp.h>

/* The device adds `by` to *x. */
static inline int add_with(void *key, int64_t by, int64_t *x)
{
    void *row[2] = {rex_pack_literal_arg_bytes(&by, sizeof by), x};
    int64_t sizes[2] = {8, 8}, types[2] = {0x120, 0x23};
    struct __tgt_kernel_arguments args = {3, 2, row, row, sizes, types, NULL, NULL, 1, 0, {1, 1, 1}, {1, 1, 1}, 0};
    return __tgt_target_kernel(-1, 1, 1, key, &args);
}

#ifdef __cplusplus
extern "C" {
#endif

/* In the shared object: runs its kernels on *x and gives the number of its entries; negative on failure. */
int object_run(int64_t *x);

extern int64_t entries_global;
extern char OUT__2__smooth__20__id__, OUT__3__smooth__31__id__;

#ifdef __cplusplus
}
#endif
#endif
