/*
 * adopt.c - the exported registration: descriptors that come from other compilers' code.
 *
 * Where REX_ADOPT is on, as under rex-run, libomptarget gets a copy of the descriptor that suits
 * it, and the GPUs that the images are for get their wait policy first. The program's own
 * descriptor, images and entries lie in memory that may be read-only and are never written. Where
 * it is off, the descriptor goes through as it is: a program that has its own librex beside a
 * library that clang built is not to be surprised.
 *
 * Nothing of a copy that libomptarget was given is ever freed: see struct rex_descriptor and
 * rex_retain().
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/adopt.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "cuda/context.h"
#include "image/cubin.h"
#include "image/list.h"
#include "image/ptx.h"
#include "module/descriptor.h"
#include "module/imagefit.h"
#include "module/moduleimage.h"
#include "module/modules.h"
#include "omp/present.h"
#include "omp/runtime.h"
#include "omp/sender.h"
#include "trace/trace.h"

/* A descriptor that came through, and what libomptarget was given for it. */
struct adopted {
    struct adopted *next;
    const struct __tgt_bin_desc *original;
    struct __tgt_bin_desc *given; /* the original, or &copy */
    bool registered;
    struct __tgt_bin_desc copy;
};

static struct adopted *all; /* the newest first */

static struct rex_entries table_of(const struct __tgt_offload_entry *begin,
                                   const struct __tgt_offload_entry *end)
{
    /* By number: the newer form of entries is no multiple of this struct. */
    size_t size =
        (uintptr_t)end > (uintptr_t)begin ? (size_t)((uintptr_t)end - (uintptr_t)begin) : 0;
    return (struct rex_entries){begin, size};
}

/* ---- images ---------------------------------------------------------------------------------- */

/* The images of a copy while it grows. */
struct growing {
    const struct rex_release *release;
    struct __tgt_bin_desc *copy;
    const char *binary; /* file that the descriptor is in */
    int room;           /* for images */
};

/*
 * No compiler's own code has PTX there; whoever writes the descriptor may have put it there, and no
 * libomptarget says why the device has no kernels then.
 */
static void warn_of_ptx(const unsigned char *bytes, size_t size, const char *name)
{
    unsigned architecture;
    char suffix;
    if (rex_ptx_is(bytes, size, &architecture, &suffix))
        rex_log(REX_LOG_WARN,
                "device image %s is PTX, which libomptarget does not take: make a CUBIN of it, or "
                "register it as a module or a library of librex",
                name);
}

/*
 * One image, raw: fit it in place, and get the GPUs that it is for ready. What cannot be fitted
 * goes to libomptarget as it is. Messages call it by NUMBER.
 */
static void fit(const struct growing *growing, int number, unsigned char *bytes, size_t size)
{
    char name[PATH_MAX + 32];
    snprintf(name, sizeof name, "%d of %s", number, growing->binary);
    warn_of_ptx(bytes, size, name);
    rex_image_fit_header(bytes, size, name, growing->release);
    unsigned architecture = rex_cubin_architecture(bytes, size);
    if (architecture == 0 || rex_runtime_disabled())
        return;
    uint64_t begin = rex_phase_begin();
    /* never undone: libomptarget uses the device until the process ends */
    rex_context_activate(architecture, false);
    rex_phase_end(begin, "activate contexts", NULL);
}

/* Numbers are those that the images get in the copy, which none of them is in yet. */
static void fit_all(const struct growing *growing, unsigned char *bytes, size_t size)
{
    int number = growing->copy->NumDeviceImages + 1;
    size_t count = rex_container_images(bytes, size);
    struct rex_span span;
    if (count == 0)
        fit(growing, number, bytes, size);
    for (size_t i = 0; i < count; i++)
        if (rex_container_image(bytes, size, i, &span) == 0)
            fit(growing, number++, bytes + span.offset, span.size);
}

/* Bytes of our own that are fitted and stay; NULL: out of memory. */
static unsigned char *fitted_copy(const struct growing *growing, const void *image, size_t size)
{
    unsigned char *bytes = malloc(size > 0 ? size : 1), *same;
    if (bytes == NULL)
        return NULL;
    memcpy(bytes, image, size);
    fit_all(growing, bytes, size);
    same = rex_retained(bytes, size);
    if (same == NULL && rex_retain(bytes, size) == REX_OK)
        return bytes;
    free(bytes);
    return same;
}

static void add_image(struct growing *growing, unsigned char *bytes, size_t size,
                      const struct rex_entries *entries)
{
    if (growing->copy->NumDeviceImages == growing->room)
        return;
    char *begin = (char *)(uintptr_t)entries->begin;
    growing->copy->DeviceImages[growing->copy->NumDeviceImages++] = (struct __tgt_device_image){
        bytes, bytes + size, (void *)begin, (void *)(begin + entries->size)};
}

/*
 * Number of images that are registered instead of one: those of a container that the release does
 * not open.
 */
static size_t opened(const struct rex_release *release, const unsigned char *bytes, size_t size)
{
    uint32_t version = rex_container_version(bytes, size);
    return version == 0 || version <= release->newest_container ? 0
                                                                : rex_container_images(bytes, size);
}

static size_t size_of(const struct __tgt_device_image *image)
{
    const unsigned char *begin = image->ImageStart, *end = image->ImageEnd;
    return end > begin ? (size_t)(end - begin) : 0;
}

/* One image of the copy, or those of the container that BYTES are. */
static void add_images(struct growing *growing, unsigned char *bytes, size_t size,
                       const struct rex_entries *entries)
{
    size_t count = opened(growing->release, bytes, size);
    struct rex_span span;
    if (count == 0)
        add_image(growing, bytes, size, entries);
    for (size_t i = 0; i < count; i++)
        if (rex_container_image(bytes, size, i, &span) == 0)
            add_image(growing, bytes + span.offset, span.size, entries);
}

/* ---- a descriptor ---------------------------------------------------------------------------- */

static int64_t count_images(const struct rex_release *release,
                            const struct __tgt_bin_desc *descriptor)
{
    int64_t count = 0;
    for (int i = 0; i < descriptor->NumDeviceImages; i++) {
        const struct __tgt_device_image *image = &descriptor->DeviceImages[i];
        size_t inside = opened(release, image->ImageStart, size_of(image));
        count += inside > 0 ? (int64_t)inside : 1;
    }
    return count;
}

/* Entries of an image: in all that clang builds, those of the host. */
static int entries_for(const struct growing *growing, const struct __tgt_bin_desc *descriptor,
                       const struct __tgt_device_image *image, const struct rex_entries *host,
                       struct rex_entries *entries)
{
    *entries = *host;
    if (image->EntriesBegin == descriptor->HostEntriesBegin &&
        image->EntriesEnd == descriptor->HostEntriesEnd)
        return 0;
    return rex_entries_copy(table_of(image->EntriesBegin, image->EntriesEnd),
                            growing->release->old_entries_only, entries);
}

static int copy_descriptor(struct growing *growing, const struct __tgt_bin_desc *descriptor)
{
    struct rex_entries host = table_of(descriptor->HostEntriesBegin, descriptor->HostEntriesEnd),
                       entries;
    int64_t images = count_images(growing->release, descriptor);
    if (images > INT32_MAX ||
        rex_entries_copy(host, growing->release->old_entries_only, &host) != 0)
        return -1;
    char *begin = (char *)(uintptr_t)host.begin;
    *growing->copy =
        (struct __tgt_bin_desc){0, calloc((size_t)images + 1, sizeof(struct __tgt_device_image)),
                                (void *)begin, (void *)(begin + host.size)};
    growing->room = (int)images;
    if (growing->copy->DeviceImages == NULL)
        return -1;
    for (int i = 0; i < descriptor->NumDeviceImages; i++) {
        const struct __tgt_device_image *image = &descriptor->DeviceImages[i];
        unsigned char *bytes = fitted_copy(growing, image->ImageStart, size_of(image));
        if (bytes == NULL || entries_for(growing, descriptor, image, &host, &entries) != 0)
            return -1;
        add_images(growing, bytes, size_of(image), &entries);
    }
    return 0;
}

/*
 * A copy that nobody was given. Images of one container have one table of entries; bytes that are
 * retained already serve whoever brings the same image later.
 */
static void discard(struct __tgt_bin_desc *copy)
{
    for (int i = 0; i < copy->NumDeviceImages; i++) {
        struct __tgt_offload_entry *entries = copy->DeviceImages[i].EntriesBegin;
        bool is_last =
            i + 1 == copy->NumDeviceImages || copy->DeviceImages[i + 1].EntriesBegin != entries;
        if (entries != copy->HostEntriesBegin && is_last)
            free(entries);
    }
    free(copy->DeviceImages);
    free(copy->HostEntriesBegin);
    *copy = (struct __tgt_bin_desc){0};
}

static void adopt(struct adopted *adopted)
{
    Dl_info info;
    const char *binary = dladdr(adopted->original, &info) != 0 && info.dli_fname != NULL
                             ? info.dli_fname
                             : "the program";
    struct growing growing = {.release = rex_runtime(), .copy = &adopted->copy, .binary = binary};
    uint64_t begin = rex_phase_begin();
    if (copy_descriptor(&growing, adopted->original) != 0) {
        discard(&adopted->copy);
        rex_fail(REX_ENOMEM, "out of memory: the offload code of %s is registered as it is",
                 binary);
        return;
    }
    adopted->given = &adopted->copy;
    rex_phase_end(begin, "adopt", binary);
    rex_log(REX_LOG_INFO, "adopted the offload code of %s, %d device image%s", binary,
            adopted->copy.NumDeviceImages, adopted->copy.NumDeviceImages == 1 ? "" : "s");
}

/* ---- registered, by whom librex does not know ------------------------------------------------ */

static struct __tgt_bin_desc *come(struct __tgt_bin_desc *descriptor)
{
    struct adopted *adopted = calloc(1, sizeof *adopted);
    if (adopted == NULL)
        return descriptor;
    adopted->original = adopted->given = descriptor;
    adopted->registered = true;
    if (rex_setting_adopt() && rex_runtime_bind() == REX_OK)
        adopt(adopted);
    rex_registry_lock();
    adopted->next = all;
    all = adopted;
    rex_registry_unlock();
    return adopted->given;
}

static struct __tgt_bin_desc *go(struct __tgt_bin_desc *descriptor)
{
    struct __tgt_bin_desc *given = descriptor;
    rex_registry_lock();
    struct adopted *adopted = all;
    while (adopted != NULL && !(adopted->registered && adopted->original == descriptor))
        adopted = adopted->next;
    if (adopted != NULL) {
        adopted->registered = false;
        given = adopted->given;
    }
    rex_registry_unlock();
    return given;
}

const char *rex_adopted_name(const void *key)
{
    const char *name = NULL;
    rex_registry_lock();
    for (const struct adopted *adopted = all; adopted != NULL && name == NULL;
         adopted = adopted->next)
        if (adopted->registered)
            name = rex_entries_name(
                table_of(adopted->given->HostEntriesBegin, adopted->given->HostEntriesEnd), key);
    rex_registry_unlock();
    return name;
}

__attribute__((visibility("default"))) void __tgt_register_lib(struct __tgt_bin_desc *desc);
__attribute__((visibility("default"))) void __tgt_unregister_lib(struct __tgt_bin_desc *desc);

#define ENTRY_REQUIRES 0x10 /* its data is what the module requires, from LLVM 19 on */
#define UNIFIED_SHARED_MEMORY 0x8

static bool requires_unified(struct rex_entries table)
{
    const struct rex_new_entry *entry = table.begin;
    const struct __tgt_offload_entry *old = table.begin;
    bool some = false;
    if (rex_entries_are_new(table))
        for (size_t i = 0; i < table.size / sizeof *entry; i++)
            some |= entry[i].flags == ENTRY_REQUIRES && (entry[i].data & UNIFIED_SHARED_MEMORY);
    else
        for (size_t i = 0; i < table.size / sizeof *old; i++)
            some |= old[i].flags == ENTRY_REQUIRES && (old[i].reserved & UNIFIED_SHARED_MEMORY);
    return some;
}

/* What its globals map no call names. */
static void note_others(const struct __tgt_bin_desc *descriptor)
{
    rex_mapped_unseen();
    if (requires_unified(table_of(descriptor->HostEntriesBegin, descriptor->HostEntriesEnd)))
        rex_stand_against_all(REX_AGAINST_UNIFIED);
}

void __tgt_register_lib(struct __tgt_bin_desc *desc)
{
    rex_trace_names(rex_kernel_name);
    if (desc != NULL)
        note_others(desc);
    REX_REAL(register_lib)
    (desc != NULL ? come(desc) : NULL);
}

void __tgt_unregister_lib(struct __tgt_bin_desc *desc)
{
    REX_REAL(unregister_lib)
    (go(desc));
    rex_mapping_ended_unseen();
}

/* ---- a kernel by its host key ---------------------------------------------------------------- */

const char *rex_kernel_name(const void *key)
{
    const struct rex_module *module = rex_modules_find(key);
    const struct rex_registration *registration =
        module != NULL ? rex_registration_of(module) : NULL;
    const struct rex_kernel *kernel =
        registration != NULL ? rex_table_find(&registration->table, key) : NULL;
    return kernel != NULL ? kernel->entry->name : rex_adopted_name(key);
}
