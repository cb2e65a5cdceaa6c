/*
 * rex/device.h - devices: which there are, their memory, and host memory that they copy fast.
 *
 * Device numbers run from 0; -1 is the default device, and the number behind the last device is the
 * host. A number out of range is REX_EDEVICE.
 *
 * Every function may be called from any thread.
 *
 * Everything here is since 0.2 unless it says otherwise. Guide: rex-devices(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_DEVICE_H
#define REX_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- Devices, and the GPUs behind them --------------------------------------------------------
 */

/**
 * rex_device_count(): the number of devices that libomptarget offers for the registered images.
 * Device numbers run from 0 to this count less one; the count itself is the host. Returns 0 while
 * no module is registered (rex_offload_init()), and where OMP_TARGET_OFFLOAD is "disabled".
 */
REX_API int rex_device_count(void);

/**
 * rex_device_for_rank(): the number of the device that this process should use, for the other
 * functions or omp_set_default_device(). It is OMP_DEFAULT_DEVICE where that is a number; a warning
 * names a value that is none, as traits of OpenMP 6. Else each process that a launcher has started
 * on this machine gets a GPU in turn: its local rank modulo the number of GPUs. The rank is what
 * the launcher has put into the environment, so that the answer is the same before MPI_Init() and
 * after it. GPUs that CUDA_VISIBLE_DEVICES hides do not count. 0 for a process alone, and where
 * there is no GPU. It starts the driver and makes no context.
 * Returns the number; REX_ENODEVICE or REX_EFORK where REX_REQUIRE_GPU is on and there is no GPU,
 * or offloading is disabled.
 */
REX_API int rex_device_for_rank(void);

/** struct rex_gpu: an NVIDIA GPU, as the CUDA driver describes it. */
struct rex_gpu {
    char name[256];            /**< the model, NUL-terminated: "NVIDIA H100 80GB HBM3". */
    int32_t capability_major;  /**< compute capability: 9 of 9.0. */
    int32_t capability_minor;  /**< compute capability: 0 of 9.0. */
    int32_t multiprocessors;   /**< multiprocessors (SMs). */
    int32_t threads_per_block; /**< most threads in a block. */
    /**
     * the CUDA version of the driver: 1000 for each major, 10 for each minor number; 13000 is 13.0.
     */
    int32_t driver;
    int32_t reserved; /**< 0. */
    uint64_t memory;  /**< device memory in bytes. */
    /** most shared memory of a block in bytes, where the kernel asks for it. */
    uint64_t shared_memory;
    /** device memory in bytes that is free now; 0 where this process has not started the GPU. */
    uint64_t free_memory;
    /** bit N is set where this GPU has direct access to the memory of GPU N, over NVLink or PCI. */
    uint64_t peers;
    /** of these, bit N where its atomic operations work on that memory, too, as over NVLink. */
    uint64_t atomic_peers;
    char uuid[48]; /**< "GPU-" (or "MIG-") and the UUID, as CUDA_VISIBLE_DEVICES takes it; or "". */
    char pci[16];  /**< the PCI address as Linux writes it, "0000:3b:00.0"; "" if unknown. */
    int32_t numa_node;  /**< the NUMA node of the host that is nearest; -1 if unknown. */
    int32_t reserved_2; /**< 0. */
};

/**
 * rex_gpu_count(): the number of NVIDIA GPUs that this process may use (CUDA_VISIBLE_DEVICES
 * counts), at most 64. 0 if there is none, which is no error; rex_gpu_get() of GPU 0 says why. It
 * starts the driver, so that a child that is forked afterwards has no GPU, and makes no context.
 */
REX_API int rex_gpu_count(void);

/**
 * rex_gpu_get(): describes GPU @number, as the CUDA driver counts them, in @gpu. @size is sizeof
 * *@gpu; that much is written, so that a program that was compiled with an earlier librex gets the
 * struct that it knows. It starts the driver as rex_gpu_count() does. Where there is no GPU at all
 * the message says why: no driver, no device or CUDA_VISIBLE_DEVICES, a driver too old, a device
 * file that is missing or not permitted, a driver of another version than the kernel module's. This
 * is not logged. rex-info says what helps.
 *
 *     for (int number = 0; rex_gpu_get(&gpu, sizeof gpu, number) == 0; number++)
 *         printf("%d: %s\n", number, gpu.name);
 *
 * Returns 0; or, with @gpu unchanged, REX_EINVAL (@gpu is NULL, @size is 0 or larger than this
 * librex knows); REX_EDEVICE (there is no such GPU); REX_EFORK (the process is a child of fork, and
 * its parent has started the driver); or REX_ECUDA.
 */
REX_API int rex_gpu_get(struct rex_gpu *gpu, size_t size, int number);

/**
 * rex_device_gpu(): the GPU, as the CUDA driver counts, that is libomptarget's device @device (-1:
 * the default device). The two numbers may differ. The device is asked for 4 bytes of memory, which
 * makes its context.
 * Returns the number; REX_ENODEVICE if the device is no NVIDIA GPU, which is not logged;
 * REX_EDEVICE if there is no such device (there is none before the first registration);
 * REX_EUNSUPPORTED (the driver is older than CUDA 11.4); REX_ENOMEM (the device has no memory
 * left); or REX_ECUDA (also where the device is lost).
 */
REX_API int rex_device_gpu(int64_t device);

/*
 * ---- Mapped memory and device memory ----------------------------------------------------------
 *
 * Only rex_device_alloc() registers a module. Call the others after rex_offload_init(), a launch or
 * a data call: before, nothing is mapped, and a copy is REX_EINVAL.
 */

/**
 * rex_target_is_present(): whether @size bytes (0: one) at @address are mapped on @device: the
 * first and the last of them, in one mapping. A global is mapped once the image is loaded, which
 * rex_offload_init() or the first launch does. On the host all memory counts as mapped. False for
 * NULL, and, with REX_EDEVICE as the last error, for a device number out of range.
 */
REX_API bool rex_target_is_present(const void *address, size_t size, int64_t device);

/**
 * rex_mapped_ptr(): the device address of the mapped host @address. It belongs to the mapping and
 * is valid until that ends. Launches with the memory are waited for from then on, also with
 * REX_LAUNCH_BLOCKING=off. On the host it is @address. NULL if @address is not mapped, and, with
 * REX_EDEVICE as the last error, for a device number out of range.
 */
REX_API void *rex_mapped_ptr(const void *address, int64_t device);

/**
 * rex_device_alloc(): allocates @size bytes on @device; a kernel takes them by REX_IS_DEVICE_PTR().
 * If no module is registered, it registers one that librex knows, or that a loaded shared object
 * shows (rex_binary_module). Free the memory with rex_device_free(), for the same @device.
 * Returns the device address, or NULL with an error of rex_module_register() or:
 *
 * REX_EINVAL   @size is 0; no module is registered; offloading is disabled; the process is ending.
 * REX_EDEVICE  @device is below -1 or above the number of devices.
 * REX_ENOMEM   the device has no memory of this size.
 * REX_ECUDA    the device is lost.
 */
REX_API void *rex_device_alloc(size_t size, int64_t device);

/**
 * rex_device_free(): frees what rex_device_alloc() gave for the same @device. NULL is left alone.
 * It waits for queues of the device that have unfinished work, with a warning in the log, and for
 * launches that have returned before their kernels were done. Where the device is lost it frees
 * nothing, as libomptarget would abort, and sets REX_ECUDA as the last error. If no module is
 * registered any more, or the process is ending, it frees nothing, either, and the last error is
 * REX_EINVAL.
 */
REX_API void rex_device_free(void *memory, int64_t device);

/**
 * rex_device_sync(): waits until @device (-1: the default device) has done the launches that have
 * returned before their kernels were done (REX_OPTION_LAUNCH_BLOCKING), and the commands of all
 * queues. On a device that is no NVIDIA GPU there is nothing to wait for.
 * Returns 0; REX_EINVAL (no module is registered, offloading is disabled, or the process is
 * ending); REX_EDEVICE; or REX_ECUDA, with the kernels that may have failed if no call has told
 * them yet.
 */
REX_API int rex_device_sync(int64_t device);

/**
 * rex_device_copy_to(): copies @size bytes from the host's @from to device memory @to
 * (rex_device_alloc(), rex_mapped_ptr()), and returns when that is done. Returns 0; REX_EINVAL (@to
 * or @from is NULL, no module is registered, or offloading is disabled); REX_EDEVICE; REX_ECUDA
 * (the device is lost) or REX_ERUNTIME (libomptarget could not copy).
 */
REX_API int rex_device_copy_to(void *to, const void *from, size_t size, int64_t device);

/**
 * rex_device_copy_from(): copies @size bytes from device memory @from to the host's @to, and
 * returns when that is done. Returns likewise.
 */
REX_API int rex_device_copy_from(void *to, const void *from, size_t size, int64_t device);

/**
 * rex_device_fill(): fills @size bytes of device memory @to with copies of the @pattern_size bytes
 * (1, 2 or 4) at @pattern, and returns when that is done. @to and @size are multiples of
 * @pattern_size. The host's memory is filled as well, by its device number. Returns 0; REX_EINVAL
 * (a pointer is NULL, the pattern does not fit, no module is registered, or offloading is
 * disabled); REX_EDEVICE; REX_ENOMEM; REX_ECUDA (the driver refused it, or the device is lost) or
 * REX_ERUNTIME (libomptarget could not copy).
 */
REX_API int rex_device_fill(void *to, const void *pattern, size_t pattern_size, size_t size,
                            int64_t device);

/*
 * ---- Pinned host memory, from which a GPU copies fast -----------------------------------------
 *
 * The operating system does not move pinned memory. Where there is no GPU these functions work on
 * pageable memory, so that a program need not ask. They need no module.
 */

/**
 * rex_host_alloc(): @size bytes of pinned host memory, aligned to a page; to be freed with
 * rex_host_free(). NULL with REX_EINVAL (a size of 0), REX_ENOMEM, REX_ECUDA or REX_EFORK (the
 * parent of this process has started the driver) in rex_last_error_code().
 */
REX_API void *rex_host_alloc(size_t size);

/**
 * rex_host_free(): frees what rex_host_alloc() gave; NULL is left alone. No queue may still copy
 * from or to it, which nothing checks. Returns 0, REX_EINVAL (it is no such memory, or is freed
 * already) or REX_ECUDA (it was not freed, and the call may be made again). In a child of fork() it
 * returns 0 and leaves the parent's memory as it is.
 */
REX_API int rex_host_free(void *memory);

/**
 * rex_host_register(): pins @size bytes at @address that the program has allocated. They must stay
 * allocated until rex_host_unregister(). Pin whole arrays: the driver refuses to copy memory that
 * is pinned in part. Returns 0, REX_EINVAL (NULL, a size of 0, or the range overlaps one that is
 * pinned), REX_ENOMEM, REX_ECUDA or REX_EFORK (as for rex_host_alloc()).
 */
REX_API int rex_host_register(void *address, size_t size);

/**
 * rex_host_unregister(): undoes rex_host_register() of the same @address. Returns 0, REX_EINVAL
 * (nothing that rex_host_register() pinned begins there) or REX_ECUDA (it stays pinned, and the
 * call may be made again). In a child of fork() it returns 0, and the memory stays pinned for the
 * parent.
 */
REX_API int rex_host_unregister(void *address);

#ifdef __cplusplus
}
#endif

#endif
