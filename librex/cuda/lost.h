/*
 * lost.h - lost devices, and lists of kernels for messages. A device is lost if a failed kernel has
 * made the device's context unusable.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOST_H
#define REX_INTERNAL_LOST_H

#include "cuda/driver.h"

struct rex_registration;

/* ---- kernels, for messages ------------------------------------------------------------------- */

/*
 * Kernels for a message: the kernels of a graph, or the unfinished kernels of a queue or a device.
 * The list has each kernel once, and at most REX_KERNEL_LIST_MAX kernels.
 */
#define REX_KERNEL_LIST_MAX 8
struct rex_kernel_list {
    struct {
        const char *name;
        const struct rex_registration *registration;
    } kernel[REX_KERNEL_LIST_MAX];
    uint32_t count; /* REX_KERNEL_LIST_MAX + 1: some kernels are not in the list */
};

static inline void rex_kernel_list_add(struct rex_kernel_list *list, const char *name,
                                       const struct rex_registration *registration)
{
    for (uint32_t i = 0; i < list->count && i < REX_KERNEL_LIST_MAX; i++)
        if (list->kernel[i].name == name)
            return;
    if (list->count < REX_KERNEL_LIST_MAX) {
        list->kernel[list->count].name = name;
        list->kernel[list->count].registration = registration;
    }
    list->count += list->count <= REX_KERNEL_LIST_MAX;
}

/* Adds all kernels of MORE. */
void rex_kernel_list_add_all(struct rex_kernel_list *list, const struct rex_kernel_list *more);

/*
 * Replaces the names of REGISTRATION's kernels by a fixed text, because REGISTRATION is being
 * unloaded.
 */
void rex_kernel_list_forget(struct rex_kernel_list *list,
                            const struct rex_registration *registration);

/* Writes the names to TEXT, or "no kernel" if LIST is empty. */
void rex_kernel_list_text(const struct rex_kernel_list *list, char text[REX_KERNEL_LIST_TEXT]);

/* ---- lost devices ---------------------------------------------------------------------------- */

/*
 * Marks GPU ORDINAL, libomptarget's device NUMBER, as lost, because NAME failed with WHY. NAME is a
 * queue or a kernel, for example. The first call for a GPU copies NAME, WHY and the names of
 * KERNELS for later messages. Later calls for the GPU do not change the copies.
 *
 * If KERNELS is NULL, the caller reports the loss. If KERNELS is not NULL, it lists the kernels
 * that may have failed, and the next rex_device_lost() reports the loss.
 */
void rex_device_lose(int ordinal, int number, const char *name, const char *why,
                     const struct rex_kernel_list *kernels);

/* True after any device was found lost. */
extern bool rex_some_device_is_lost;
static inline bool rex_any_device_is_lost(void)
{
    return __atomic_load_n(&rex_some_device_is_lost, __ATOMIC_ACQUIRE);
}

/*
 * Returns REX_ECUDA if device NUMBER is lost, otherwise 0. If NUMBER is REX_ANY_DEVICE, returns
 * REX_ECUDA if any device is lost. Call this before a call of libomptarget, because libomptarget
 * would abort in the context of a lost device. The message begins with WHAT. If no other call has
 * reported the loss, the message names the kernels that may have failed.
 */
#define REX_ANY_DEVICE INT_MIN
int rex_device_tell_loss(int number, const char *what); /* called if any device is lost */
static inline int rex_device_lost(int number, const char *what)
{
    return rex_any_device_is_lost() ? rex_device_tell_loss(number, what) : 0;
}

/* Returns true if device NUMBER is lost. Sets no error. */
bool rex_device_is_lost(int number);

/* Logs the losses that no call has reported. */
void rex_device_log_losses(void);

#endif
