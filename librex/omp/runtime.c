/*
 * runtime.c - finds libomptarget and its release, and binds it: librex opens the library and calls
 * its functions from then on.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "cuda/driver.h"
#include "omp/search.h"
#include "trace/trace.h"

/*
 * True in a thread that is binding. The constructors of libomptarget 16 to 18 may call a forwarder
 * during the binding.
 */
static __thread bool binding;

static struct {
    /*
     * Members are written under rex_load_lock(). Other threads read `path`, `doubt` and `chosen`
     * only after `release` is set.
     */
    const struct rex_release *release;
    char path[PATH_MAX];
    char doubt[256];
    const char *chosen;
    bool starts_driver; /* the caller needs the driver, which is not started yet */
    rex_slots_hook *point_slots;

    /* value of rex_forks() in the process that is binding, plus 1; 0: no binding runs; atomic */
    unsigned binder;
} bound;

const struct rex_release *rex_runtime(void)
{
    return __atomic_load_n(&bound.release, __ATOMIC_ACQUIRE);
}

int rex_runtime_release(void)
{
    const struct rex_release *release = rex_runtime();
    return release != NULL ? release->number : 0;
}

const char *rex_runtime_path(void)
{
    return rex_runtime() != NULL ? bound.path : "";
}

const char *rex_runtime_chosen(void)
{
    return rex_runtime() != NULL ? bound.chosen : "";
}

const char *rex_runtime_doubt(void)
{
    return rex_runtime() != NULL ? bound.doubt : "";
}

/* ---- loading libomptarget while the driver starts -------------------------------------------- */

/*
 * The start of the driver takes 100 ms on an H100, and the load of libomptarget takes 14 ms. So a
 * second thread loads libomptarget during the start. The driver opens libraries in its first
 * milliseconds, and each load takes the loader's lock. So that the second thread does not delay the
 * driver, the second thread first waits for HEAD_START.
 *
 * If the caller runs in a constructor of a library that the program opens, the caller has the
 * loader's lock. The second thread then blocks until the caller unlocks the loader. If the caller
 * waited for the second thread, both would wait for ever. So the caller opens libomptarget itself,
 * which takes no time if the second thread has loaded it.
 */
#define HEAD_START 8000000 /* nanoseconds */

enum early_state { WAITS, LOADS, HAS_LOADED, IS_NEEDLESS };

static struct {
    char path[PATH_MAX];
    sem_t needless;
    enum early_state state; /* atomic */
    bool is_left;           /* a detached thread was still loading, and may use `early` */
} early;

static void *load_early(void *unused)
{
    struct timespec until;
    enum early_state state = WAITS;
    binding = true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += HEAD_START;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    sem_timedwait(&early.needless, &until);
    if (__atomic_compare_exchange_n(&early.state, &state, LOADS, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        dlopen(early.path, RTLD_NOW | RTLD_GLOBAL);
        __atomic_store_n(&early.state, HAS_LOADED, __ATOMIC_RELEASE);
    }
    return unused;
}

static void *open_beside_driver(const char *path)
{
    pthread_t thread;
    bool is_loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD) != NULL, is_started = false;
    if (!is_loaded && !early.is_left && sem_init(&early.needless, 0, 0) == 0) {
        early.state = WAITS;
        snprintf(early.path, sizeof early.path, "%s", path);
        is_started = rex_thread_start(&thread, load_early, NULL);
        if (!is_started)
            sem_destroy(&early.needless);
    }
    rex_cuda_retry();
    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!is_started)
        return handle;
    sem_post(&early.needless);
    early.is_left = __atomic_exchange_n(&early.state, IS_NEEDLESS, __ATOMIC_ACQ_REL) == LOADS;
    if (early.is_left) {
        pthread_detach(thread);
        return handle;
    }
    pthread_join(thread, NULL);
    sem_destroy(&early.needless);
    return handle;
}

/* ---- one candidate --------------------------------------------------------------------------- */

static void point(void *function_pointer, void *handle, const char *symbol)
{
    void *address = dlsym(handle, symbol);
    memcpy(function_pointer, &address, sizeof address);
}

static void bind_to(void *handle, const struct rex_candidate *candidate)
{
    struct rex_omp memory;
    snprintf(bound.path, sizeof bound.path, "%s", candidate->path);
    point(&memory.device_count, handle, "omp_get_num_devices");
    point(&memory.is_present, handle, "omp_target_is_present");
    point(&memory.associate, handle, "omp_target_associate_ptr");
    point(&memory.disassociate, handle, "omp_target_disassociate_ptr");
    point(&memory.mapped_pointer, handle, "omp_get_mapped_ptr");
    point(&memory.alloc, handle, "omp_target_alloc");
    point(&memory.free, handle, "omp_target_free");
    point(&memory.copy, handle, "omp_target_memcpy");
    point(&memory.data_begin, handle, "__tgt_target_data_begin_mapper");
    point(&memory.data_end, handle, "__tgt_target_data_end_mapper");
    rex_memory_calls_bind(&memory);
    if (*candidate->doubt != '\0')
        snprintf(bound.doubt, sizeof bound.doubt, "%s", candidate->doubt);
    bound.point_slots(handle, candidate->release);
    __atomic_store_n(&bound.release, candidate->release, __ATOMIC_RELEASE);
    rex_log(REX_LOG_INFO, "bound LLVM %d's libomptarget, %s (chosen by %s)",
            candidate->release->number, candidate->path, bound.chosen);
    if (*candidate->doubt != '\0')
        rex_log(REX_LOG_WARN, "libomptarget %s: %s", candidate->path, candidate->doubt);
}

/*
 * LLVM 14 to 18 open their plugins by unversioned names. The run path of libomptarget makes the
 * loader search in the folder of libomptarget. So the plugins must be in this folder.
 */
static int check_plugins(const struct rex_candidate *candidate, char *why, size_t why_size)
{
    char pattern[PATH_MAX + 32];
    glob_t found;
    if (!candidate->release->plugins_apart)
        return REX_OK;
    rex_folder_of(candidate->path, pattern);
    strcat(pattern, "/libomptarget.rtl.*.so");
    int result = glob(pattern, 0, NULL, &found);
    if (result == 0) {
        bool is_trusted = true;
        for (size_t i = 0; i < found.gl_pathc && is_trusted; i++)
            is_trusted = rex_search_trusts(found.gl_pathv[i], candidate->origin, why, why_size);
        globfree(&found);
        return is_trusted ? REX_OK : REX_ENORUNTIME;
    }
    if (result == GLOB_NOSPACE) {
        snprintf(why, why_size, "out of memory");
        return REX_ENOMEM;
    }
    snprintf(why, why_size,
             "LLVM %d's plugins, libomptarget.rtl.*.so, are not beside the library (Debian: "
             "apt-get install libomp-%d-dev)",
             candidate->release->number, candidate->release->number);
    return REX_ENORUNTIME;
}

/*
 * UNUSABLE: the library was opened, but lacks a function. The library stays in the process, because
 * it is linked NODELETE. So librex cannot open another candidate.
 */
enum outcome { BOUND, UNOPENED, UNUSABLE };

static enum outcome open_candidate(const struct rex_candidate *candidate,
                                   const struct rex_candidate *all, size_t count, char *why,
                                   size_t why_size)
{
    /* Functions that librex itself calls. */
    const char *const needed[] = {candidate->release->no_packet ? "__tgt_target_teams_mapper"
                                                                : "__tgt_target_kernel",
                                  "__tgt_register_lib",
                                  "__tgt_unregister_lib",
                                  "__tgt_target_data_begin_mapper",
                                  "__tgt_target_data_end_mapper",
                                  "__tgt_target_data_update_mapper",
                                  "omp_get_num_devices",
                                  "omp_target_is_present",
                                  "omp_target_disassociate_ptr",
                                  "omp_target_alloc",
                                  "omp_target_free",
                                  "omp_target_memcpy"};
    if (rex_openmp_ready(candidate, all, count, why, why_size) != 0)
        return UNOPENED;
    bool may_start = bound.starts_driver && rex_cuda_may_start();
    void *handle = may_start ? open_beside_driver(candidate->path)
                             : dlopen(candidate->path, RTLD_NOW | RTLD_GLOBAL);
    bound.starts_driver &= !may_start;
    if (handle == NULL) {
        const char *error = dlerror();
        snprintf(why, why_size, "%s", error != NULL ? error : "the loader gives no reason");
        return UNOPENED;
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (dlsym(handle, needed[i]) == NULL) {
            snprintf(why, why_size, "it lacks the entry point %s", needed[i]);
            dlclose(handle);
            return UNUSABLE;
        }
    bind_to(handle, candidate);
    return BOUND;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/*
 * Binds the only candidate: the library that REX_OMPTARGET names, or a loaded library. Missing
 * plugins of a loaded library are not an error here, because other code may use the library without
 * devices. If a registration fails, librex reports the missing plugins.
 */
static __attribute__((noinline)) int bind_named(const char *path, const char *how, bool loaded)
{
    struct rex_candidate candidate;
    char why[1024];
    _Static_assert(REX_SETTING_MAX <= sizeof candidate.path, "a path must hold a setting");
    snprintf(candidate.path, sizeof candidate.path, "%s", path);
    candidate.origin = loaded ? REX_LOADED : REX_NAMED;
    int result = rex_search_trusts(path, candidate.origin, why, sizeof why)
                     ? rex_search_tell(path, &candidate.release, why, sizeof why)
                     : REX_ENORUNTIME;
    if (result == REX_OK && !loaded)
        result = check_plugins(&candidate, why, sizeof why);
    if (result != REX_OK)
        goto fail;
    snprintf(candidate.doubt, sizeof candidate.doubt, "%.255s", why);
    check_plugins(&candidate, bound.doubt, sizeof bound.doubt);
    bound.chosen = how;
    if (open_candidate(&candidate, NULL, 0, why, sizeof why) == BOUND)
        return REX_OK;
    result = REX_ENORUNTIME;
fail:
    return rex_fail(result, "libomptarget %s (chosen by %s) cannot be used: %s", path, how, why);
}

static __attribute__((noinline)) int bind_best(void)
{
    static const int passing[] = {ENOMEM, EMFILE, ENFILE, EIO};
    char why[1024];
    struct rex_report report = {0};
    struct rex_candidate *all = NULL;
    bound.chosen = "librex, as the best found";
    size_t count = rex_search(&all, &report);
    enum outcome outcome = UNOPENED;
    for (size_t i = 0; i < count && outcome == UNOPENED && report.error == 0; i++) {
        int result = check_plugins(&all[i], why, sizeof why);
        if (result == REX_OK)
            outcome = open_candidate(&all[i], all, count, why, sizeof why);
        if (outcome != BOUND)
            rex_report_add(&report, REX_REPORT_LINE, "%s (LLVM %d): %s", all[i].path,
                           all[i].release->number, why);
        report.error = result == REX_ENOMEM ? ENOMEM : 0;
        /*
         * dlerror() sets no errno. If a temporary error made dlopen() fail, the text of dlerror()
         * ends in the text of that error.
         */
        for (size_t j = 0; outcome == UNOPENED && report.error == 0 && j < 4; j++) {
            const char *text = strerror(passing[j]);
            size_t length = strlen(why), end = strlen(text);
            if (length >= end && strcmp(why + length - end, text) == 0)
                report.error = passing[j];
        }
    }
    free(all);
    if (outcome == BOUND) {
        char *rest = NULL;
        for (char *line = strtok_r(report.text, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest))
            rex_log(REX_LOG_INFO, "passed over: %s", line + strspn(line, " "));
        return REX_OK;
    }
    if (report.error != 0) /* after a temporary error the best candidate may be missing */
        return rex_fail_lines(report.error == ENOMEM ? REX_ENOMEM : REX_ENORUNTIME,
                              "libomptarget cannot be searched for: %s%s", strerror(report.error),
                              report.text);
    return rex_fail_lines(
        REX_ENORUNTIME,
        "no usable libomptarget: install one (Debian: apt-get install libomp5-19), or "
        "name one in REX_OMPTARGET. Tried:%s",
        report.length > 0 ? report.text
                          : " nothing; no libomptarget.so* in /usr/lib/llvm-*/lib, on "
                            "the loader's path or in /opt");
}

static __attribute__((noinline)) void warn_of_other(const char *loaded)
{
    char named[REX_SETTING_MAX];
    if (rex_setting_text(REX_OPTION_OMPTARGET, named) && !rex_same_file(named, loaded))
        rex_log(REX_LOG_WARN, "%s=%s is not used: %s is in this process already",
                rex_settings[REX_OPTION_OMPTARGET].variable, named, loaded);
}

/*
 * If the process has loaded a libomptarget, binds it. If not, binds the libomptarget that
 * REX_OMPTARGET names, or else the best candidate. librex must not open a second libomptarget. If
 * exported functions of the second called each other, functions of the first would run. The first
 * does not know the devices and mappings of the second.
 */
static __attribute__((noinline)) int choose(void)
{
    static const char *const names[] = {"libomptarget.so", NULL};
    char path[PATH_MAX];
    if (rex_loaded(names, path)) {
        warn_of_other(path);
        return bind_named(path, "the process, which has loaded it", true);
    }
    _Static_assert(REX_SETTING_MAX <= sizeof path, "a path must have room for a setting");
    return rex_setting_text(REX_OPTION_OMPTARGET, path)
               ? bind_named(path, rex_settings[REX_OPTION_OMPTARGET].variable, false)
               : bind_best();
}

int rex_runtime_find(bool starts_driver, rex_slots_hook *point_slots)
{
    int result = REX_OK;
    if (rex_runtime() != NULL) {
        if (starts_driver)
            rex_cuda_retry();
        return REX_OK;
    }
    if (binding)
        return rex_fail(
            REX_ENORUNTIME,
            "a library calls librex from its constructor, while libomptarget is still being "
            "loaded: load this library after rex_offload_init()");
    if (!rex_can_open_libraries())
        return rex_fail(
            REX_ENORUNTIME,
            "libomptarget cannot be loaded, because the program was linked with -static or "
            "-static-pie: link the program without this option (librex.a is allowed)");
    /*
     * Relaxed: only a child of fork() acts on the value, and the parent wrote the value before the
     * fork.
     */
    unsigned binder = __atomic_load_n(&bound.binder, __ATOMIC_RELAXED);
    if (binder != 0 && binder != rex_forks() + 1)
        return rex_fail(REX_EFORK, "this process was forked while another thread of its parent "
                                   "loaded libomptarget: start the child with "
                                   "exec, or fork before or after that");
    rex_load_lock();
    bound.starts_driver = starts_driver;
    bound.point_slots = point_slots;
    if (rex_runtime() == NULL) {
        /* Relaxed: only a child of fork() acts on the value. */
        __atomic_store_n(&bound.binder, rex_forks() + 1, __ATOMIC_RELAXED);
        rex_trace_start();
        uint64_t begin = rex_phase_begin();
        binding = true;
        result = rex_fork_is_watched()
                     ? choose()
                     : rex_fail(REX_ENOMEM, "out of memory: librex cannot prepare for fork()");
        binding = false;
        /* Relaxed: only a child of fork() acts on the value. */
        __atomic_store_n(&bound.binder, 0, __ATOMIC_RELAXED);
        rex_phase_end(begin, "bind libomptarget", bound.path);
    }
    if (bound.starts_driver && result == REX_OK)
        rex_cuda_retry();
    rex_load_unlock();
    return result;
}
