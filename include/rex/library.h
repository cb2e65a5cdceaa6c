/*
 * rex/library.h - kernels by name, for code generators that have images but no entry tables.
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
 * A program needs no entries and no image of its own. After a library is loaded, the calls of
 * rex/device.h that need a registered module, such as rex_device_alloc(), need no other module. In
 * a binary with entries, rex_queue_create() first registers the binary's own module. In a binary
 * without entries, rex_queue_create() needs no other module either. But if offloading is disabled,
 * rex_queue_create() returns REX_EINVAL in a binary without entries.
 *
 * Images are those that rex_module_register() takes: CUBIN, fatbin, PTX, OffloadBinary or a host
 * image. Of several images librex chooses one, as for a module. The CUDA driver compiles PTX.
 *
 * A call with an unloaded library fails with REX_EINVAL. After another library is loaded, librex
 * may no longer find such a mistake.
 *
 * Any number of threads may use a library. Do not unload it while another thread uses it.
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

/** struct rex_library: a loaded image. rex_library_load() makes the object. */
struct rex_library;

/**
 * rex_library_load(): loads an image on @device at once. On other devices, an image for GPUs is
 * loaded at the library's first use of the device, and a host image no later than the library's
 * first launch. If offloading is disabled, the call loads the image on no device. If @device is the
 * host, the call loads no image for GPUs, and loads a host image only if devices are in use
 * already.
 *
 * @library  receives the new library; end it with rex_library_unload().
 * @device   device number; -1: the default device at this call.
 * @image    the image in memory, @size bytes, which librex copies; NULL: the image is in the file
 *           @name.
 * @name     the file name, or a name for the image in messages; copied. A name with a slash is a
 *           path. librex looks for a name without a slash in $REX_CUBIN_PATH, beside the
 *           executable, then in the current directory. A list of files has ':' between the names.
 *
 * Returns 0 or:
 *
 * REX_EINVAL        @library or @name is NULL, or the process is ending.
 * REX_EDEVICE       the device number is out of range.
 * REX_ENODEVICE     no image fits a device of this machine. Or REX_REQUIRE_GPU is on, and the image
 *                   is for the CPU or offloading is disabled.
 * REX_ENOKERNEL     the image has no kernel, and is not a host image with globals. Or a reason of
 *                   rex_module_register().
 * REX_EUNSUPPORTED  with an image for GPUs: @device is neither the host nor an NVIDIA GPU, or the
 *                   driver is older than CUDA 11.4. With any image: a reason of
 *                   rex_module_register().
 *
 * For the reasons of rex_module_register(), the call also returns REX_ENOMEM, REX_ENORUNTIME,
 * REX_ERUNTIME, REX_ENOIMAGE, REX_EREAD, REX_EIMAGE, REX_EUNSAFE, REX_ECUDA, REX_EFORK or
 * REX_EBUSY.
 */
REX_API int rex_library_load(struct rex_library **library, int64_t device, const void *image,
                             size_t size, const char *name);

/**
 * rex_library_kernel(): finds a kernel by @name, the kernel's symbol in the image. The symbol is
 * `NAME__kernel__` for REX_DEVICE_KERNEL(NAME), and the mangled name for a C++ kernel that is not
 * extern "C". rex_library_view() lists the names and parameters. Returns the kernel's host key, for
 * `key` of a struct rex_launch_config; the key is valid until @library is unloaded. If @library or
 * @name is NULL, or @library was unloaded, returns NULL and sets the last error to REX_EINVAL. If
 * no kernel has this name, returns NULL and sets the last error to REX_ENOKERNEL. In that case the
 * message has the nearest name, or the first names in the image.
 */
REX_API const void *rex_library_kernel(const struct rex_library *library, const char *name);

/**
 * rex_library_view(): returns the view of the image: kernels, their parameters and globals
 * (rex/inspect.h). The view belongs to @library and is valid until @library is unloaded. If
 * @library is NULL or was unloaded, returns NULL and sets the last error to REX_EINVAL.
 */
REX_API const struct rex_image_view *rex_library_view(const struct rex_library *library);

/**
 * rex_library_global(): writes the address of the global @name on @device (-1: the default device)
 * to @address, and the global's size in bytes to @size. Copies such as rex_queue_copy_to() take the
 * address, which is valid until @library is unloaded. A host image made with rex/kernel.h has the
 * globals of REX_DEVICE_GLOBAL().
 *
 * Returns 0, REX_ENOMEM, REX_ECUDA or:
 *
 * REX_EINVAL        a pointer is NULL, @library was unloaded, or the process is ending.
 * REX_ENOKERNEL     no global has this name. The message has the nearest name, or the first names
 *                   in the image.
 * REX_EABSENT       the device is the host, offloading is disabled, or a host image is not on the
 *                   device yet.
 * REX_EDEVICE       the device number is out of range.
 * REX_EUNSUPPORTED  with an image for GPUs: the device is neither the host nor an NVIDIA GPU, or
 *                   the driver is older than CUDA 11.4.
 * REX_EFORK         the image is for GPUs, and this process's parent loaded it. Or the process was
 *                   forked while another thread was inside libomptarget.
 */
REX_API int rex_library_global(void **address, size_t *size, struct rex_library *library,
                               int64_t device, const char *name);

/**
 * rex_library_launch(): puts a launch of a kernel of @library in a queue, or in the graph that the
 * queue captures, as rex_launch() does. The call maps and copies nothing: arguments that are
 * addresses are device addresses. To replace the arguments in a graph, pass a map of REX_VALUE()s
 * to rex_graph_set_args(), with REX_BY_VALUE() for more than 8 bytes.
 *
 * @launch     the kernel's key, the grid and the queue; the device is -1 or the queue's.
 * @arguments  @count addresses, one for each argument, in order; NULL if @count is 0. From each
 *             address the call reads as many bytes as the parameter has. For a REX_DEVICE_KERNEL()
 *             the call reads as many bytes as the parameter's type has. If a host image does not
 *             describe the parameters, each parameter has 8 bytes.
 *
 * Returns 0, REX_ECUDA, REX_ENOMEM, REX_EFORK or:
 *
 * REX_EHOST         nothing was launched, because offloading is disabled or the device is the host.
 * REX_ENODEVICE     as REX_EHOST, but REX_REQUIRE_GPU is on.
 * REX_EINVAL        a pointer or an element of @arguments is NULL, or @library was unloaded. Or a
 *                   reason of rex_launch().
 * REX_EKEY          no kernel of @library has the key.
 * REX_EPARAMS       @count is not the number of parameters that the image describes. The first
 *                   parameter of a REX_DEVICE_KERNEL_ENV() does not count. Or, by the image's
 *                   signature, a parameter is a pointer, and its argument is a number from 1 to
 *                   4095, which is no address.
 * REX_EDEVICE       the device is not the queue's. Or the image is for GPUs, and the queue is
 *                   neither on the host nor on an NVIDIA GPU.
 * REX_ENOKERNEL     an image for GPUs does not describe the parameters.
 * REX_EUNSUPPORTED  a reason of rex_launch().
 */
REX_API int rex_library_launch(struct rex_library *library, const struct rex_launch_config *launch,
                               void *const *arguments, size_t count);

/**
 * rex_library_unload(): ends @library; NULL is ignored. The image stays loaded until the last graph
 * with launches of @library is destroyed.
 *
 * Returns 0, an error of rex_module_fini() (only for a host image), or:
 *
 * REX_EINVAL  @library was unloaded before.
 * REX_EBUSY   a queue has unfinished commands, and may have launched kernels of @library since the
 *             queue was last idle. With REX_UNFINISHED=wait (rex_configure()) the call waits for
 *             the queue instead. Or the call was made inside a launch, a data call or the program's
 *             log function.
 * REX_ECUDA   a wait failed.
 * REX_EFORK   the image is for GPUs, and this process's parent loaded it.
 *
 * After an error @library has not ended.
 */
REX_API int rex_library_unload(struct rex_library *library);

#ifdef __cplusplus
}
#endif

#endif
