/*
 * Lesson 5: a shared library with a kernel of its own, linked by the program.
 *
 * The two names are defined before the include, since several modules may lie in one directory: the library's image is
 * looked for beside the library. Everything else is as in a program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#define REX_CUBIN_NAME "scale.cubin"
#define REX_HOST_IMAGE_NAME "scale_host.so"
/* A library does not know whether it is called first; see lesson 4. */
#define REX_KMP_SAFE
#include <rex.h>

#include "scale.h"

REX_KERNEL(scale);

int scale(double *x, int64_t count, double factor)
{
    void *address[] = {rex_pack_literal_arg_bytes(&count, sizeof count),
                       rex_pack_literal_arg_bytes(&factor, sizeof factor), x};
    int64_t sizes[] = {sizeof count, sizeof factor, count * (int64_t)sizeof *x};
    int64_t types[] = {0x120, 0x120, 0x20}; /* two literals, and an address that the caller has mapped */
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
    return __tgt_target_kernel(-1, 32, 128, REX_KERNEL_ID(scale), &args);
}

const char *scale_image(void)
{
    /* This binary's module: not the program's. */
    return rex_module_image_path(&rex_this_module);
}
