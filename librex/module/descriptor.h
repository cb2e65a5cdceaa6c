/*
 * descriptor.h - what libomptarget is given for a module: entries, an image, and what of both
 * stays.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DESCRIPTOR_H
#define REX_INTERNAL_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "module/moduleimage.h"
#include "omp/forward.h"

/* ---- entries --------------------------------------------------------------------------------- */

/* An entry of clang 20 and later; struct __tgt_offload_entry is the form before that. */
struct rex_new_entry {
    uint64_t zero; /* where the older form has its address */
    uint16_t version, kind;
    uint32_t flags;
    void *address;
    char *name;
    uint64_t size, data;
    void *auxiliary;
};

#define REX_ENTRY_KIND_OPENMP 1

/* A table of SIZE bytes, as a descriptor delimits it. */
struct rex_entries {
    const void *begin;
    size_t size;
};

/* Whether TABLE is of the newer form. */
bool rex_entries_are_new(struct rex_entries table);

/* The name of the entry with KEY, NULL if there is none. */
const char *rex_entries_name(struct rex_entries table, const void *key);

/*
 * A copy of TABLE, of malloc(); OLD: in the older form whatever it is in, with the entries of
 * OpenMP alone. 0, or -1: out of memory.
 */
int rex_entries_copy(struct rex_entries table, bool old, struct rex_entries *copy);

/* ---- descriptors ----------------------------------------------------------------------------- */

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

#endif
