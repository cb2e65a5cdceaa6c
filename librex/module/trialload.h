/*
 * trialload.h - whether libomptarget can load images: on a GPU whose memory is short, and on the
 * host device, which opens them as files.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TRIALLOAD_H
#define REX_INTERNAL_TRIALLOAD_H

#include "module/registration.h"

/*
 * Bytes of device memory that loading takes beside the images: the driver's and libomptarget's own.
 * tests/gpu/loadmemory.sh measures it.
 */
#define REX_LOAD_MEMORY ((size_t)64 << 20)

/*
 * MORE is about to be registered, with an image that messages call PATH; libomptarget loads it at
 * once on all devices. Returns 0, or an error if a device, or the host device, cannot load it.
 */
int rex_trial_load_now(struct rex_descriptor *more, const char *path, bool on_host);

/* Whether each GPU has a context, or can get one: 0, REX_ENOMEM or REX_ECUDA. */
int rex_trial_contexts(void);

/* The images that are registered, all of the host or none, are loaded at a device's first use. */
void rex_trial_load_later(bool on_host);

#endif
