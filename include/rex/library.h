/*
 * rex/library.h - kernels by name: for code generators that bring images, and no entry tables.
 *
 *     struct rex_library *library;
 *     rex_library_load(&library, -1, bytes, size, "generated");  // or NULL, 0, "generated.cubin"
 *     struct rex_launch_config launch =
 *         rex_launch_config_of(rex_library_kernel(library, "scale"), 256, 128);
 *     void *arguments[] = {&n, &factor, &x};                     // x: an address on the device
 *     launch.queue = queue;
 *     rex_library_launch(library, &launch, arguments, 3);
 *     rex_queue_sync(queue);
 *     rex_library_unload(library);
 *
 * A program needs no entries and no image of its own: once a library is loaded, rex_queue_create()
 * makes queues, and rex_device_alloc() and the other calls of rex/device.h that need a registered
 * module work.
 *
 * An image is what rex_module_register() takes: CUBIN, fatbin, PTX, OffloadBinary or a host image.
 * The one for the device is chosen, and the CUDA driver compiles PTX.
 *
 * Where a call fails, nothing is stored, launched or ended. A library that was unloaded is
 * REX_EINVAL, until another one is loaded.
 *
 * Threads: any number of threads may use a library. It must not be unloaded while another thread
 * uses it.
 *
 * Everything here is since 0.2 unless it says otherwise. Guide: rex-queues(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_LIBRARY_H
#define REX_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "rex/inspect.h"
#include "rex/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/** struct rex_library: a loaded image, which rex_library_load() makes. */
struct rex_library;

/**
 * rex_library_load(): loads an image, on @device at once and on others when they first need it.
 *
 * @library  where the new library is stored; end it with rex_library_unload().
 * @device   device number, -1 for the default device as it is now.
 * @image    the image in memory, of @size bytes, which are copied; NULL: it is in the file @name.
 * @name     the file, or what messages call the image in memory; copied. A file name with a slash
 *           is a path; without one it is looked for as by rex_module_register(). Several files have
 *           ':' between them.
 *
 * Returns 0, REX_EINVAL, REX_ENOMEM, REX_ENOIMAGE, REX_EREAD, REX_EIMAGE, REX_EUNSAFE,
 * REX_ENODEVICE (no image in it suits); REX_ENOKERNEL (it has no kernel); REX_EDEVICE,
 * REX_ENORUNTIME, REX_ERUNTIME; REX_EUNSUPPORTED (the device is of another kind than the image, or
 * than those of registered modules; or as rex_module_register() says), REX_ECUDA, REX_EFORK or
 * REX_EBUSY (as rex_module_register() says).
 */
REX_API int rex_library_load(struct rex_library **library, int64_t device, const void *image,
                             size_t size, const char *name);

/**
 * rex_library_kernel(): finds a kernel by @name, its symbol in the image. This is
 * `NAME__kernel__` for REX_DEVICE_KERNEL(NAME), and for C++ the mangled name, if the kernel is not
 * extern "C". rex_library_view() lists the names and parameters. Returns the kernel's host key, for
 * `key` of a struct rex_launch_config; it is valid until @library is unloaded. Or NULL with
 * REX_EINVAL, or with REX_ENOKERNEL and the nearest names in the message.
 */
REX_API const void *rex_library_kernel(const struct rex_library *library, const char *name);

/**
 * rex_library_view(): what is in the image: kernels, their parameters, globals (rex/inspect.h). It
 * belongs to @library and lasts as long. NULL, with REX_EINVAL as the last error, if @library is
 * NULL or was unloaded.
 */
REX_API const struct rex_image_view *rex_library_view(const struct rex_library *library);

/**
 * rex_library_global(): where the global called @name is on @device (-1: the default device), in
 * @address, and its size in bytes in @size. For rex_queue_copy_to() and the like; valid until
 * @library is unloaded. A host image written with rex/kernel.h has those of REX_DEVICE_GLOBAL().
 * Returns 0, REX_EINVAL, REX_ENOKERNEL (there is none of that name; the message has the nearest),
 * REX_EABSENT (it is not on that device, which is the host, or offloading is disabled),
 * REX_EDEVICE, REX_EUNSUPPORTED, REX_ENOMEM or REX_ECUDA.
 */
REX_API int rex_library_global(void **address, size_t *size, struct rex_library *library,
                               int64_t device, const char *name);

/**
 * rex_library_launch(): puts a launch of a kernel of @library in a queue, or in the graph that is
 * captured there, and returns. No argument is looked up or copied: addresses are those of the
 * device. In a graph rex_graph_set_args() takes new arguments as a map of REX_VALUE()s.
 *
 * @launch     the kernel, by its key, the grid and the queue; its device is -1 or the queue's.
 * @arguments  @count addresses, one for each argument, in order; NULL where @count is 0. The
 *             arguments are read at the call: as many bytes as the parameter has, or its type if
 *             the kernel is a REX_DEVICE_KERNEL(). If a host image does not tell the parameters,
 *             each has 8 bytes. Arguments in one block, a C struct with a member of each
 *             parameter's type, are at the offsets that rex_library_view() tells.
 *
 * Returns 0; REX_EHOST (nothing was launched: offloading is disabled, or the device is the host);
 * REX_EINVAL (a pointer is NULL, of an argument as well); REX_EKEY (the key is of no kernel of
 * @library); REX_EPARAMS (the number of arguments is not the kernel's; or the image has a
 * signature, and an argument that should be an address is none); REX_EDEVICE; REX_ENOKERNEL (the
 * image does not tell the parameters); REX_EUNSUPPORTED (a parameter of more than 8 bytes on the
 * host device); REX_ECUDA, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_library_launch(struct rex_library *library, const struct rex_launch_config *launch,
                               void *const *arguments, size_t count);

/**
 * rex_library_unload(): ends @library; NULL is left alone. While a graph has launches of it, the
 * image stays until the last such graph is destroyed. With REX_UNFINISHED=wait (rex_configure()) it
 * waits for unfinished launches of it. Returns 0; REX_EINVAL (it was unloaded before); REX_EBUSY,
 * with nothing ended (a queue has unfinished launches of it); REX_ECUDA (the wait failed);
 * REX_EFORK; on the host device an error of rex_module_fini().
 */
REX_API int rex_library_unload(struct rex_library *library);

#ifdef __cplusplus
}
#endif

#endif
