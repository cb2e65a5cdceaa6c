/*
 * rex/module.h - modules: kernels of a binary, registered with libomptarget.
 *
 * A tour, in the order in which a program needs it:
 *
 * - A program has kernels: entries in its section `omp_offloading_entries` (rex/entry.h writes
 *   them) and a device image beside the executable. Together they are a module, `struct
 *   rex_module`. rex/binary.h defines one for each linked binary: most programs never name it.
 * - The first launch finds LLVM's libomptarget, reads the image and registers it. So do
 *   rex_offload_init() (rex/binary.h) and rex_module_init(), before anything is timed.
 * - Launches and data calls are in rex/launch.h and rex/queue.h, the raw ones in rex_kmp.h.
 * - A call that fails returns a negative `enum rex_error` (rex/error.h).
 *
 * Everything here is since 0.2 unless it says otherwise. Guide: librex(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_MODULE_H
#define REX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct __tgt_offload_entry;
struct __tgt_bin_desc;
struct ident;

/*
 * ---- Modules: kernels of a binary, registered with libomptarget -------------------------------
 *
 * A module is one linked binary, a program or shared object, with offload entries and a device
 * image. Code that includes rex/binary.h or rex_kmp.h has one, and needs none of these functions.
 * They are for code generators that emit a module of their own. Any thread may call them.
 *
 * Guides: rex-codegen(7); librex(7) for registration and the choice of the image.
 */

/** struct rex_image_row: one image in memory; librex copies its bytes. */
struct rex_image_row {
    const void *begin; /**< its first byte. */
    const void *end;   /**< one past its last byte. */
    uint64_t on_host;  /**< 1: a host shared object; 0: an image for GPUs. */
};

/**
 * struct rex_module: one linked binary with offload entries and a device image. The fields that
 * belong to librex begin as 0, and so do all that the binary does not need. The object must live as
 * long as the process (static storage), and so must what it points to.
 */
struct rex_module {
    uint32_t struct_size; /**< sizeof(struct rex_module), in bytes; lets the struct grow. */
    uint32_t flags;       /**< 0. */
    /** first entry of the binary's table: `__start_omp_offloading_entries`. */
    struct __tgt_offload_entry *entries_begin;
    /** one past the last: `__stop_omp_offloading_entries`. */
    struct __tgt_offload_entry *entries_end;
    /**
     * file name of the device image, or several with ':' between, as rex_module_register() looks
     * them up; may be NULL.
     */
    const char *image_name;
    /** file name of a host shared object for machines without a GPU; may be NULL. */
    const char *host_image_name;
    /**
     * an image in memory, a fatbin too, used instead of any file where not NULL. librex copies it.
     */
    const void *image;
    size_t image_size; /**< size of @image in bytes, where @image_end is NULL. */
    /** where the registered descriptor is published; may be NULL. */
    struct __tgt_bin_desc **descriptor;

    /** librex's: 0 while not registered, else the registration's address. Acquire-load it. */
    uintptr_t packet_rules;
    /** librex's: the state of registration. */
    uintptr_t state;
    /** librex's: tables made from the entries, kept for the life of the process. */
    void *registration;
    struct rex_module *next; /**< librex's: the list of known modules. */
    /**
     * where in the source launches are, which pass it on: an ident_t. NULL, or with `psource` NULL:
     * unknown.
     */
    struct ident *location;
    /** one past the last byte of @image, instead of @image_size; may be NULL. */
    const void *image_end;
    /**
     * a host shared object in memory, for machines without a GPU; may be NULL. librex copies it.
     */
    const void *host_image;
    const void *host_image_end; /**< one past its last byte. */
    /**
     * first row of several images in memory; may be NULL. Rows for GPUs stand for @image, those for
     * the CPU for @host_image. Each image gets a descriptor of its own, with the entries whose
     * names it has.
     */
    const struct rex_image_row *images_begin;
    const struct rex_image_row *images_end; /**< one past the last row. */
};

/**
 * rex_module_register(): registers @module with libomptarget, once, whichever and however many
 * threads call. It does not load the image on the device.
 * @module      the module; static storage. A shared object whose module librex has seen is never
 *              unloaded again, since libomptarget keeps its keys and names.
 * @image_name  the image file to register instead of the module's `image_name`, found in the same
 *              way; NULL: the module's own images. A name that is the module's own stands for them,
 *              too. While the module is registered, the name has no effect: librex logs that. It is
 *              copied.
 *
 * One thread finds and binds libomptarget, finds, reads and checks the image and registers it; the
 * others wait for its result. After a failure every waiting thread returns that failure and a later
 * call tries again. Where it is registered already this returns 0 after one load.
 *
 * The image is in memory (`images_begin`, `image`); else $REX_CUBIN (main program only); else
 * `image_name`: with a slash as given, otherwise in $REX_CUBIN_PATH, beside the module's own file,
 * beside the executable, then in the current directory. Where the image is missing, or is for a GPU
 * and the process has no NVIDIA GPU, a host image in memory is taken, or `host_image_name` looked
 * for in the same way; never instead of $REX_CUBIN or @image_name.
 *
 * A name may be a list of files, separated by ':', of which those that do not exist are passed
 * over; a file may be a CUBIN, PTX, a host shared object, or hold several, as nvcc's fatbin and
 * LLVM's OffloadBinary do. Exactly one image is registered: a CUBIN for the GPU, else the newest
 * one of its major number that it runs; else the newest PTX, which the CUDA driver compiles and
 * keeps in its cache; else, where there is no GPU or no image for one, a host image.
 *
 * All modules that are registered at a time have images for GPUs, or all have host images: every
 * release of libomptarget ends the process at the first use of a device for which one of them has
 * none.
 *
 * Returns 0 or
 *
 * REX_EINVAL        @module is NULL, or its `struct_size` is too small; or the log's function calls
 *                   this while @module is being registered or ended.
 * REX_ENOMEM        there is no memory, or a GPU has none for a context. If devices are in use
 *                   already: a GPU with little memory left cannot load the image.
 * REX_ENORUNTIME    no libomptarget can be used; the message lists those tried, and why not.
 * REX_ERUNTIME      libomptarget has no device for the image.
 * REX_EUNSUPPORTED  the release cannot do it: a CUBIN of CUDA 13 for an architecture above sm_90 on
 *                   LLVM 18 to 20; on 23 and 24, a host image whose kernels REX_DEVICE_KERNEL did
 *                   not make; on 18, an image after a device was used, or another image for a
 *                   module that has ended. On every release: a host image beside a CUBIN of another
 *                   registered module, or the other way round; a compressed fatbin without libzstd
 *                   or liblz4, which unpack it.
 * REX_ENOIMAGE      no file of that name is in the folders searched, or @module names no image.
 * REX_EREAD         the file cannot be read: no permission, a directory, an input error.
 * REX_EIMAGE        it is empty, truncated, or no image that a device here could run; or PTX that
 *                   the CUDA driver refuses, with its reason.
 * REX_EUNSAFE       a host image found by a name without a slash could have been written by others.
 * REX_ENODEVICE     no image is for the GPU, or all are for GPUs and there is none. The message
 *                   lists every image. Or REX_REQUIRE_GPU is on, and there is no GPU, the image is
 *                   a host image, or offloading is disabled.
 * REX_ECUDA         the CUDA driver failed while it compiled PTX, or made a context.
 * REX_EENTRIES      the table of entries is empty or malformed, or an entry has no name or key.
 * REX_ENOKERNEL     the image lacks the kernel or global of an entry, or the global has another
 *                   size.
 * REX_EKEY          two entries have the same host key, or another registered module has it; or two
 *                   images in memory have the kernel or global of one entry.
 * REX_EFORK         the image is for a GPU, and the process was forked after its parent had
 *                   registered this module for a GPU, or had started the driver.
 * REX_EBUSY         the call was made inside of a launch or a data call, or those of other threads
 *                   have not ended in a minute.
 */
REX_API int rex_module_register(struct rex_module *module, const char *image_name);

/**
 * rex_module_init(): rex_module_register() of @module's own image, then loads it on the default
 * device, so that neither happens in a region that is timed. `__tgt_register_lib` alone does not
 * load. Returns as rex_module_register(); REX_EDEVICE if the default device number is out of range;
 * or REX_ECUDA if a queue (rex/queue.h) or a launch has found that device lost. REX_ENOMEM or
 * REX_ECUDA if the device has little memory left, and a trial load of the images failed: else
 * libomptarget would end the process. In these cases the module is registered, and the next use of
 * the device tries again.
 */
REX_API int rex_module_init(struct rex_module *module);

/**
 * rex_module_fini(): unregisters @module. It may be registered again, with the same or another
 * image; on LLVM 18 with the same alone. No other thread may be inside a launch or data call of
 * this module, and its data regions must have ended. A module that is not registered is left alone.
 * Returns 0, or, and then nothing has ended,
 *
 * REX_EINVAL  @module is NULL, or its `struct_size` is too small; or the log's function of the
 *             program calls it during that module's registration or end.
 * REX_EBUSY   a queue (rex/queue.h) still works with the module; or the call was made inside of a
 *             launch or data call, or beside launches that have not ended in a minute.
 * REX_ECUDA   a queue, even one that is destroyed, or a launch has found a device lost.
 */
REX_API int rex_module_fini(struct rex_module *module);

/**
 * rex_module_add(): makes @module known without registering it: the exported wrappers
 * `rex___tgt_*`, which are given a host key and no module, register it when one of its keys
 * arrives. Returns 0, REX_EINVAL or REX_ENOMEM.
 */
REX_API int rex_module_add(struct rex_module *module);

/**
 * rex_module_image_path(): where @module's registered image came from: a file's path, or "memory",
 * or of several in memory "memory" and the number of the first that is registered;
 * "" while not registered, and, with REX_EINVAL as the last error, where @module is NULL. Valid
 * until the module is registered again.
 */
REX_API const char *rex_module_image_path(const struct rex_module *module);

/**
 * rex_module_on_host(): whether @module's registered image is a host shared object; false if it is
 * for a GPU or there is none, and, with REX_EINVAL as the last error, where @module is NULL.
 */
REX_API bool rex_module_on_host(const struct rex_module *module);

#ifdef __cplusplus
}
#endif

#endif
