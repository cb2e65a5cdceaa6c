/*
 * lost.h - devices that can do nothing any more.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOST_H
#define REX_INTERNAL_LOST_H

#include <stdbool.h>

/*
 * Queue NAME has found that device NUMBER can do nothing any more, for the reason WHY. All is
 * copied; the first reason counts.
 */
void rex_device_lose(int number, const char *name, const char *why);

/*
 * REX_ECUDA where a queue has ever found device NUMBER lost, in whose context libomptarget would
 * abort; else 0. WHAT begins the message.
 */
int rex_device_lost(int number, const char *what);

/* Whether any device was ever found lost. */
extern unsigned rex_devices_lost;
static inline bool rex_any_device_is_lost(void)
{
    return __atomic_load_n(&rex_devices_lost, __ATOMIC_ACQUIRE) > 0;
}

/* REX_ECUDA where any device was. */
int rex_any_device_lost(const char *what);

#endif
