/*
 * rex/configure.h - settings, the log, and the libomptarget that is bound.
 *
 * Before its first launch a program may override the environment:
 *
 *     rex_configure(REX_OPTION_CUBIN_PATH, "/usr/lib/axpy");
 *     rex_set_log_callback(show_in_window, window);
 *     int error = rex_runtime_bind();
 *
 * Any thread may call these functions. Everything here is since 0.2 unless it says otherwise.
 * Guide: librex(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_CONFIGURE_H
#define REX_CONFIGURE_H

#include "rex/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- Settings of the process ------------------------------------------------------------------
 *
 * In this program librex logs nothing, and looks for images first in the program's folder:
 *
 *     int start_quietly(const char *folder)
 *     {
 *         if (rex_configure(REX_OPTION_LOG, "off") != 0 ||
 *             rex_configure(REX_OPTION_CUBIN_PATH, folder) != 0)
 *             return -1;
 *         return rex_offload_init();
 *     }
 */

/**
 * enum rex_option: the options of rex_configure(). Each option overrides an environment variable.
 *
 * The case of words does not matter. If `on` is a value of an option, `yes`, `true` and `1` mean
 * `on`. If `off` is a value of an option, `no`, `false` and `0` mean `off`. If a trace file has
 * such a name, write the name as a path: `./0`.
 *
 * librex ignores a variable if its option does not allow the value, or if the value has 4096 bytes
 * or more. librex then logs a warning with the allowed values, or with the maximum length. The
 * warning is logged at most once for each variable, usually when librex first reads REX_OPTION_LOG.
 * There is no warning while the program has set the variable's option with rex_configure(). librex
 * also warns once of each REX_ variable whose name is similar, but not equal, to a name below. In a
 * set-user-ID program librex ignores all variables below.
 *
 * REX_OPTION_OMPTARGET     REX_OMPTARGET: path of the libomptarget to use. Has no effect if a
 *                          libomptarget is in the process already, even one that librex has not
 *                          bound.
 * REX_OPTION_CUBIN         REX_CUBIN: image file of the main program's module, or a list of files
 *                          with ':' between them. It replaces the module's own file name. It has no
 *                          effect if the module has an image for GPUs in memory. It has no effect
 *                          either if rex_module_register() or register_cubin() names another file
 *                          than the module's own. librex never uses the module's host image in
 *                          place of this file. Takes effect at the next registration.
 * REX_OPTION_CUBIN_PATH    REX_CUBIN_PATH: folders, with ':' between them, where librex first looks
 *                          for an image name without a slash. Takes effect at the next registration
 *                          or rex_library_load().
 * REX_OPTION_LOG           REX_LOG: `off`, `error`, `warn` or `warning` (the default), `info` or
 *                          `debug`; `enum rex_log_level` describes the levels. `LEVEL:FILE`, or
 *                          `:FILE` at the level `warn`, appends to FILE instead of standard error.
 *                          In FILE, %p is the process ID and %% a percent sign. If FILE cannot be
 *                          opened or written (for example, a pipe without a reader), one line
 *                          reports the failure, and the log continues on standard error. Takes
 *                          effect at once. librex reads the variable before the first line that it
 *                          may log.
 * REX_OPTION_WAIT          REX_WAIT: how a thread waits for an NVIDIA GPU. `auto`, the default: the
 *                          CUDA driver chooses between spin and yield. `spin`: the thread polls,
 *                          which is fastest and keeps a processor busy. `yield`: the thread polls,
 *                          and yields to other threads. `block`: the thread sleeps; waking it takes
 *                          longer than a short launch. `runtime`: libomptarget chooses, and the
 *                          thread sleeps. Takes effect when librex activates the GPU's context,
 *                          usually at the first registration of an image for the GPU. On LLVM 14 to
 *                          17 librex activates the context at the first use after the registration.
 *                          An earlier rex_host_alloc() or rex_host_register() also activates a
 *                          context. A context that is active already does not change.
 * REX_OPTION_ADOPT         REX_ADOPT: `on` or `off` (the default). `on`: librex adopts offload code
 *                          that another compiler built and that registers through librex's
 *                          __tgt_register_lib. librex first sets the wait policy. It then passes
 *                          libomptarget a copy of the code's descriptor, adapted to the LLVM
 *                          release. librex does not write to the code's own descriptor, entries and
 *                          images. Code of the program itself registers before main() begins, so a
 *                          call of rex_configure() is too late: set the variable REX_ADOPT.
 *                          rex-run(1) sets REX_ADOPT.
 * REX_OPTION_UNFINISHED    REX_UNFINISHED: `error` (the default) or `wait`. The option applies to
 *                          calls that end memory, a module or a library that a queue may still use.
 *                          These calls are the end of a data region, rex_data_exit(),
 *                          rex_offload_fini(), rex_module_fini() and rex_library_unload(). With
 *                          `error` the call returns REX_EBUSY and ends nothing. With `wait` the
 *                          call waits for the queue. The data calls of rex_kmp.h that end mappings
 *                          always wait.
 * REX_OPTION_TRACE         REX_TRACE: a file for a timeline of launches, data calls and queues,
 *                          which rex-report(1) reads and describes. In the file's name, %p is the
 *                          process ID and %% a percent sign. `-`: a summary on standard error when
 *                          the process ends. `off`, the default: no trace. A word that means `on`
 *                          is refused. librex reads the option, and opens the file, at the first
 *                          attempt to bind libomptarget or to register a module. If the file cannot
 *                          be written, librex logs a warning, and no call fails.
 * REX_OPTION_CHECK         REX_CHECK: `on` (the default), `off` or `full`. `on`: a registration
 *                          compares every entry with the image, except entries of
 *                          REX_GLOBAL_LINK(). `off` omits the comparison, for a program that
 *                          launches only a few of its thousands of kernels. With `off`, a kernel's
 *                          presence, parameters and launch bounds are checked at its first launch.
 *                          Kernels that are never launched, and the presence and size of globals,
 *                          are not checked. If the image lacks such a kernel or global,
 *                          libomptarget of LLVM 14 to 17 ends the process when it loads the image.
 *                          Later LLVM releases print a line and continue. But on LLVM 14 and 15 the
 *                          registration refuses a host image that lacks an entry. If several images
 *                          are embedded, each entry must be in one of them, even with `off`, and
 *                          even an entry of REX_GLOBAL_LINK(). The image's structure and
 *                          architecture, the entry table, duplicate keys and the rows of a launch
 *                          are always checked. `full`: as `on`; and if a launch by the driver maps
 *                          a row, the row gets device memory of its own, exactly as large as the
 *                          row. So compute-sanitizer finds accesses past the row. Takes effect at
 *                          the next registration.
 * REX_OPTION_LAUNCH_BY     REX_LAUNCH_BY: the library that makes launches on an NVIDIA GPU, except
 *                          launches in queues. `auto`, the default: the CUDA driver, unless a
 *                          reason requires libomptarget. `runtime`: libomptarget. `driver`: the
 *                          driver; if a reason requires libomptarget, the launch returns
 *                          REX_EUNSUPPORTED, with the reason. rex-launches(7) lists the reasons.
 *                          Takes effect if no libomptarget is bound yet.
 * REX_OPTION_COPY_THREADS  REX_COPY_THREADS: maximum number of librex's own threads, 0 to 8, that
 *                          together make a large copy of unpinned memory to or from an NVIDIA GPU.
 *                          0: the driver copies. `auto`, the default: half of the processors that
 *                          the process may use (in an MPI job: half of the rank's share), at most
 *                          8; 0 if half is less than 2. See rex-launches(7). Takes effect at the
 *                          next copy.
 * REX_OPTION_REQUIRE_GPU   REX_REQUIRE_GPU: `on` or `off` (the default). `on`: librex does not use
 *                          the CPU instead of a GPU. The registration of a module returns
 *                          REX_ENODEVICE if there is no NVIDIA GPU for it, if it has only a host
 *                          image, or if OMP_TARGET_OFFLOAD disables its launches. A launch or a
 *                          data call with the host as its device returns REX_ENODEVICE. But
 *                          rex_queue_update() and the data calls of rex_kmp.h return no error and
 *                          do nothing. librex cannot stop the program's own host version. Takes
 *                          effect at the next registration and call. But a module that is already
 *                          registered with a host image continues to run on the CPU.
 * REX_OPTION_LAUNCH_BLOCKING  REX_LAUNCH_BLOCKING: `on` (the default) or `off`. `off`: a launch on
 *                          an NVIDIA GPU may return before its kernel is done, if the host cannot
 *                          yet see the result. A later call that could see or change the result
 *                          waits, and returns the error of the kernel. rex-launches(7) describes
 *                          the differences. Takes effect at the next launch. A call of
 *                          rex_configure() that changes the option to `on` waits for earlier
 *                          launches.
 */
enum rex_option {
    REX_OPTION_OMPTARGET,
    REX_OPTION_CUBIN,
    REX_OPTION_CUBIN_PATH,
    REX_OPTION_LOG,
    REX_OPTION_WAIT,
    REX_OPTION_ADOPT,
    REX_OPTION_UNFINISHED,
    REX_OPTION_TRACE,
    REX_OPTION_CHECK,
    REX_OPTION_LAUNCH_BY,
    REX_OPTION_COPY_THREADS,
    REX_OPTION_REQUIRE_GPU,
    REX_OPTION_LAUNCH_BLOCKING
};

/**
 * rex_configure(): sets @option to @value for the process, and overrides the environment. In a
 * set-user-ID program only this function can set an option.
 *
 * @value  the setting, at most 4095 bytes; copied. With NULL or "" the environment decides again.
 *
 * Any thread.
 *
 * Returns 0 or one of these errors. After an error nothing has changed. It is not an error to set
 * an option too late to take effect.
 *
 * REX_EINVAL  @option does not exist, @value is too long, or @option does not allow @value. In the
 *             last case the message lists the allowed values.
 * REX_ENOMEM  the host has too little memory.
 */
REX_API int rex_configure(enum rex_option option, const char *value);

/*
 * ---- The log, for a function of the program ---------------------------------------------------
 *
 *     static void receive(enum rex_log_level level, const char *message, void *context)
 *     {
 *         fprintf(context, "%s%s\n", level <= REX_LOG_WARN ? "offloading: " : "", message);
 *     }
 *
 *     rex_set_log_callback(receive, file);
 */

/**
 * enum rex_log_level: the levels of the log (REX_OPTION_LOG). Each level includes the levels before
 * it.
 *
 * REX_LOG_OFF    no lines.
 * REX_LOG_ERROR  errors.
 * REX_LOG_WARN   warnings: librex continues, but the program or its user may have made a mistake.
 * REX_LOG_INFO   main steps, for example the choice of libomptarget, images and contexts.
 * REX_LOG_DEBUG  everything. Launches and data calls list their rows, with the types in words:
 *                `row 1: to|target_param 0x55d0c8a2f2a0 4000 bytes`. If a row has a name, as with
 *                clang -g, the line shows the name. For mapped memory the name replaces the
 *                address. Calls of code that other compilers built are logged only if the level is
 *                already debug when libomptarget is bound. This level makes launches slower.
 */
enum rex_log_level { REX_LOG_OFF, REX_LOG_ERROR, REX_LOG_WARN, REX_LOG_INFO, REX_LOG_DEBUG };

/**
 * rex_log_function: a function that receives one line of the log.
 *
 * @level    level of the line, REX_LOG_ERROR to REX_LOG_DEBUG.
 * @message  the line, without the newline at its end, and without the leading `librex: ` and name
 *           of the level. Only a message that lists the tried libraries (rex_runtime_bind()) has
 *           newlines inside. Valid until the function returns.
 * @context  the @context of rex_set_log_callback().
 *
 * The function runs on the thread that logs the line. Several threads may call it at once. librex
 * holds no lock during the call, so the function may call librex. But the thread may be inside a
 * call that uses a module. So a call from the function that registers or ends a module fails with
 * REX_EBUSY. There are two exceptions:
 * - If this thread is ending a module, a call that registers or ends this module fails with
 *   REX_EINVAL.
 * - If this thread is registering a module, a call that registers or uses this module fails with
 *   REX_EINVAL. A call that ends this module does nothing and returns 0.
 *
 * If librex calls the function in a registration, launches of other threads may wait until the
 * function returns.
 *
 * Lines that librex logs inside the function go to standard error or the file. After the function
 * returns, librex restores rex_last_error() and errno of the thread.
 */
typedef void rex_log_function(enum rex_log_level level, const char *message, void *context);

/**
 * rex_set_log_callback(): from this call on, librex passes the lines of the log to @function, with
 * @context. librex no longer writes these lines to standard error or a file. Exceptions are lines
 * that librex logs inside @function, a line for which there is no memory, and the report that a log
 * file fails. REX_OPTION_LOG still sets the level.
 *
 * @function  receives each line; NULL: lines go to the file of REX_OPTION_LOG or to standard error.
 * @context   an argument for @function. @context must live until @function is replaced and has
 *            returned on all other threads. Other threads may still run @function when
 *            rex_set_log_callback() returns.
 *
 * Any thread. The call cannot fail.
 */
REX_API void rex_set_log_callback(rex_log_function *function, void *context);

/*
 * ---- The bound libomptarget -------------------------------------------------------------------
 *
 * rex_runtime_tell() of rex/inspect.h returns the release of a libomptarget file.
 */

/**
 * rex_runtime_bind(): finds and binds libomptarget now, instead of at the first registration. If a
 * libomptarget is in the process already, the call binds it. If not, the call binds the
 * libomptarget of REX_OPTION_OMPTARGET. If this option is not set, the call binds the best
 * libomptarget that librex finds. The best is mostly that of the newest LLVM release: see
 * librex(7). A bound libomptarget stays bound until the process ends. The call starts the CUDA
 * driver, so a child that is forked later cannot use a GPU. Any thread.
 *
 * Returns 0 or one of these errors. If a libomptarget is bound already, returns 0.
 *
 * REX_ENORUNTIME  no libomptarget could be bound. The message lists the libraries that librex
 *                 tried, each with the reason, or names another cause.
 * REX_ENOMEM      the host has too little memory.
 * REX_EFORK       the process was forked while another thread of its parent loaded libomptarget.
 */
REX_API int rex_runtime_bind(void);

/**
 * rex_runtime_release(): returns the LLVM release of the bound libomptarget (14 to 24); 0 if no
 * libomptarget is bound. For a release that librex does not know, returns the known release whose
 * rules librex applies. Any thread.
 */
REX_API int rex_runtime_release(void);

/**
 * rex_runtime_path(): returns the path of the bound libomptarget; "" if no libomptarget is bound.
 * The string is valid until the process ends. Any thread.
 */
REX_API const char *rex_runtime_path(void);

#ifdef __cplusplus
}
#endif

#endif
