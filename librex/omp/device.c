/*
 * device.c - libomptarget's devices: their numbers, the GPU of each device, and functions for
 * device memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/process.h"
#include "base/settings.h"
#include "cuda/context.h"
#include "cuda/lost.h"
#include "cuda/driver.h"
#include "omp/backend.h"
#include "omp/gate.h"
#include "omp/runtime.h"
#include "rex/device.h"

/* ---- functions for device memory ------------------------------------------------------------- */

/*
 * `own` has the functions of libomptarget. Each function of `counted` except `data_begin` and
 * `data_end` enters the gate (omp/gate.h), calls the function of `own`, and leaves the gate.
 */
static struct rex_omp own, counted;

/*
 * omp_get_default_device() of the libomp in the process, or NULL; set when libomptarget is bound.
 */
static int (*default_device)(void);

int rex_foreign_registrations;

/*
 * LLVM 19 and later crash if no module is registered. Enter the gate before the check for a module,
 * because another thread can end a module only if this thread is outside the gate.
 */
int rex_devices_enter(void)
{
    int result = rex_gate_enter();
    if (result != REX_OK || rex_devices_are_there() ||
        __atomic_load_n(&rex_foreign_registrations, __ATOMIC_ACQUIRE) > 0 ||
        (rex_process_reasons() & REX_REASON_UNSEEN_CALLS))
        return result;
    rex_gate_leave();
    return rex_fail(
        REX_EINVAL,
        "no module is registered any more, so libomptarget has no device: call rex_offload_init() "
        "first");
}

/*
 * Like rex_devices_enter(), for a call with the devices ONE and OTHER, which may be equal. If
 * libomptarget may load images in any call, first calls rex_load_check() for both devices.
 */
static int enter_with(int one, int other)
{
    int result = rex_devices_enter();
    if (result != REX_OK || !rex_runtime()->any_call_loads)
        return result;
    result = rex_load_check(one);
    if (result == REX_OK && other != one)
        result = rex_load_check(other);
    if (result != REX_OK)
        rex_gate_leave();
    return result;
}

int rex_device_load(int number)
{
    int result = enter_with(number, number);
    if (result == REX_OK)
        rex_gate_leave();
    return result;
}

/*
 * Defines the function NAME of `counted`. ENTER is the call that enters the gate. ENTER fails if
 * the gate is closed, no module is registered, or images cannot be loaded. If ENTER fails, the
 * function returns REFUSED.
 */
#define IN_FLIGHT(type, name, enter, parameters, arguments, refused) \
    static type name parameters                                      \
    {                                                                \
        if (enter != REX_OK)                                         \
            return refused;                                          \
        type result = own.name arguments;                            \
        rex_gate_leave();                                            \
        return result;                                               \
    }
IN_FLIGHT(int, device_count, rex_devices_enter(), (void), (), 0)
#define ON_DEVICE(type, name, parameters, arguments, refused) \
    IN_FLIGHT(type, name, enter_with(device, device), parameters, arguments, refused)
ON_DEVICE(int, is_present, (const void *address, int device), (address, device), 0)
ON_DEVICE(int, disassociate, (const void *address, int device), (address, device), -1)
ON_DEVICE(int, associate,
          (const void *address, const void *on_device, size_t size, size_t offset, int device),
          (address, on_device, size, offset, device), -1)
ON_DEVICE(void *, mapped_pointer, (const void *address, int device), (address, device), NULL)
ON_DEVICE(void *, alloc, (size_t size, int device), (size, device), NULL)
IN_FLIGHT(int, copy, enter_with(to_device, from_device),
          (void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
           int to_device, int from_device),
          (to, from, size, to_offset, from_offset, to_device, from_device), rex_last_error_code())

static void free_on_device(void *memory, int device)
{
    if (enter_with(device, device) != REX_OK)
        return;
    own.free(memory, device);
    rex_gate_leave();
}

void rex_memory_calls_bind(const struct rex_omp *functions)
{
    void *address = dlsym(RTLD_DEFAULT, "omp_get_default_device");
    memcpy(&default_device, &address, sizeof address);
    own = *functions;
    counted = (struct rex_omp){.device_count = device_count,
                               .is_present = is_present,
                               .associate = own.associate != NULL ? associate : NULL,
                               .disassociate = disassociate,
                               .mapped_pointer = own.mapped_pointer != NULL ? mapped_pointer : NULL,
                               .alloc = alloc,
                               .free = free_on_device,
                               .copy = copy,
                               .data_begin = own.data_begin,
                               .data_end = own.data_end};
}

void rex_mapped_pointer_bind(void *(*instead)(const void *address, int device))
{
    counted.mapped_pointer = instead;
}

const struct rex_omp *rex_runtime_omp(void)
{
    return &counted;
}

/* ---- devices --------------------------------------------------------------------------------- */

int rex_omp_devices;

bool rex_runtime_policy_is(const char *word)
{
    const char *policy = getenv("OMP_TARGET_OFFLOAD");
    return policy != NULL && rex_is_word(policy, strlen(policy), word);
}

int rex_fail_host(const char *what, int number)
{
    if (rex_runtime_disabled())
        return rex_fail_quietly(REX_EHOST, "%s: offloading is disabled (OMP_TARGET_OFFLOAD)", what);
    return rex_fail_quietly(REX_EHOST, "%s: device %d is the host", what, number);
}

int rex_fail_no_gpu(const char *what, int number)
{
    return rex_fail_quietly(REX_ENODEVICE, "%s: device %d is not an NVIDIA GPU", what, number);
}

int rex_devices_ask(bool is_alone)
{
    int count = REX_DEVICES_DISABLED;
    if (!rex_runtime_disabled())
        count = is_alone ? own.device_count() : counted.device_count();
    /* Relaxed: no other data depends on the number. */
    __atomic_store_n(&rex_omp_devices, count, __ATOMIC_RELAXED);
    return count;
}

int rex_registered_modules;
bool rex_device_was_used;

/*
 * For each device, the ordinal of the GPU plus 2. 1: the device is not an NVIDIA GPU. 0: the
 * ordinal is unknown. Atomic.
 */
static int ordinals[REX_CUDA_DEVICES_MAX];

/*
 * A registration may change the device numbers of libomptarget, so the stored ordinals are
 * discarded.
 */
void rex_devices_registered(int change)
{
    __atomic_fetch_add(&rex_registered_modules, change, __ATOMIC_RELEASE);
    REX_ASSERT(__atomic_load_n(&rex_registered_modules, __ATOMIC_ACQUIRE) >= 0);
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++)
        __atomic_store_n(&ordinals[i], 0, __ATOMIC_RELEASE);
    rex_cuda_keep(change);
}

int rex_device_count(void)
{
    return rex_devices_are_there() && !rex_runtime_disabled() ? counted.device_count() : 0;
}

/* ---- the default device --------------------------------------------------------------------- */

int rex_openmp_default_device(void)
{
    static int last; /* the last result in any thread; atomic */
    /* Relaxed: no other data depends on the number. */
    int number = __atomic_load_n(&last, __ATOMIC_RELAXED);
    /*
     * Do not call libomp after its thread destructor has run in this thread, because libomp would
     * crash. Do not call libomp at the end of the process, because libomp would start again.
     */
    if (default_device == NULL || rex_thread.ends > 0 || rex_gate_enter_raw() != REX_OK)
        return number;
    number = default_device();
    __atomic_store_n(&last, number, __ATOMIC_RELAXED); /* Relaxed: only a number. */
    rex_gate_leave();
    return number;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/*
 * Activates the context of DEVICE if its bit in rex_contexts_later is set (cuda/context.h). A bit
 * is set only if all registered images are for GPUs. libomptarget and the driver then number the
 * GPUs equally, so bit DEVICE belongs to the GPU of DEVICE.
 */
static int will_use(int64_t device)
{
    uint64_t later = __atomic_load_n(&rex_contexts_later, __ATOMIC_ACQUIRE);
    if (device >= 0 && device < REX_CUDA_DEVICES_MAX && (later >> device & 1) != 0)
        rex_context_activate_later((int)device);
    return REX_OK;
}

/* Fails with REX_EDEVICE, because DEVICE is not one of COUNT devices, and is not the host. */
static int no_such_device(int64_t device, bool is_default, int count)
{
    if (is_default)
        return rex_fail(REX_EDEVICE,
                        "the default device, %lld, does not exist: valid numbers are 0 to %d (the "
                        "host). OMP_DEFAULT_DEVICE or omp_set_default_device() has set it",
                        (long long)device, count);
    return rex_fail(REX_EDEVICE,
                    "device %lld does not exist: valid numbers are -1 (the default device) to %d "
                    "(the host)",
                    (long long)device, count);
}

int rex_device_check(int64_t device)
{
    bool is_default = device == -1;
    if (is_default)
        device = rex_openmp_default_device();
    if ((uint64_t)device <= (uint64_t)rex_devices_known())
        return will_use(device);
    int count = rex_devices_ask(false);
    if (device < 0 || device > count)
        return no_such_device(device, is_default, count);
    return will_use(device);
}

int rex_device_resolve(int64_t device, int *number)
{
    int count = rex_device_count();
    int64_t asked = device == -1 ? rex_openmp_default_device() : device;
    if (asked < 0 || asked > count)
        return no_such_device(asked, device == -1, count);
    *number = (int)asked;
    return will_use(asked);
}

/*
 * Every launch calls this function, and a call to libomptarget takes locks. So if the device is one
 * of the known devices, this function does not call libomptarget.
 */
int rex_device_offload(int64_t device, int *number)
{
    int64_t asked = device == -1 ? rex_openmp_default_device() : device;
    int known = __atomic_load_n(&rex_omp_devices, __ATOMIC_RELAXED); /* Relaxed: only a number. */
    if (asked >= 0 && asked < known && known != REX_DEVICES_DISABLED) {
        *number = (int)asked;
        bool is_any_later = __atomic_load_n(&rex_contexts_later, __ATOMIC_ACQUIRE) != 0;
        return is_any_later ? will_use(asked) : REX_OK;
    }
    int result = rex_runtime_disabled() ? REX_EHOST : rex_device_resolve(device, number);
    if (result == REX_OK && *number == rex_device_count())
        result = REX_EHOST;
    if (result == REX_EHOST && rex_setting_read(REX_OPTION_REQUIRE_GPU))
        return rex_fail(REX_ENODEVICE, "device %lld is the host, and REX_REQUIRE_GPU is on",
                        (long long)asked);
    return result;
}

/* ---- loads of images at the first use -------------------------------------------------------- */

uint64_t rex_loads_due;
static int (*attempt_load)(int number); /* guarded by rex_load_lock() */
/*
 * True while attempt_load() is running. attempt_load() may call rex_load_try(), which must not call
 * attempt_load() again. rex_load_lock() does not prevent a second call, because a thread can take
 * the lock twice. Guarded by rex_load_lock().
 */
static bool is_loading;

void rex_loads_expect(int (*attempt)(int number))
{
    rex_load_lock();
    int known = rex_devices_known();
    attempt_load = attempt;
    __atomic_store_n(&rex_loads_due, known < 64 ? (UINT64_C(1) << known) - 1 : UINT64_MAX,
                     __ATOMIC_RELEASE);
    rex_load_unlock();
}

int rex_load_try(int64_t device)
{
    int number = rex_openmp_number(device), result = REX_OK;
    if (!rex_load_is_due(number))
        return REX_OK;
    will_use(number);
    rex_load_lock();
    if (rex_load_is_due(number) && !is_loading) {
        is_loading = true;
        result = attempt_load(number);
        is_loading = false;
        if (result == REX_OK)
            __atomic_fetch_and(&rex_loads_due, ~(UINT64_C(1) << number), __ATOMIC_RELEASE);
    }
    rex_load_unlock();
    return result;
}

/* ---- which GPU ------------------------------------------------------------------------------- */

#define POINTER_DEVICE_ORDINAL 9 /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */

/*
 * libomptarget numbers the devices of all plugins together. The order of the plugins is the order
 * of their first use. So this function allocates memory on the device, and asks the driver for the
 * GPU of that memory.
 */
int rex_device_ordinal(const char *what, int number, int *ordinal)
{
    const struct rex_omp *omp = rex_runtime_omp();
    *ordinal = -1;
    if (rex_runtime_disabled() || number == rex_device_count() || rex_cuda_devices() == 0)
        return REX_OK;
    if (rex_device_lost(number, what) != REX_OK)
        return REX_ECUDA;
    if (rex_cuda_need(REX_CUDA_QUEUES) != 0)
        return rex_fail(REX_EUNSUPPORTED, "%s: %s", what, rex_cuda_why());
    rex_device_used();
    int result = rex_device_load(number);
    if (result != REX_OK)
        return result;
    void *memory = omp->alloc(sizeof *ordinal, number);
    if (memory == NULL)
        return rex_fail(REX_ENOMEM, "%s: device %d has too little free memory", what, number);
    result = REX_CUDA(cuPointerGetAttribute, ordinal, POINTER_DEVICE_ORDINAL,
                      (uint64_t)(uintptr_t)memory);
    omp->free(memory, number);
    if (result == REX_CUDA_INVALID_VALUE || *ordinal >= REX_CUDA_DEVICES_MAX)
        *ordinal = -1; /* the device of another plugin, or a GPU outside the tables of librex */
    if (result != 0 && result != REX_CUDA_INVALID_VALUE)
        return rex_fail(REX_ECUDA, "%s: %s", what, rex_cuda_why());
    return REX_OK;
}

int rex_device_noted_ordinal(int number)
{
    if (number < 0 || number >= REX_CUDA_DEVICES_MAX)
        return -1;
    return __atomic_load_n(&ordinals[number], __ATOMIC_ACQUIRE) - 2;
}

int rex_device_known_ordinal(int number, int *ordinal)
{
    *ordinal = rex_device_noted_ordinal(number);
    if (*ordinal != REX_ORDINAL_UNKNOWN)
        return REX_OK;
    int result = rex_device_ordinal("a launch by the driver", number, ordinal);
    if (result == REX_OK)
        __atomic_store_n(&ordinals[number], *ordinal + 2, __ATOMIC_RELEASE);
    return result;
}

int rex_device_gpu(int64_t device)
{
    int number = 0, ordinal = -1, result = REX_OK;
    if (rex_device_count() == 0) {
        result = rex_gate_check();
        if (result != REX_OK)
            return result;
        if (rex_runtime_disabled())
            return rex_fail(REX_EDEVICE,
                            "rex_device_gpu: offloading is disabled (OMP_TARGET_OFFLOAD)");
        return rex_fail(REX_EDEVICE,
                        "rex_device_gpu: no module is registered: call rex_offload_init() first");
    }
    result = rex_device_resolve(device, &number);
    if (result == REX_OK)
        result = rex_device_ordinal("rex_device_gpu", number, &ordinal);
    if (result != REX_OK)
        return result;
    if (ordinal < 0)
        return rex_fail_no_gpu("rex_device_gpu", number);
    return ordinal;
}

/* ---- the GPU for this process ---------------------------------------------------------------- */

int rex_device_require_gpu(void)
{
    if (!rex_setting_read(REX_OPTION_REQUIRE_GPU))
        return REX_OK;
    if (rex_runtime_disabled())
        return rex_fail(REX_ENODEVICE,
                        "REX_REQUIRE_GPU is on, and OMP_TARGET_OFFLOAD disables offloading");
    if (rex_cuda_devices() > 0)
        return REX_OK;
    return rex_fail(rex_cuda_forked() ? REX_EFORK : REX_ENODEVICE,
                    "REX_REQUIRE_GPU is on, and this process has no NVIDIA GPU: %s",
                    rex_cuda_why());
}

/*
 * The driver does not count GPUs that CUDA_VISIBLE_DEVICES hides. libomptarget may have fewer
 * devices than the driver has GPUs, because libomptarget counts only GPUs that a registered image
 * fits. The function uses the smaller number, or the number of GPUs if libomptarget has no device.
 */
int rex_device_for_rank(void)
{
    struct rex_kept_error last;
    rex_settings_review();
    rex_error_keep(&last);
    rex_cuda_retry();
    int gpus = rex_cuda_devices(), offered = rex_device_count();
    rex_error_restore(&last); /* an error of libomptarget is treated as 0 devices */
    int result = rex_device_require_gpu();
    if (result != REX_OK)
        return result;
    return rex_launcher_device(offered > 0 && offered < gpus ? offered : gpus);
}

/* ---- reasons why libomptarget finds no GPU --------------------------------------------------- */

bool rex_device_trouble(const struct rex_release *release, char *why, size_t size)
{
    if (release->driver_function != NULL &&
        !rex_cuda_exports(release->driver_function, release->driver_since)) {
        snprintf(why, size, "LLVM %d cannot use the GPU: %s", release->number, rex_cuda_why());
        return true;
    }
    /* libomptarget of every LLVM release opens the development name, libcuda.so. */
    void *linked = dlopen("libcuda.so", RTLD_LAZY | RTLD_LOCAL);
    if (linked == NULL) {
        snprintf(why, size,
                 "libomptarget opens the CUDA driver as libcuda.so, but only libcuda.so.1 exists: "
                 "a link is missing");
        return true;
    }
    dlclose(linked);
    return false;
}
