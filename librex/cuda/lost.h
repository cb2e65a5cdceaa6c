/*
 * lost.h - devices that can do nothing any more.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOST_H
#define REX_INTERNAL_LOST_H

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

/* The same of any device. */
int rex_any_device_lost(const char *what);

#endif
