/*
 * descriptor.h - the descriptor of a module for libomptarget: entries and an image.
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
    uint64_t zero; /* the older form has its address here */
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

/* Whether TABLE is in the newer form. */
bool rex_entries_are_new(struct rex_entries table);

/* The name of the entry with KEY, or NULL. */
const char *rex_entries_name(struct rex_entries table, const void *key);

/*
 * Copy TABLE to memory of malloc(). OLD: in the older form, with the entries of OpenMP alone.
 * Returns 0, or -1 without memory.
 */
int rex_entries_copy(struct rex_entries table, bool old, struct rex_entries *copy);

/* ---- descriptors ----------------------------------------------------------------------------- */

struct rex_registration;

/*
 * One registration with libomptarget. It is never freed and never used again, because
 * libomptarget's tables outlive the unregistration. LLVM 20 and later keep them by the descriptor's
 * address, all releases by that of the host entries.
 */
struct rex_descriptor {
    struct rex_descriptor *previous;
    struct __tgt_bin_desc given; /* to libomptarget */
    struct __tgt_device_image image;
    /* copies; none if the linker's own section is registered */
    struct __tgt_offload_entry entries[];
};

/*
 * Make a descriptor for a registration with IMAGE: 0 or an error. FRESH: the linker's own section
 * was registered before, so that the entries have to be copies.
 */
int rex_descriptor_new(struct rex_registration *registration, const struct rex_module_image *image,
                       bool fresh, struct rex_descriptor **descriptor);

#endif
