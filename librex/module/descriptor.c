/*
 * descriptor.c - what libomptarget is given for a module, and what of it stays.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/descriptor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "module/registration.h"

static struct rex_descriptor *allocate(size_t entries)
{
    size_t size = sizeof(struct rex_descriptor) + entries * sizeof(struct __tgt_offload_entry);
    struct rex_descriptor *descriptor = calloc(1, size);
    if (descriptor == NULL)
        rex_fail_memory(size, "a registration");
    return descriptor;
}

static void describe(struct rex_descriptor *descriptor, const struct rex_module_image *image,
                     struct __tgt_offload_entry *begin, size_t count)
{
    descriptor->image =
        (struct __tgt_device_image){image->bytes, image->bytes + image->size, begin, begin + count};
    descriptor->given = (struct __tgt_bin_desc){1, &descriptor->image, begin, begin + count};
}

static int refuse_position(const struct rex_module_image *image, const char *name,
                           const struct rex_release *release)
{
    return rex_fail(REX_ENOKERNEL,
                    "host image %s has no row for \"%s\" in its own section "
                    "omp_offloading_entries, by which LLVM %d finds kernels: write "
                    "kernels with REX_DEVICE_KERNEL (rex/kernel.h)",
                    image->path, name, release->number);
}

/*
 * LLVM 14 and 15 give row i of the program the address in row i of the host image, whatever the
 * names say. So the rows go in the image's order; a row of the image that the program does not name
 * gets a key of ours, its own address.
 */
static int describe_by_position(struct rex_registration *registration,
                                const struct rex_module_image *image,
                                struct rex_descriptor **result)
{
    const struct rex_table *table = &registration->table;
    const struct rex_image_view *view = &image->view;
    size_t count = view->position_count, placed = 0;
    struct rex_descriptor *descriptor = allocate(count);
    if (descriptor == NULL)
        return REX_ENOMEM;
    struct __tgt_offload_entry *rows = descriptor->entries;
    for (size_t i = 0; i < count; i++)
        rows[i] =
            (struct __tgt_offload_entry){&rows[i], (char *)(uintptr_t)view->positions[i], 0, 0, 0};
    for (uint32_t i = 0; i < table->count; i++) {
        const struct __tgt_offload_entry *entry = &table->entries[i];
        size_t row = 0;
        /* One pass over all rows for all entries, if both are in the same order. */
        for (size_t at = placed, steps = 0; steps < count; steps++, at = (at + 1) % count)
            if (rows[at].addr == &rows[at] && strcmp(view->positions[at], entry->name) == 0) {
                row = at + 1;
                break;
            }
        if (row == 0) {
            free(descriptor);
            return refuse_position(image, entry->name, registration->release);
        }
        rows[row - 1] = *entry;
        placed = row % count;
    }
    describe(descriptor, image, rows, count);
    *result = descriptor;
    return REX_OK;
}

int rex_descriptor_new(struct rex_registration *registration, const struct rex_module_image *image,
                       bool fresh, struct rex_descriptor **result)
{
    const struct rex_table *table = &registration->table;
    if (registration->release->entries_by_position && image->view.kind == REX_IMAGE_HOST)
        return describe_by_position(registration, image, result);
    struct rex_descriptor *descriptor = allocate(fresh ? table->count : 0);
    if (descriptor == NULL)
        return REX_ENOMEM;
    if (fresh)
        memcpy(descriptor->entries, table->entries, table->count * sizeof *table->entries);
    describe(descriptor, image, fresh ? descriptor->entries : table->entries, table->count);
    *result = descriptor;
    return REX_OK;
}

/* ---- image bytes, retained for the life of the process ----------------------------------------
 */

struct retained {
    struct retained *next;
    unsigned char *bytes;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct retained *all_retained;

REX_FORK_TAKEN(66, NULL);

/*
 * There are few, and hardly ever two of one size: to compare them costs less than to hash a
 * megabyte.
 */
unsigned char *rex_retained(const unsigned char *bytes, size_t size)
{
    rex_lock(&lock);
    const struct retained *retained = all_retained;
    while (retained != NULL &&
           (retained->size != size || memcmp(retained->bytes, bytes, size) != 0))
        retained = retained->next;
    rex_unlock(&lock);
    return retained != NULL ? retained->bytes : NULL;
}

int rex_retain(unsigned char *bytes, size_t size)
{
    struct retained *retained = malloc(sizeof *retained);
    if (retained == NULL)
        return rex_fail_memory(sizeof *retained, "an image");
    *retained = (struct retained){NULL, bytes, size};
    rex_lock(&lock);
    retained->next = all_retained;
    all_retained = retained;
    rex_unlock(&lock);
    return REX_OK;
}
