/*
 * context.c - primary contexts of GPUs, and how threads wait in them.
 *
 * libomptarget (LLVM 14 to 23) sets CU_CTX_SCHED_BLOCKING_SYNC on a primary context that is not
 * active yet and leaves an active one as it is. On an H100 a launch with its wait takes 22 to 36 us
 * that way, and 10 to 11 us where the context was activated with another policy.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/context.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fork.h"
#include "image/cubin.h"
#include "base/settings.h"
#include "cuda/driver.h"
#include "base/log.h"

/* Flags of a context; with `runtime` those that libomptarget sets on one that is not active. */
static const unsigned flags_of[] = {[REX_WAIT_AUTO] = 0x0,
                                    [REX_WAIT_SPIN] = 0x1,
                                    [REX_WAIT_YIELD] = 0x2,
                                    [REX_WAIT_BLOCK] = 0x4,
                                    [REX_WAIT_RUNTIME] = 0x4};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
REX_FORK_UNREACHED("nobody takes it without a driver, and a child has none");
static bool held[REX_CUDA_DEVICES_MAX];
static int users;

static void activate(int device, unsigned policy)
{
    unsigned flags = 0;
    int active = 0;
    if (rex_cuda_context_state(device, &flags, &active) != 0)
        rex_log(REX_LOG_WARN, "GPU %d: %s", device, rex_cuda_why());
    else if (active)
        rex_log(REX_LOG_INFO,
                "GPU %d: its context is active already, with flags 0x%x: the wait policy stays",
                device, flags);
    else if (rex_cuda_context_retain(device, policy) != 0)
        rex_log(REX_LOG_WARN, "GPU %d: the wait policy could not be set: %s", device,
                rex_cuda_why());
    else {
        held[device] = true;
        rex_log(REX_LOG_INFO, "GPU %d: context activated with flags 0x%x", device, policy);
    }
}

/* Also a context that is active: it must stay as long as what is made in it. */
static void hold_first(unsigned policy)
{
    unsigned flags = policy;
    int active = 0;
    if (rex_cuda_context_state(0, &flags, &active) == 0)
        held[0] = rex_cuda_context_retain(0, active ? flags : policy) == 0;
}

void rex_context_activate(unsigned architecture)
{
    enum rex_wait wait = rex_setting_wait();
    if (rex_cuda_devices() == 0)
        return;
    rex_lock(&lock);
    users++;
    for (int i = 0; wait != REX_WAIT_RUNTIME && i < rex_cuda_devices(); i++)
        if (!held[i] && rex_image_suits(architecture, rex_cuda_architecture(i)))
            activate(i, flags_of[wait]);
    rex_unlock(&lock);
}

void rex_context_hold(void)
{
    enum rex_wait wait = rex_setting_wait();
    if (rex_cuda_devices() == 0)
        return;
    rex_lock(&lock);
    users++;
    if (!held[0])
        hold_first(flags_of[wait]);
    rex_unlock(&lock);
}

void rex_context_release(void)
{
    if (rex_cuda_devices() == 0)
        return;
    rex_lock(&lock);
    if (--users == 0)
        for (int i = 0; i < rex_cuda_devices(); i++)
            if (held[i]) {
                rex_cuda_context_release(i);
                held[i] = false;
            }
    rex_unlock(&lock);
}
