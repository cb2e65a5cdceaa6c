/*
 * rex/configure.h - settings, the log, and the libomptarget that is bound.
 *
 * A program sets before its first launch what the environment of its users should not decide:
 *
 *     rex_configure(REX_OPTION_CUBIN_PATH, "/usr/lib/axpy");
 *     rex_set_log_callback(show_in_window, window);
 *     int error = rex_runtime_bind();
 *
 * All functions may be called from any thread. Everything here is since 0.2 unless it says
 * otherwise. Guide: librex(7).
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
 * A program that says nothing on standard error, and has its images in a folder of its own:
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
 * enum rex_option: what rex_configure() sets. Each option stands for an environment variable, which
 * it overrides.
 *
 * Words may have capital letters. `on`, `yes`, `true` and `1` mean the same; so do `off`, `no`,
 * `false` and `0`. A file or folder with such a name is written with its path: `./0`.
 *
 * A variable with a value that its option cannot have, or with one of 4096 bytes or more, counts as
 * not set. A warning then names the values that it may have. The warning comes once in a process,
 * with the first thing that librex does, unless the program has set the option before. Another
 * warning tells of a variable whose name is nearly one of these. In a set-user-ID program the
 * environment is ignored.
 *
 * REX_OPTION_OMPTARGET     REX_OMPTARGET: path of the libomptarget to use. Takes effect if none is
 *                          bound yet.
 * REX_OPTION_CUBIN         REX_CUBIN: image of the main program's module, or a list of them with
 *                          ':' between, instead of its own name. The module's host image does not
 *                          take its place. Takes effect at the next registration.
 * REX_OPTION_CUBIN_PATH    REX_CUBIN_PATH: folders, with ':' between, where an image name without
 *                          a slash is looked for first. Takes effect at the next registration.
 * REX_OPTION_LOG           REX_LOG: `off`, `error`, `warn` or `warning` (the default), `info` or
 *                          `debug`; rex_set_log_callback() says what each prints. `LEVEL:FILE`, or
 *                          `:FILE` at the level `warn`, appends to FILE instead of standard error.
 *                          %p in its name is the number of the process, %% a percent sign. If FILE
 *                          cannot be opened or written, one line says so, and the log continues on
 *                          standard error. So it does for a pipe that nobody reads. Takes effect at
 *                          once. The variable is read with the first line of the log.
 * REX_OPTION_WAIT          REX_WAIT: how a thread waits for an NVIDIA GPU. `auto`, the default: the
 *                          CUDA driver chooses between spin and yield. `spin`: the thread polls;
 *                          this is fastest and keeps a processor busy. `yield`: it polls, and gives
 *                          way to other threads. `block`: it sleeps, and to wake it takes longer
 *                          than a short launch. `runtime`: librex sets nothing, and libomptarget
 *                          blocks. Takes effect for a GPU when librex starts it: at the first
 *                          registration of an image for it (LLVM 14 to 17: at its first use after
 *                          that), or at an earlier rex_host_alloc() or rex_host_register(). A
 *                          context that is active already stays as it is.
 * REX_OPTION_ADOPT         REX_ADOPT: `on` or `off` (the default). On, librex adopts offload code
 *                          that another compiler built and that registers through librex's
 *                          __tgt_register_lib. libomptarget gets a copy that is adapted to its
 *                          release, and the wait policy is set first. The code's own descriptor,
 *                          entries and images are not written. Such code registers before main()
 *                          begins, so set the variable; rex-run(1) does.
 * REX_OPTION_UNFINISHED    REX_UNFINISHED: `error` (the default) or `wait`. If a queue still works
 *                          with what rex_data_exit() and its like, rex_offload_fini() or
 *                          rex_library_unload() would end, they return REX_EBUSY and end nothing,
 *                          or wait for the queue.
 * REX_OPTION_TRACE         REX_TRACE: a file for a timeline of launches, data calls and queues,
 *                          which rex-report(1) reads and describes. %p in its name is the number of
 *                          the process, %% a percent sign. `-`: a summary on standard error when
 *                          the process ends. `off`, the default: no trace. A word that means on is
 *                          refused. Takes effect, and opens the file, if no libomptarget is bound
 *                          yet and no module was registered. A file that cannot be written is a
 *                          warning, and no error.
 * REX_OPTION_CHECK         REX_CHECK: `on` (the default), `off` or `full`. On, a registration
 *                          compares every entry with the image. Off, it does not; this is for
 *                          programs with thousands of kernels of which few are launched. A kernel's
 *                          presence, parameters and launch bounds are then checked at its first
 *                          launch. Left out are kernels that are never launched, and whether a
 *                          global is there and has its size: libomptarget ends the process for a
 *                          missing global when it loads the image, and LLVM 14 to 17 for a missing
 *                          kernel. The image's structure and architecture, the entry table, keys
 *                          given twice and the rows of a launch are always checked. `full` is `on`,
 *                          and more: a row that a launch by the driver maps gets device memory of
 *                          its own, as large as the row. compute-sanitizer then sees where the row
 *                          ends. Takes effect at the next registration.
 * REX_OPTION_LAUNCH_BY     REX_LAUNCH_BY: who sends a launch that is waited for to an NVIDIA GPU.
 *                          `auto`, the default: the CUDA driver, unless a reason requires
 *                          libomptarget. `runtime`: libomptarget. `driver`: the driver, and a
 *                          launch that it cannot send is REX_EUNSUPPORTED, with the reason.
 *                          rex-launches(7) lists the reasons. Takes effect if no libomptarget is
 *                          bound yet.
 * REX_OPTION_COPY_THREADS  REX_COPY_THREADS: how many threads of librex's own copy large pieces of
 *                          memory that is not pinned to and from an NVIDIA GPU, 0 to 8. 0: the
 *                          driver copies it. `auto`, the default: half of the processors that the
 *                          process may use (a rank of an MPI job: of its share), none if that is
 *                          fewer than 2; see rex-launches(7). Takes effect at the next copy.
 * REX_OPTION_REQUIRE_GPU   REX_REQUIRE_GPU: `on` or `off` (the default). On, kernels never run on
 *                          the CPU instead of a GPU. The registration of a module is REX_ENODEVICE
 *                          if there is no NVIDIA GPU for it, if it has only a host image, or if
 *                          OMP_TARGET_OFFLOAD disables its launches. A launch or data call for the
 *                          host as a device fails likewise. The program's own host version is not
 *                          stopped. Takes effect at the next registration and call.
 * REX_OPTION_LAUNCH_BLOCKING  REX_LAUNCH_BLOCKING: `on` (the default) or `off`. Off, a launch on an
 *                          NVIDIA GPU whose result nobody on the host can see yet returns before
 *                          its kernel is done. The call that could see or change it waits, and
 *                          returns the error of the kernel. rex-launches(7) says what changes.
 *                          Takes effect at the next launch; rex_configure() with `on` waits for the
 *                          launches before.
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
 * rex_configure(): sets @option to @value for the process, whatever the environment says. In a
 * set-user-ID program this is the only way to choose.
 *
 * @value  the setting, at most 4095 bytes. It is copied. NULL or "" gives the choice back to the
 *         environment.
 *
 * Any thread.
 *
 * Returns 0, REX_EINVAL (there is no such option, or it cannot have this value; the message names
 * those that it may have) or REX_ENOMEM. After an error nothing has changed. An option that is set
 * too late to take effect is no error.
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
 * enum rex_log_level: how much is logged (REX_OPTION_LOG). Each level includes those before it.
 *
 * REX_LOG_OFF    nothing.
 * REX_LOG_ERROR  what failed.
 * REX_LOG_WARN   what may not be what was wanted.
 * REX_LOG_INFO   what was chosen: libomptarget, images, contexts.
 * REX_LOG_DEBUG  everything. Each launch and data call has its rows, with the types in words:
 *                `row 1: to|target_param 0x55d0c8a2f2a0 4000 bytes`. A name stands for the address
 *                if the row has one, as those of clang -g do. Calls of code that other compilers
 *                built are written down if the level is debug when libomptarget is bound. Launches
 *                are slower.
 */
enum rex_log_level { REX_LOG_OFF, REX_LOG_ERROR, REX_LOG_WARN, REX_LOG_INFO, REX_LOG_DEBUG };

/**
 * rex_log_function: receives one line of the log.
 *
 * @level    its level, REX_LOG_ERROR to REX_LOG_DEBUG.
 * @message  the line, without a newline and without `librex: ` and the name of the level in front.
 *           Valid until the function returns.
 * @context  the caller's.
 *
 * It runs on the thread that has something to say, on several threads at once if they do. librex
 * holds no lock meanwhile, so it may call any librex function, but for two things. A module that
 * is being registered or ended cannot be used from it (REX_EINVAL). It registers and ends no
 * module, since a call of its thread may be using one (REX_EBUSY). Lines that librex has for that
 * thread meanwhile go where they would go without the function. rex_last_error() and errno of
 * the thread are afterwards what they were.
 */
typedef void rex_log_function(enum rex_log_level level, const char *message, void *context);

/**
 * rex_set_log_callback(): from now on lines that the level (REX_OPTION_LOG) lets through go to
 * @function with @context, instead of standard error or a file.
 *
 * @function  NULL: lines go where REX_OPTION_LOG says.
 * @context   the program's, handed on as it is. It must live until the function is replaced and
 *            calls of it on other threads have ended; these may be under way when this returns.
 *
 * Any thread. It does not fail.
 */
REX_API void rex_set_log_callback(rex_log_function *function, void *context);

/*
 * ---- The libomptarget that is bound -----------------------------------------------------------
 *
 * rex_runtime_tell() of rex/inspect.h tells the release of any file.
 */

/**
 * rex_runtime_bind(): finds and binds libomptarget now, instead of at the first registration. It
 * takes one that is in the process already, else $REX_OMPTARGET, else the newest release that
 * opens: librex(7). A bound libomptarget is kept until the process ends. Any thread.
 *
 * Returns 0; REX_ENORUNTIME (the message lists those tried, and why not); REX_ENOMEM; or REX_EFORK:
 * the process was forked while another thread of its parent loaded libomptarget. Once a
 * libomptarget is bound, always 0.
 */
REX_API int rex_runtime_bind(void);

/**
 * rex_runtime_release(): the LLVM release of the bound libomptarget (14 to 24), 0 while none is
 * bound. For one that is newer than all known releases it is the release that librex treats it as.
 * Any thread.
 */
REX_API int rex_runtime_release(void);

/**
 * rex_runtime_path(): the file of the bound libomptarget, "" while none is bound. Valid for the
 * life of the process. Any thread.
 */
REX_API const char *rex_runtime_path(void);

#ifdef __cplusplus
}
#endif

#endif
