/*
 * rex/interop.h - streams shared with other libraries, and copies between devices.
 *
 *     void *stream;
 *     rex_queue_stream(queue, &stream, NULL);       // cuBLAS then works in the order of
 *     cublasSetStream(handle, stream);              // the calls, as commands of the queue do
 *
 *     rex_queue_copy_peer(queue, there, 1, here, 0, size);  // from GPU 0 to GPU 1, over NVLink
 *
 * Everything here is since 0.2 unless it says otherwise. Guides: rex-queues(7) on streams,
 * rex-devices(7) on several GPUs.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTEROP_H
#define REX_INTEROP_H

#include <stddef.h>
#include <stdint.h>

#include "rex/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- Streams of queues, and queues of streams ------------------------------------------------
 */

/**
 * rex_queue_stream(): writes the CUstream of @queue to *@stream. If @context is not NULL, writes
 * the GPU's primary context, a CUcontext, to *@context. Pass the stream to libraries
 * (cublasSetStream(), ncclAllReduce()) and to driver calls. Work that they put in the stream runs
 * in order with the queue's commands. rex_queue_sync(), rex_queue_query(), rex_queue_destroy() and
 * events include such work, but librex does not know the memory that the work uses. Do not destroy
 * the stream or the context: they last until rex_queue_destroy(), except a stream of
 * rex_queue_from_stream(), which belongs to its owner. Returns 0, REX_EINVAL (@queue or @stream is
 * NULL, or the queue is being captured), REX_ENODEVICE (the queue has no stream, because the device
 * is not an NVIDIA GPU; not logged) or REX_EFORK.
 */
REX_API int rex_queue_stream(struct rex_queue *queue, void **stream, void **context);

#ifndef REX_BUILDING_LIBRARY

/**
 * rex_queue_from_stream(): makes a queue of @stream, which belongs to the program or to another
 * library: cuBLAS, cuFFT, NCCL, a framework. Commands of the queue run in order with the owner's
 * work in the stream. The stream must be of the device's primary context, as streams of the CUDA
 * runtime are, and must outlive the queue. The owner of the stream must not capture it while the
 * queue is used. librex never destroys the stream.
 *
 * @stream  a CUstream or cudaStream_t; NULL: the driver's legacy default stream, or a queue without
 *          a stream if the device is not an NVIDIA GPU.
 *
 * The other parameters are those of rex_queue_create(). Returns 0 or an error of
 * rex_queue_create(). Also returns REX_EINVAL if @stream is of another context or is the per-thread
 * default stream, or if @flags have a priority: the priority of a stream cannot change. Returns
 * REX_ENODEVICE if @stream is not NULL and the device is not an NVIDIA GPU.
 */
static inline int rex_queue_from_stream(struct rex_queue **queue, int64_t device, void *stream,
                                        const char *name, unsigned flags)
{
    return rex_module_queue_create(queue, &rex_this_module, device, name, flags, &stream);
}

#endif /* REX_BUILDING_LIBRARY */

/*
 * ---- Copies between devices -------------------------------------------------------------------
 */

/**
 * rex_queue_copy_peer(): copies @size bytes from @from, memory of device @from_device, to @to,
 * memory of device @to_device. For both device numbers, -1 is the default device. The devices may
 * be equal; at least one must be the queue's. If the queue's GPU has access to the other GPU
 * (struct rex_gpu), the copy runs over NVLink or PCI Express. Otherwise the copy goes through the
 * host. The queue's first copy between the GPUs enables the access. Queues of the other device need
 * an event to wait for the copy (rex_queue_wait_event()). The memory on both devices must last
 * until the copy is done. A call that ends a mapping on either device checks for this copy, as for
 * other commands of a queue. If @size is 0, @to and @from may be NULL. Returns 0; REX_EINVAL;
 * REX_EDEVICE (a device does not exist, or neither device is the queue's); REX_ENODEVICE (the
 * queue's device is an NVIDIA GPU, and the other device is not); REX_EUNSUPPORTED (on a GPU, a copy
 * between two devices in a graph); REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_copy_peer(struct rex_queue *queue, void *to, int64_t to_device,
                                const void *from, int64_t from_device, size_t size);

/**
 * rex_device_copy_peer(): copies @size bytes from @from, memory of device @from_device, to @to,
 * memory of device @to_device. For both device numbers, -1 is the default device. Returns after the
 * copy is done. @to_device and @from_device may be equal. If two GPUs have access to each other,
 * they copy over NVLink or PCI Express. Otherwise the copy goes through the host. Any thread.
 * Returns 0; REX_EINVAL (@to or @from is NULL, no module is registered, offloading is disabled, or
 * the process is ending); REX_EDEVICE; REX_ECUDA (one of the devices is lost); REX_ERUNTIME
 * (libomptarget could not copy); or REX_EFORK.
 */
REX_API int rex_device_copy_peer(void *to, int64_t to_device, const void *from, int64_t from_device,
                                 size_t size);

#ifdef __cplusplus
}
#endif

#endif
