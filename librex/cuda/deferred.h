/*
 * deferred.h - deferred launches (REX_LAUNCH_BLOCKING=0): those that return before their kernel is
 * done.
 *
 * Each device has one stream for them, in the order of the calls. Each launch gets the next number
 * of its device, from 1 on. A call that could see or change what a kernel uses waits for a number:
 * the newest one at that time, never for an empty stream, because other threads may go on
 * launching.
 *
 * Devices have libomptarget's numbers. A device with another number has no deferred launches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEFERRED_H
#define REX_INTERNAL_DEFERRED_H

#include "cuda/driver.h"

struct rex_registration;
struct rex_kernel_list;

/* A bit for each device with launches that no wait has seen done. Atomic. */
extern uint64_t rex_deferred_devices;

static inline bool rex_is_any_deferred(void)
{
    return __builtin_expect(__atomic_load_n(&rex_deferred_devices, __ATOMIC_ACQUIRE) != 0, 0);
}

/* Whether device NUMBER may have kernels to wait for. */
static inline bool rex_is_deferred(int number)
{
    uint64_t devices = __atomic_load_n(&rex_deferred_devices, __ATOMIC_ACQUIRE);
    return __builtin_expect(devices != 0, 0) && number >= 0 && number < REX_CUDA_DEVICES_MAX &&
           (devices >> number & 1) != 0;
}

/* ---- a launch -------------------------------------------------------------------------------- */

/*
 * The launch to wait for before another one, or 0. At most 256 launches of a device are pending,
 * and one more for each other thread. The caller holds nothing.
 */
uint64_t rex_deferred_full(int number);

/*
 * The stream of device NUMBER, which is GPU ORDINAL, locked until rex_deferred_put(). NULL: there
 * is none, launches of the device are not deferred, or the device is lost; nothing is locked. The
 * GPU's context is current.
 */
void *rex_deferred_begin(int number, int ordinal);

/*
 * The driver has put a kernel of REGISTRATION with this NAME in the stream, if its RESULT is 0.
 * Unlocks the stream and returns the number of the launch, or 0.
 */
uint64_t rex_deferred_put(int number, const char *name, const struct rex_registration *registration,
                          int result);

/* ---- waits ----------------------------------------------------------------------------------- */

/*
 * The numbers of the newest launch, and of the newest one that a wait has seen done. On a lost
 * device all are done.
 */
uint64_t rex_deferred_newest(int number);
uint64_t rex_deferred_seen(int number);

/*
 * Wait for one launch of device NUMBER, or for all launches so far. A loss that a wait finds is
 * kept: the next rex_device_lost() (cuda/lost.h) reports it. The caller holds nothing:
 * rex_await_deferred() (omp/gate.h) is for threads that may be inside the gate.
 */
void rex_deferred_wait_for(int number, uint64_t launch);

/* Waits for about so many milliseconds at most, or 0: without limit. Whether the launch is done. */
bool rex_deferred_poll(int number, uint64_t launch, int milliseconds);

void rex_deferred_wait_all(void);

/*
 * All that STREAM gets from now on waits for the launches of device NUMBER. Returns 0, or the
 * driver's result with rex_cuda_why(). The context of STREAM is current.
 */
int rex_deferred_precede(int number, void *stream);

/*
 * No launch of device NUMBER, or REX_ANY_DEVICE, is deferred any more, because the program has a
 * stream of the device, and librex does not see what it does there. Wait for the deferred launches
 * after this call.
 */
void rex_deferred_stop(int number);

/* Whether a kernel of REGISTRATION is pending. No launch with it is at work. */
bool rex_deferred_runs(const struct rex_registration *registration);

/* Adds the kernels of device NUMBER that no wait has seen done, for a message. */
void rex_deferred_kernels(int number, struct rex_kernel_list *list);

/* ---- the end --------------------------------------------------------------------------------- */

/* Destroys the streams that are idle, because nothing keeps their contexts any more. */
void rex_deferred_end(void);

/* At the exit of the process: waits for at most a second, and for no lock. Logs a failure. */
void rex_deferred_exit(void);

#endif
