/*
 * adopt.c - registers descriptors of other compilers' code with libomptarget.
 *
 * Implements __tgt_register_lib() and __tgt_unregister_lib(), as rex_kmp.h declares them.
 *
 * If REX_ADOPT is on, as under rex-run, libomptarget gets a copy of the descriptor. librex adapts
 * the copy to libomptarget's release. Before libomptarget gets the copy, librex also sets the wait
 * policy of the GPUs that the images are for. The program's own descriptor, images and entries may
 * be in read-only memory and are never written. If REX_ADOPT is off, librex forwards the descriptor
 * unchanged.
 *
 * A copy that libomptarget was given is never freed: see struct rex_descriptor
 * (module/registration.h).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "calls/forward.h"
#include "cuda/context.h"
#include "image/cubin.h"
#include "image/list.h"
#include "image/ptx.h"
#include "module/fitimage.h"
#include "module/parts.h"
#include "module/registry.h"
#include "omp/backend.h"
#include "omp/device.h"
#include "omp/runtime.h"
#include "present/present.h"
#include "trace/trace.h"

/* A registered descriptor, and the descriptor that librex gave to libomptarget instead. */
struct adopted {
    struct adopted *next;
    const struct __tgt_bin_desc *original;
    struct __tgt_bin_desc *given; /* the original or a copy */
};

static struct adopted *all; /* list of registered descriptors, newest first */

/* ---- entries: 32 bytes each (clang up to 19) or 56 bytes (clang 20 and later) ---------------- */

#define NEW_VERSION 1

/*
 * The version is compared, because a zero at the start is not enough: an entry of the older form
 * may begin with zero. Example: clang 19's entry for `requires` has no address. In such an entry
 * the bytes of the version are a part of the pointer to the name.
 */
bool rex_entries_are_new(struct rex_entries table)
{
    struct rex_new_entry first;
    if (table.size < sizeof first || table.size % sizeof first != 0)
        return false;
    memcpy(&first, table.begin, sizeof first);
    return first.zero == 0 && first.version == NEW_VERSION;
}

static size_t count_entries(struct rex_entries table)
{
    return table.size / (rex_entries_are_new(table) ? sizeof(struct rex_new_entry)
                                                    : sizeof(struct __tgt_offload_entry));
}

/* Returns entry INDEX in the newer form. All entries of the older form are OpenMP's. */
static struct rex_new_entry entry_at(struct rex_entries table, size_t index)
{
    struct __tgt_offload_entry old;
    struct rex_new_entry entry;
    if (rex_entries_are_new(table)) {
        memcpy(&entry, (const char *)table.begin + index * sizeof entry, sizeof entry);
        return entry;
    }
    memcpy(&old, (const char *)table.begin + index * sizeof old, sizeof old);
    return (struct rex_new_entry){.kind = REX_ENTRY_KIND_OPENMP,
                                  .flags = (uint32_t)old.flags,
                                  .address = old.addr,
                                  .name = old.name,
                                  .size = old.size,
                                  .data = (uint64_t)old.reserved};
}

const char *rex_entries_name(struct rex_entries table, const void *key)
{
    for (size_t i = 0; i < count_entries(table); i++)
        if (entry_at(table, i).address == key)
            return entry_at(table, i).name;
    return NULL;
}

/* flag of an entry whose `data` are the module's `requires` (LLVM 19 and later) */
#define ENTRY_REQUIRES 0x10
#define UNIFIED_SHARED_MEMORY 0x8

int rex_entries_copy(struct rex_entries table, bool old, struct rex_entries *copy)
{
    bool is_changed = old && rex_entries_are_new(table);
    size_t used = 0;
    /*
     * Allocate memory even for an empty table: the descriptor needs an address. TABLE.size bytes
     * are enough, because entries of the older form are smaller.
     */
    struct __tgt_offload_entry *entries = malloc(table.size);
    if (entries == NULL)
        return -1;
    if (!is_changed && table.size > 0)
        memcpy(entries, table.begin, table.size);
    for (size_t i = 0; is_changed && i < count_entries(table); i++) {
        struct rex_new_entry entry = entry_at(table, i);
        if (entry.kind == REX_ENTRY_KIND_OPENMP)
            entries[used++] = (struct __tgt_offload_entry){
                entry.address, entry.name, entry.size, (int32_t)entry.flags, (int32_t)entry.data};
    }
    *copy = (struct rex_entries){entries, is_changed ? used * sizeof *entries : table.size};
    return 0;
}

/*
 * Computes the size in bytes, because each entry may have 56 bytes. A difference of the pointers
 * would count entries of 32 bytes.
 */
static struct rex_entries entries_between(const struct __tgt_offload_entry *begin,
                                          const struct __tgt_offload_entry *end)
{
    return (struct rex_entries){begin, rex_bytes_between(begin, end)};
}

/* ---- images ---------------------------------------------------------------------------------- */

/*
 * Copies the image into bytes that librex retains (rex_retain()), and adapts the copy to RELEASE.
 * If the copy is a container of images (LLVM's OffloadBinary: image/list.h), adapts each image in
 * the container. An image that cannot be adapted stays unchanged. Activates the contexts of the
 * GPUs for which the images are. Returns the bytes, or NULL if memory ran out. Messages number the
 * images from NUMBER on, and call the file BINARY.
 */
static unsigned char *copy_and_fit(const void *image, size_t size,
                                   const struct rex_release *release, const char *binary,
                                   int number)
{
    char name[REX_MESSAGE_MAX], suffix;
    unsigned architecture;
    unsigned char *bytes = malloc(size), *same;
    struct rex_span span = {0, size};
    if (bytes == NULL)
        return NULL;
    memcpy(bytes, image, size);
    size_t count = rex_container_images(bytes, size);
    for (size_t i = 0; i == 0 || i < count; i++) {
        if (count > 0 && rex_container_image(bytes, size, i, &span) != 0)
            continue;
        snprintf(name, sizeof name, "%d of %s", number++, binary);
        /*
         * No compiler registers PTX, but a descriptor that is written by hand may have PTX.
         * libomptarget then has no kernels, and does not report the reason.
         */
        if (rex_ptx_is(bytes + span.offset, span.size, &architecture, &suffix))
            rex_log(REX_LOG_WARN,
                    "device image %s is PTX, which libomptarget does not take: make a CUBIN of it, "
                    "or register it as a module or a library of librex",
                    name);
        rex_image_fit_header(bytes + span.offset, span.size, name, release);
        architecture = rex_cubin_architecture(bytes + span.offset, span.size);
        if (architecture == 0 || rex_runtime_disabled())
            continue;
        uint64_t begin = rex_phase_begin();
        /* stays active: libomptarget uses the device until the process ends */
        rex_context_activate(architecture, false);
        rex_phase_end(begin, "activate contexts", NULL);
    }
    same = rex_retained(bytes, size);
    if (same == NULL && rex_retain(bytes, size, true) == REX_OK)
        return bytes;
    free(bytes);
    return same;
}

/*
 * BYTES may be a container of images whose format is too new for RELEASE. librex then gives
 * libomptarget the images in the container, not the container. Returns the number of these images.
 * Returns 0 if libomptarget gets BYTES as they are.
 */
static size_t count_opened(const struct rex_release *release, const unsigned char *bytes,
                           size_t size)
{
    return rex_container_version(bytes, size) <= release->newest_container
               ? 0
               : rex_container_images(bytes, size);
}

/* ---- a descriptor ---------------------------------------------------------------------------- */

/*
 * Copies the images and entries of ORIGINAL to COPY. If clang made ORIGINAL, each image in it
 * points to the host's table of entries. Sets *IS_CHANGED to true if an image or the host's entries
 * differ in the copy. Returns 0, or -1 if memory ran out.
 */
static int fill_adopted(struct __tgt_bin_desc *copy, const struct __tgt_bin_desc *original,
                        const struct rex_release *release, const char *binary, bool *is_changed)
{
    bool old = release->old_entries_only;
    struct rex_entries given =
        entries_between(original->HostEntriesBegin, original->HostEntriesEnd);
    struct rex_entries host, entries;
    if (rex_entries_copy(given, old, &host) != 0)
        return -1;
    *is_changed = host.size != given.size ||
                  (host.size > 0 && memcmp(host.begin, given.begin, host.size) != 0);
    char *begin = (char *)(uintptr_t)host.begin;
    copy->DeviceImages = (struct __tgt_device_image *)(copy + 1);
    copy->HostEntriesBegin = (void *)begin;
    copy->HostEntriesEnd = (void *)(begin + host.size);
    for (int i = 0; i < original->NumDeviceImages; i++) {
        const struct __tgt_device_image *image = &original->DeviceImages[i];
        size_t size = rex_bytes_between(image->ImageStart, image->ImageEnd);
        unsigned char *bytes =
            copy_and_fit(image->ImageStart, size, release, binary, copy->NumDeviceImages + 1);
        bool is_own = image->EntriesBegin != original->HostEntriesBegin ||
                      image->EntriesEnd != original->HostEntriesEnd;
        entries = host;
        if (bytes == NULL ||
            (is_own && rex_entries_copy(entries_between(image->EntriesBegin, image->EntriesEnd),
                                        old, &entries) != 0))
            return -1;
        /* adopt_descriptor() has allocated an element for each of these images. */
        size_t count = count_opened(release, image->ImageStart, size);
        struct rex_span span = {0, size};
        char *begin_of_entries = (char *)(uintptr_t)entries.begin;
        *is_changed |= count > 0 || (size > 0 && memcmp(bytes, image->ImageStart, size) != 0);
        for (size_t j = 0; j == 0 || j < count; j++)
            if (count == 0 || rex_container_image(bytes, size, j, &span) == 0)
                copy->DeviceImages[copy->NumDeviceImages++] = (struct __tgt_device_image){
                    bytes + span.offset, bytes + span.offset + span.size, (void *)begin_of_entries,
                    (void *)(begin_of_entries + entries.size)};
    }
    return 0;
}

/*
 * Returns a copy of ORIGINAL for libomptarget. Returns ORIGINAL itself if memory ran out, or if the
 * copy would have too many images.
 */
static struct __tgt_bin_desc *adopt_descriptor(struct __tgt_bin_desc *original)
{
    Dl_info info;
    const char *binary = dladdr(original, &info) != 0 ? info.dli_fname : "the program";
    const struct rex_release *release = rex_runtime();
    int64_t images = 0;
    for (int i = 0; i < original->NumDeviceImages; i++) {
        const struct __tgt_device_image *image = &original->DeviceImages[i];
        size_t size = rex_bytes_between(image->ImageStart, image->ImageEnd);
        size_t inside = count_opened(release, image->ImageStart, size);
        images += inside > 0 ? (int64_t)inside : 1;
    }
    struct __tgt_bin_desc *copy =
        images <= INT32_MAX
            ? calloc(1, sizeof *copy + (size_t)images * sizeof(struct __tgt_device_image))
            : NULL;
    uint64_t begin = rex_phase_begin();
    bool is_changed;
    if (copy == NULL || fill_adopted(copy, original, release, binary, &is_changed) != 0)
        goto fail;
    rex_phase_end(begin, "adopt", binary);
    if (rex_log_wanted(REX_LOG_INFO))
        rex_log(REX_LOG_INFO, "adopted the offload code of %s, %d device image%s: %s LLVM %d",
                binary, copy->NumDeviceImages, copy->NumDeviceImages == 1 ? "" : "s",
                is_changed ? "changed for" : "nothing in it had to change for", release->number);
    return copy;
fail:
    /*
     * Free each table of entries once: images of one container share a table. The retained bytes of
     * the images are not freed, because a later registration can use them.
     */
    for (int i = 0; copy != NULL && i < copy->NumDeviceImages; i++) {
        struct __tgt_offload_entry *entries = copy->DeviceImages[i].EntriesBegin;
        bool is_last =
            i + 1 == copy->NumDeviceImages || copy->DeviceImages[i + 1].EntriesBegin != entries;
        if (entries != copy->HostEntriesBegin && is_last)
            free(entries);
    }
    if (copy != NULL)
        free(copy->HostEntriesBegin);
    free(copy);
    rex_fail(REX_ENOMEM,
             "the offload code of %s is registered unchanged, not adapted to LLVM %d: memory ran "
             "out, or the code has too many device images",
             binary, release->number);
    return original;
}

/* ---- registered by code of other compilers --------------------------------------------------- */

__attribute__((visibility("default"))) void __tgt_register_lib(struct __tgt_bin_desc *desc);
__attribute__((visibility("default"))) void __tgt_unregister_lib(struct __tgt_bin_desc *desc);

/*
 * If there is no memory for a struct adopted, forwards the descriptor unchanged, and does not add
 * it to the list.
 */
void __tgt_register_lib(struct __tgt_bin_desc *desc)
{
    struct __tgt_bin_desc *given = desc;
    struct adopted *adopted = desc != NULL ? calloc(1, sizeof *adopted) : NULL;
    rex_trace_names(rex_kernel_name);
    if (desc != NULL) {
        rex_mapped_unseen(); /* libomptarget maps the globals in calls that librex does not see */
        struct rex_entries table = entries_between(desc->HostEntriesBegin, desc->HostEntriesEnd);
        for (size_t i = 0; i < count_entries(table); i++)
            if (entry_at(table, i).flags == ENTRY_REQUIRES &&
                (entry_at(table, i).data & UNIFIED_SHARED_MEMORY))
                rex_add_process_reasons(REX_REASON_UNIFIED);
    }
    if (adopted != NULL) {
        if (rex_setting_read(REX_OPTION_ADOPT) && rex_runtime_bind() == REX_OK)
            given = adopt_descriptor(desc);
        *adopted = (struct adopted){.original = desc, .given = given};
        rex_registry_lock();
        adopted->next = all;
        all = adopted;
        rex_registry_unlock();
    }
    REX_REAL(register_lib)
    (given);
    rex_devices_registered_elsewhere(1);
}

void __tgt_unregister_lib(struct __tgt_bin_desc *desc)
{
    rex_registry_lock();
    struct adopted **at = &all;
    while (*at != NULL && (*at)->original != desc)
        at = &(*at)->next;
    struct adopted *adopted = *at;
    if (adopted != NULL)
        *at = adopted->next;
    rex_registry_unlock();
    rex_devices_registered_elsewhere(-1);
    REX_REAL(unregister_lib)
    (adopted != NULL ? adopted->given : desc);
    free(adopted);
    rex_mapping_ended_unseen();
}

bool rex_adopted_has(const struct __tgt_offload_entry *begin)
{
    bool found = false;
    rex_registry_lock();
    for (const struct adopted *each = all; each != NULL && !found; each = each->next)
        found = each->given->HostEntriesBegin == begin;
    rex_registry_unlock();
    return found;
}

/* ---- a kernel by its host key ---------------------------------------------------------------- */

const char *rex_kernel_name(const void *key)
{
    const struct rex_module *module = rex_modules_find(key);
    struct rex_registration *registration = module != NULL ? rex_registration_of(module) : NULL;
    const struct rex_kernel *kernel =
        registration != NULL ? rex_parts_find(&registration, key) : NULL;
    if (kernel != NULL)
        return kernel->entry->name;
    const char *name = NULL;
    rex_registry_lock();
    for (const struct adopted *each = all; each != NULL && name == NULL; each = each->next)
        name = rex_entries_name(
            entries_between(each->given->HostEntriesBegin, each->given->HostEntriesEnd), key);
    rex_registry_unlock();
    return name;
}
