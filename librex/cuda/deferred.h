/*
 * deferred.h - deferred launches (REX_LAUNCH_BLOCKING=0), which return before their kernel is done.
 *
 * Each device has one stream for them, in the order of the calls. Each launch gets the next number
 * of its device, from 1 on. A call that could read or change the memory of a kernel waits for the
 * newest launch at that time. It does not wait for an empty stream, because other threads may
 * continue to launch.
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

/* Returns true if device NUMBER may have kernels to wait for. */
static inline bool rex_is_deferred(int number)
{
    uint64_t devices = __atomic_load_n(&rex_deferred_devices, __ATOMIC_ACQUIRE);
    return __builtin_expect(devices != 0, 0) && number >= 0 && number < REX_CUDA_DEVICES_MAX &&
           (devices >> number & 1) != 0;
}

/* ---- a launch -------------------------------------------------------------------------------- */

/*
 * Returns the number of the launch to wait for before another launch, or 0. At most 256 launches of
 * a device are pending, and one more for each other thread. The caller holds no lock.
 */
uint64_t rex_deferred_full(int number);

/*
 * Locks the stream of device NUMBER, which is GPU ORDINAL, until rex_deferred_put(), and returns
 * it. Returns NULL, and locks nothing, if no stream can be made, launches of the device are not
 * deferred, or the device is lost. The GPU's context is current.
 */
void *rex_deferred_begin(int number, int ordinal);

/*
 * Ends a launch that rex_deferred_begin() began. RESULT is the driver's result of the launch of a
 * kernel of REGISTRATION, called NAME. Unlocks the stream. Returns the number of the launch, or 0
 * if RESULT is not 0.
 */
uint64_t rex_deferred_put(int number, const char *name, const struct rex_registration *registration,
                          int result);

/* ---- waits ----------------------------------------------------------------------------------- */

/*
 * rex_deferred_newest() returns the number of the newest launch, rex_deferred_seen() the number of
 * the newest launch that a wait has seen done. On a lost device all launches count as done:
 * rex_deferred_seen() returns UINT64_MAX.
 */
uint64_t rex_deferred_newest(int number);
uint64_t rex_deferred_seen(int number);

/*
 * Waits for LAUNCH of device NUMBER. If the wait finds the device lost, the next rex_device_lost()
 * (cuda/lost.h) reports the loss. The caller holds no lock. Threads that may be inside the gate
 * call rex_await_deferred() (omp/gate.h) instead.
 */
void rex_deferred_wait_for(int number, uint64_t launch);

/*
 * Waits for LAUNCH for at most about MILLISECONDS, or without limit if they are 0. Returns false if
 * the launch is still pending, true if it is done or the device is lost.
 */
bool rex_deferred_poll(int number, uint64_t launch, int milliseconds);

/* Waits for all launches of all devices so far. */
void rex_deferred_wait_all(void);

/*
 * Makes all later work in STREAM wait for the deferred launches of device NUMBER so far. Returns 0
 * or a CUresult that is noted. The context of STREAM is current.
 */
int rex_deferred_precede(int number, void *stream);

/*
 * Stops deferring launches of device NUMBER, or of all devices if it is REX_ANY_DEVICE. The program
 * has a stream of the device, and librex does not see its work there. The caller waits for the
 * deferred launches afterwards.
 */
void rex_deferred_stop(int number);

/*
 * Returns true if a kernel of REGISTRATION is pending. No other launch of REGISTRATION is in
 * progress.
 */
bool rex_deferred_runs(const struct rex_registration *registration);

/* Adds to LIST, for a message, the kernels of device NUMBER that no wait has found finished. */
void rex_deferred_kernels(int number, struct rex_kernel_list *list);

/* ---- the end --------------------------------------------------------------------------------- */

/* Destroys the idle streams, because nothing else keeps their contexts any longer. */
void rex_deferred_end(void);

/*
 * Waits at the exit of the process, for at most a second, and for no lock. Logs unreported losses.
 */
void rex_deferred_exit(void);

#endif
