/*
 * rex/error.h - errors: why a call failed; the version of the library.
 *
 * A call that fails returns a negative `enum rex_error`. If the result of the call has another
 * type, the call returns NULL, "", false or 0. rex_last_error() then returns one sentence that
 * names the object and the cause. All functions may be called from any thread, unless a comment
 * says otherwise. librex does not exit, abort, or write to standard output. A call that fails
 * changes no output parameter, except memory to which it copies.
 *
 * Unless REX_LOG=off, librex logs an error, with the error's name in brackets at the end. The log
 * is standard error by default (rex/configure.h). Some errors are not logged: for example,
 * REX_EHOST, an error whose message equals the last logged one, and errors with the words "not
 * logged" in a function's comment. If standard error is closed or not open for writing, the lines
 * are lost.
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
 * Before 1.0 the loader does not start a program with a library of another minor version: each
 * minor version has its own soname (librex.so.0.2) and symbol version. A program that needs 0.2
 * checks at compile time:
 *
 *     #ifndef REX_VERSION_AT_LEAST
 *     #error "librex 0.2 or later is needed"
 *     #endif
 */

/**
 * rex_version(): returns the version of the library in use, such as "0.2.0". The string has static
 * storage. Any thread.
 */
REX_API const char *rex_version(void);

/**
 * REX_VERSION_MAJOR: the major version of the header. rex_version() returns the version of the
 * library.
 */
#define REX_VERSION_MAJOR 0
/** REX_VERSION_MINOR: the minor version of the header. */
#define REX_VERSION_MINOR 2
/**
 * REX_VERSION_AT_LEAST(major, minor): 1 if the header has this version or a later one, else 0. The
 * macro can be used in #if.
 */
#define REX_VERSION_AT_LEAST(major, minor) \
    (REX_VERSION_MAJOR > (major) || (REX_VERSION_MAJOR == (major) && REX_VERSION_MINOR >= (minor)))

/*
 * ---- Errors: why a call failed ----------------------------------------------------------------
 *
 * Each error has a page with usual messages, causes and cures: REX_EKEY(3) and so on.
 * rex-troubleshooting(7) lists symptoms with their causes. If memory for a message is short,
 * rex_last_error_code() returns REX_ENOMEM, and the message is a constant.
 *
 *     int error = rex_offload_init();
 *     if (error == REX_ENOIMAGE)
 *         fprintf(stderr, "run this where the image is: %s\n", rex_last_error());
 *     else if (error != REX_OK)
 *         fprintf(stderr, "%s: %s\n", rex_error_name(error), rex_last_error());
 */

/**
 * rex_last_error(): returns the message of the last failed librex call on the calling thread. The
 * message is one sentence that names the object (file, kernel, argument index, library) and the
 * cause. If librex searched for a libomptarget, lines for the libraries that it tried follow. A
 * call that succeeds does not change the message. If no call has failed, returns "", never NULL.
 * Messages are at most 4095 bytes long. The string belongs to librex. It is valid until the next
 * failing call of the thread, or until the thread ends. Any thread.
 */
REX_API const char *rex_last_error(void);

/**
 * rex_last_error_code(): returns the `enum rex_error` that rex_last_error() describes; 0 if no call
 * has failed. Any thread.
 */
REX_API int rex_last_error_code(void);

/**
 * rex_error_name(): returns the name of @error as a string, such as "REX_EKEY". Returns "unknown
 * error" for any other number. The string has static storage. Any thread.
 */
REX_API const char *rex_error_name(int error);

/**
 * REX_ERRORS(X): expands to X(name, value, text) for each result, in order; X is a macro of the
 * caller. The first is X(REX_OK, 0, "success"). `enum rex_error` is made with REX_ERRORS().
 */
#define REX_ERRORS(X)                                                                \
    X(REX_OK, 0, "success")                                                          \
    X(REX_EHOST, -1, "nothing was launched: run the host version")                   \
    X(REX_EINVAL, -2, "invalid argument")                                            \
    X(REX_ENOMEM, -3, "out of memory")                                               \
    X(REX_ENORUNTIME, -4, "no usable libomptarget was found")                        \
    X(REX_ERUNTIME, -5, "libomptarget refused the image, or a copy failed")          \
    X(REX_EUNSUPPORTED, -6, "LLVM, the CUDA driver or the device cannot do this")    \
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
    X(REX_EBUSY, -21, "unfinished work prevents the call")

/**
 * enum rex_error: the results of librex functions that return `int`. 0 is success; errors are
 * negative.
 *
 * These rules hold for all functions, and their comments need not repeat them:
 * - If a call has several causes to fail, it returns the error of one of them. The order of the
 *   checks is not a part of the API.
 * - Each call may return REX_ENOMEM. In a child of fork() each call that needs a device may return
 *   REX_EFORK.
 * - While the process ends, or a thread runs its last destructors, calls that need libomptarget
 *   return REX_EINVAL, unless a comment says otherwise. A function that returns a pointer or a bool
 *   then returns NULL or false.
 * - If @device is -1 and the default device does not exist, the error is REX_EDEVICE.
 * - A launch, a data call or a queue function may register a module. It may then also return an
 *   error of rex_module_register().
 *
 * REX_OK            success.
 * REX_EHOST         the call launched nothing, because offloading is disabled, the device is the
 *                   host, or libomptarget refused the launch: the caller runs its host version.
 *                   REX_EHOST is not logged. In calls of rex_kmp.h REX_EHOST does not change the
 *                   last error. The launch wrappers of rex_kmp.h also return -1 if the module
 *                   cannot be registered. The last error is then the cause: see
 *                   rex_module_target_kernel().
 * REX_EINVAL        an argument is invalid: a NULL pointer, a negative count, an unknown flag. Or
 *                   the state does not allow the call: no module is registered, offloading is
 *                   disabled, a queue is being captured, or the process or the thread is ending.
 * REX_ENOMEM        an allocation failed, or a row to map is larger than 1 TiB.
 * REX_ENORUNTIME    no libomptarget could be opened, or a file is not a libomptarget. The message
 *                   names the files that librex tried, with the reasons, or names another cause.
 * REX_ERUNTIME      libomptarget reported no device for the image, could not copy memory, or could
 *                   not write or run the file of a host image.
 * REX_EUNSUPPORTED  the bound LLVM release, the CUDA driver, the device or librex does not support
 *                   the call. Or the library that unpacks an image cannot be used.
 * REX_ENOIMAGE      no file of the image's name exists in the searched folders, or the module names
 *                   no image.
 * REX_EREAD         a file exists but cannot be read: it is not a regular file, it is larger than
 *                   1 GiB, permission is denied, or reading fails. Or its name is too long.
 * REX_EIMAGE        the bytes are empty, truncated, or not a device image; or the CUDA driver
 *                   refuses the PTX. Or a host image needs a library or a symbol that this machine
 *                   lacks. Or the bound LLVM release cannot read the data of a clang kernel.
 * REX_EUNSAFE       a host image was found by a name without a slash, and it is unsafe for one of
 *                   these reasons. Every user can write to the image or to its folder. Or the image
 *                   or its folder belongs to another user than root, the user of the process and
 *                   the owner of the executable. Or librex cannot read the attributes of the
 *                   folder.
 * REX_ENODEVICE     no image is for a GPU of this process, or all images need a GPU and there is no
 *                   GPU. Or REX_REQUIRE_GPU forbids the host device. Or the function needs an
 *                   NVIDIA GPU, and the device is not an NVIDIA GPU.
 * REX_EENTRIES      the entry table is empty, misaligned or malformed.
 * REX_ENOKERNEL     the image lacks a kernel or global that an entry or the call names, or the
 *                   global has another size in the image. Or the image does not describe a kernel's
 *                   parameters.
 * REX_EPARAMS       the rows do not fit the kernel's parameters, or the bound LLVM release
 *                   misplaces parameters of this width.
 * REX_EKEY          a host key is in no registered entry table, twice in one table, or in two
 *                   modules. Or the key belongs to a global where a kernel is needed, or to a
 *                   kernel where a global is needed. Or two images in memory, of one kind (for
 *                   GPUs, or for the CPU), have the kernel or global of one entry.
 * REX_EDEVICE       a device or GPU does not exist: for example, the number is below -1 or above
 *                   the number of devices. Or a launch or a copy is for another device than its
 *                   queue.
 * REX_EABSENT       memory that has to be mapped on the device is not mapped, or only in part.
 * REX_EOVERLAP      a call maps a row that is mapped already, but only in part. Or a row overlaps
 *                   an earlier row that the call maps, and does not lie in that row. In both cases
 *                   libomptarget would abort, or copy too much. Or a row lies in an earlier row
 *                   that the call maps, and needs a copy that the earlier row does not make. Or a
 *                   row of REX_IMPLICIT() asks an end call for a copy back, and is mapped only in
 *                   part. Or, on LLVM 14, a row of no elements lies in a later row of a launch.
 * REX_ECUDA         a call to the CUDA driver failed, or the device is lost; the message has the
 *                   driver's reason.
 * REX_EFORK         the process was forked after its parent had used a GPU; counting GPUs, pinning
 *                   memory and binding libomptarget are such uses. Or the process was forked while
 *                   another thread was inside libomptarget, loaded libomptarget, or registered or
 *                   ended the module of the call.
 * REX_EBUSY         a queue has unfinished work with memory, a module or a library that the call
 *                   would end; the message names the queue. Or a module is registered or ended
 *                   inside a launch, a data call or the log's function, or while launches or data
 *                   calls of other threads do not end.
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
