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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "cuda/pinned.h"
#include "image/cubin.h"

/* Flags of a context; with `runtime` those that libomptarget sets on one that is not active. */
static const unsigned flags_of[] = {[REX_WAIT_AUTO] = 0x0,
                                    [REX_WAIT_SPIN] = 0x1,
                                    [REX_WAIT_YIELD] = 0x2,
                                    [REX_WAIT_BLOCK] = 0x4,
                                    [REX_WAIT_RUNTIME] = 0x4};

uint64_t rex_contexts_later;

/*
 * Under the driver's lock, like rex_contexts_later and `is_held` of each GPU. A child of fork has
 * no driver, and does not get here.
 */
static struct {
    int users; /* calls of the functions that rex_context_unhold() undoes */
    int home;  /* the GPU in whose context pinned memory is, plus 1; read by an atomic */
    void (*at_no_users)(void);
} contexts;

/* ---- the driver's calls ---------------------------------------------------------------------- */

/* 1 where the context of GPU NUMBER is active, with FLAGS then; 0 where not, -1 with an error. */
static int ask_state(int number, unsigned *flags)
{
    int device, active;
    return rex_cuda_handle(number, &device) != 0 ||
                   REX_CUDA(cuDevicePrimaryCtxGetState, device, flags, &active) != 0
               ? -1
               : active;
}

bool rex_context_is_active(int number)
{
    unsigned flags;
    return ask_state(number, &flags) > 0;
}

int rex_context_retain(int number, void **context)
{
    int device, result = rex_cuda_handle(number, &device);
    return result != 0 ? result : REX_CUDA(cuDevicePrimaryCtxRetain, context, device);
}

static int retain_with_flags(int number, unsigned flags)
{
    int device;
    void *context;
    return rex_cuda_handle(number, &device) != 0 ||
                   REX_CUDA(cuDevicePrimaryCtxSetFlags, device, flags) != 0
               ? -1
               : rex_context_retain(number, &context);
}

void rex_context_drop(int number)
{
    int device;
    if (rex_cuda_handle(number, &device) == 0)
        REX_CUDA(cuDevicePrimaryCtxRelease, device);
}

/* ---- the policy ------------------------------------------------------------------------------ */

/* Those of WANTED that are not held already. */
static void activate(uint64_t wanted)
{
    enum rex_wait wait = rex_setting_wait();
    for (int i = 0; wait != REX_WAIT_RUNTIME && i < rex_cuda_devices(); i++) {
        unsigned flags = 0;
        if ((wanted >> i & 1) == 0 || rex_devices[i].is_held)
            continue;
        int state = ask_state(i, &flags);
        if (state < 0)
            rex_log(REX_LOG_WARN, "GPU %d: %s", i, rex_cuda_why());
        else if (state > 0)
            rex_log(REX_LOG_INFO,
                    "GPU %d: its context is active already, with flags 0x%x: the wait policy stays",
                    i, flags);
        else if (retain_with_flags(i, flags_of[wait]) != 0)
            rex_log(REX_LOG_WARN, "GPU %d: the wait policy could not be set: %s", i,
                    rex_cuda_why());
        else {
            rex_devices[i].is_held = true;
            rex_log(REX_LOG_INFO, "GPU %d: context activated with flags 0x%x", i, flags_of[wait]);
        }
    }
}

void rex_context_activate(unsigned architecture, bool later)
{
    uint64_t wanted = 0;
    if (rex_cuda_devices() == 0)
        return;
    for (int i = 0; i < rex_cuda_devices(); i++)
        wanted |= (uint64_t)rex_image_suits(architecture, rex_cuda_architecture(i)) << i;
    rex_driver_lock();
    contexts.users++;
    if (later)
        __atomic_fetch_or(&rex_contexts_later, wanted, __ATOMIC_RELEASE);
    else
        activate(wanted);
    rex_driver_unlock();
}

void rex_context_activate_one(int number)
{
    rex_driver_lock();
    contexts.users++;
    activate(UINT64_C(1) << number);
    rex_driver_unlock();
}

/* The bit goes last: who does not see it any more goes on to libomptarget. */
void rex_context_activate_later(int number)
{
    uint64_t bit = UINT64_C(1) << number;
    rex_driver_lock();
    activate(rex_contexts_later & bit);
    __atomic_fetch_and(&rex_contexts_later, ~bit, __ATOMIC_RELEASE);
    rex_driver_unlock();
}

/* No GPU is started for pinned memory where another one is at work. */
static int choose_home(void)
{
    int own = rex_launcher_device(rex_cuda_devices());
    int chosen = own < rex_cuda_devices() ? own : 0;
    for (int i = 0; i < rex_cuda_devices() && !rex_context_is_active(chosen); i++)
        if (rex_context_is_active(i))
            chosen = i;
    return chosen;
}

/* Also a context that is active is held: it must stay as long as what is made in it. */
void rex_context_hold(void)
{
    unsigned flags = 0;
    rex_driver_lock();
    contexts.users++;
    if (contexts.home == 0)
        __atomic_store_n(&contexts.home, choose_home() + 1, __ATOMIC_RELEASE);
    int number = contexts.home - 1;
    struct rex_device *device = &rex_devices[number];
    int state = device->is_held ? -1 : ask_state(number, &flags);
    if (state >= 0)
        device->is_held =
            retain_with_flags(number, state > 0 ? flags : flags_of[rex_setting_wait()]) == 0;
    rex_driver_unlock();
}

int rex_context_held(void)
{
    return __atomic_load_n(&contexts.home, __ATOMIC_ACQUIRE) - 1;
}

void rex_context_join(void (*at_end)(void))
{
    rex_driver_lock();
    contexts.users++;
    contexts.at_no_users = at_end;
    rex_driver_unlock();
}

void rex_context_unhold(void)
{
    void (*at_end)(void) = NULL;
    if (rex_cuda_devices() == 0)
        return;
    rex_driver_lock();
    if (--contexts.users == 0) {
        at_end = contexts.at_no_users;
        __atomic_store_n(&rex_contexts_later, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&contexts.home, 0, __ATOMIC_RELEASE);
        for (int i = 0; i < rex_cuda_devices(); i++)
            if (rex_devices[i].is_held) {
                rex_context_drop(i);
                rex_devices[i].is_held = false;
            }
    }
    rex_driver_unlock();
    if (at_end != NULL)
        at_end();
}

/* ---- lost devices ---------------------------------------------------------------------------- */

bool rex_some_device_is_lost;

/* The loss of device NUMBER; NULL if there is none. */
static const struct rex_loss *find_loss(int number)
{
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        const struct rex_loss *loss = &rex_devices[i].loss;
        if (__atomic_load_n(&loss->is_lost, __ATOMIC_ACQUIRE) &&
            (number == REX_ANY_DEVICE || number == loss->number))
            return loss;
    }
    return NULL;
}

/* Queues come and go, a GPU's context stays lost for the process. */
void rex_device_lose(int ordinal, int number, const char *name, const char *why)
{
    struct rex_loss *loss = &rex_devices[ordinal].loss;
    rex_lists_lock();
    if (!loss->is_lost) {
        loss->number = number;
        snprintf(loss->name, sizeof loss->name, "%s", name);
        snprintf(loss->why, sizeof loss->why, "%s", why);
        __atomic_store_n(&loss->is_lost, true, __ATOMIC_RELEASE);
        __atomic_store_n(&rex_some_device_is_lost, true, __ATOMIC_RELEASE);
    }
    rex_lists_unlock();
}

int rex_device_lost(int number, const char *what)
{
    const struct rex_loss *loss = rex_any_device_is_lost() ? find_loss(number) : NULL;
    return loss == NULL ? REX_OK
                        : rex_fail(REX_ECUDA, "%s: device %d is lost, since %s met with %s", what,
                                   loss->number, loss->name, loss->why);
}
