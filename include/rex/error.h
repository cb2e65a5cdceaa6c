/*
 * rex/error.h - errors: why a call failed; the version of the library.
 *
 * A call that fails returns a negative `enum rex_error`; rex_last_error() is one sentence that
 * names the object and the cause. All functions may be called from any thread. Nothing here exits,
 * aborts, or writes to standard output; on failure no output parameter is changed.
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
#ifndef REX_ERROR_H
#define REX_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/** REX_API: marks a function that librex exports. */
#define REX_API __attribute__((__visibility__("default")))

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

#ifdef __cplusplus
}
#endif

#endif
