/*
 * trialload.h - tests whether libomptarget can load images: on a GPU with little free memory, and
 * on the host device, which opens images as files.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TRIALLOAD_H
#define REX_INTERNAL_TRIALLOAD_H

#include "module/registration.h"

/*
 * Bytes of device memory that the driver and libomptarget need for a load, in addition to the
 * images. tests/gpu/loadmemory.sh measures this number.
 */
#define REX_LOAD_MEMORY ((size_t)64 << 20)

/*
 * Tests if all devices can load the image of MORE; if ON_HOST is true, tests only the host device.
 * Messages use PATH as the name of the image. If a device is in use, call this before MORE is
 * registered, because the registration then loads the image on all devices. Returns 0 or an error.
 */
int rex_trial_load_now(struct rex_descriptor *more, const char *path, bool on_host);

/*
 * Tests whether each GPU has a context or can get one. Messages name the image at PATH. Returns 0,
 * REX_ENOMEM if a GPU has too little memory for a context, or REX_ECUDA for any other cause.
 */
int rex_trial_contexts(const char *path);

/*
 * Plans a test of the registered images. The test runs at the first use of each device, when
 * libomptarget loads the images. ON_HOST is true if all images are for the host, and false if all
 * are for GPUs.
 */
void rex_trial_load_later(bool on_host);

#endif
