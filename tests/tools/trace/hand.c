/* hand.c - two launches in a data region, by calls of libomptarget.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex.h>
#include <rex_kmp.h>
REX_KERNEL(twice);
int main(void)
{
    static double x[100];
    void *address[] = {x};
    int64_t size[] = {sizeof x}, both[] = {0x23}, in[] = {1}, out[] = {2};
    struct __tgt_kernel_arguments packet = {3, 1, address, address, size, both, NULL, NULL, 0, 0, {2, 1, 1}, {64, 1, 1}, 0};
    if (rex_offload_init() != 0)
        return 1;
    __tgt_target_data_begin(-1, 1, address, address, size, in);
    for (int i = 0; i < 2; i++)
        if (__tgt_target_kernel(-1, 2, 64, REX_KERNEL_ID(twice), &packet) != 0)
            return 1;
    __tgt_target_data_end(-1, 1, address, address, size, out);
    return rex_offload_fini();
}
