/*
 * rex/module.h - modules: kernels of a binary, registered with libomptarget.
 *
 * A tour, in the order in which a program needs it:
 *
 * - A program with kernels has entries in its section `omp_offloading_entries` (rex/entry.h writes
 *   them) and a device image, in a file or embedded. Entries and image form a module, `struct
 *   rex_module`. rex/binary.h defines a module for each linked binary: most programs never name the
 *   module.
 * - The first launch, data call or queue finds LLVM's libomptarget, reads the image and registers
 *   the module. To keep this time out of the call, call rex_offload_init() (rex/binary.h) or
 *   rex_module_init() before.
 * - Launches and data calls are in rex/launch.h and rex/queue.h, libomptarget's raw calls in
 *   rex_kmp.h.
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
 * A module is usually one linked binary, a program or shared object, with offload entries and a
 * device image. Code that includes rex/binary.h or rex_kmp.h has a module and does not need these
 * functions. The functions are for code generators that emit a module of their own. Any thread may
 * call the functions.
 *
 * Guides: rex-codegen(7); librex(7) for registration and the choice of the image.
 */

/** struct rex_image_row: one image in memory; librex copies its bytes. */
struct rex_image_row {
    const void *begin; /**< first byte of the image. */
    const void *end;   /**< one past the last byte of the image. */
    uint64_t on_host;  /**< 1: a host shared object; 0: an image for GPUs. */
};

/**
 * struct rex_module: offload entries and their device image, usually of one linked binary. Set to 0
 * the fields that are librex's, and all fields that the binary does not need. The object and the
 * memory that it points to must live as long as the process (static storage).
 */
struct rex_module {
    uint32_t struct_size; /**< sizeof(struct rex_module), in bytes: the struct may grow. */
    uint32_t flags;       /**< 0. */
    /** first entry of the binary's table: `__start_omp_offloading_entries`. */
    struct __tgt_offload_entry *entries_begin;
    /** one past the last entry: `__stop_omp_offloading_entries`. */
    struct __tgt_offload_entry *entries_end;
    /**
     * file name of the device image, or several names with ':' between them; may be NULL. The
     * comment of rex_module_register() lists the folders in which librex looks for the file.
     */
    const char *image_name;
    /** file name of a host shared object for machines without a GPU; may be NULL. */
    const char *host_image_name;
    /**
     * an image in memory, or a fatbin in memory. If @image is not NULL, and does not equal
     * @image_end, librex does not look for the files of @image_name and $REX_CUBIN. librex copies
     * the image.
     */
    const void *image;
    size_t image_size; /**< size of @image in bytes, if @image_end is NULL. */
    /**
     * address of a pointer; may be NULL. librex stores the address of the registered descriptor in
     * the pointer, and NULL after rex_module_fini().
     */
    struct __tgt_bin_desc **descriptor;

    /**
     * librex's: the address in @registration, or 0 while the module is not registered. Read this
     * field with __ATOMIC_ACQUIRE. The name of the field is from an older version.
     */
    uintptr_t packet_rules;
    /** librex's: the state of registration. */
    uintptr_t state;
    /** librex's: tables made from the entries, kept until the process ends. */
    void *registration;
    struct rex_module *next; /**< librex's: the next module in the list of known modules. */
    /**
     * source location that launches pass to libomptarget: an ident_t. If @location or its `psource`
     * is NULL, launches pass the location ";unknown;unknown;0;0;;".
     */
    struct ident *location;
    /** one past the last byte of @image, instead of @image_size; may be NULL. */
    const void *image_end;
    /**
     * a host shared object in memory, for machines without a GPU; may be NULL. librex copies the
     * object.
     */
    const void *host_image;
    const void *host_image_end; /**< one past the last byte of @host_image. */
    /**
     * first row of several images in memory; may be NULL. Rows for GPUs replace @image, rows for
     * the CPU replace @host_image. If several rows are of the registered kind, each image has its
     * own descriptor, with the entries whose names are in the image. An image without such an entry
     * is then not registered.
     */
    const struct rex_image_row *images_begin;
    const struct rex_image_row *images_end; /**< one past the last row of images. */
};

/**
 * rex_module_register(): registers @module with libomptarget, once, even if many threads call. The
 * call does not load the image on a device. But if another module is registered and a device has
 * been used, the call loads the image on all devices.
 * @module      the module; static storage. librex keeps the module's shared object loaded until the
 *              process ends, because libomptarget keeps the object's keys and names.
 * @image_name  the image file to register instead of the module's own images; librex copies the
 *              name, and searches for the file as for `image_name` below. If @image_name is NULL,
 *              the module's own `image_name`, or "./" and this name, the call registers the
 *              module's own images. If the module is registered already, @image_name has no effect.
 *              If the registered image has another name, librex logs a line at the level `info`.
 *
 * One thread finds and binds libomptarget. The thread then finds, reads, checks and registers the
 * image, while other threads wait for the result. After a failure every waiting thread returns the
 * error, and a later call tries again. If @module is registered already, the call returns 0.
 *
 * The module's own image is the first of these:
 *
 * - an image for GPUs in memory (`images_begin`, `image`);
 * - $REX_CUBIN, for the main program's module only;
 * - `image_name`, as a path, if it has a slash;
 * - the file `image_name` in $REX_CUBIN_PATH, beside the module's own file, beside the executable,
 *   then in the current directory.
 *
 * librex uses a host image in two cases: this image is missing, or the image is for a GPU and the
 * process has no NVIDIA GPU. The host image is an image in memory, or the file `host_image_name`,
 * for which librex searches as for `image_name`. But if $REX_CUBIN or @image_name names the image,
 * librex uses no other image.
 *
 * A name may be a list of files, separated by ':'; files that do not exist are ignored. A file may
 * be a CUBIN, PTX or a host shared object, or have several images, as nvcc's fatbin and LLVM's
 * OffloadBinary. librex registers one of the images in the files. The GPU below is the first GPU
 * that can run one of the images. librex takes the first of these that exists:
 *
 * - a CUBIN for the GPU's architecture;
 * - the newest CUBIN that the GPU runs, of the same major compute capability;
 * - the newest PTX that the GPU runs, which the CUDA driver compiles and caches.
 *
 * librex takes a host image if there is no GPU, or if the files have no CUBIN and no PTX. If there
 * is a GPU, and the files have a CUBIN or PTX, but none for a GPU of this process, the call returns
 * REX_ENODEVICE.
 *
 * All modules that are registered at one time must have images for GPUs, or all must have host
 * images. Unless offloading is disabled, librex refuses a mix: libomptarget would end the process
 * at the first use of a device for which a module has no image. LLVM 15 to 20 might instead use the
 * image of another module. On LLVM 14 to 17 a module that has ended is still a part of the mix, but
 * librex does not refuse such a mix. On LLVM 18 a module that has ended counts as registered, for
 * this rule and for REX_EKEY.
 *
 * Returns 0 or
 *
 * REX_EINVAL        @module is NULL, or its `struct_size` is too small; or the process is ending;
 *                   or the program's log function makes the call while its thread registers or ends
 *                   @module.
 * REX_ENOMEM        the host has no memory, or a GPU has no memory for a context. Or devices are in
 *                   use already, and a GPU has too little free memory to load the image.
 * REX_ENORUNTIME    no libomptarget can be used; the message names the files that librex tried,
 *                   each with the reason, or names another cause.
 * REX_ERUNTIME      libomptarget has no device for the image. Or devices are in use already, and
 *                   libomptarget could not write or run the file of a host image.
 * REX_EUNSUPPORTED  the bound LLVM release cannot use the image. On 18 to 20: a CUBIN for a GPU
 *                   above sm_90 that nvcc or the driver of CUDA 13 made. On 23 and 24: a host image
 *                   whose kernels REX_DEVICE_KERNEL did not make. On 18, 23 and 24: a host image of
 *                   clang or an older rex/kernel.h. On 18: an image after a device was used, or
 *                   another image for a module that has ended. On every LLVM release: a host image
 *                   if another registered module has a CUBIN, or a CUBIN if another registered
 *                   module has a host image. Or the image is a compressed fatbin, and the library
 *                   that decompresses the fatbin, libzstd or liblz4, is missing.
 * REX_ENOIMAGE      no file of that name is in the searched folders, or @module names no image.
 * REX_EREAD         the file cannot be read: it is not a regular file, it is larger than 1 GiB,
 *                   permission is denied, or reading fails. Or the name of the file is too long.
 * REX_EIMAGE        the file is empty or truncated, or not an image; or the CUDA driver refuses the
 *                   PTX, and the message has the driver's reason. Or a host image needs a library
 *                   or a symbol that this machine lacks. Or a clang kernel has a symbol
 *                   NAME_kernel_environment of a size on which the bound libomptarget would abort.
 * REX_EUNSAFE       a host image was found by a name without a slash, and one of these conditions
 *                   holds. Every user can write to the image or its folder. Or the image or its
 *                   folder belongs to a wrong user (`enum rex_error`). Or the folder cannot be
 *                   examined.
 * REX_ENODEVICE     no image is for the GPU; or all images are for GPUs, and the process has no
 *                   GPU. Or REX_REQUIRE_GPU is on, and one of these conditions holds: there is no
 *                   GPU; the image is a host image; or offloading is disabled.
 * REX_ECUDA         the CUDA driver failed while it compiled PTX or made a context. Or devices are
 *                   in use already, and the driver failed while it loaded the image.
 * REX_EENTRIES      the table of entries is empty or malformed, or an entry has no name or key.
 * REX_ENOKERNEL     the image lacks the kernel or global of an entry, or a global has another size.
 *                   With REX_CHECK=off a registration does not compare image and entries
 *                   (rex/configure.h). On LLVM 14 and 15 the error also means that a host image has
 *                   no entry of its own for the kernel or global. REX_DEVICE_KERNEL and
 *                   REX_DEVICE_GLOBAL make such entries.
 * REX_EKEY          two entries, or an entry and another registered module, have the same host key;
 *                   or two images in memory that are both for GPUs, or both for the CPU, have the
 *                   kernel or global of one entry.
 * REX_EFORK         the process was forked after its parent had registered @module for a GPU. Or
 *                   only images for GPUs can be used, and the parent had started the driver. Or the
 *                   process was forked while another thread was inside libomptarget, loaded it, or
 *                   registered or ended @module.
 * REX_EBUSY         the call was made inside a launch, a data call or the program's log function,
 *                   or launches or data calls of other threads have not ended within a minute.
 */
REX_API int rex_module_register(struct rex_module *module, const char *image_name);

/**
 * rex_module_init(): registers @module with its own image, as rex_module_register() does, and loads
 * the image on the default device. If @module is registered already, the call only loads its image.
 * If offloading is disabled or the default device is the host, the call only registers @module.
 * Call this before a timed part of the program: the timed part then includes neither the
 * registration nor the load.
 *
 * Returns 0 or an error of rex_module_register(). If the registration succeeds but the load fails,
 * returns one of these errors. @module is then registered, and the next use of the device loads the
 * image.
 *
 * REX_EDEVICE   the default device number is out of range.
 * REX_ENOMEM    the GPU has too little free memory to load the image.
 * REX_ERUNTIME  libomptarget could not write or run the file of a host image.
 * REX_ECUDA     the driver failed while it loaded the image, or the device is lost.
 */
REX_API int rex_module_init(struct rex_module *module);

/**
 * rex_module_fini(): unregisters @module. The program can then register @module again. LLVM 18
 * requires the same image, and LLVM 14 to 17 an image for the same kind of device, GPU or CPU. The
 * data regions of @module must have ended. The call waits until other threads leave launches and
 * data calls. If @module is not registered, or the process is ending, or another thread is ending
 * @module, the call does nothing and returns 0. Otherwise returns 0, or one of these errors, after
 * which @module is still registered:
 *
 * REX_EINVAL  @module is NULL, or its `struct_size` is too small; or the program's log function
 *             makes the call while its thread ends @module.
 * REX_EBUSY   a queue (rex/queue.h) with unfinished commands may have launched kernels of @module
 *             since the queue was last idle. Or no other module is registered, and a queue has
 *             unfinished commands. If REX_OPTION_UNFINISHED is `wait`, the call waits for these
 *             queues instead. Or the call was made inside a launch, a data call or the program's
 *             log function. Or launches or data calls of other threads have not ended within a
 *             minute.
 * REX_ECUDA   a queue, even a destroyed one, or another call has found a device lost.
 */
REX_API int rex_module_fini(struct rex_module *module);

/**
 * rex_module_add(): makes @module known to librex without registering it. The exported wrappers
 * `rex___tgt_*` have no parameter for a module, and use the known modules. A launch by a wrapper
 * registers the module that has the host key. A data call by a wrapper registers every known module
 * that has entries and can be registered. Returns 0, REX_EINVAL (@module is NULL, or its
 * `struct_size` is too small) or REX_ENOMEM.
 */
REX_API int rex_module_add(struct rex_module *module);

/**
 * rex_module_image_path(): returns the source of @module's registered image: the path of a file, or
 * "memory". If several images in memory are of the registered kind (for GPUs or for the CPU), the
 * number of the first registered image follows: "memory 1". Returns "" if @module is not
 * registered. If @module is NULL, returns "" and sets the last error to REX_EINVAL. The string is
 * valid until a call registers @module again, or fails to.
 */
REX_API const char *rex_module_image_path(const struct rex_module *module);

/**
 * rex_module_on_host(): returns true if @module's registered image is a host shared object; false
 * if it is for a GPU, or if @module is not registered. If @module is NULL, returns false and sets
 * the last error to REX_EINVAL.
 */
REX_API bool rex_module_on_host(const struct rex_module *module);

#ifdef __cplusplus
}
#endif

#endif
