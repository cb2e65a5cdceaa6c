/*
 * rex/device.h - devices: which there are, their memory, and host memory that they copy fast.
 *
 * Device numbers run from 0; -1 is the default device, and the number behind the last device is the
 * host.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_DEVICE_H
#define REX_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex/offload.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * rex_device_count(): the number of devices that libomptarget offers for the registered images; 0
 * while no module is registered. Device numbers run from 0 to this count less one; the count itself
 * is the host.
 */
REX_API int rex_device_count(void);

/**
 * rex_device_for_rank(): the number of the device that this process should use, to be given to the
 * other functions or omp_set_default_device(): OMP_DEFAULT_DEVICE where that is a number; else, for
 * one of several processes of a parallel job on this machine, the GPU whose turn it is: its local
 * rank modulo the number of GPUs, so that each has one of its own as long as there are enough. The
 * rank is what Open MPI, MVAPICH, MPICH, Intel MPI, PALS, Flux, PMIx or Slurm has put into the
 * environment: the answer is the same before MPI_Init() and after it, and no MPI is needed. GPUs
 * that CUDA_VISIBLE_DEVICES hides are not counted: where each process sees one alone it is 0. 0
 * also for one process alone, and where there is no GPU. It starts the driver and makes no context.
 * Returns the number; REX_ENODEVICE or REX_EFORK where REX_REQUIRE_GPU is on and there is no GPU.
 * Any thread.
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
 * starts the driver and makes no context. Any thread.
 */
REX_API int rex_gpu_count(void);

/**
 * rex_gpu_get(): describes GPU @number, as the CUDA driver counts them, in @gpu. @size is sizeof
 * *@gpu; that much is written. Returns 0; REX_EINVAL (@gpu is NULL, @size is 0 or larger than this
 * librex knows); REX_EDEVICE (there is no such GPU); REX_EFORK (the process is a child of fork, and
 * its parent has started the driver); or REX_ECUDA. @gpu is unchanged on an error. Where there is
 * no GPU at all the message says why: no driver, no device or CUDA_VISIBLE_DEVICES, a driver too
 * old, a device file that is missing or not permitted, a driver of another version than the kernel
 * module's. rex-info says what helps. It starts the driver and makes no context. Any thread.
 */
REX_API int rex_gpu_get(struct rex_gpu *gpu, size_t size, int number);

/**
 * rex_device_gpu(): the GPU, as the CUDA driver counts, that is libomptarget's device @device (-1:
 * the default device). libomptarget counts the devices of all its plugins together, in the order in
 * which registered images first needed them. So the numbers differ where images of more than one
 * kind have been registered. The device is asked for 4 bytes of memory, which makes its context.
 * Returns the number; REX_ENODEVICE if the device is no NVIDIA GPU; REX_EDEVICE if there is no such
 * device (there is none before the first registration); REX_ENOMEM or REX_ECUDA. Any thread.
 */
REX_API int rex_device_gpu(int64_t device);

/*
 * ---- Device memory ----------------------------------------------------------------------------
 */

/**
 * rex_target_is_present(): whether @size bytes (0: one) at @address are mapped on @device, first
 * and last byte in one mapping. NULL is not.
 */
REX_API bool rex_target_is_present(const void *address, size_t size, int64_t device);

/**
 * rex_mapped_ptr(): device address of the mapped host @address, NULL if it is not mapped. Valid
 * until its mapping ends.
 */
REX_API void *rex_mapped_ptr(const void *address, int64_t device);

/**
 * rex_device_alloc(): @size bytes on @device, or NULL with an error: REX_EINVAL (no module is
 * registered), REX_EDEVICE, REX_ENOMEM, or REX_ECUDA (a queue has found the device lost). If no
 * module is registered, it registers one that librex knows, or that a loaded shared object shows
 * (rex_binary_module), and returns NULL with an error of rex_module_register() if that fails. Free
 * the memory with rex_device_free().
 */
REX_API void *rex_device_alloc(size_t size, int64_t device);

/**
 * rex_device_free(): frees what rex_device_alloc() gave for the same @device, after waiting for the
 * queues of that device. NULL is left alone. Where a queue has found the device lost nothing is
 * freed, as libomptarget would abort, and rex_last_error() says so.
 */
REX_API void rex_device_free(void *memory, int64_t device);

/**
 * rex_device_copy_to(): copies @size bytes from the host's @from to device memory @to
 * (rex_device_alloc(), rex_mapped_ptr()). Returns 0, REX_EINVAL, REX_EDEVICE, REX_ECUDA (a
 * queue has found the device lost) or REX_ERUNTIME.
 */
REX_API int rex_device_copy_to(void *to, const void *from, size_t size, int64_t device);

/**
 * rex_device_copy_from(): copies @size bytes from device memory @from to the host's @to. Returns
 * likewise.
 */
REX_API int rex_device_copy_from(void *to, const void *from, size_t size, int64_t device);

/*
 * ---- Pinned host memory -----------------------------------------------------------------------
 *
 * Memory that the operating system does not move, from which a GPU copies at about five times the
 * speed. Where there is no GPU these functions work on pageable memory, so that a program need not
 * ask. Pinning costs about 50 microseconds a megabyte, once.
 */

/**
 * rex_host_alloc(): @size bytes of pinned host memory, aligned to a page; to be freed with
 * rex_host_free(). NULL with REX_EINVAL (a size of 0), REX_ENOMEM, REX_ECUDA or REX_EFORK in
 * rex_last_error_code().
 */
REX_API void *rex_host_alloc(size_t size);

/**
 * rex_host_free(): frees what rex_host_alloc() gave; NULL is left alone. Returns 0, REX_EINVAL
 * (it is no such memory) or REX_ECUDA (it was not freed, and the call may be made again).
 */
REX_API int rex_host_free(void *memory);

/**
 * rex_host_register(): pins @size bytes at @address that the program has allocated. They must stay
 * allocated until rex_host_unregister(). Pin whole arrays: the driver refuses to copy memory that
 * is pinned in part. Returns 0, REX_EINVAL (NULL, a size of 0, or the range overlaps one that is
 * pinned), REX_ENOMEM, REX_ECUDA or REX_EFORK.
 */
REX_API int rex_host_register(void *address, size_t size);

/**
 * rex_host_unregister(): undoes rex_host_register() of the same @address. Returns 0, REX_EINVAL
 * (nothing is pinned there) or REX_ECUDA (it stays pinned, and the call may be made again).
 */
REX_API int rex_host_unregister(void *address);

#ifdef __cplusplus
}
#endif

#endif
