/*
 * rex/offload.h - errors and modules.
 *
 * A tour, in the order in which a program needs it:
 *
 * - A program has kernels: entries in its section `omp_offloading_entries` (rex/entry.h writes
 *   them) and a device image beside the executable. Together they are a module, `struct
 *   rex_module`. rex/module.h defines one for each linked binary: most programs never name it.
 * - The first launch finds LLVM's libomptarget, reads the image and registers it. So do
 *   rex_offload_init() (rex/module.h) and rex_module_init(), before anything is timed.
 * - Launches and data calls are in rex/launch.h and rex/queue.h, the raw ones in rex_kmp.h.
 * - A call that fails returns a negative `enum rex_error`; rex_last_error() is one sentence that
 *   names the object and the cause.
 *
 * All functions may be called from any thread. Nothing here exits, aborts, or writes to standard
 * output; on failure no output parameter is changed.
 *
 * Unless REX_LOG=off, an error is also written to the log, which is standard error by default
 * (rex/configure.h), with its name in brackets behind it. REX_EHOST is not, nor an error that
 * repeats the one before it, nor one of which the function says so. Lines are lost if standard
 * error is closed or not open for writing.
 *
 * Everything here is since 0.2 unless it says otherwise. Guide: librex(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_OFFLOAD_H
#define REX_OFFLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** REX_API: marks a function that librex exports. */
#define REX_API __attribute__((__visibility__("default")))

struct __tgt_offload_entry;
struct __tgt_bin_desc;
struct ident;

/*
 * ---- Versions of the library and of the header ------------------------------------------------
 *
 * Before 1.0 the loader starts no program with a library of another minor version: each has a
 * soname of its own (librex.so.0.2) and a symbol version of its own. A program that needs 0.2 says
 * so to the compiler:
 *
 *     #ifndef REX_VERSION_AT_LEAST
 *     #error "librex 0.2 or later is needed"
 *     #endif
 */

/**
 * rex_version(): the version of the library in use, "MAJOR.MINOR.PATCH". Static storage. Any
 * thread.
 */
REX_API const char *rex_version(void);

/**
 * REX_VERSION_MAJOR: the major version of the header, to compare with rex_version() of the library.
 */
#define REX_VERSION_MAJOR 0
/** REX_VERSION_MINOR: the minor version of the header. */
#define REX_VERSION_MINOR 2
/**
 * REX_VERSION_AT_LEAST(major, minor): 1 if the header is of that version or of a later one, else 0;
 * for #if too.
 */
#define REX_VERSION_AT_LEAST(major, minor) \
    (REX_VERSION_MAJOR > (major) || (REX_VERSION_MAJOR == (major) && REX_VERSION_MINOR >= (minor)))

/*
 * ---- Errors: why a call failed ----------------------------------------------------------------
 *
 * Each error has a page with its messages, causes and cures: REX_EKEY(3) and so on.
 * rex-troubleshooting(7) goes from a symptom to its cause. Without memory for a message, a call
 * that fails returns REX_ENOMEM, and the message is a constant.
 *
 *     int error = rex_offload_init();
 *     if (error == REX_ENOIMAGE)
 *         fprintf(stderr, "run this where the image is: %s\n", rex_last_error());
 *     else if (error != REX_OK)
 *         fprintf(stderr, "%s: %s\n", rex_error_name(error), rex_last_error());
 */

/**
 * rex_last_error(): the message of the last failed librex call on the calling thread. It is one
 * sentence that names the object (file, kernel, argument index, library) and the cause. A call that
 * succeeds does not change it. Never NULL; "" while no call has failed. Messages longer than 4095
 * bytes are cut. The string belongs to librex and to the calling thread and is valid until that
 * thread's next failing call or its end. Any thread.
 */
REX_API const char *rex_last_error(void);

/**
 * rex_last_error_code(): the `enum rex_error` that rex_last_error() describes; 0 while no call has
 * failed. Any thread.
 */
REX_API int rex_last_error_code(void);

/**
 * rex_error_name(): the enumerator of @error as a string ("REX_OK"), or "unknown error". Static
 * storage. Any thread.
 */
REX_API const char *rex_error_name(int error);

/**
 * REX_ERRORS(X): expands X(name, value, text) for each result, in order. `enum rex_error` and
 * rex_error_name() are made from it.
 */
#define REX_ERRORS(X)                                                                \
    X(REX_OK, 0, "success")                                                          \
    X(REX_EHOST, -1, "nothing was launched: run the host version")                   \
    X(REX_EINVAL, -2, "invalid argument")                                            \
    X(REX_ENOMEM, -3, "out of memory")                                               \
    X(REX_ENORUNTIME, -4, "no usable libomptarget was found")                        \
    X(REX_ERUNTIME, -5, "libomptarget refused the image, or a copy failed")          \
    X(REX_EUNSUPPORTED, -6, "the LLVM release, or the CUDA driver, cannot do this")  \
    X(REX_ENOIMAGE, -7, "the device image was not found")                            \
    X(REX_EREAD, -8, "the device image cannot be read")                              \
    X(REX_EIMAGE, -9, "not a usable device image")                                   \
    X(REX_EUNSAFE, -10, "the device image could have been replaced by another user") \
    X(REX_ENODEVICE, -11, "no device can run the image")                             \
    X(REX_EENTRIES, -12, "the table of offload entries is unusable")                 \
    X(REX_ENOKERNEL, -13, "an entry has no counterpart in the device image")         \
    X(REX_EPARAMS, -14, "the arguments do not fit the kernel's parameters")          \
    X(REX_EKEY, -15, "the host key belongs to no entry, or to two")                  \
    X(REX_EDEVICE, -16, "device number out of range")                                \
    X(REX_EABSENT, -17, "memory is not mapped")                                      \
    X(REX_EOVERLAP, -18, "memory is mapped in part")                                 \
    X(REX_ECUDA, -19, "a call of the CUDA driver failed")                            \
    X(REX_EFORK, -20, "a GPU cannot be used in a child after fork")                  \
    X(REX_EBUSY, -21, "work that is not finished is in the way")

/**
 * enum rex_error: every result of a librex function that returns `int`. 0 is success, all others
 * are negative. A launch, a data call or a queue that registers a module at its first use may
 * return what rex_module_register() returns, too.
 *
 * REX_OK            success.
 * REX_EHOST         nothing was launched because offloading is disabled or the device asked for is
 *                   the host: the caller runs its host version. REX_EHOST is not printed. The
 *                   wrappers of rex_kmp.h that launch return -1 also if the module cannot be
 *                   registered; the cause is the last error, as of rex_module_target_kernel().
 * REX_EINVAL        an argument is invalid: a NULL pointer, a negative count, an unknown flag.
 * REX_ENOMEM        an allocation failed, a size does not fit in size_t, or a row to map has more
 *                   than a TiB.
 * REX_ENORUNTIME    no libomptarget could be opened; the message lists what was tried and why each
 *                   was rejected.
 * REX_ERUNTIME      libomptarget was given the image and reported no device for it, or could not
 *                   copy.
 * REX_EUNSUPPORTED  the bound release, or the CUDA driver, has no way to do what was asked.
 * REX_ENOIMAGE      no file of the image's name exists in the places searched.
 * REX_EREAD         a file exists and cannot be read: permissions, a directory, an input error.
 * REX_EIMAGE        the bytes are empty, truncated, or no device image; or the CUDA driver refuses
 *                   the PTX; or a library that a host image needs cannot be loaded.
 * REX_EUNSAFE       a host image found by its bare name, or its folder, can be written by every
 *                   user. Or it belongs to a user other than root, the user of the process and the
 *                   owner of the executable.
 * REX_ENODEVICE     no image is for a GPU of this process, or each needs one and there is none; the
 *                   message lists them. Or REX_REQUIRE_GPU forbids the host device.
 * REX_EENTRIES      the entry table is empty, misaligned or malformed.
 * REX_ENOKERNEL     an entry's name is not in the image, or its global has another size there. Or
 *                   the image does not tell a kernel's parameters.
 * REX_EPARAMS       the kernel's parameters are not the packet's rows, or are of a width the bound
 *                   release misplaces.
 * REX_EKEY          a host key is in no registered table, twice in one, or in two modules.
 * REX_EDEVICE       a device number below -1 or above the number of devices.
 * REX_EABSENT       memory that has to be mapped on the device is not.
 * REX_EOVERLAP      memory to map is mapped already in part, or overlaps an earlier row;
 *                   libomptarget aborts on that. Or a part of a row asks for a copy that the row
 *                   does not make.
 * REX_ECUDA         a call of the CUDA driver failed; the message names it and its result.
 * REX_EFORK         the process is a child, forked after its parent began to use a GPU, if only to
 *                   count GPUs or to pin memory. Or it was forked while another thread was inside
 *                   libomptarget.
 * REX_EBUSY         a queue has work that is not finished and uses what is about to end; the
 *                   message names the queue. Or a module is registered or ended inside of a launch,
 *                   or beside launches that do not end.
 */
enum rex_error {
#define REX_ERROR_ENUMERATOR(name, value, text) name = (value),
    REX_ERRORS(REX_ERROR_ENUMERATOR)
#undef REX_ERROR_ENUMERATOR
};

/*
 * ---- Modules: kernels of a binary, registered with libomptarget -------------------------------
 *
 * A module is one linked binary, a program or shared object, with offload entries and a device
 * image. Code that includes rex/module.h or rex_kmp.h has one, and needs none of these functions.
 * They are for code generators that emit a module of their own. Any thread may call them.
 *
 * Guides: rex-codegen(7); librex(7) for registration and the choice of the image.
 */

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

    /** librex's: 0 while not registered, else how packets are adapted. Acquire-load it. */
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
 * The image is `image` in memory; else $REX_CUBIN (main program only); else `image_name`: with a
 * slash as given, otherwise in $REX_CUBIN_PATH, beside the module's own file, beside the
 * executable, then in the current directory. Where the image is missing, or is for a GPU and the
 * process has no NVIDIA GPU, `host_image` is taken, or `host_image_name` looked for in the same
 * way; never instead of $REX_CUBIN or @image_name.
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
 * REX_EKEY          two entries have the same host key, or another registered module has it.
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
 * rex_module_image_path(): where @module's registered image came from: a file's path, or "memory";
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
