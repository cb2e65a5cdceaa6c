/*
 * registration.c - the state of all modules: their list, image bytes that are never freed, and the
 * one lock of this room; what libomptarget is given of a module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/registration.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "omp/flight.h"

struct rex_module *rex_first_module;

/* ---- the lock -------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Ends registrations in a child of fork. The child has neither CUDA nor libomptarget's threads, so
 * a launch would hang. It would also hang in data that another thread was changing inside
 * libomptarget. A thread that was registering a module is not in the child, either: no thread may
 * wait for it.
 */
static void end_in_child(void)
{
    for (struct rex_module *module = rex_modules_first(); module != NULL; module = module->next) {
        struct rex_registration *registration = module->registration;
        bool registered = module->packet_rules != 0;
        bool usable = rex_registration_on_host(registration) && !rex_flight_is_torn();
        if ((!registered || usable) && module->state != REX_MODULE_BUSY)
            continue;
        if (registered)
            rex_devices_registered(-1);
        registration->forked = true;
        registration->loaded_images = NULL; /* the driver's handles are invalid here */
        registration->unload = NULL;
        module->packet_rules = 0;
        if (registration->worker != &rex_thread)
            registration->worker = NULL;
        module->state = REX_MODULE_UNREGISTERED;
    }
}

REX_FORK_TAKEN(56, end_in_child);

void rex_registry_lock(void)
{
    rex_lock(&lock);
}

void rex_registry_unlock(void)
{
    rex_unlock(&lock);
}

/* ---- image bytes that are never freed -------------------------------------------------------- */

struct retained {
    struct retained *next;
    unsigned char *bytes;
    size_t size;
};

static struct retained *all_retained;

/*
 * Compares all images, because that costs less than to hash a megabyte: they are few, and rarely of
 * the same size.
 */
unsigned char *rex_retained(const unsigned char *bytes, size_t size)
{
    rex_registry_lock();
    const struct retained *retained = all_retained;
    while (retained != NULL &&
           (retained->size != size || memcmp(retained->bytes, bytes, size) != 0))
        retained = retained->next;
    rex_registry_unlock();
    return retained != NULL ? retained->bytes : NULL;
}

int rex_retain(unsigned char *bytes, size_t size)
{
    struct retained *retained = malloc(sizeof *retained);
    if (retained == NULL)
        return rex_fail_memory(sizeof *retained, "an image");
    *retained = (struct retained){NULL, bytes, size};
    rex_registry_lock();
    retained->next = all_retained;
    all_retained = retained;
    rex_registry_unlock();
    return REX_OK;
}

/* ---- entries: of 32 bytes (clang up to 19), or of 56 (from 20 on) ---------------------------- */

#define NEW_VERSION 1

static struct rex_new_entry new_entry(struct rex_entries table, size_t index)
{
    struct rex_new_entry entry;
    memcpy(&entry, (const char *)table.begin + index * sizeof entry, sizeof entry);
    return entry;
}

static struct __tgt_offload_entry old_entry(struct rex_entries table, size_t index)
{
    struct __tgt_offload_entry entry;
    memcpy(&entry, (const char *)table.begin + index * sizeof entry, sizeof entry);
    return entry;
}

/*
 * The older form may have no address, either (an entry for `requires` of clang 19). Then its
 * pointer to a name is in place of the version.
 */
bool rex_entries_are_new(struct rex_entries table)
{
    if (table.size < sizeof(struct rex_new_entry) || table.size % sizeof(struct rex_new_entry) != 0)
        return false;
    struct rex_new_entry first = new_entry(table, 0);
    return first.zero == 0 && first.version == NEW_VERSION;
}

const char *rex_entries_name(struct rex_entries table, const void *key)
{
    bool is_new = rex_entries_are_new(table);
    size_t count =
        table.size / (is_new ? sizeof(struct rex_new_entry) : sizeof(struct __tgt_offload_entry));
    for (size_t i = 0; i < count; i++) {
        if (is_new && new_entry(table, i).address == key)
            return new_entry(table, i).name;
        if (!is_new && old_entry(table, i).addr == key)
            return old_entry(table, i).name;
    }
    return NULL;
}

static int copy_as_old(struct rex_entries table, struct rex_entries *copy)
{
    size_t count = table.size / sizeof(struct rex_new_entry), used = 0;
    struct __tgt_offload_entry *entries = malloc(count * sizeof *entries);
    if (entries == NULL)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct rex_new_entry entry = new_entry(table, i);
        if (entry.kind == REX_ENTRY_KIND_OPENMP)
            entries[used++] = (struct __tgt_offload_entry){
                entry.address, entry.name, entry.size, (int32_t)entry.flags, (int32_t)entry.data};
    }
    *copy = (struct rex_entries){entries, used * sizeof *entries};
    return 0;
}

int rex_entries_copy(struct rex_entries table, bool old, struct rex_entries *copy)
{
    if (old && rex_entries_are_new(table))
        return copy_as_old(table, copy);
    void *bytes = malloc(table.size); /* of no bytes it has an address, too */
    if (bytes == NULL)
        return -1;
    if (table.size > 0)
        memcpy(bytes, table.begin, table.size);
    *copy = (struct rex_entries){bytes, table.size};
    return 0;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

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

/*
 * LLVM 14 and 15 give row i of the program the address in row i of the host image, and ignore the
 * names. So the rows are put in the image's order. A row of the image without an entry in the
 * program gets its own address as its key.
 */
static int describe_by_position(struct rex_registration *registration,
                                const struct rex_module_image *image,
                                struct rex_descriptor **result)
{
    const struct rex_table *table = &registration->table;
    const struct rex_view *view = &image->view;
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
        /* If both are in the same order, this is one pass over all rows for all entries. */
        for (size_t at = placed, steps = 0; steps < count; steps++, at = (at + 1) % count)
            if (rows[at].addr == &rows[at] && strcmp(view->positions[at], entry->name) == 0) {
                row = at + 1;
                break;
            }
        if (row == 0) {
            free(descriptor);
            return rex_fail(REX_ENOKERNEL,
                            "host image %s has no row for \"%s\" in its own section "
                            "omp_offloading_entries, by which LLVM %d finds kernels: write "
                            "kernels with REX_DEVICE_KERNEL (rex/kernel.h)",
                            image->path, entry->name, registration->release->number);
        }
        rows[row - 1] = *entry;
        placed = row % count;
    }
    describe(descriptor, image, rows, count);
    *result = descriptor;
    return REX_OK;
}

/*
 * For a host device that calls kernels in its own way: replaces each kernel's name by that of the
 * function that calls it. The names are in the image, whose bytes are retained.
 */
static void name_calls(struct rex_descriptor *descriptor, size_t count, const struct rex_view *view)
{
    for (size_t i = 0; i < count; i++) {
        struct __tgt_offload_entry *entry = &descriptor->entries[i];
        const struct rex_image_symbol *kernel =
            entry->size == 0 ? rex_view_find(view, entry->name) : NULL;
        if (kernel != NULL && kernel->call != NULL)
            entry->name = (char *)(uintptr_t)kernel->call;
    }
}

int rex_descriptor_new(struct rex_registration *registration, const struct rex_module_image *image,
                       bool fresh, struct rex_descriptor **result)
{
    const struct rex_table *table = &registration->table;
    if (registration->release->entries_by_position && image->view.kind == REX_IMAGE_HOST)
        return describe_by_position(registration, image, result);
    bool calls = registration->release->host.version != 0 && image->view.kind == REX_IMAGE_HOST;
    fresh |= calls;
    struct rex_descriptor *descriptor = allocate(fresh ? table->count : 0);
    if (descriptor == NULL)
        return REX_ENOMEM;
    if (fresh)
        memcpy(descriptor->entries, table->entries, table->count * sizeof *table->entries);
    if (calls)
        name_calls(descriptor, table->count, &image->view);
    describe(descriptor, image, fresh ? descriptor->entries : table->entries, table->count);
    *result = descriptor;
    return REX_OK;
}
