/* The kernels of mappers: through every pointer. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#include "tree.h"

REX_DEVICE_KERNEL(leaves, (int64_t) count, (struct leaf *) leaf)
{
    REX_FOR(i, count) {
        leaf[i].sum = 0;
        for (int64_t k = 0; k < leaf[i].count; k++) {
            leaf[i].values[k]++;
            leaf[i].sum += leaf[i].values[k];
        }
    }
}

REX_DEVICE_KERNEL(branches, (int64_t) count, (struct branch *) branch)
{
    REX_FOR(i, count) {
        branch[i].visits++;
        for (int64_t l = 0; l < branch[i].leaves; l++) {
            struct leaf *leaf = &branch[i].leaf[l];
            leaf->sum = 0;
            for (int64_t k = 0; k < leaf->count; k++) {
                leaf->values[k]++;
                leaf->sum += leaf->values[k];
            }
        }
    }
}
