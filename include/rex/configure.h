/*
 * rex/configure.h - settings, the log, and the libomptarget that is bound.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_CONFIGURE_H
#define REX_CONFIGURE_H

#include "rex/offload.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- Configuration ----------------------------------------------------------------------------
 */

/**
 * enum rex_option: what rex_configure() sets. Each stands for an environment variable, which it
 * overrides.
 * Words are known in either case; `yes`, `true` and `1` are `on`, and `no`, `false` and `0` are
 * `off`.
 *
 * REX_OPTION_OMPTARGET   REX_OMPTARGET: path of the libomptarget to use. Takes effect if none is
 *                        bound yet.
 * REX_OPTION_CUBIN       REX_CUBIN: image of the main program's module, or several with ':'
 *                        between, instead of its own name.
 * REX_OPTION_CUBIN_PATH  REX_CUBIN_PATH: folders, separated by ':', where a bare image name is
 *                        looked for first.
 * REX_OPTION_LOG         REX_LOG: `off`, `error`, `warn` or `warning` (the default), `info` or
 *                        `debug`; or `LEVEL:FILE` or `:FILE`: lines go to the end of FILE instead
 *                        of standard error, %p in its name being the number of the process. At
 *                        `debug` every launch and data call is written down with its rows, and
 *                        launches are slower.
 * REX_OPTION_WAIT        REX_WAIT: how a thread waits for an NVIDIA GPU: `auto` (the default),
 *                        `spin`, `yield`, `block`, or `runtime`. Takes effect at the first
 *                        registration of an image for the GPU. libomptarget itself blocks, which
 *                        costs 10 to 25 microseconds a launch; `auto` lets the driver choose
 *                        between spin and yield, `runtime` leaves the choice to libomptarget.
 * REX_OPTION_ADOPT       REX_ADOPT: `on` or `off` (the default). Whether offload code that another
 *                        compiler built, and registers through librex's __tgt_register_lib, is
 *                        registered as a copy that is adapted to the bound libomptarget, with the
 *                        wait policy.
 * REX_OPTION_UNFINISHED  REX_UNFINISHED: `error` (the default) or `wait`. Where a queue
 *                        (rex/queue.h) still works with what rex_data_exit() and its like or
 *                        rex_offload_fini() would end, they return REX_EBUSY, or wait for it.
 * REX_OPTION_TRACE       REX_TRACE: a file for a timeline of launches, data calls and queues, in
 *                        Chrome's trace-event JSON, which ui.perfetto.dev opens; %p in its name is
 *                        the number of the process, %% a percent sign. `-`: a summary on standard
 *                        error at the end of the process instead. `off` (the default): no trace.
 *                        Takes effect if no libomptarget is bound yet and no module was registered.
 *                        A file that cannot be written is a warning, and nothing else.
 * REX_OPTION_CHECK       REX_CHECK: `on` (the default), `off` or `full`. Off, entries are not
 *                        compared with the image when a module is registered, but each kernel at
 *                        its first launch; an entry without a kernel is then found there, and a
 *                        global that is missing or has another size is not found by librex at all.
 *                        `full`: what a launch by the driver maps for its time has allocations of
 *                        its own, so that compute-sanitizer sees where each ends. Takes effect at
 *                        the next registration.
 * REX_OPTION_LAUNCH_BY   REX_LAUNCH_BY: who sends a launch that is waited for to an NVIDIA GPU:
 *                        `auto` (the default): the CUDA driver, wherever that can make no
 *                        difference but in time, else libomptarget; `runtime`: libomptarget;
 *                        `driver`: a launch that the driver cannot send is REX_EUNSUPPORTED, with
 *                        the reason. Takes effect if no libomptarget is bound yet.
 * REX_OPTION_COPY_THREADS  REX_COPY_THREADS: how many threads of librex's own copy large pieces of
 *                        memory that is not pinned to and from an NVIDIA GPU, 0 to 8; 0: the driver
 *                        copies it. `auto`, the default: half of the processors that the process
 *                        may use, none where that leaves fewer than 2.
 * REX_OPTION_REQUIRE_GPU REX_REQUIRE_GPU: `on` or `off` (the default). On, the host device is an
 *                        error and no fallback. The registration of a module is REX_ENODEVICE
 *                        where there is no NVIDIA GPU for it, or only a host image, or where
 *                        OMP_TARGET_OFFLOAD disables its launches. Calls for the host device fail
 *                        likewise.
 *                        Takes effect at the next registration and call.
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
    REX_OPTION_REQUIRE_GPU
};

/**
 * rex_configure(): sets @option to @value for the process, whatever the environment says; NULL
 * gives the choice back to the environment, and so does "". @value is copied. In a set-user-ID
 * program the environment is ignored and this is the only way.
 * Returns 0, REX_EINVAL (unknown option, a value that the option cannot have, 4096 bytes or more)
 * or REX_ENOMEM.
 */
REX_API int rex_configure(enum rex_option option, const char *value);

/**
 * enum rex_log_level: how much is logged; each level includes those before it. REX_LOG_OFF:
 * nothing. REX_LOG_ERROR: what failed. REX_LOG_WARN: what may not be what was wanted. REX_LOG_INFO:
 * what was chosen: libomptarget, images, contexts. REX_LOG_DEBUG: everything, each row of each
 * launch and data call.
 */
enum rex_log_level { REX_LOG_OFF, REX_LOG_ERROR, REX_LOG_WARN, REX_LOG_INFO, REX_LOG_DEBUG };

/**
 * rex_log_function: receives one line of the log. @level is its level, REX_LOG_ERROR to
 * REX_LOG_DEBUG; @message the line, without a newline and without "librex: " and the name of
 * the level in front, valid until the function returns; @context the caller's.
 *
 * It runs on the thread that has something to say, on several threads at once if they do, and no
 * lock of librex is held: it may call any librex function, except that a module cannot be used from
 * it while that module is being registered or ended (REX_EINVAL). Lines that librex has for that
 * thread meanwhile go where they would go without the function. rex_last_error() and errno of the
 * thread are afterwards what they were.
 */
typedef void rex_log_function(enum rex_log_level level, const char *message, void *context);

/**
 * rex_set_log_callback(): from now on lines that the level (REX_OPTION_LOG) lets through go to
 * @function with @context, instead of standard error or a file; NULL restores that. @context is the
 * program's and must live until the function is replaced and calls of it on other threads have
 * ended, which may still be under way when this returns. Any thread.
 */
REX_API void rex_set_log_callback(rex_log_function *function, void *context);

/*
 * ---- libomptarget -----------------------------------------------------------------------------
 */

/**
 * rex_runtime_bind(): finds and binds libomptarget now, instead of at the first registration: one
 * that is in the process already; $REX_OMPTARGET; else the newest release that opens. Returns 0,
 * REX_ENORUNTIME or REX_EFORK (the process was forked while another thread of its parent was at
 * that); once bound, always 0.
 */
REX_API int rex_runtime_bind(void);

/**
 * rex_runtime_release(): the LLVM release of the bound libomptarget (14 to 24), 0 while none is
 * bound.
 */
REX_API int rex_runtime_release(void);

/**
 * rex_runtime_path(): the file of the bound libomptarget, "" while none is bound. Valid for the
 * life of the process.
 */
REX_API const char *rex_runtime_path(void);

#ifdef __cplusplus
}
#endif

#endif
