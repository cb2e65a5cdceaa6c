/*
 * lost.h - devices that are lost, since a kernel has failed; and the kernels to name then.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOST_H
#define REX_INTERNAL_LOST_H

#include "cuda/driver.h"

struct rex_registration;

/* ---- kernels, for messages ------------------------------------------------------------------- */

/* The first kernels of a graph or of unfinished commands, without duplicates. */
#define REX_KERNEL_LIST_MAX 8
struct rex_kernel_list {
    struct {
        const char *name;
        const struct rex_registration *registration;
    } kernel[REX_KERNEL_LIST_MAX];
    uint32_t count; /* REX_KERNEL_LIST_MAX + 1: more than the list has */
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

/* Add all kernels of MORE. */
void rex_kernel_list_add_all(struct rex_kernel_list *list, const struct rex_kernel_list *more);

/* The kernels of REGISTRATION lose their names. */
void rex_kernel_list_forget(struct rex_kernel_list *list,
                            const struct rex_registration *registration);

/* The names as text; "no kernel" if there are none. */
void rex_kernel_list_text(const struct rex_kernel_list *list, char text[REX_KERNEL_LIST_TEXT]);

/* ---- lost devices ---------------------------------------------------------------------------- */

/*
 * NAME, a queue or a kernel, has met with WHY: GPU ORDINAL, which is libomptarget's device NUMBER,
 * can do nothing any more. All is copied; the first reason counts. The caller reports the loss. If
 * it cannot, KERNELS are those that may have failed, and the next rex_device_lost() does.
 */
void rex_device_lose(int ordinal, int number, const char *name, const char *why,
                     const struct rex_kernel_list *kernels);

/* Whether any device was ever found lost. */
extern bool rex_some_device_is_lost;
static inline bool rex_any_device_is_lost(void)
{
    return __atomic_load_n(&rex_some_device_is_lost, __ATOMIC_ACQUIRE);
}

/*
 * REX_ECUDA if device NUMBER was found lost, in whose context libomptarget would abort, or any
 * device at all; else 0. WHAT begins the message. The first one names the kernels that may have
 * failed, if no other call has reported the loss.
 */
#define REX_ANY_DEVICE INT_MIN
int rex_device_tell_loss(int number, const char *what); /* if any is lost */
static inline int rex_device_lost(int number, const char *what)
{
    return rex_any_device_is_lost() ? rex_device_tell_loss(number, what) : 0;
}

/* Logs the losses that no call has reported. */
void rex_device_log_losses(void);

#endif
