/*
 * parts.c - divides the entries of a module with several images in memory among the images.
 *
 * libomptarget looks up each entry of a descriptor in the descriptor's image, so each image needs a
 * descriptor with its own entries. The first image that has entries, together with these entries,
 * is the module's *share*. The module's registration registers the share. For each other image
 * librex makes a module, which only librex registers.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "module/registry.h"
#include "module/table.h"

/*
 * A part: one image of a module, and the entries that are in the image. After link_parts() a part
 * is never freed, because libomptarget keeps the entries and the list of modules keeps the part's
 * module. The first part is the share of the module: the share uses the registration of the module.
 */
struct part {
    struct rex_module module;
    struct rex_registration registration; /* registration of `module`; unused in the first part */
    char name[32];                        /* name of the image in messages */
    struct __tgt_offload_entry entries[];
};

/* An image of the module, while divide() finds the entries that belong to each image. */
struct candidate {
    const struct rex_image_row *row;
    struct rex_module_image image;
    size_t count; /* number of entries that belong to the image */
    struct part *part;
};

/* ---- the image of each entry ----------------------------------------------------------------- */

static bool has_entry(const struct candidate *candidate, const struct __tgt_offload_entry *entry)
{
    const struct rex_image_symbol *symbol = rex_view_find(&candidate->image.view, entry->name);
    return symbol != NULL && symbol->kernel == (entry->size == 0);
}

static int fail_no_owner(const struct candidate *candidates, size_t count,
                         const struct __tgt_offload_entry *entry)
{
    bool kernel = entry->size == 0;
    const char *what = kernel ? "kernel" : "global", *near;
    for (size_t i = 0; i < count; i++)
        if ((near = rex_view_nearest(&candidates[i].image.view, entry->name, kernel)) != NULL)
            return rex_fail(REX_ENOKERNEL,
                            "none of the %zu images in memory has %s \"%s\"; the nearest name is "
                            "\"%s\" in %s",
                            count, what, entry->name, near, candidates[i].image.path);
    return rex_fail(REX_ENOKERNEL, "none of the %zu images in memory has %s \"%s\"", count, what,
                    entry->name);
}

/* Sets *OWNER to the one image that has ENTRY. Returns 0 or an error. */
static int find_owner(struct candidate *candidates, size_t count,
                      const struct __tgt_offload_entry *entry, struct candidate **owner)
{
    *owner = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!has_entry(&candidates[i], entry))
            continue;
        if (*owner != NULL)
            return rex_fail(REX_EKEY, "%s \"%s\" is in two images of one binary, %s and %s",
                            entry->size == 0 ? "kernel" : "global", entry->name,
                            (*owner)->image.path, candidates[i].image.path);
        *owner = &candidates[i];
    }
    if (*owner != NULL)
        return REX_OK;
    return fail_no_owner(candidates, count, entry);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/*
 * Makes CANDIDATE's part, with memory for the entries. WHOLE is the module's registration. Returns
 * 0 or REX_ENOMEM.
 */
static int new_part(struct candidate *candidate, const struct rex_registration *whole)
{
    size_t size = sizeof(struct part) + candidate->count * sizeof(struct __tgt_offload_entry);
    struct part *part = calloc(1, size);
    if (part == NULL)
        return rex_fail_memory(size, "the entries of an image");
    part->module = (struct rex_module){.struct_size = sizeof part->module,
                                       .flags = REX_MODULE_IS_PART,
                                       .entries_begin = part->entries,
                                       .entries_end = part->entries,
                                       .location = whole->module->location,
                                       .images_begin = candidate->row,
                                       .images_end = candidate->row + 1};
    snprintf(part->name, sizeof part->name, "%s", candidate->image.path);
    candidate->part = part;
    return REX_OK;
}

/*
 * Links the parts. WHOLE is the module's registration. The first part becomes the share of WHOLE:
 * the share has no registration of its own, and uses WHOLE. Each other part becomes a module in the
 * list of modules.
 */
static void link_parts(struct rex_registration *whole, const struct candidate *candidates,
                       size_t count)
{
    struct rex_registration *next = NULL;
    struct part *part, *share = NULL;
    rex_registry_lock();
    for (size_t i = count; i-- > 0;) {
        if ((part = candidates[i].part) == NULL)
            continue;
        if (share != NULL) {
            rex_modules_list(&share->module, &share->registration);
            share->registration.whole = whole;
            share->registration.memory_name = share->name;
            share->registration.next_part = next;
            next = &share->registration;
        }
        share = part;
    }
    share->module.registration = whole;
    whole->memory_name = share->name;
    whole->share = &share->module;
    __atomic_store_n(&whole->next_part, next, __ATOMIC_RELEASE);
    rex_registry_unlock();
}

/* Divides the entries among the COUNT open images of CANDIDATES. Returns 0 or an error. */
static int divide(struct rex_registration *whole, struct candidate *candidates, size_t count)
{
    const struct rex_table *table = &whole->table;
    struct candidate **owners = calloc(table->count, sizeof *owners);
    int result = REX_OK;
    if (owners == NULL)
        return rex_fail_memory(table->count * sizeof *owners, "the entries of images");
    for (uint32_t i = 0; result == REX_OK && i < table->count; i++) {
        result = find_owner(candidates, count, &table->entries[i], &owners[i]);
        if (result == REX_OK)
            owners[i]->count++;
    }
    for (size_t i = 0; result == REX_OK && i < count; i++) {
        if (candidates[i].count > 0)
            result = new_part(&candidates[i], whole);
        else
            rex_log(REX_LOG_INFO,
                    "device image %s is not registered: no offload entry names a kernel or global "
                    "in it",
                    candidates[i].image.path);
    }
    for (size_t i = 0; result != REX_OK && i < count; i++)
        free(candidates[i].part);
    if (result != REX_OK)
        goto done;
    for (uint32_t i = 0; i < table->count; i++)
        *owners[i]->part->module.entries_end++ = table->entries[i];
    link_parts(whole, candidates, count);
done:
    free(owners);
    return result;
}

/*
 * If ON_HOST is true, makes a part for each of the module's images for the CPU; otherwise for each
 * of its images for GPUs. WHOLE is the module's registration. Returns 0 or an error.
 */
static int make_parts(struct rex_registration *whole, bool on_host)
{
    const struct rex_image_row *row = NULL;
    size_t count = 0, opened = 0;
    while ((row = rex_image_row_next(whole->module, row, on_host)) != NULL)
        count++;
    struct candidate *candidates = calloc(count, sizeof *candidates);
    if (candidates == NULL)
        return rex_fail_memory(count * sizeof *candidates, "the images of a module");
    int result = rex_table_build(&whole->table, whole->module);
    while (result == REX_OK && (row = rex_image_row_next(whole->module, row, on_host)) != NULL) {
        struct candidate *candidate = &candidates[opened++];
        char name[32];
        snprintf(name, sizeof name, "memory %zu", opened);
        candidate->row = row;
        result = rex_module_image_open_alone(&candidate->image, row->begin,
                                             rex_bytes_between(row->begin, row->end), name);
    }
    whole->share = NULL;
    /*
     * Parts of an earlier call may exist, for example for GPUs if ON_HOST is true. Such parts are
     * not registered, so forget them.
     */
    whole->next_part = NULL;
    if (result == REX_OK)
        result = divide(whole, candidates, count);
    for (size_t i = 0; i < opened; i++)
        rex_module_image_close(&candidates[i].image);
    free(candidates);
    return result;
}

int rex_parts_divide(struct rex_registration *whole, struct rex_module_image *image)
{
    const struct rex_image_row *row = image->row;
    int result = REX_OK;
    if (row == NULL || rex_image_row_next(whole->module, row, row->on_host) == NULL) {
        bool was_divided = whole->share != NULL;
        whole->share = NULL;
        return was_divided ? rex_table_build(&whole->table, whole->module) : REX_OK;
    }
    if (whole->share == NULL || whole->share->images_begin->on_host != row->on_host)
        result = make_parts(whole, row->on_host);
    if (result == REX_OK)
        result = rex_table_build(&whole->table, whole->share);
    if (result != REX_OK)
        return result;
    rex_module_image_close(image);
    return rex_module_image_open(image, whole->share, NULL, whole->release);
}

/* ---- a module's parts ------------------------------------------------------------------------ */

struct rex_registration *rex_parts_next(const struct rex_registration *part)
{
    struct rex_registration *next = __atomic_load_n(&part->next_part, __ATOMIC_ACQUIRE);
    while (next != NULL && rex_registration_of(next->module) == NULL)
        next = __atomic_load_n(&next->next_part, __ATOMIC_ACQUIRE);
    return next;
}

struct rex_kernel *rex_parts_find(struct rex_registration **part, const void *key)
{
    struct rex_kernel *kernel;
    for (struct rex_registration *each = *part; each != NULL; each = rex_parts_next(each))
        if ((kernel = rex_table_find(&each->table, key)) != NULL) {
            *part = each;
            return kernel;
        }
    return NULL;
}
