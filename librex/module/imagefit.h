/*
 * imagefit.h - an image's bytes made to suit a release of LLVM.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_IMAGEFIT_H
#define REX_INTERNAL_IMAGEFIT_H

#include <stddef.h>

#include "omp/release.h"

/*
 * Rewrite, in BYTES, CUDA 13's CUBIN header for a release that refuses it; PATH is what messages
 * call the image. 0, also where there is nothing to do, or REX_EUNSUPPORTED where the release needs
 * the older form and there is none; then nothing has changed.
 */
int rex_image_fit_header(unsigned char *bytes, size_t size, const char *path,
                         const struct rex_release *release);

/*
 * Rename, in BYTES, the symbols by which a release would launch the kernels of a CUBIN another way
 * than they are launched here; a view of the image may take VIEW_MOST bytes. 0 or an error.
 */
int rex_image_hide_modes(unsigned char *bytes, size_t size, size_t view_most, const char *path,
                         const struct rex_release *release);

#endif
