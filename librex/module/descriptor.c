/*
 * descriptor.c - the descriptor of one registration.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "module/registration.h"
#include "module/retained.h"

static struct rex_record *allocate(size_t entries)
{
    size_t size = sizeof(struct rex_record) + entries * sizeof(struct __tgt_offload_entry);
    struct rex_record *record = calloc(1, size);
    if (record == NULL)
        rex_fail_memory(size, "a registration");
    return record;
}

static void describe(struct rex_record *record, const struct rex_image *image,
                     struct __tgt_offload_entry *begin, size_t count)
{
    record->image =
        (struct __tgt_device_image){image->bytes, image->bytes + image->size, begin, begin + count};
    record->descriptor = (struct __tgt_bin_desc){1, &record->image, begin, begin + count};
}

static int refuse_position(const struct rex_image *image, const char *name,
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
static int record_by_position(struct rex_registration *registration, const struct rex_image *image,
                              struct rex_record **result)
{
    const struct rex_table *table = &registration->table;
    const struct rex_image_view *view = &image->view;
    size_t count = view->position_count, placed = 0;
    struct rex_record *record = allocate(count);
    if (record == NULL)
        return REX_ENOMEM;
    struct __tgt_offload_entry *rows = record->entries;
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
            free(record);
            return refuse_position(image, entry->name, registration->release);
        }
        rows[row - 1] = *entry;
        placed = row % count;
    }
    describe(record, image, rows, count);
    *result = record;
    return REX_OK;
}

int rex_record_new(struct rex_registration *registration, const struct rex_image *image, bool fresh,
                   struct rex_record **result)
{
    const struct rex_table *table = &registration->table;
    if (registration->release->entries_by_position && image->view.kind == REX_IMAGE_HOST)
        return record_by_position(registration, image, result);
    struct rex_record *record = allocate(fresh ? table->count : 0);
    if (record == NULL)
        return REX_ENOMEM;
    if (fresh)
        memcpy(record->entries, table->entries, table->count * sizeof *table->entries);
    describe(record, image, fresh ? record->entries : table->entries, table->count);
    *result = record;
    return REX_OK;
}

/* ---- image bytes that stay for the life of the process --------------------------------------- */

struct kept {
    struct kept *next;
    unsigned char *bytes;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all_kept;

REX_FORK_TAKEN(66, NULL);

/*
 * There are few, and hardly ever two of one size: to compare them costs less than to hash a
 * megabyte.
 */
unsigned char *rex_kept(const unsigned char *bytes, size_t size)
{
    rex_lock(&lock);
    const struct kept *kept = all_kept;
    while (kept != NULL && (kept->size != size || memcmp(kept->bytes, bytes, size) != 0))
        kept = kept->next;
    rex_unlock(&lock);
    return kept != NULL ? kept->bytes : NULL;
}

int rex_keep(unsigned char *bytes, size_t size)
{
    struct kept *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return rex_fail_memory(sizeof *kept, "an image");
    *kept = (struct kept){NULL, bytes, size};
    rex_lock(&lock);
    kept->next = all_kept;
    all_kept = kept;
    rex_unlock(&lock);
    return REX_OK;
}
