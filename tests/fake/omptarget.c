/*
 * omptarget.c - the fake libomptarget of fake.h; FAKE_RELEASE is the release that it plays. It has FAKE_DEVICES devices (1).
 *
 * FAKE_LACKS_REGISTER, FAKE_LACKS_DEVICES: builds without an entry point. Where the fake CUDA driver has device memory (FAKE_CUDA_MEMORY),
 * that is what omp_target_alloc() gives; else it is the host's.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "fake.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define TARGET_PARAM 0x20
#define LITERAL 0x100
#define WARP 32

struct place {
    int32_t reserved_1, flags, reserved_2, reserved_3;
    const char *source;
};

/* No initializer: the library would be a hundred times the size, and librex reads it whole. */
static struct fake_record record;

__attribute__((constructor)) static void begin(void)
{
    record.release = FAKE_RELEASE;
    record.devices = 1;
}

EXPORT struct fake_record *fake_record(void);
struct fake_record *fake_record(void)
{
    return &record;
}

__attribute__((constructor)) static void count_devices(void)
{
    const char *devices = getenv("FAKE_DEVICES");
    if (devices != NULL)
        record.devices = atoi(devices);
}

/* libomp: the releases before 19 refer to it weakly and call it without a look: 16 to 18 in a constructor, 14 and 15
 * later. */
extern int __kmpc_get_target_offload(void) __attribute__((weak));

#if FAKE_RELEASE >= 16 && FAKE_RELEASE <= 18
__attribute__((constructor)) static void ask_libomp(void)
{
    __kmpc_get_target_offload();
}
#endif

static struct fake_call *next(enum fake_function function)
{
    static __thread struct fake_call spare;
    uint32_t count = __atomic_fetch_add(&record.count, 1, __ATOMIC_RELAXED);
    struct fake_call *call = count < FAKE_CALLS ? &record.calls[count] : &spare;
    __atomic_fetch_add(&record.counts[function], 1, __ATOMIC_RELAXED);
    memset(call, 0, sizeof *call);
    call->function = function;
    return call;
}

/* 19 and later have no runtime object before the first registration, and use it all the same. */
static void need_runtime_object(void)
{
    if (FAKE_RELEASE >= 19 && record.registered == 0) {
        fprintf(stderr, "fake libomptarget %d: called before any registration\n", FAKE_RELEASE);
        abort();
    }
}

/* ---- images of each kind ------------------------------------------------------------------------------------------------------- */

/* Registered descriptors with an image for the CPU, and for a GPU. */
static int images_of[2];

static void count_image(const struct fake_descriptor *descriptor, int by)
{
    const unsigned char *start = descriptor != NULL && descriptor->images > 0 ? descriptor->image->start : NULL;
    if (start != NULL && descriptor->image->end - start >= 20 && memcmp(start, "\177ELF", 4) == 0)
        images_of[(start[18] | start[19] << 8) == 190] += by; /* e_machine: EM_CUDA */
}

/* Each release loads, at a device's first use, an image of every descriptor, and gives up where one has none for the device. */
static void load_images(void)
{
    if (images_of[0] > 0 && images_of[1] > 0) {
        fprintf(stderr, "fake libomptarget %d: no image loaded for device id 0\n", FAKE_RELEASE);
        abort();
    }
}

/* ---- registration ------------------------------------------------------------------------------------------------ */

#ifndef FAKE_LACKS_REGISTER
static void note_address(const void *address)
{
    static const void *seen[256];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (seen[i] == address)
            record.used_address_again = 1;
    if (count < sizeof seen / sizeof *seen)
        seen[count++] = address;
}

/* 15 to 20 read all images at each registration, also of those that have ended; 21 reads them when it unloads them. */
static void read_images_again(const unsigned char *image, const unsigned char *end)
{
    static struct {
        const unsigned char *image;
        unsigned char begin[4];
    } seen[64];
    static size_t count;
    if (FAKE_RELEASE < 15 || FAKE_RELEASE > 21)
        return;
    for (size_t i = 0; i < count; i++)
        if (memcmp(seen[i].image, seen[i].begin, sizeof seen[i].begin) != 0)
            record.image_is_gone = 1;
    if (image != NULL && (size_t)(end - image) >= sizeof seen->begin && count < sizeof seen / sizeof *seen) {
        seen[count].image = image;
        memcpy(seen[count++].begin, image, sizeof seen->begin);
    }
}

EXPORT void __tgt_register_lib(struct fake_descriptor *descriptor);
void __tgt_register_lib(struct fake_descriptor *descriptor)
{
    struct fake_call *call = next(FAKE_REGISTER);
    if (FAKE_RELEASE <= 15)
        __kmpc_get_target_offload();
    /* 20 and later copy a table in the older form, and find the copy by the descriptor. */
    bool is_copied = FAKE_RELEASE >= 20 && descriptor->begin != descriptor->stop &&
                     *(const uint64_t *)(const void *)descriptor->begin != 0;
    note_address(is_copied ? (const void *)descriptor : descriptor->begin);
    if (descriptor->images > 0) {
        read_images_again(descriptor->image->start, descriptor->image->end);
        call->image = descriptor->image->start;
        call->image_size = (uint64_t)(descriptor->image->end - descriptor->image->start);
    }
    call->descriptor = descriptor;
    call->entries = descriptor->begin;
    call->entry_count = (uint64_t)(descriptor->stop - descriptor->begin);
    call->image_count = descriptor->images;
    for (int i = 0; i < descriptor->images && i < (int)(sizeof call->images / sizeof *call->images); i++)
        call->images[i] = descriptor->image[i];
    if (call->image_size >= sizeof call->header)
        memcpy(call->header, call->image, sizeof call->header);
    record.registered++;
    count_image(descriptor, 1);
}
#endif

EXPORT void __tgt_register_requires(int64_t flags);
void __tgt_register_requires(int64_t flags)
{
    (void)flags;
    next(FAKE_REQUIRES);
}

EXPORT void __tgt_unregister_lib(struct fake_descriptor *descriptor);
void __tgt_unregister_lib(struct fake_descriptor *descriptor)
{
    struct fake_call *call = next(FAKE_UNREGISTER);
    call->descriptor = descriptor;
    record.registered--;
    count_image(descriptor, -1);
}

/* ---- device memory: the host's; mapped is what the test says ------------------------------------------------------------ */

EXPORT int omp_target_is_present(const void *address, int device);
EXPORT int omp_target_associate_ptr(const void *host, const void *on_device, size_t size, size_t offset, int device);
EXPORT int omp_target_disassociate_ptr(const void *address, int device);
EXPORT void *omp_target_alloc(size_t size, int device);
EXPORT void omp_target_free(void *memory, int device);
EXPORT int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset, int to_device, int from_device);

static struct fake_mapping *mapping_of(const void *address)
{
    for (int i = 0; i < FAKE_MAPPINGS; i++)
        if ((uintptr_t)address - record.mappings[i].begin < record.mappings[i].size)
            return &record.mappings[i];
    return NULL;
}

int omp_target_is_present(const void *address, int device)
{
    (void)device;
    return mapping_of(address) != NULL;
}

#if FAKE_RELEASE >= 16
EXPORT void *omp_get_mapped_ptr(const void *address, int device);
void *omp_get_mapped_ptr(const void *address, int device)
{
    const struct fake_mapping *mapping = mapping_of(address);
    (void)device;
    return mapping != NULL ? (void *)((uintptr_t)address - mapping->begin + mapping->device) : NULL;
}
#endif

int omp_target_associate_ptr(const void *host, const void *on_device, size_t size, size_t offset, int device)
{
    int i = 0;
    (void)device;
    while (i < FAKE_MAPPINGS && record.mappings[i].size > 0)
        i++;
    if (i == FAKE_MAPPINGS || mapping_of(host) != NULL)
        return -1;
    record.mappings[i] = (struct fake_mapping){(uintptr_t)host, size, (uintptr_t)on_device + offset};
    return 0;
}

int omp_target_disassociate_ptr(const void *address, int device)
{
    struct fake_mapping *mapping = mapping_of(address);
    (void)device;
    if (mapping != NULL)
        mapping->size = 0;
    return mapping == NULL;
}

/* A function of the fake driver; false where that has no memory. */
static int in_driver(const char *name, void *function)
{
    void *driver = getenv("FAKE_CUDA_MEMORY") != NULL ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *found = driver != NULL ? dlsym(driver, name) : NULL;
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

void *omp_target_alloc(size_t size, int device)
{
    int (*allocate)(uint64_t *, size_t);
    void (*use_device)(int);
    uint64_t address = 0;
    __atomic_fetch_add(&record.touches, 1, __ATOMIC_RELAXED);
    if (!in_driver("cuMemAlloc_v2", &allocate) || !in_driver("fake_cuda_use_device", &use_device))
        return malloc(size);
    use_device(device);
    int result = allocate(&address, size);
    use_device(-1);
    return result == 0 ? (void *)(uintptr_t)address : NULL;
}

void omp_target_free(void *memory, int device)
{
    int (*release)(uint64_t);
    (void)device;
    __atomic_fetch_add(&record.touches, 1, __ATOMIC_RELAXED);
    if (in_driver("cuMemFree_v2", &release))
        release((uintptr_t)memory);
    else
        free(memory);
}

/* Where the bytes are of memory of the host or the device. */
static void *bytes_at(const void *address, size_t offset, size_t size)
{
    void *(*find)(uint64_t, size_t);
    void *found = in_driver("fake_cuda_memory", &find) ? find((uintptr_t)address + offset, size) : NULL;
    return found != NULL ? found : (char *)(uintptr_t)address + offset;
}

int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset, int to_device, int from_device)
{
    __atomic_fetch_add(&record.touches, 1, __ATOMIC_RELAXED);
    record.copied[0] = to_device;
    record.copied[1] = from_device;
    if (record.copy_result != 0)
        return record.copy_result;
    memcpy(bytes_at(to, to_offset, size), bytes_at(from, from_offset, size), size);
    return 0;
}

#ifndef FAKE_LACKS_DEVICES
EXPORT int omp_get_num_devices(void);
int omp_get_num_devices(void)
{
    next(FAKE_DEVICE_COUNT);
    need_runtime_object();
    return record.registered > 0 ? record.devices : 0;
}
#endif

/* ---- what the kernel gets ---------------------------------------------------------------------------------------- */

static void copy_rows(struct fake_call *call, const struct fake_packet *packet)
{
    bool is_whole = packet->base != NULL && packet->begin != NULL && packet->sizes != NULL && packet->types != NULL;
    uint32_t rows = !is_whole ? 0 : packet->rows < FAKE_ROWS ? packet->rows : FAKE_ROWS;
    call->packet = *packet;
    for (uint32_t i = 0; i < rows; i++) {
        call->base[i] = packet->base[i];
        call->begin[i] = packet->begin[i];
        call->sizes[i] = packet->sizes[i];
        call->types[i] = packet->types[i];
        call->names[i] = packet->names != NULL ? packet->names[i] : NULL;
        call->mappers[i] = packet->mappers != NULL ? packet->mappers[i] : NULL;
        if (packet->types[i] & TARGET_PARAM && call->parameters < FAKE_ROWS)
            call->parameter[call->parameters++] = packet->base[i];
    }
}

static void prepend_environment(struct fake_call *call)
{
    memmove(call->parameter + 1, call->parameter, (FAKE_ROWS - 1) * sizeof *call->parameter);
    call->parameter[0] = (void *)-1;
    call->parameters++;
}

static void work_out_parameters(struct fake_call *call)
{
    uint32_t version = call->packet.version;
    if (FAKE_RELEASE == 18 || (FAKE_RELEASE >= 19 && FAKE_RELEASE <= 22 && version >= 3) ||
        (FAKE_RELEASE >= 23 && version == 3))
        prepend_environment(call);
    else if (FAKE_RELEASE >= 23 && version >= 4 && call->parameters > 0)
        call->parameter[call->parameters - 1] = (void *)-1;
}

static void work_out_grid(struct fake_call *call)
{
    const struct fake_packet *packet = &call->packet;
    int from_call = FAKE_RELEASE <= 15 || packet->version < (FAKE_RELEASE >= 23 ? 3 : 2);
    int three = FAKE_RELEASE >= 20 && !from_call;
    for (int i = 0; i < 3; i++) {
        call->grid[i] = i == 0 || three ? packet->teams[i] : 1;
        call->block[i] = i == 0 || three ? packet->threads[i] : 1;
    }
    if (from_call) {
        call->grid[0] = (uint32_t)call->teams;
        call->block[0] = (uint32_t)call->threads;
    }
    if (FAKE_RELEASE == 14 && call->grid[0] > 65536)
        call->grid[0] = 65536;
    call->dynamic_memory = FAKE_RELEASE >= 16 && !from_call ? packet->dynamic_memory : 0;
    call->clamped = FAKE_RELEASE >= 23 && !(packet->flags & 0x40);
}

static struct fake_call *launched(enum fake_function function, const struct place *place, int64_t device, void *key,
                                  int32_t teams, int32_t threads, const struct fake_packet *packet)
{
    struct fake_call *call = next(function);
    need_runtime_object();
    load_images();
    call->device = device;
    call->key = key;
    call->teams = teams;
    call->threads = threads;
    if (place != NULL) {
        call->place_flags = place->flags;
        snprintf(call->place, sizeof call->place, "%s", place->source);
    }
    copy_rows(call, packet);
    work_out_parameters(call);
    work_out_grid(call);
    if (record.on_launch != NULL)
        record.on_launch();
    return call;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

#define ROWS void **base, void **begin, int64_t *sizes, int64_t *types

EXPORT int __tgt_target_teams_mapper(struct place *place, int64_t device, void *key, int32_t rows, ROWS, void **names,
                                     void **mappers, int32_t teams, int32_t threads);
int __tgt_target_teams_mapper(struct place *place, int64_t device, void *key, int32_t rows, ROWS, void **names,
                              void **mappers, int32_t teams, int32_t threads)
{
    struct fake_packet packet = {.rows = (uint32_t)rows, .base = base, .begin = begin, .sizes = sizes, .types = types,
                                 .names = names, .mappers = mappers};
    launched(FAKE_TEAMS_MAPPER, place, device, key, teams, threads, &packet);
    return record.result;
}

EXPORT int __tgt_target_teams(int64_t device, void *key, int32_t rows, ROWS, int32_t teams, int32_t threads);
int __tgt_target_teams(int64_t device, void *key, int32_t rows, ROWS, int32_t teams, int32_t threads)
{
    struct fake_packet packet = {.rows = (uint32_t)rows, .base = base, .begin = begin, .sizes = sizes, .types = types};
    launched(FAKE_TEAMS, NULL, device, key, teams, threads, &packet);
    return record.result;
}

EXPORT int __tgt_target(int64_t device, void *key, int32_t rows, ROWS);
int __tgt_target(int64_t device, void *key, int32_t rows, ROWS)
{
    struct fake_packet packet = {.rows = (uint32_t)rows, .base = base, .begin = begin, .sizes = sizes, .types = types};
    launched(FAKE_TARGET, NULL, device, key, 1, -1, &packet);
    return record.result;
}

#if FAKE_RELEASE == 14
EXPORT void __kmpc_push_target_tripcount_mapper(struct place *place, int64_t device, uint64_t count);
void __kmpc_push_target_tripcount_mapper(struct place *place, int64_t device, uint64_t count)
{
    struct fake_call *call = next(FAKE_TRIP_COUNT);
    (void)place;
    call->device = device;
    call->packet.trip_count = count;
}
#endif

#if FAKE_RELEASE >= 15
/* What the release leaves in the caller's packet. */
static void scribble(struct fake_packet *packet, uint32_t parameters, int32_t teams)
{
    int in_place = FAKE_RELEASE >= 23 ? packet->version >= 4 : packet->version >= 2;
    if (FAKE_RELEASE == 15 || !in_place)
        return;
    packet->rows = parameters;
    if (FAKE_RELEASE == 18 || (FAKE_RELEASE >= 19 && FAKE_RELEASE <= 22 && packet->version >= 3))
        packet->rows++;
    if (FAKE_RELEASE <= 19)
        packet->threads[0] += WARP;
    if (teams == -1)
        packet->teams[0] = 1;
    for (int i = 1; FAKE_RELEASE >= 20 && i < 3; i++) {
        packet->teams[i] += packet->teams[i] == 0;
        packet->threads[i] += packet->threads[i] == 0;
    }
}

EXPORT int __tgt_target_kernel(struct place *place, int64_t device, int32_t teams, int32_t threads, void *key,
                               struct fake_packet *packet);
int __tgt_target_kernel(struct place *place, int64_t device, int32_t teams, int32_t threads, void *key,
                        struct fake_packet *packet)
{
    launched(FAKE_KERNEL, place, device, key, teams, threads, packet);
    uint32_t parameters = 0;
    for (uint32_t i = 0; i < packet->rows; i++)
        parameters += (packet->types[i] & TARGET_PARAM) != 0;
    scribble(packet, parameters, teams);
    return record.result;
}
#endif

/* ---- data -------------------------------------------------------------------------------------------------------- */

static void data(enum fake_function function, int64_t device, int32_t rows, ROWS)
{
    struct fake_packet packet = {.rows = (uint32_t)rows, .base = base, .begin = begin, .sizes = sizes, .types = types};
    struct fake_call *call = next(function);
    need_runtime_object();
    load_images();
    call->device = device;
    copy_rows(call, &packet);
    if (record.on_data != NULL)
        record.on_data(function);
}

#define DATA(name, function)                                                                                           \
    EXPORT void __tgt_target_data_##name(int64_t device, int32_t rows, ROWS);                                          \
    void __tgt_target_data_##name(int64_t device, int32_t rows, ROWS)                                                  \
    {                                                                                                                  \
        data(function, device, rows, base, begin, sizes, types);                                                       \
    }                                                                                                                  \
    EXPORT void __tgt_target_data_##name##_mapper(struct place *place, int64_t device, int32_t rows, ROWS, void **names, \
                                                  void **mappers);                                                     \
    void __tgt_target_data_##name##_mapper(struct place *place, int64_t device, int32_t rows, ROWS, void **names,      \
                                           void **mappers)                                                             \
    {                                                                                                                  \
        (void)place, (void)names, (void)mappers;                                                                       \
        data(function, device, rows, base, begin, sizes, types);                                                       \
    }
DATA(begin, FAKE_BEGIN)
DATA(end, FAKE_END)
DATA(update, FAKE_UPDATE)

/* ---- exports that only tell the release -------------------------------------------------------------------------- */

#define MARKER(name)                                                                                                   \
    EXPORT void name(void);                                                                                            \
    void name(void)                                                                                                    \
    {                                                                                                                  \
    }
#if FAKE_RELEASE >= 16
MARKER(__tgt_target_nowait_query)
#endif
#if FAKE_RELEASE >= 17
MARKER(omp_target_memcpy_async)
#endif
#if FAKE_RELEASE >= 18
MARKER(__tgt_activate_record_replay)
MARKER(omp_target_memset)
#endif
#if FAKE_RELEASE >= 19
MARKER(__tgt_rtl_init)
MARKER(__tgt_rtl_deinit)
#endif
#if FAKE_RELEASE >= 20
MARKER(llvmLaunchKernel)
#endif
#if FAKE_RELEASE >= 22
MARKER(__tgt_interop_get)
MARKER(omp_get_device_from_uid)
#endif
#if FAKE_RELEASE >= 23
MARKER(__tgt_register_rpc_callback)
MARKER(omp_get_gprivate_limit)
#endif
#if FAKE_RELEASE >= 24
MARKER(__tgt_get_mapped_ptr)
#endif
#if FAKE_RELEASE >= 25 /* which is not there yet: nothing else is known of it */
MARKER(__tgt_of_later)
#endif
