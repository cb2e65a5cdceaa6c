/*
 * rex/interop.h - beside other libraries, and between GPUs: the streams of queues, and copies from
 * one device to another.
 *
 *     void *stream;
 *     rex_queue_stream(queue, &stream, NULL);       // what cuBLAS does comes after what the queue
 *     cublasSetStream(handle, stream);              // was given, and before what it gets next
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
 * ---- Streams of other libraries, and queues of them ------------------------------------------
 */

/**
 * rex_queue_stream(): stores in @stream the CUstream of @queue, and in @context its CUcontext, the
 * primary one of the GPU. @context may be NULL. For libraries that take a stream
 * (cublasSetStream(), ncclAllReduce()) and for calls of the driver. Their work is done in order
 * with the queue's, and rex_queue_sync(), rex_queue_query(), rex_queue_destroy() and events count
 * it. librex does not know which memory that work uses. Both belong to librex, and last until
 * rex_queue_destroy(). Returns 0, REX_EINVAL (NULL, or the queue is being captured), REX_ENODEVICE
 * (the device is no NVIDIA GPU, and the queue has no stream; this is not logged) or REX_EFORK.
 */
REX_API int rex_queue_stream(struct rex_queue *queue, void **stream, void **context);

#ifndef REX_BUILDING_LIBRARY

/**
 * rex_queue_from_stream(): makes a queue of @stream, which belongs to the program or to another
 * library: cuBLAS, cuFFT, NCCL, a framework. Commands of the queue are done in order with what the
 * owner puts in the stream. The stream must be of the primary context of the device, as those of
 * the CUDA runtime are, and outlast the queue. Its owner must not capture it while the queue is
 * used. librex never destroys it.
 *
 * @stream  a CUstream or cudaStream_t; NULL: the driver's default stream (not that of each thread),
 *          or a queue without a stream where the device is no NVIDIA GPU.
 *
 * The other parameters are those of rex_queue_create().
 * Returns 0 or an error of rex_queue_create(); REX_EINVAL also where @stream is of another context,
 * or the default stream of each thread, or where @flags have a priority, which is the stream's own;
 * REX_ENODEVICE where there is one and the device is no
 * NVIDIA GPU.
 */
static inline int rex_queue_from_stream(struct rex_queue **queue, int64_t device, void *stream,
                                        const char *name, unsigned flags)
{
    return rex_module_queue_create(queue, &rex_this_module, device, name, flags, &stream);
}

#endif /* REX_BUILDING_LIBRARY */

/*
 * ---- Copies from one device to another --------------------------------------------------------
 */

/**
 * rex_queue_copy_peer(): copies @size bytes from @from, memory of device @from_device, to @to,
 * memory of device @to_device: the same device or another; one of them is the queue's (-1: the
 * default device). Between two GPUs the bytes go over NVLink or PCI Express where one has access to
 * the other (struct rex_gpu), through the host where not; the first such copy of a queue asks for
 * that access. Only an event orders the copy for queues of the other device
 * (rex_queue_wait_event()). The memory of both devices must last until the copy is done; regions on
 * both know of it as of other copies. Returns 0; REX_EINVAL; REX_EDEVICE (there is no such device,
 * or none of the two is the queue's); REX_ENODEVICE (the other one is no NVIDIA GPU);
 * REX_EUNSUPPORTED (on a GPU, a copy to another device in a graph); REX_ECUDA, REX_ERUNTIME,
 * REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_copy_peer(struct rex_queue *queue, void *to, int64_t to_device,
                                const void *from, int64_t from_device, size_t size);

/**
 * rex_device_copy_peer(): copies @size bytes from @from, memory of device @from_device, to @to,
 * memory of device @to_device: the same device or another, over NVLink or PCI Express where the two
 * reach each other, through the host where not. It returns when the copy is done. Any thread.
 * Returns 0; REX_EINVAL (@to or @from is NULL, no module is registered, or offloading is disabled);
 * REX_EDEVICE; REX_ECUDA (one of the devices is lost) or REX_ERUNTIME (libomptarget could not
 * copy).
 */
REX_API int rex_device_copy_peer(void *to, int64_t to_device, const void *from, int64_t from_device,
                                 size_t size);

#ifdef __cplusplus
}
#endif

#endif
