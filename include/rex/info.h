/*
 * rex/info.h - what librex would do on this machine, and the GPUs that it has.
 *
 * Nothing here registers anything. rex_info() opens libomptarget as the first registration would; the rest asks the CUDA driver alone, so
 * that both work before any registration, without a GPU, a driver or a libomptarget. rex-info(1) prints what they say.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_H
#define REX_INFO_H

#include "rex/offload.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * rex_info_row: receives one fact from rex_info(). @group, @name and @value are strings that last until it returns, never NULL; @context
 * is the caller's. It may call any librex function but rex_info(). Since 0.1.
 */
typedef void rex_info_row(const char *group, const char *name, const char *value, void *context);

/**
 * rex_info(): calls @row with what librex does on this machine, one fact at a time, groups together. Later versions may have more groups
 * and names; those of a group come in the order in which librex looks at them.
 *
 *   librex        version, file, compiler, architecture
 *   libomptarget  path, release, chosen by, told by; or error: why there is none
 *   adapted       what librex does for that release: the subject, and what is done and why
 *   searched      each place where a libomptarget is looked for: a pattern of folders
 *   found         each libomptarget there, and its release or why it is none, the best first
 *   plugin        the plugins of the bound libomptarget: their files; `all`, in one row, for releases that have them inside
 *   driver        kernel module, file (libcuda.so.1), CUDA version; or error: why no GPU can be used, and what helps; or trouble: why
 *                 libomptarget might not use the GPUs
 *   setting       each option of rex_configure() under its environment variable's name: the value, and where it is from
 *
 * libomptarget is bound where it can be, and stays so, as after rex_runtime_bind().
 * Returns 0, also where there is no libomptarget; REX_EINVAL if @row is NULL. From one thread at a time. Since 0.1.
 */
REX_API int rex_info(rex_info_row *row, void *context);

/** struct rex_gpu: an NVIDIA GPU, as the CUDA driver describes it. Since 0.1. */
struct rex_gpu {
    char name[256];               /**< the model, NUL-terminated: "NVIDIA H100 80GB HBM3". */
    int32_t capability_major;     /**< compute capability: 9 of 9.0. */
    int32_t capability_minor;     /**< compute capability: 0 of 9.0. */
    int32_t multiprocessors;      /**< multiprocessors (SMs). */
    int32_t threads_per_block;    /**< most threads in a block. */
    int32_t driver;               /**< the CUDA version of the driver: 1000 for each major, 10 for each minor number; 13000 is 13.0. */
    int32_t reserved;             /**< 0. */
    uint64_t memory;              /**< device memory in bytes. */
    uint64_t shared_memory;       /**< most shared memory of a block in bytes, where the kernel asks for it. */
};

/**
 * rex_gpu_count(): the number of NVIDIA GPUs that this process may use (CUDA_VISIBLE_DEVICES counts), at most 64. 0 if there is none,
 * and then rex_last_error() says why, and what helps: no driver, no device or CUDA_VISIBLE_DEVICES, a driver too old, a device file that is
 * missing or not permitted, a driver of another version than the kernel module's; in a child of fork, that its parent has started the
 * driver (REX_EFORK). It starts the driver and makes no context. Any thread. Since 0.1.
 */
REX_API int rex_gpu_count(void);

/**
 * rex_gpu_get(): describes GPU @number, as the CUDA driver counts them, in @gpu. @size is sizeof *@gpu; that much is written. Returns 0;
 * REX_EINVAL (@gpu is NULL, @size is 0 or larger than this librex knows), REX_EDEVICE (there is no such GPU; the message says why there is
 * none at all), REX_EFORK or REX_ECUDA; @gpu is unchanged then. Any thread. Since 0.1.
 */
REX_API int rex_gpu_get(int number, struct rex_gpu *gpu, size_t size);

/**
 * rex_device_gpu(): the GPU, as the CUDA driver counts, that is libomptarget's device @device (-1: the default device). libomptarget counts
 * the devices of all its plugins together, in the order in which registered images first needed them, so that numbers differ where
 * images of more than one kind have been registered. The device is asked for 4 bytes of memory, which makes its context.
 * Returns the number; REX_ENODEVICE if the device is no NVIDIA GPU; REX_EDEVICE if there is no such device (there is none before the first
 * registration); REX_ENOMEM or REX_ECUDA. Any thread. Since 0.1.
 */
REX_API int rex_device_gpu(int device);

#ifdef __cplusplus
}
#endif
#endif
