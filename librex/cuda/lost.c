/*
 * lost.c - lost devices, and lists of kernels for messages. A device is lost if a failed kernel has
 * made the device's context unusable.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/lost.h"

#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"

/* ---- kernels, for messages ------------------------------------------------------------------- */

void rex_kernel_list_add_all(struct rex_kernel_list *list, const struct rex_kernel_list *more)
{
    for (uint32_t i = 0; i < more->count && i < REX_KERNEL_LIST_MAX; i++)
        rex_kernel_list_add(list, more->kernel[i].name, more->kernel[i].registration);
    if (more->count > REX_KERNEL_LIST_MAX)
        list->count = more->count;
}

static const char unloaded_kernel[] = "a kernel of a library that is unloaded";

void rex_kernel_list_forget(struct rex_kernel_list *list,
                            const struct rex_registration *registration)
{
    for (uint32_t i = 0; i < list->count && i < REX_KERNEL_LIST_MAX; i++)
        if (list->kernel[i].registration == registration) {
            list->kernel[i].name = unloaded_kernel;
            list->kernel[i].registration = NULL;
        }
}

void rex_kernel_list_text(const struct rex_kernel_list *list, char text[REX_KERNEL_LIST_TEXT])
{
    size_t length = 0, size = REX_KERNEL_LIST_TEXT;
    snprintf(text, size, "no kernel");
    for (uint32_t i = 0; i < list->count && i < REX_KERNEL_LIST_MAX && length < size; i++) {
        const char *name = list->kernel[i].name, *quote = name == unloaded_kernel ? "" : "\"";
        length += (size_t)snprintf(text + length, size - length, "%s%s%.*s%s", i > 0 ? ", " : "",
                                   quote, REX_KERNEL_NAME(name), quote);
    }
    if (list->count > REX_KERNEL_LIST_MAX && length < size)
        snprintf(text + length, size - length, " and others");
}

/* ---- lost devices ---------------------------------------------------------------------------- */

bool rex_some_device_is_lost;

/*
 * Copies the strings, because they may belong to a queue. The GPU stays lost until the process
 * ends, but the queue may be destroyed earlier.
 */
void rex_device_lose(int ordinal, int number, const char *name, const char *why,
                     const struct rex_kernel_list *kernels)
{
    struct rex_loss *loss = &rex_devices[ordinal].loss;
    rex_lists_lock();
    if (!loss->is_lost) {
        loss->number = number;
        snprintf(loss->name, sizeof loss->name, "%s", name);
        snprintf(loss->why, sizeof loss->why, "%s", why);
        if (kernels != NULL)
            rex_kernel_list_text(kernels, loss->kernels);
        loss->is_untold = kernels != NULL;
        __atomic_store_n(&loss->is_lost, true, __ATOMIC_RELEASE);
        __atomic_store_n(&rex_some_device_is_lost, true, __ATOMIC_RELEASE);
    } else if (kernels == NULL)
        __atomic_store_n(&loss->is_untold, false, __ATOMIC_RELEASE);
    rex_lists_unlock();
}

int rex_device_tell_loss(int number, const char *what)
{
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        struct rex_loss *loss = &rex_devices[i].loss;
        if (!__atomic_load_n(&loss->is_lost, __ATOMIC_ACQUIRE) ||
            (number != REX_ANY_DEVICE && number != loss->number))
            continue;
        if (__atomic_exchange_n(&loss->is_untold, false, __ATOMIC_ACQ_REL))
            return rex_fail(
                REX_ECUDA,
                "%.*s: device %d is lost until the process ends: %s; kernels that may have "
                "failed: %s",
                REX_KERNEL_NAME(what), loss->number, loss->why, loss->kernels);
        return rex_fail(REX_ECUDA,
                        "%.*s: device %d is lost until the process ends, because %s failed: %s",
                        REX_KERNEL_NAME(what), loss->number, loss->name, loss->why);
    }
    return REX_OK;
}

bool rex_device_is_lost(int number)
{
    bool is_lost = false;
    for (int i = 0; i < REX_CUDA_DEVICES_MAX && rex_any_device_is_lost(); i++) {
        const struct rex_loss *loss = &rex_devices[i].loss;
        is_lost |= __atomic_load_n(&loss->is_lost, __ATOMIC_ACQUIRE) && loss->number == number;
    }
    return is_lost;
}

void rex_device_log_losses(void)
{
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        struct rex_loss *loss = &rex_devices[i].loss;
        if (__atomic_exchange_n(&loss->is_untold, false, __ATOMIC_ACQ_REL))
            rex_log(REX_LOG_ERROR, "device %d is lost: %s; kernels that may have failed: %s",
                    loss->number, loss->why, loss->kernels);
    }
}
