/*
 * deferred.h - deferred launches (REX_LAUNCH_BLOCKING=0), which return before their kernel is done.
 *
 * Each device has one stream for deferred launches, and runs them in the order of the calls. The
 * launches of a device are numbered from 1 on. A launch is pending until a wait finds it done. A
 * call that could read or change the memory of a kernel waits for the launch that is newest at that
 * time. The call does not wait for an empty stream, because other threads may continue to launch.
 *
 * Devices have libomptarget's numbers. Only devices with a number below REX_CUDA_DEVICES_MAX have
 * deferred launches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEFERRED_H
#define REX_INTERNAL_DEFERRED_H

#include "cuda/driver.h"

struct rex_registration;
struct rex_kernel_list;

/* A bit for each device with pending launches. The bit of a lost device is cleared. Atomic. */
extern uint64_t rex_deferred_devices;

static inline bool rex_is_any_deferred(void)
{
    return __builtin_expect(__atomic_load_n(&rex_deferred_devices, __ATOMIC_ACQUIRE) != 0, 0);
}

/* Returns true if device NUMBER has pending launches. */
static inline bool rex_is_deferred(int number)
{
    uint64_t devices = __atomic_load_n(&rex_deferred_devices, __ATOMIC_ACQUIRE);
    return __builtin_expect(devices != 0, 0) && number >= 0 && number < REX_CUDA_DEVICES_MAX &&
           (devices >> number & 1) != 0;
}

/* ---- a launch -------------------------------------------------------------------------------- */

/*
 * Returns the number of the launch for which the caller must wait before the caller launches, or 0
 * if no wait is needed. These waits limit the pending launches of a device to 256, plus one for
 * each other thread that is launching. The caller must not hold a lock.
 */
uint64_t rex_deferred_full(int number);

/*
 * Locks the stream of device NUMBER until rex_deferred_put(), and returns the stream. The device
 * must be GPU ORDINAL, and the GPU's context must be current. Returns NULL and locks nothing if the
 * device is lost, if rex_deferred_stop() was called for the device, or if the stream cannot be
 * made.
 */
void *rex_deferred_begin(int number, int ordinal);

/*
 * Ends a launch that rex_deferred_begin() began, and unlocks the stream. NAME is the kernel's name,
 * REGISTRATION the registration of its library, and RESULT the result of the driver's launch call.
 * Returns the number of the launch, or 0 if RESULT is not 0.
 */
uint64_t rex_deferred_put(int number, const char *name, const struct rex_registration *registration,
                          int result);

/* ---- waits ----------------------------------------------------------------------------------- */

/*
 * rex_deferred_newest() returns the number of the newest launch. rex_deferred_seen() returns the
 * number of the newest launch that a wait has found done. On a lost device rex_deferred_seen()
 * returns UINT64_MAX, so that all launches count as done.
 */
uint64_t rex_deferred_newest(int number);
uint64_t rex_deferred_seen(int number);

/*
 * Waits for LAUNCH of device NUMBER. If the wait finds the device lost, the next rex_device_lost()
 * (cuda/lost.h) reports the loss. The caller must not hold a lock. A thread that may be inside the
 * gate (omp/gate.h) must call rex_await_deferred() instead.
 */
void rex_deferred_wait_for(int number, uint64_t launch);

/*
 * Waits for LAUNCH for at most about MILLISECONDS, or without a limit if MILLISECONDS is 0. Returns
 * true if the launch is done or the device is lost, and false if the launch is still pending.
 */
bool rex_deferred_poll(int number, uint64_t launch, int milliseconds);

/* Waits for all launches that were made before this call, on all devices. */
void rex_deferred_wait_all(void);

/*
 * Makes all later commands in STREAM wait for the deferred launches of device NUMBER that were made
 * before this call. Returns 0 or a CUresult; rex_cuda_why() gives the reason. The context of STREAM
 * must be current.
 */
int rex_deferred_precede(int number, void *stream);

/*
 * Stops deferring launches of device NUMBER, or of all devices if NUMBER is REX_ANY_DEVICE. librex
 * calls this function when the program receives a stream of the device: librex cannot order
 * deferred launches with the program's commands in that stream. After the call the caller must wait
 * for the launches that are already deferred.
 */
void rex_deferred_stop(int number);

/*
 * Returns true if a launch of a kernel of REGISTRATION is pending. The caller must prevent further
 * launches of REGISTRATION's kernels.
 */
bool rex_deferred_runs(const struct rex_registration *registration);

/* Adds the kernels of pending launches on device NUMBER to LIST, for a message. */
void rex_deferred_kernels(int number, struct rex_kernel_list *list);

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * Destroys the idle streams of deferred launches. rex_context_unhold() (cuda/launchcontext.h) calls
 * this function when librex no longer keeps contexts.
 */
void rex_deferred_end(void);

/*
 * Waits for deferred launches at the exit of the process, for at most about a second. Never waits
 * for a lock. Logs losses that no call has reported.
 */
void rex_deferred_exit(void);

#endif
