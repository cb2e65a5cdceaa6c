/*
 * choose.h - the one image for the device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CHOOSE_H
#define REX_INTERNAL_CHOOSE_H

#include "base/log.h"
#include "module/source.h"

struct rex_choice {
    struct rex_source *source;
    size_t index; /* of the image in the source's list */
    int gpu;      /* the GPU that it is for; -1 where it is for the CPU, or not told yet */
};

/*
 * The image that suits a GPU best: a CUBIN for exactly that GPU, else the newest CUBIN of its major
 * number that it runs, else the newest PTX that can be compiled for it. An image for the CPU is
 * taken where there is no GPU, or nothing for one. A file that is one image as it is, and the only
 * one, is chosen whatever it is. 0, or REX_ENODEVICE with every image and what it is for.
 */
int rex_choose(const struct rex_sources *sources, struct rex_choice *choice);

/* Whether all that there is needs a GPU, and there is none. */
bool rex_choose_lacks_gpu(const struct rex_sources *sources);

/*
 * The level of the line which says that the host image is used because there is no GPU: a warning,
 * once, unless the user has disabled offloading.
 */
enum rex_log_level rex_choose_host_level(void);

#endif
