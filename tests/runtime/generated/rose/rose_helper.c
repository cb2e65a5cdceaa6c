/*
 * The third file: it declares what it calls of this binary itself.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifdef __cplusplus
extern "C" {
#endif
struct __tgt_bin_desc;
struct __tgt_bin_desc *register_cubin(const char *name);
int rex_offload_fini(void);
#ifdef __cplusplus
}
#endif

int begin_again(void);

int begin_again(void)
{
    return register_cubin("rex_lib_nvidia.cubin") == 0 || rex_offload_fini() != 0;
}
