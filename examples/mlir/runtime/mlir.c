/*
 * mlir.c - librex-mlir: MLIR's mgpu functions on top of librex. A stream is a queue, a module is a
 * library, and a function is the key of a kernel in the library.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "mlir.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rex.h>
#include <rex/interop.h>
#include <rex/library.h>

#include "memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the errors and all functions */
static struct {
    int code;
    char message[1024];
} first, asked;
static _Thread_local int device = -1;

/* Queues for calls without a stream: for device -1, the default, and for each numbered device. */
#define DEVICES 64
static struct rex_queue *without_stream[1 + DEVICES];

/* ---- errors ---------------------------------------------------------------------------------- */

/* Returns true if RESULT is REX_OK; else keeps the first error. OBJECT may be NULL. */
static bool note(int result, const char *call, const char *object)
{
    if (result == REX_OK)
        return true;
    pthread_mutex_lock(&lock);
    if (first.code == REX_OK) {
        first.code = result;
        snprintf(first.message, sizeof first.message, "%s%s%s: %s", call,
                 object != NULL ? " of " : "", object != NULL ? object : "", rex_last_error());
    }
    pthread_mutex_unlock(&lock);
    return false;
}

static bool note_pointer(const void *pointer, const char *call, const char *object)
{
    return note(pointer != NULL ? REX_OK : rex_last_error_code(), call, object);
}

/* Keeps an error that librex has not reported, if it is the first. */
static void refuse(int code, const char *call, const char *why)
{
    pthread_mutex_lock(&lock);
    if (first.code == REX_OK) {
        first.code = code;
        snprintf(first.message, sizeof first.message, "%s: %s", call, why);
    }
    pthread_mutex_unlock(&lock);
}

int rex_mlir_error(const char **message)
{
    pthread_mutex_lock(&lock);
    asked = first;
    memset(&first, 0, sizeof first);
    pthread_mutex_unlock(&lock);
    *message = asked.message;
    return asked.code;
}

/* ---- modules and kernels --------------------------------------------------------------------- */

struct mlir_function {
    struct mlir_function *next;
    struct rex_library *library;
    const void *key;
    char name[];
};

struct mlir_module {
    struct rex_library *library;
    struct mlir_function *functions; /* under the lock */
};

struct mlir_module *mgpuModuleLoad(void *image, size_t size)
{
    struct mlir_module *module = calloc(1, sizeof *module);
    if (module == NULL) {
        refuse(REX_ENOMEM, "mgpuModuleLoad", "out of memory");
        return NULL;
    }
    if (!note(rex_library_load(&module->library, device, image, size, "MLIR's module"),
              "mgpuModuleLoad", NULL)) {
        free(module);
        return NULL;
    }
    return module;
}

/* PTX ends with a NUL. The driver compiles it, and librex keeps the result. */
struct mlir_module *mgpuModuleLoadJIT(void *ptx, int level)
{
    (void)level;
    return mgpuModuleLoad(ptx, strlen(ptx));
}

void mgpuModuleUnload(struct mlir_module *module)
{
    if (module == NULL || !note(rex_library_unload(module->library), "mgpuModuleUnload", NULL))
        return;
    for (struct mlir_function *function = module->functions, *next; function != NULL;
         function = next) {
        next = function->next;
        free(function);
    }
    free(module);
}

static struct mlir_function *find_known(const struct mlir_module *module, const char *name)
{
    pthread_mutex_lock(&lock);
    struct mlir_function *function = module->functions;
    while (function != NULL && strcmp(function->name, name) != 0)
        function = function->next;
    pthread_mutex_unlock(&lock);
    return function;
}

static struct mlir_function *new_function(struct mlir_module *module, const char *name)
{
    const char *call = "mgpuModuleGetFunction";
    const void *key = rex_library_kernel(module->library, name);
    if (!note_pointer(key, call, name))
        return NULL;
    struct mlir_function *function = calloc(1, sizeof *function + strlen(name) + 1);
    if (function == NULL) {
        refuse(REX_ENOMEM, call, "out of memory");
        return NULL;
    }
    function->library = module->library;
    function->key = key;
    strcpy(function->name, name);
    pthread_mutex_lock(&lock);
    function->next = module->functions;
    module->functions = function;
    pthread_mutex_unlock(&lock);
    return function;
}

struct mlir_function *mgpuModuleGetFunction(struct mlir_module *module, const char *name)
{
    if (module == NULL) {
        refuse(REX_EINVAL, "mgpuModuleGetFunction", "there is no module");
        return NULL;
    }
    struct mlir_function *function = find_known(module, name);
    return function != NULL ? function : new_function(module, name);
}

/* ---- streams --------------------------------------------------------------------------------- */

static struct rex_queue *new_queue(int number)
{
    struct rex_queue *queue = NULL;
    note(rex_queue_create(&queue, number, NULL, 0), "mgpuStreamCreate", NULL);
    return queue;
}

struct rex_queue *mgpuStreamCreate(void)
{
    return new_queue(device);
}

void mgpuStreamDestroy(struct rex_queue *stream)
{
    mgpuStreamSynchronize(stream);
    note(rex_queue_destroy(stream), "mgpuStreamDestroy", NULL);
}

void mgpuStreamSynchronize(struct rex_queue *stream)
{
    if (note(rex_queue_sync(stream), "mgpuStreamSynchronize", NULL))
        memory_is_idle(stream);
}

void mgpuStreamWaitEvent(struct rex_queue *stream, struct rex_event *event)
{
    note(rex_queue_wait_event(stream, event), "mgpuStreamWaitEvent", NULL);
}

/* Returns STREAM or, if it is NULL, the queue of device NUMBER, or -1, for calls without one. */
static struct rex_queue *queue_on(int number, struct rex_queue *stream)
{
    struct rex_queue **place = &without_stream[number + 1];
    struct rex_queue *queue = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (stream != NULL || queue != NULL)
        return stream != NULL ? stream : queue;
    struct rex_queue *made = new_queue(number);
    if (made != NULL && !__atomic_compare_exchange_n(place, &queue, made, 0, __ATOMIC_ACQ_REL,
                                                     __ATOMIC_ACQUIRE)) {
        rex_queue_destroy(made);
        made = queue;
    }
    return made;
}

static struct rex_queue *queue_of(struct rex_queue *stream)
{
    return queue_on(device, stream);
}

static void finish(const struct rex_queue *stream, struct rex_queue *queue, int result,
                   const char *call, const char *object)
{
    if (note(result, call, object) && stream == NULL)
        note(rex_queue_sync(queue), call, object);
}

void mgpuLaunchKernel(struct mlir_function *function, intptr_t grid_x, intptr_t grid_y,
                      intptr_t grid_z, intptr_t block_x, intptr_t block_y, intptr_t block_z,
                      int32_t shared_memory, struct rex_queue *stream, void **arguments,
                      void **extra, size_t count)
{
    (void)extra;
    if (function == NULL) {
        refuse(REX_EINVAL, "mgpuLaunchKernel", "there is no kernel");
        return;
    }
    struct rex_queue *queue = queue_of(stream);
    struct rex_launch_config launch = {
        .key = function->key,
        .device = -1,
        .queue = queue,
        .teams = {(uint32_t)grid_x, (uint32_t)grid_y, (uint32_t)grid_z},
        .threads = {(uint32_t)block_x, (uint32_t)block_y, (uint32_t)block_z},
        .dynamic_memory = (uint32_t)shared_memory,
        .flags = REX_LAUNCH_STRICT};
    finish(stream, queue, rex_library_launch(function->library, &launch, arguments, count),
           "mgpuLaunchKernel", function->name);
}

/* ---- events ---------------------------------------------------------------------------------- */

struct rex_event *mgpuEventCreate(void)
{
    struct rex_event *event = NULL;
    note(rex_event_create(&event), "mgpuEventCreate", NULL);
    return event;
}

void mgpuEventDestroy(struct rex_event *event)
{
    rex_event_destroy(event);
}

void mgpuEventSynchronize(struct rex_event *event)
{
    note(rex_event_sync(event), "mgpuEventSynchronize", NULL);
}

void mgpuEventRecord(struct rex_event *event, struct rex_queue *stream)
{
    note(rex_event_record(event, queue_of(stream)), "mgpuEventRecord", NULL);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Shared memory is pinned memory of the host, which a GPU reaches by its address. */
void *mgpuMemAlloc(uint64_t size, struct rex_queue *stream, unsigned char shared)
{
    bool is_short = false;
    void *memory = shared ? rex_host_alloc(size) : memory_take(size, queue_of(stream), &is_short);
    if (is_short)
        refuse(REX_ENOMEM, "mgpuMemAlloc", "out of memory");
    else
        note_pointer(memory, "mgpuMemAlloc", NULL);
    return memory;
}

/* Returns STREAM or, if it is NULL, a queue on the device of the memory at ADDRESS. */
static struct rex_queue *queue_at(const void *address, struct rex_queue *stream)
{
    int number = memory_device(address);
    return queue_on(number >= 0 ? number : device, stream);
}

void mgpuMemFree(void *memory, struct rex_queue *stream)
{
    struct rex_queue *queue = queue_at(memory, stream);
    if (memory == NULL || memory_return(memory, queue))
        return;
    if (note(rex_queue_sync(queue), "mgpuMemFree", NULL))
        note(rex_host_free(memory), "mgpuMemFree", NULL);
}

static int copy(struct rex_queue *queue, void *to, const void *from, size_t size)
{
    int to_device = memory_device(to), from_device = memory_device(from);
    if (to_device >= 0 && from_device >= 0)
        return rex_queue_copy_peer(queue, to, to_device, from, from_device, size);
    if (to_device >= 0)
        return rex_queue_copy_to(queue, to, from, size);
    if (from_device >= 0)
        return rex_queue_copy_from(queue, to, from, size);
    int result = rex_queue_sync(queue);
    if (result == REX_OK)
        memmove(to, from, size);
    return result;
}

void mgpuMemcpy(void *to, void *from, size_t size, struct rex_queue *stream)
{
    struct rex_queue *queue = queue_at(memory_device(to) >= 0 ? to : from, stream);
    if (size > 0)
        finish(stream, queue, copy(queue, to, from, size), "mgpuMemcpy", NULL);
}

void mgpuMemset32(void *to, unsigned value, size_t count, struct rex_queue *stream)
{
    struct rex_queue *queue = queue_at(to, stream);
    finish(stream, queue, rex_queue_fill(queue, to, &value, sizeof value, count * sizeof value),
           "mgpuMemset32", NULL);
}

void mgpuMemset16(void *to, unsigned short value, size_t count, struct rex_queue *stream)
{
    struct rex_queue *queue = queue_at(to, stream);
    finish(stream, queue, rex_queue_fill(queue, to, &value, sizeof value, count * sizeof value),
           "mgpuMemset16", NULL);
}

/* ---- memory of the host ---------------------------------------------------------------------- */

void mgpuMemHostRegister(void *address, uint64_t size)
{
    note(rex_host_register(address, size), "mgpuMemHostRegister", NULL);
}

void mgpuMemHostUnregister(void *address)
{
    note(rex_host_unregister(address), "mgpuMemHostUnregister", NULL);
}

/* The head of a memref's descriptor. RANK sizes and RANK strides follow. */
struct memref {
    char *allocated, *aligned;
    int64_t offset, sizes[];
};

void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor, int64_t element)
{
    const struct memref *memref = descriptor;
    int64_t bytes = element;
    for (int64_t i = 0; i < rank; i++)
        bytes *= memref->sizes[i];
    mgpuMemHostRegister(memref->aligned + memref->offset * element, (uint64_t)bytes);
}

void mgpuMemHostUnregisterMemRef(int64_t rank, void *descriptor, int64_t element)
{
    const struct memref *memref = descriptor;
    (void)rank;
    mgpuMemHostUnregister(memref->aligned + memref->offset * element);
}

void mgpuSetDefaultDevice(int32_t number)
{
    if (number >= 0 && number < DEVICES)
        device = number;
    else
        refuse(REX_EINVAL, "mgpuSetDefaultDevice", "the number is not from 0 to 63");
}
