/*
 * context.c - primary contexts of GPUs: kept and lost; how threads wait in them.
 *
 * libomptarget (LLVM 14 to 23) sets CU_CTX_SCHED_BLOCKING_SYNC on a primary context that is not
 * active yet and leaves an active one as it is. On an H100 a launch with its wait takes 22 to 36 us
 * that way, and 10 to 11 us where the context was activated with another policy.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/context.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "image/cubin.h"

/* Flags of a context; with `runtime` those that libomptarget sets on one that is not active. */
static const unsigned flags_of[] = {[REX_WAIT_AUTO] = 0x0,
                                    [REX_WAIT_SPIN] = 0x1,
                                    [REX_WAIT_YIELD] = 0x2,
                                    [REX_WAIT_BLOCK] = 0x4,
                                    [REX_WAIT_RUNTIME] = 0x4};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
REX_FORK_UNREACHED("nobody takes it without a driver, and a child has none");
static bool held[REX_CUDA_DEVICES_MAX]; /* by the users together, once each */
static int users; /* calls of the functions that rex_context_unhold() undoes */
uint64_t rex_contexts_later;
static int home; /* the GPU in whose context pinned memory is, plus 1 */
static void (*at_no_users)(void);

/* ---- the driver's calls ---------------------------------------------------------------------- */

/*
 * Asked once for each GPU: a context that was retained can be released whatever the driver says
 * then.
 */
static int handle_of(int number, int *device)
{
    static int handles[REX_CUDA_DEVICES_MAX]; /* plus 1 */
    if (number < 0 || number >= rex_cuda_devices())
        return -1;
    /* Relaxed: the number stands for itself; all threads are told the same one. */
    int known = __atomic_load_n(&handles[number], __ATOMIC_RELAXED);
    if (known > 0)
        *device = known - 1;
    else if (REX_CUDA(cuDeviceGet, device, number) != 0)
        return -1;
    /* Relaxed: as above. */
    __atomic_store_n(&handles[number], *device + 1, __ATOMIC_RELAXED);
    return 0;
}

/* Whether the context of GPU NUMBER is active, and with what flags. 0 or -1. */
static int ask_state(int number, unsigned *flags, int *active)
{
    int device = 0;
    return handle_of(number, &device) != 0 ||
                   REX_CUDA(cuDevicePrimaryCtxGetState, device, flags, active) != 0
               ? -1
               : 0;
}

static int retain_with_flags(int number, unsigned flags)
{
    int device = 0;
    void *context;
    return handle_of(number, &device) != 0 ||
                   REX_CUDA(cuDevicePrimaryCtxSetFlags, device, flags) != 0 ||
                   REX_CUDA(cuDevicePrimaryCtxRetain, &context, device) != 0
               ? -1
               : 0;
}

int rex_context_retain(int number, void **context)
{
    int device = 0;
    return handle_of(number, &device) != 0 ||
                   REX_CUDA(cuDevicePrimaryCtxRetain, context, device) != 0
               ? -1
               : 0;
}

void rex_context_drop(int number)
{
    int device = 0;
    if (handle_of(number, &device) == 0)
        REX_CUDA(cuDevicePrimaryCtxRelease, device);
}

/* ---- the policy ------------------------------------------------------------------------------ */

static void activate(int device, unsigned policy)
{
    unsigned flags = 0;
    int active = 0;
    if (ask_state(device, &flags, &active) != 0)
        rex_log(REX_LOG_WARN, "GPU %d: %s", device, rex_cuda_why());
    else if (active)
        rex_log(REX_LOG_INFO,
                "GPU %d: its context is active already, with flags 0x%x: the wait policy stays",
                device, flags);
    else if (retain_with_flags(device, policy) != 0)
        rex_log(REX_LOG_WARN, "GPU %d: the wait policy could not be set: %s", device,
                rex_cuda_why());
    else {
        held[device] = true;
        rex_log(REX_LOG_INFO, "GPU %d: context activated with flags 0x%x", device, policy);
    }
}

static bool is_active(int number)
{
    unsigned flags = 0;
    int active = 0;
    return held[number] || (ask_state(number, &flags, &active) == 0 && active);
}

/* No GPU is started for pinned memory where another one is at work. */
static int choose_home(void)
{
    int own = rex_launcher_device(rex_cuda_devices());
    int chosen = own < rex_cuda_devices() ? own : 0;
    for (int i = 0; i < rex_cuda_devices() && !is_active(chosen); i++)
        if (is_active(i))
            chosen = i;
    return chosen;
}

/* Also a context that is active: it must stay as long as what is made in it. */
static void hold_one(int number, unsigned policy)
{
    unsigned flags = policy;
    int active = 0;
    if (ask_state(number, &flags, &active) == 0)
        held[number] = retain_with_flags(number, active ? flags : policy) == 0;
}

/* Those of WANTED that are not held already. */
static void activate_all(uint64_t wanted)
{
    enum rex_wait wait = rex_setting_wait();
    for (int i = 0; wait != REX_WAIT_RUNTIME && i < rex_cuda_devices(); i++)
        if ((wanted >> i & 1) != 0 && !held[i])
            activate(i, flags_of[wait]);
}

void rex_context_activate(unsigned architecture, bool later)
{
    uint64_t wanted = 0;
    if (rex_cuda_devices() == 0)
        return;
    for (int i = 0; i < rex_cuda_devices(); i++)
        wanted |= (uint64_t)rex_image_suits(architecture, rex_cuda_architecture(i)) << i;
    rex_lock(&lock);
    users++;
    if (later)
        __atomic_fetch_or(&rex_contexts_later, wanted, __ATOMIC_RELEASE);
    else
        activate_all(wanted);
    rex_unlock(&lock);
}

void rex_context_activate_one(int number)
{
    rex_lock(&lock);
    users++;
    activate_all(UINT64_C(1) << number);
    rex_unlock(&lock);
}

/* The bit goes last: who does not see it any more goes on to libomptarget. */
void rex_context_activate_later(int number)
{
    uint64_t bit = UINT64_C(1) << number;
    if (rex_cuda_devices() == 0)
        return;
    rex_lock(&lock);
    activate_all(rex_contexts_later & bit);
    __atomic_fetch_and(&rex_contexts_later, ~bit, __ATOMIC_RELEASE);
    rex_unlock(&lock);
}

void rex_context_hold(void)
{
    enum rex_wait wait = rex_setting_wait();
    rex_lock(&lock);
    users++;
    if (home == 0)
        __atomic_store_n(&home, choose_home() + 1, __ATOMIC_RELEASE);
    if (!held[home - 1])
        hold_one(home - 1, flags_of[wait]);
    rex_unlock(&lock);
}

int rex_context_held(void)
{
    return __atomic_load_n(&home, __ATOMIC_ACQUIRE) - 1;
}

void rex_context_join(void (*at_end)(void))
{
    rex_lock(&lock);
    users++;
    at_no_users = at_end;
    rex_unlock(&lock);
}

static void drop_held(void)
{
    __atomic_store_n(&rex_contexts_later, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&home, 0, __ATOMIC_RELEASE);
    for (int i = 0; i < rex_cuda_devices(); i++)
        if (held[i]) {
            rex_context_drop(i);
            held[i] = false;
        }
}

void rex_context_unhold(void)
{
    void (*at_end)(void) = NULL;
    if (rex_cuda_devices() == 0)
        return;
    rex_lock(&lock);
    if (--users == 0) {
        drop_held();
        at_end = at_no_users;
    }
    rex_unlock(&lock);
    if (at_end != NULL)
        at_end();
}

/* ---- lost devices ---------------------------------------------------------------------------- */

/*
 * Queues come and go, a GPU's context stays lost for the process. Each loss is written once, by the
 * thread that has claimed its slot, and read from then on: nobody takes a lock.
 */
static struct loss {
    int number;
    char name[80], why[256];
    bool written;
} losses[REX_CUDA_DEVICES_MAX];
unsigned rex_device_losses;

#define ANY_DEVICE INT_MIN

/* The loss of device NUMBER; NULL if there is none. */
static const struct loss *find_loss(int number)
{
    unsigned known = __atomic_load_n(&rex_device_losses, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < known && i < REX_CUDA_DEVICES_MAX; i++)
        if (__atomic_load_n(&losses[i].written, __ATOMIC_ACQUIRE) &&
            (number == ANY_DEVICE || losses[i].number == number))
            return &losses[i];
    return NULL;
}

void rex_device_lose(int number, const char *name, const char *why)
{
    if (find_loss(number) != NULL)
        return;
    unsigned slot = __atomic_fetch_add(&rex_device_losses, 1, __ATOMIC_ACQ_REL);
    if (slot >= REX_CUDA_DEVICES_MAX) {
        __atomic_fetch_sub(&rex_device_losses, 1, __ATOMIC_ACQ_REL);
        return;
    }
    struct loss *loss = &losses[slot];
    loss->number = number;
    snprintf(loss->name, sizeof loss->name, "%s", name);
    snprintf(loss->why, sizeof loss->why, "%s", why);
    __atomic_store_n(&loss->written, true, __ATOMIC_RELEASE);
}

static int refuse(const struct loss *loss, const char *what)
{
    return loss == NULL ? REX_OK
                        : rex_fail(REX_ECUDA, "%s: device %d is lost, since %s met with %s", what,
                                   loss->number, loss->name, loss->why);
}

int rex_device_lost(int number, const char *what)
{
    return refuse(find_loss(number), what);
}

int rex_any_device_lost(const char *what)
{
    return refuse(find_loss(ANY_DEVICE), what);
}
