/*
 * rex/device.h - devices, their memory, and pinned host memory.
 *
 * Device numbers run from 0; -1 is the default device, and the number after the last device is the
 * host. If a number is out of range, each call whose result is an error code returns REX_EDEVICE.
 *
 * Any thread may call these functions.
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
 * ---- Devices and GPUs -------------------------------------------------------------------------
 */

/**
 * rex_device_count(): returns the number of libomptarget's devices, which depends on the registered
 * images. If the result is N, device numbers are 0 to N - 1, and N is the number of the host.
 * Returns 0 if no module is registered (rex_offload_init()), if OMP_TARGET_OFFLOAD is "disabled",
 * or if the process is ending.
 */
REX_API int rex_device_count(void);

/**
 * rex_device_for_rank(): returns the number of the device that this process should use, for the
 * other functions or omp_set_default_device(). If OMP_DEFAULT_DEVICE is a number of 0 or more,
 * returns this number. Another value, such as -1 or traits of OpenMP 6, causes a warning and is
 * ignored. Without such a number, the processes that a launcher, such as mpirun, has started on
 * this machine take the GPUs in turn. The result is then the local rank modulo the number of GPUs.
 * If libomptarget has devices, but fewer than there are GPUs, the number of devices replaces the
 * number of GPUs. The launcher sets the rank in the environment, so the result is equal before and
 * after MPI_Init(). GPUs that CUDA_VISIBLE_DEVICES hides do not count. If the launcher sets only
 * PMIX_RANK, the rank in the whole job replaces the local rank. The result is 0 if no launcher
 * started the process, or if there is no GPU. The call starts the driver but makes no context.
 *
 * With REX_REQUIRE_GPU=on, a missing GPU or disabled offloading is an error. The call then returns
 * REX_ENODEVICE, or REX_EFORK if the parent of this process had started the driver before it
 * forked.
 */
REX_API int rex_device_for_rank(void);

/** struct rex_gpu: an NVIDIA GPU, as the CUDA driver describes it. */
struct rex_gpu {
    char name[256];            /**< the model, NUL-terminated: "NVIDIA H100 80GB HBM3". */
    int32_t capability_major;  /**< compute capability, major number: 9 of 9.0. */
    int32_t capability_minor;  /**< compute capability, minor number: 0 of 9.0. */
    int32_t multiprocessors;   /**< number of multiprocessors (SMs). */
    int32_t threads_per_block; /**< maximum number of threads of a block. */
    /**
     * CUDA version of the driver: 1000 times the major plus 10 times the minor number; 13000 is
     * 13.0.
     */
    int32_t driver;
    int32_t reserved; /**< 0. */
    uint64_t memory;  /**< device memory in bytes. */
    /**
     * maximum shared memory of a block in bytes, if the block's kernel asks for more than the
     * default maximum.
     */
    uint64_t shared_memory;
    /** free device memory in bytes now; 0 if this process has no context on the GPU. */
    uint64_t free_memory;
    /**
     * bit N is set if this GPU has direct access to the memory of another GPU N, over NVLink or
     * PCI.
     */
    uint64_t peers;
    /**
     * bit N is set if this GPU can do atomic operations in the memory of another GPU N, for example
     * over NVLink.
     */
    uint64_t atomic_peers;
    char uuid[48]; /**< "GPU-" or "MIG-", then the UUID: for CUDA_VISIBLE_DEVICES. "" if unknown. */
    char pci[16];  /**< the PCI address as Linux writes it, "0000:3b:00.0"; "" if unknown. */
    int32_t numa_node;  /**< the nearest NUMA node of the host; -1 if unknown. */
    int32_t reserved_2; /**< 0. */
};

/**
 * rex_gpu_count(): returns the number of NVIDIA GPUs that this process may use, at most 64.
 * CUDA_VISIBLE_DEVICES limits the number. The number 0 is not an error: for GPU 0 rex_gpu_get()
 * then reports the reason. rex_gpu_count() makes no context, but starts the driver, so a child that
 * is forked later cannot use a GPU.
 */
REX_API int rex_gpu_count(void);

/**
 * rex_gpu_get(): writes a description of GPU @number to @gpu. The numbers are in the CUDA driver's
 * order. @size is sizeof *@gpu. The call writes only @size bytes, because a program that was
 * compiled with an earlier librex may have a smaller struct. The call starts the driver, as
 * rex_gpu_count() does.
 *
 * If there is no GPU at all, the message has the reason. Examples are a missing driver,
 * CUDA_VISIBLE_DEVICES, a device file that this process may not open, or a driver that does not
 * match its kernel module. The error is not logged in this case. rex-info(1) reports the cure if it
 * knows one.
 *
 *     for (int number = 0; rex_gpu_get(&gpu, sizeof gpu, number) == 0; number++)
 *         printf("%d: %s\n", number, gpu.name);
 *
 * If there is a GPU, the last call of this loop logs REX_EDEVICE. A loop up to rex_gpu_count() logs
 * nothing.
 *
 * Returns 0 or one of these errors. After an error @gpu is unchanged:
 *
 * REX_EINVAL   @gpu is NULL, @size is 0, or @size is larger than the struct of this librex.
 * REX_EDEVICE  GPU @number does not exist.
 * REX_EFORK    the parent of this process had started the driver before the fork.
 * REX_ECUDA    the driver failed.
 */
REX_API int rex_gpu_get(struct rex_gpu *gpu, size_t size, int number);

/**
 * rex_device_gpu(): returns the CUDA driver's number of the GPU that is libomptarget's device
 * @device (-1: the default device). The two numbers may differ. The call makes the device's
 * context, because the call allocates 4 bytes on the device for a moment. A negative result is one
 * of these errors:
 *
 * REX_ENODEVICE     the device is not an NVIDIA GPU. This error is not logged.
 * REX_EDEVICE       the device does not exist. If rex_device_count() is 0, there are no devices.
 * REX_EINVAL        the process is ending.
 * REX_EUNSUPPORTED  the driver is older than CUDA 11.4.
 * REX_ENOMEM        the device has no free memory.
 * REX_ERUNTIME      libomptarget could not write or run the file of a host image.
 * REX_ECUDA         the driver failed, or the device is lost.
 */
REX_API int rex_device_gpu(int64_t device);

/*
 * ---- Mapped memory and device memory ----------------------------------------------------------
 *
 * Of these functions only rex_device_alloc() registers a module. Call the other functions after
 * rex_offload_init(), a launch, a data call or the creation of a queue. Before that, no memory is
 * mapped, and a copy returns REX_EINVAL.
 *
 * In a process that was forked while another thread was inside libomptarget, these functions fail
 * with REX_EFORK. But rex_target_is_present() and rex_mapped_ptr() only return false and NULL then.
 */

/**
 * rex_target_is_present(): returns true if one mapping on @device has the @size bytes (0: one byte)
 * at @address. A global is mapped when libomptarget loads the image on @device; rex_offload_init()
 * loads it on the default device. If @device is the number of the host, all memory counts as
 * mapped. Returns false if @address is NULL, no module is registered, or offloading is disabled. If
 * @device is out of range, returns false and sets the last error to REX_EDEVICE.
 */
REX_API bool rex_target_is_present(const void *address, size_t size, int64_t device);

/**
 * rex_mapped_ptr(): returns the device address of the mapped host @address. The device address is
 * valid until the mapping ends. After this call, launches that use the mapping wait for their
 * kernels, even with REX_LAUNCH_BLOCKING=off. If @device is the number of the host, returns
 * @address. Returns NULL if @address is not mapped, no module is registered, or offloading is
 * disabled. If @device is out of range, returns NULL and sets the last error to REX_EDEVICE.
 */
REX_API void *rex_mapped_ptr(const void *address, int64_t device);

/**
 * rex_device_alloc(): allocates @size bytes on @device; pass the address to a launch by
 * REX_IS_DEVICE_PTR(). If no module is registered, the call registers a module that librex knows,
 * or the module of a loaded shared object (rex_binary_module). librex knows the program's own
 * module only after another call has used it, such as rex_offload_init(). Free the memory with
 * rex_device_free() for the same @device. Returns the device address. After an error, returns NULL
 * and sets the last error to an error of rex_module_register(), or to one of these:
 *
 * REX_EINVAL   @size is 0; librex finds no module; offloading is disabled; or the process is
 *              ending.
 * REX_EDEVICE  @device does not exist.
 * REX_ENOMEM   the device does not have @size bytes of free memory.
 * REX_ECUDA    the device is lost.
 */
REX_API void *rex_device_alloc(size_t size, int64_t device);

/**
 * rex_device_free(): frees @memory of rex_device_alloc() for the same @device. If @memory is NULL,
 * the call does nothing. For each queue with unfinished commands on the device, the call logs a
 * warning and waits. A queue of another device counts, too, if the queue copies between the two
 * devices. The call also waits for the device's launches that have returned before their kernels
 * were done.
 *
 * After an error the memory is not freed, and rex_last_error_code() is one of these:
 *
 * REX_EINVAL   no module is registered, offloading is disabled, or the process is ending.
 * REX_EDEVICE  the device number is out of range.
 * REX_ECUDA    the device is lost, and libomptarget would abort.
 */
REX_API void rex_device_free(void *memory, int64_t device);

/**
 * rex_device_sync(): waits until @device (-1: the default device) has done the commands of all
 * queues of this device, and the launches that have returned before their kernels were done
 * (REX_OPTION_LAUNCH_BLOCKING). If the device is not an NVIDIA GPU, the call returns at once.
 * Returns 0 or:
 *
 * REX_EINVAL   no module is registered, offloading is disabled, or the process is ending.
 * REX_EDEVICE  the device number is out of range.
 * REX_ECUDA    the driver failed, or the device is lost. The message names the kernels that may
 *              have failed, unless an earlier call has reported them.
 */
REX_API int rex_device_sync(int64_t device);

/**
 * rex_device_copy_to(): copies @size bytes from the host's @from to device memory @to
 * (rex_device_alloc(), rex_mapped_ptr()), and returns when the copy is done. Returns 0 or:
 *
 * REX_EINVAL    @to or @from is NULL, no module is registered, offloading is disabled, or the
 *               process is ending.
 * REX_EDEVICE   the device number is out of range.
 * REX_ECUDA     the device is lost.
 * REX_ERUNTIME  libomptarget could not copy.
 */
REX_API int rex_device_copy_to(void *to, const void *from, size_t size, int64_t device);

/**
 * rex_device_copy_from(): copies @size bytes from device memory @from to the host's @to, and
 * returns when the copy is done. The results are those of rex_device_copy_to().
 */
REX_API int rex_device_copy_from(void *to, const void *from, size_t size, int64_t device);

/**
 * rex_device_fill(): fills the @size bytes of device memory at @to with copies of a pattern. The
 * pattern is the @pattern_size bytes (1, 2 or 4) at @pattern. The call returns when the fill is
 * done. Both @to and @size must be multiples of @pattern_size. If @device is the number of the
 * host, @to must be host memory. Returns 0 or:
 *
 * REX_EINVAL    a pointer is NULL; @pattern_size is not 1, 2 or 4; @to or @size is not a multiple
 *               of @pattern_size; no module is registered; offloading is disabled; or the process
 *               is ending.
 * REX_EDEVICE   the device number is out of range.
 * REX_ENOMEM    the host or the device has too little memory.
 * REX_ECUDA     the driver refused the fill, or the device is lost.
 * REX_ERUNTIME  libomptarget could not copy the pattern.
 */
REX_API int rex_device_fill(void *to, const void *pattern, size_t pattern_size, size_t size,
                            int64_t device);

/*
 * ---- Pinned host memory, from which a GPU copies fast -----------------------------------------
 *
 * The operating system does not move pinned memory. If there is no GPU, these functions succeed
 * with pageable memory, so a program need not check for a GPU. No module has to be registered.
 */

/**
 * rex_host_alloc(): allocates @size bytes of pinned host memory, aligned for any type, but not
 * always to a page. Free the memory with rex_host_free(). Returns the address. After an error,
 * returns NULL and sets the last error to one of these:
 *
 * REX_EINVAL  @size is 0.
 * REX_ENOMEM  the host has too little memory.
 * REX_ECUDA   the driver failed.
 * REX_EFORK   the parent of this process had started the driver before the fork.
 */
REX_API void *rex_host_alloc(size_t size);

/**
 * rex_host_free(): frees @memory of rex_host_alloc(). If @memory is NULL, the call does nothing. No
 * queue may still copy from or to the memory; librex does not check this. In a child of fork() the
 * call returns 0, and the parent's memory does not change. Returns 0 or:
 *
 * REX_EINVAL  rex_host_alloc() did not return @memory, or @memory is freed already.
 * REX_ECUDA   the driver failed. The memory is not freed, and the call may be repeated.
 */
REX_API int rex_host_free(void *memory);

/**
 * rex_host_register(): pins the @size bytes at @address. The program must have allocated the bytes,
 * and must not free them before rex_host_unregister(). Pin whole arrays: the driver refuses to copy
 * memory that is pinned in part. Returns 0 or:
 *
 * REX_EINVAL  @address is NULL; @size is 0; the range overlaps a range that librex has pinned; or
 *             the range passes the last address.
 * REX_ENOMEM  the host has too little memory.
 * REX_ECUDA   the driver failed.
 * REX_EFORK   the parent of this process had started the driver before the fork.
 */
REX_API int rex_host_register(void *address, size_t size);

/**
 * rex_host_unregister(): unpins the memory that rex_host_register() pinned at @address. In a child
 * of fork() the call returns 0, and the memory stays pinned for the parent. Returns 0 or:
 *
 * REX_EINVAL  rex_host_register() has pinned no range that begins at @address.
 * REX_ECUDA   the driver failed. The memory stays pinned, and the call may be repeated.
 */
REX_API int rex_host_unregister(void *address);

#ifdef __cplusplus
}
#endif

#endif
