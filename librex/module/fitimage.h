/*
 * fitimage.h - adapts images: compiles PTX for the GPU, and fits a CUBIN to an LLVM release.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FITIMAGE_H
#define REX_INTERNAL_FITIMAGE_H

#include <stddef.h>

#include "module/chooseimage.h"
#include "omp/release.h"

/*
 * Compiles IMAGE, which is PTX followed by a NUL, into a CUBIN for GPU number GPU. Activates the
 * GPU's context until IMAGE is closed. Returns 0 or an error:
 * - REX_EIMAGE: the driver refuses the PTX; the message has the compiler's message
 * - REX_ENOMEM: there is no memory for the CUBIN
 * - REX_ECUDA: any other failure of the driver
 */
int rex_image_compile(struct rex_module_image *image, int gpu);

/*
 * If RELEASE refuses the CUBIN header of CUDA 13, rewrites that header in BYTES to the older
 * header. PATH is the image's name in messages. Returns 0, even if nothing had to change. Returns
 * REX_EUNSUPPORTED, with BYTES unchanged, if RELEASE refuses the header and the GPU is too new for
 * the older header.
 */
int rex_image_fit_header(unsigned char *bytes, size_t size, const char *path,
                         const struct rex_release *release);

/*
 * Renames the symbols NAME_exec_mode of a CUBIN if RELEASE obeys them (LLVM 14 to 17). Such a
 * release would add threads to a kernel's block, or not load the kernel. Returns 0 or an error.
 */
int rex_image_hide_modes(struct rex_module_image *image, const struct rex_release *release);

#endif
