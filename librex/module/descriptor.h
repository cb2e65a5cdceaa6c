/*
 * descriptor.h - what libomptarget is given for a module, and what of it stays.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DESCRIPTOR_H
#define REX_INTERNAL_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "module/moduleimage.h"
#include "omp/forward.h"

struct rex_registration;

/*
 * One registration with libomptarget. Never freed and never used again: LLVM 20 on keep tables by
 * the descriptor's address, all releases by that of the host entries, and both outlive the
 * unregistration.
 */
struct rex_descriptor {
    struct rex_descriptor *previous;
    struct __tgt_bin_desc given; /* to libomptarget */
    struct __tgt_device_image image;
    /* copies; none where the linker's own section is registered */
    struct __tgt_offload_entry entries[];
};

/*
 * A new descriptor for a registration with IMAGE: 0 or an error. FRESH: the linker's own section
 * was registered before, so that the entries have to be copies.
 */
int rex_descriptor_new(struct rex_registration *registration, const struct rex_module_image *image,
                       bool fresh, struct rex_descriptor **descriptor);

/* The retained bytes that are equal to these, NULL if there are none. */
unsigned char *rex_retained(const unsigned char *bytes, size_t size);

/*
 * From here on BYTES, of malloc(), are never freed: libomptarget 15 to 20 read every image again at
 * each later registration. 0 or REX_ENOMEM.
 */
int rex_retain(unsigned char *bytes, size_t size);

#endif
