/*
 * A shared object with a kernel and images of its own. rules.mk compiles it several times, with other names and FACTOR.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex_kmp.h>

REX_KERNEL(step);

int plugin_step(int64_t value, int64_t *result);
const char *plugin_image(void);
int plugin_add(void);
int plugin_init(void);
int plugin_fini(void);

int plugin_step(int64_t value, int64_t *result)
{
    void *rows[] = {rex_pack_literal_arg_bytes(&value, sizeof value), result};
    int64_t sizes[] = {sizeof value, sizeof *result}, types[] = {0x120, 0x22};
    struct __tgt_kernel_arguments packet = {3, 2, rows, rows, sizes, types, NULL, NULL, 0, 0, {1, 1, 1}, {1, 1, 1}, 0};
    return __tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(step), &packet);
}

const char *plugin_image(void)
{
    return rex_module_image_path(&rex_this_module);
}

int plugin_add(void)
{
    return rex_module_add(&rex_this_module);
}

int plugin_init(void)
{
    return rex_offload_init();
}

int plugin_fini(void)
{
    return rex_offload_fini();
}
