/* own.c - a helper of one's own, with everything that a helper may define: it reads the image, registers it once with libomptarget, and calls
 * libomptarget itself. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define REX_KMP_INTERNAL
#include "rex_kmp.h"
#include <sched.h>
#include <stdio.h>

int own_inits = 0, own_wrappers = 0;
static struct {
    int state; /* 0, 1 while a thread registers, 2 */
    char image[1 << 20];
    struct __tgt_device_image device_image;
    struct __tgt_bin_desc descriptor;
} own;

#ifdef __cplusplus
extern "C" struct __tgt_offload_entry __start_omp_offloading_entries, __stop_omp_offloading_entries;
#else
extern struct __tgt_offload_entry __start_omp_offloading_entries, __stop_omp_offloading_entries;
#endif
struct __tgt_bin_desc *__cubin_desc = NULL;
ident_t rex_target_kernel_ident = {0, 2, 0, 0, ";own;own;0;0;;"};

static int read_image(const char *name)
{
    FILE *file = fopen(name, "rb");
    size_t size = file != NULL ? fread(own.image, 1, sizeof own.image, file) : 0;
    if (file != NULL)
        fclose(file);
    own.device_image.ImageStart = own.image;
    own.device_image.ImageEnd = own.image + size;
    own.device_image.EntriesBegin = own.descriptor.HostEntriesBegin = &__start_omp_offloading_entries;
    own.device_image.EntriesEnd = own.descriptor.HostEntriesEnd = &__stop_omp_offloading_entries;
    own.descriptor.NumDeviceImages = 1;
    own.descriptor.DeviceImages = &own.device_image;
    return size > 0;
}

struct __tgt_bin_desc *register_cubin(const char *name)
{
    int unregistered = 0;
    while (__atomic_load_n(&own.state, __ATOMIC_ACQUIRE) != 2) {
        if (__atomic_compare_exchange_n(&own.state, &unregistered, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            int is_read = read_image(name != NULL ? name : REX_HOST_IMAGE_NAME);
            if (is_read)
                __rex_real___tgt_register_lib(&own.descriptor);
            __atomic_store_n(&own.state, is_read ? 2 : 0, __ATOMIC_RELEASE);
            if (!is_read)
                return NULL;
        }
        unregistered = 0;
        sched_yield();
    }
    return __cubin_desc = &own.descriptor;
}

void rex_offload_init(void)
{
    own_inits++;
    register_cubin(REX_HOST_IMAGE_NAME);
}

void rex_offload_fini(void)
{
    own_inits--;
    __rex_real___tgt_unregister_lib(__cubin_desc);
    __cubin_desc = NULL;
}

static int is_ready(void)
{
    own_wrappers++;
    return __cubin_desc != NULL || register_cubin(NULL) != NULL;
}

int rex___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base, void **args, int64_t *arg_sizes, int64_t *arg_types)
{
    return is_ready() ? __rex_real___tgt_target(device_id, host_ptr, arg_num, args_base, args, arg_sizes, arg_types) : -1;
}

int rex___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base, void **args, int64_t *arg_sizes,
                           int64_t *arg_types, int32_t num_teams, int32_t thread_limit)
{
    return is_ready() ? __tgt_target_teams(device_id, host_ptr, arg_num, args_base, args, arg_sizes, arg_types, num_teams, thread_limit) : -1;
}

int rex___tgt_target_kernel(int64_t device_id, int32_t num_teams, int32_t thread_limit, void *host_ptr, struct __tgt_kernel_arguments *args)
{
    return is_ready() ? __tgt_target_kernel(&rex_target_kernel_ident, device_id, num_teams, thread_limit, host_ptr, args) : -1;
}

void rex___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base, void **args, int64_t *arg_sizes, int64_t *arg_types)
{
    if (is_ready())
        __tgt_target_data_begin(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}

void rex___tgt_target_data_end(int64_t device_id, int32_t arg_num, void **args_base, void **args, int64_t *arg_sizes, int64_t *arg_types)
{
    if (is_ready())
        __tgt_target_data_end(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}

void rex___tgt_target_data_update(int64_t device_id, int32_t arg_num, void **args_base, void **args, int64_t *arg_sizes, int64_t *arg_types)
{
    if (is_ready())
        __tgt_target_data_update(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}
