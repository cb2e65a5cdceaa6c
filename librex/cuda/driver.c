/*
 * driver.c - opens the CUDA driver at run time, and starts it.
 *
 * A start looks up all functions of the driver. A missing function is an error only when it is
 * needed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/process.h"

struct rex_driver rex_driver;
struct rex_device rex_devices[REX_CUDA_DEVICES_MAX];

static const struct function {
    const char *name, *since; /* exported name; first CUDA release that exports it */
    enum rex_cuda_group group;
    void *field; /* address of the function's pointer in rex_driver */
} functions[] = {
#define FUNCTION(group, function, suffix, since, parameters) \
    {#function suffix, since, REX_CUDA_##group, &rex_driver.function},
    REX_CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * A reason why there was no device. It is never changed or freed, because a thread may read it at
 * any time.
 */
struct reason {
    struct reason *next;
    char text[1024];
};

/*
 * All members except `kept` are written under rex_load_lock(). Threads without the lock read the
 * members with atomic loads. Once `devices` is above 0, `library` and `missing` no longer change,
 * and need no atomic loads.
 */
static struct {
    void *library;      /* NULL until it is opened; never closed */
    const char *absent; /* text that says why there is no device */
    struct reason *reasons;
    int devices;
    /*
     * number of decisions that depend on `devices`, such as the choice of a module's image
     * (rex_cuda_keep()); if the number is above 0, the driver is not started again
     */
    int kept;
    unsigned starts; /* number of finished starts */
    /*
     * rex_forks() + 1 in the process that started the driver or is starting the driver. 0 if no
     * process has started the driver, or the last start found no device.
     */
    unsigned starter;
    /*
     * rex_forks() + 1 in the last process that called cuInit, even if cuInit failed. 0 if no
     * process has called cuInit.
     */
    unsigned caller;
    const struct function *missing[REX_CUDA_GROUPS]; /* first missing function of each group */
} driver = {.absent = ""};

/*
 * A thread may fork while it holds the lock: librex opens a library under the lock, and a
 * constructor of the library calls fork(). In the child this thread still unlocks the lock later,
 * so the lock must stay locked. In any other case the child gets a new, unlocked lock.
 */
static void renew_load_lock(void)
{
    if (rex_thread.loads == 0)
        rex_fork_renew(&lock);
}
REX_FORK_RENEWED(30, renew_load_lock);

void rex_load_lock(void)
{
    if (rex_thread.loads++ == 0)
        rex_lock(&lock);
}

void rex_load_unlock(void)
{
    REX_ASSERT(rex_thread.loads > 0);
    if (--rex_thread.loads == 0)
        rex_unlock(&lock);
}

static bool is_of_parent(const unsigned *process)
{
    /*
     * Relaxed: a parent wrote its value before the fork, so this process reads that value. Threads
     * of this process write only 0 and rex_forks() + 1. The function returns false for both values.
     */
    unsigned by = __atomic_load_n(process, __ATOMIC_RELAXED);
    return by != 0 && by != rex_forks() + 1;
}

/*
 * Returns true if a parent had started the driver before it forked this process. In such a process
 * no call to the driver works, and some calls may hang.
 */
bool rex_cuda_forked(void)
{
    return is_of_parent(&driver.starter);
}

/* ---- calls ----------------------------------------------------------------------------------- */

#define NO_REASON "the reason is unknown, because there is no memory for its text"

/* This thread's last failure. */
struct why {
    int result; /* 0: not a failure of a driver call */
    char text[512];
};

static __attribute__((format(printf, 2, 3))) void note_failure(int result, const char *format, ...)
{
    va_list arguments;
    struct why *why = rex_part(REX_PART_WHY, sizeof *why);
    va_start(arguments, format);
    if (why != NULL) {
        why->result = result;
        vsnprintf(why->text, sizeof why->text, format, arguments);
    }
    va_end(arguments);
}

static const char *noted_text(void)
{
    const struct why *why = rex_part_if_any(REX_PART_WHY);
    return why != NULL ? why->text : NO_REASON;
}

int rex_cuda_note(int result, const char *call)
{
    const char *name = NULL;
    char number[32];
    if (result == 0)
        return 0;
    if (rex_driver.cuGetErrorName(result, &name) != 0 || name == NULL) {
        snprintf(number, sizeof number, "error %d", result);
        name = number;
    }
    note_failure(result, "%s: %s", call, name);
    return result;
}

int rex_cuda_noted(void)
{
    const struct why *why = rex_part_if_any(REX_PART_WHY);
    return why != NULL ? why->result : 0;
}

int rex_cuda_memory_error(void)
{
    const struct why *why = rex_part_if_any(REX_PART_WHY);
    return why != NULL && why->result != REX_CUDA_OUT_OF_MEMORY ? REX_ECUDA : REX_ENOMEM;
}

/* Notes that the driver does not export NAME. cuDriverGetVersion() reports CUDA 12.4 as 12040. */
static void note_missing(const char *name, const char *since)
{
    int version = 0;
    char own[64] = "";
    if (rex_driver.cuDriverGetVersion != NULL && rex_driver.cuDriverGetVersion(&version) == 0 &&
        version > 0)
        snprintf(own, sizeof own, "; the driver is of CUDA %d.%d", version / 1000,
                 version % 1000 / 10);
    note_failure(0, "the CUDA driver lacks %s, which came with CUDA %s%s", name, since, own);
}

int rex_cuda_need(enum rex_cuda_group group)
{
    if (rex_cuda_devices() == 0)
        return -1;
    const struct function *missing = driver.missing[group];
    if (missing == NULL)
        return 0;
    note_missing(missing->name, missing->since);
    return -1;
}

bool rex_cuda_exports(const char *name, const char *since)
{
    if (rex_cuda_devices() == 0)
        return false;
    if (dlsym(driver.library, name) != NULL)
        return true;
    note_missing(name, since);
    return false;
}

/* ---- the start ------------------------------------------------------------------------------- */

static int open_driver(void)
{
    if (!rex_can_open_libraries()) {
        note_failure(0, "the CUDA driver cannot be opened by a program that was linked "
                        "with -static or -static-pie");
        return -1;
    }
    void *opened =
        driver.library != NULL ? driver.library : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *reason = opened == NULL ? dlerror() : NULL;
    __atomic_store_n(&driver.library, opened, __ATOMIC_RELEASE);
    if (opened != NULL)
        return 0;
    /*
     * The loader's message begins with the name of the file that it could not open. If this name is
     * not libcuda.so.1, the file is a library that the driver needs. If no file can be opened at
     * all, rex_nogpu_explain() adds the cause.
     */
    if (rex_nogpu_open_error() != 0)
        note_failure(0, "the CUDA driver (libcuda.so.1) cannot be opened");
    else if (reason == NULL ||
             (strncmp(reason, "libcuda.so.1:", 13) == 0 && strstr(reason, "No such file") != NULL))
        note_failure(0, "there is no CUDA driver (libcuda.so.1)");
    else
        note_failure(0, "the CUDA driver cannot be opened: %s", reason);
    return -1;
}

/*
 * Writes the number of devices to COUNT, and returns 0. On failure, notes the reason and returns a
 * CUresult or a REX_NOGPU_ cause.
 */
static int find_devices(int *count)
{
    if (open_driver() != 0)
        return REX_NOGPU_LIBRARY;
    memset(driver.missing, 0, sizeof driver.missing);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct function *function = &functions[i];
        void *address = dlsym(driver.library, function->name);
        memcpy(function->field, &address, sizeof address);
        if (address == NULL && driver.missing[function->group] == NULL)
            driver.missing[function->group] = function;
    }
    const struct function *missing = driver.missing[REX_CUDA_START];
    if (missing != NULL) {
        note_missing(missing->name, missing->since);
        return REX_NOGPU_FUNCTION;
    }
    /* Relaxed: only a child of fork compares the value, and fork copies the value. */
    __atomic_store_n(&driver.caller, rex_forks() + 1, __ATOMIC_RELAXED);
    int result = REX_CUDA(cuInit, 0);
    if (result != 0)
        return result;
    result = REX_CUDA(cuDeviceGetCount, count);
    if (result != 0)
        return result;
    if (*count <= 0) {
        note_failure(REX_NOGPU_DEVICE, "the CUDA driver reports no device");
        return REX_NOGPU_DEVICE;
    }
    if (*count > REX_CUDA_DEVICES_MAX)
        *count = REX_CUDA_DEVICES_MAX;
    for (int i = 0; i < *count; i++) {
        result = REX_CUDA(cuDeviceGet, &rex_devices[i].handle, i);
        if (result != 0)
            return result;
    }
    return 0;
}

/* ---- the GPUs -------------------------------------------------------------------------------- */

/*
 * Returns true if librex must not start the driver, for one of these reasons:
 * - There are devices already.
 * - An earlier decision depends on the number of devices (`kept`).
 * - This process is a child of fork, and at the fork the parent was starting the driver or had
 *   called cuInit, even without success. The child inherits the state of the parent's driver.
 */
static bool driver_is_decided(void)
{
    return rex_cuda_forked() || is_of_parent(&driver.caller) ||
           __atomic_load_n(&driver.devices, __ATOMIC_ACQUIRE) > 0 ||
           __atomic_load_n(&driver.kept, __ATOMIC_ACQUIRE) > 0;
}

bool rex_cuda_may_start(void)
{
    rex_load_lock();
    bool may = !driver_is_decided() && open_driver() == 0;
    rex_load_unlock();
    return may;
}

/* Returns a copy of TEXT that is never freed. Equal texts have one copy. */
static const char *keep_reason(const char *text)
{
    struct reason *reason = driver.reasons;
    while (reason != NULL && strcmp(reason->text, text) != 0)
        reason = reason->next;
    if (reason != NULL)
        return reason->text;
    reason = malloc(sizeof *reason);
    if (reason == NULL)
        return NO_REASON;
    reason->next = driver.reasons;
    snprintf(reason->text, sizeof reason->text, "%s", text);
    driver.reasons = reason;
    return reason->text;
}

/*
 * Starts the driver. BEFORE is the value of `starts` that the caller has read, or 0 for the first
 * start. Does nothing if `starts` is no longer BEFORE, because a start has finished meanwhile. Does
 * nothing if driver_is_decided() returns true.
 */
static void start_driver_after(unsigned before)
{
    int count = 0;
    if (__atomic_load_n(&driver.starts, __ATOMIC_ACQUIRE) != before || driver_is_decided())
        return;
    rex_load_lock();
    if (driver.starts != before || driver_is_decided())
        goto unlock;
    REX_ASSERT(driver.devices == 0);
    /* Relaxed: only a child of fork compares the value, and fork copies the value. */
    __atomic_store_n(&driver.starter, rex_forks() + 1, __ATOMIC_RELAXED);
    int result = find_devices(&count);
    if (result == 0)
        __atomic_store_n(&driver.devices, count, __ATOMIC_RELEASE);
    else {
        char text[1024], cause[512];
        rex_nogpu_explain(result, cause, sizeof cause);
        snprintf(text, sizeof text, "%s%s", noted_text(), cause);
        __atomic_store_n(&driver.absent, keep_reason(text), __ATOMIC_RELEASE);
        rex_log(REX_LOG_DEBUG, "no GPU: %s", text);
        /* Relaxed: only a child of fork compares the value, and fork copies the value. */
        __atomic_store_n(&driver.starter, 0, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&driver.starts, 1, __ATOMIC_RELEASE);
unlock:
    rex_load_unlock();
}

int rex_cuda_devices(void)
{
    start_driver_after(0);
    if (rex_cuda_forked())
        return 0;
    return __atomic_load_n(&driver.devices, __ATOMIC_ACQUIRE);
}

void rex_cuda_retry(void)
{
    start_driver_after(__atomic_load_n(&driver.starts, __ATOMIC_ACQUIRE));
}

void rex_cuda_keep(int change)
{
    int kept = __atomic_add_fetch(&driver.kept, change, __ATOMIC_RELEASE);
    REX_ASSERT(kept >= 0);
}

const char *rex_cuda_why(void)
{
    if (rex_cuda_forked())
        return REX_NOGPU_FORKED;
    if (rex_cuda_devices() == 0)
        return __atomic_load_n(&driver.absent, __ATOMIC_ACQUIRE);
    return noted_text();
}

const char *rex_cuda_library(char path[PATH_MAX])
{
    struct link_map *map;
    start_driver_after(0);
    void *opened = __atomic_load_n(&driver.library, __ATOMIC_ACQUIRE);
    if (opened == NULL || dlinfo(opened, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    return realpath(map->l_name, path);
}

/* ---- one GPU --------------------------------------------------------------------------------- */

int rex_cuda_handle(int number, int *device)
{
    if (number < 0 || number >= rex_cuda_devices())
        return -1;
    *device = rex_devices[number].handle;
    return 0;
}

int rex_cuda_attribute(int number, int attribute, int *value)
{
    int device, result = rex_cuda_handle(number, &device);
    if (result != 0)
        return result;
    return REX_CUDA(cuDeviceGetAttribute, value, attribute, device);
}

unsigned rex_cuda_architecture(int number)
{
    int major, minor;
    if (rex_cuda_attribute(number, REX_CUDA_CAPABILITY_MAJOR, &major) != 0 ||
        rex_cuda_attribute(number, REX_CUDA_CAPABILITY_MINOR, &minor) != 0)
        return 0;
    return (unsigned)major * 10 + (unsigned)minor;
}
