/*
 * fitimage.h - images made to suit: PTX compiled for the GPU, a CUBIN fitted to a release of LLVM.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FITIMAGE_H
#define REX_INTERNAL_FITIMAGE_H

#include <stddef.h>

#include "module/chooseimage.h"
#include "omp/release.h"

/*
 * IMAGE is PTX, behind which there is a NUL: compile it for GPU number GPU. 0, and it is a CUBIN;
 * REX_EIMAGE, with what the compiler says; REX_ECUDA; REX_ENOMEM. The GPU's context is activated
 * for it, and IMAGE holds that.
 */
int rex_image_compile(struct rex_module_image *image, int gpu);

/*
 * Rewrite, in BYTES, CUDA 13's CUBIN header for a release that refuses it; PATH is what messages
 * call the image. 0, also where there is nothing to do, or REX_EUNSUPPORTED where the release needs
 * the older form and there is none; then nothing has changed.
 */
int rex_image_fit_header(unsigned char *bytes, size_t size, const char *path,
                         const struct rex_release *release);

/*
 * Rename the symbols by which a release would launch the kernels of a CUBIN another way than they
 * are launched here. 0 or an error.
 */
int rex_image_hide_modes(struct rex_module_image *image, const struct rex_release *release);

#endif
