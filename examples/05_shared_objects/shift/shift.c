/*
 * Lesson 5: a plug-in with a kernel of its own, opened by dlopen. As scale.c; only the way it is loaded differs.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#define REX_CUBIN_NAME "shift.cubin"
#define REX_HOST_IMAGE_NAME "shift_host.so"
#define REX_KMP_SAFE
#include <rex.h>

#include "shift.h"

REX_KERNEL(shift);

shift_function shift;

int shift(double *x, int64_t count, double amount)
{
    void *address[] = {rex_pack_literal_arg_bytes(&count, sizeof count),
                       rex_pack_literal_arg_bytes(&amount, sizeof amount), x};
    int64_t sizes[] = {sizeof count, sizeof amount, count * (int64_t)sizeof *x};
    int64_t types[] = {0x120, 0x120, 0x20};
    struct __tgt_kernel_arguments args = {
        .Version = 3,
        .NumArgs = 3,
        .ArgsBase = address,
        .Args = address,
        .ArgSizes = sizes,
        .ArgTypes = types,
        .Tripcount = (uint64_t)count,
        .Teams = {32, 1, 1},
        .Threads = {128, 1, 1},
    };
    return __tgt_target_kernel(-1, 32, 128, REX_KERNEL_ID(shift), &args);
}
