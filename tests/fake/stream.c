/*
 * stream.c - the part of the fake CUDA driver that queues use: it counts calls and what exists, and fails where it is told to. Where there
 * is device memory, copies copy, fills fill, host functions are called, and a kernel computes what a function of the test does that
 * fake_cuda_kernel() has named for it; without it nothing is computed.
 *
 * FAKE_CUDA_ORDINAL is the device whose memory all memory is; where there is no device memory that is 0. FAKE_OLD: a build without graphs, and
 * without what came later.
 *
 * As the real driver by default since CUDA 12.2, it loads a kernel when it is first needed, and cannot while the device is at work.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* Streams, events, modules and graphs that exist. */
int fake_cuda_objects;
/* Set by a test: the device is at work until somebody waits for it. */
int fake_cuda_busy;
/* Set by a test: a kernel has failed, and with it all that comes after. */
int fake_cuda_lost;
/* Kernels that had to be loaded while it was: a real driver may wait for ever there. */
int fake_cuda_late_loads;
/* Bytes of dynamic shared memory that the last launch, or change of one in a graph, asked for. */
unsigned fake_cuda_dynamic_memory;
/* What a multiprocessor keeps resident, by its threads alone; a test may set it. */
int fake_cuda_resident_threads = 2048;
/* Set by a test: sees each launch, and each change of one in a graph. */
void (*fake_cuda_watch)(const char *kernel, const unsigned *grid, const unsigned *block, void **parameters);

/* ---- calls ------------------------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *name;
    int count;
} calls[128];

/* How often the function was called; NULL: all of them. */
int fake_cuda_calls(const char *name);
int fake_cuda_calls(const char *name)
{
    int count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof calls / sizeof *calls && calls[i].name != NULL; i++)
        count += name == NULL || strcmp(calls[i].name, name) == 0 ? calls[i].count : 0;
    pthread_mutex_unlock(&lock);
    return count;
}

static int count(const char *name)
{
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < sizeof calls / sizeof *calls && calls[i].name != NULL && strcmp(calls[i].name, name) != 0)
        i++;
    if (i == sizeof calls / sizeof *calls)
        abort();
    calls[i].name = name;
    int number = ++calls[i].count;
    pthread_mutex_unlock(&lock);
    return number;
}

int fake_breaks(const char *name)
{
    count(name);
    return fake_cuda_lost != 0 ? fake_cuda_lost : fake_cuda_result(name);
}

#define BREAK(name) FAIL_WITH(fake_breaks(name))

/* ---- what exists --------------------------------------------------------------------------------------------------------------------- */

int cuCtxGetCurrent(void **context);

static void *current(void)
{
    void *context = NULL;
    cuCtxGetCurrent(&context);
    return context;
}

/* An object is where its context stands. */
static int make(const char *name, void **object)
{
    *object = &fake_cuda_objects; /* nothing says that a failing call leaves it alone */
    BREAK(name);
    if (current() == NULL)
        return 201; /* CUDA_ERROR_INVALID_CONTEXT */
    struct fake_object *made = calloc(1, sizeof *made);
    *object = made;
    if (made == NULL)
        return 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    made->context = current();
    made->node_end = &made->node_first;
    __atomic_fetch_add(&fake_cuda_objects, 1, __ATOMIC_RELAXED);
    return 0;
}

static int destroy(const char *name, void *object)
{
    free(object);
    __atomic_fetch_sub(&fake_cuda_objects, 1, __ATOMIC_RELAXED);
    BREAK(name);
    return 0;
}

static int same(const char *name)
{
    BREAK(name);
    return 0;
}

FUNCTION(cuCtxSynchronize, void)
{
    BREAK("cuCtxSynchronize");
    fake_finish_all(false);
    return fake_cuda_lost;
}
FUNCTION(cuModuleLoadData, void **module, const void *image)
{
    FAIL_WITH(make("cuModuleLoadData", module));
    struct fake_object *made = *module;
    made->opened = fake_has_memory() ? fake_image_open(image) : NULL;
    return 0;
}
static void forget(const void *module);
FUNCTION(cuModuleUnload, void *module)
{
    const struct fake_object *loaded = module;
    forget(module);
    if (loaded->opened != NULL) {
        fake_finish_all(false);
        fake_memory_forget_globals(module);
        dlclose(loaded->opened);
    }
    return destroy("cuModuleUnload", module);
}

/* ---- kernels ---------------------------------------------------------------------------------------------------------------------- */

static struct kernel {
    struct kernel *next;
    void *module; /* NULL: it was unloaded, and the place may be used again */
    char name[128];
    int loaded;
    void *code; /* of an image that computes */
    size_t parameters;
    uint64_t pointers;
} *kernels;

/* Its address may come again. */
static void forget(const void *module)
{
    pthread_mutex_lock(&lock);
    for (struct kernel *kernel = kernels; kernel != NULL; kernel = kernel->next)
        if (kernel->module == module)
            *kernel = (struct kernel){.next = kernel->next};
    pthread_mutex_unlock(&lock);
}

/* The kernel of that name in MODULE, or a new one; NULL where there is no memory for it. */
static struct kernel *kernel_of(void *module, const char *name)
{
    struct kernel *found = kernels, *free_place = NULL;
    while (found != NULL && (found->module != module || strcmp(found->name, name) != 0)) {
        free_place = found->module == NULL ? found : free_place;
        found = found->next;
    }
    if (found == NULL && free_place == NULL && (free_place = calloc(1, sizeof *free_place)) != NULL) {
        free_place->next = kernels;
        kernels = free_place;
    }
    if (found == NULL && (found = free_place) != NULL) {
        found->module = module;
        snprintf(found->name, sizeof found->name, "%s", name);
    }
    return found;
}

static void load(struct kernel *kernel)
{
    if (!__atomic_exchange_n(&kernel->loaded, 1, __ATOMIC_RELAXED) && __atomic_load_n(&fake_cuda_busy, __ATOMIC_RELAXED))
        __atomic_fetch_add(&fake_cuda_late_loads, 1, __ATOMIC_RELAXED);
}

FUNCTION(cuModuleGetFunction, void **function, void *module, const char *name)
{
    const struct fake_object *loaded = module;
    size_t size;
    BREAK("cuModuleGetFunction");
    void *code = loaded->opened != NULL ? fake_image_find(loaded->opened, name, &size) : NULL;
    if (loaded->opened != NULL && code == NULL)
        return 500; /* CUDA_ERROR_NOT_FOUND */
    pthread_mutex_lock(&lock);
    struct kernel *kernel = kernel_of(module, name);
    pthread_mutex_unlock(&lock);
    if (kernel == NULL)
        return 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    if (code != NULL) {
        kernel->parameters = fake_image_parameters(loaded->opened, name, &kernel->pointers);
        kernel->code = code;
    }
    *function = kernel;
#ifdef FAKE_OLD
    load(kernel);
#endif
    return 0;
}
#ifndef FAKE_OLD
FUNCTION(cuFuncGetParamInfo, void *function, size_t index, size_t *offset, size_t *size)
{
    const struct kernel *kernel = function;
    BREAK("cuFuncGetParamInfo");
    if (index >= kernel->parameters)
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    *offset = 8 * index;
    *size = 8;
    return 0;
}
FUNCTION(cuFuncLoad, void *function)
{
    BREAK("cuFuncLoad");
    load(function);
    return 0;
}
#endif

/* What kernels compute. */
static struct {
    char name[128];
    void (*call)(const unsigned *grid, const unsigned *block, void **parameters);
    size_t count, widths[64];
} computed[64];

/*
 * From now on kernel NAME calls FUNCTION, once for the whole grid, with COUNT parameters of WIDTHS[i] bytes: pointers to them, as
 * cuLaunchKernel() gets them. fake_cuda_memory() says where the bytes at a device address are.
 */
void fake_cuda_kernel(const char *name, void (*function)(const unsigned *grid, const unsigned *block, void **parameters), size_t count,
                      const size_t *widths);
void fake_cuda_kernel(const char *name, void (*function)(const unsigned *grid, const unsigned *block, void **parameters), size_t count,
                      const size_t *widths)
{
    size_t i = 0;
    while (i < sizeof computed / sizeof *computed && computed[i].name[0] != '\0' && strcmp(computed[i].name, name) != 0)
        i++;
    if (i == sizeof computed / sizeof *computed || count > sizeof computed[i].widths / sizeof *widths)
        abort();
    snprintf(computed[i].name, sizeof computed[i].name, "%s", name);
    computed[i].call = function;
    computed[i].count = count;
    memcpy(computed[i].widths, widths, count * sizeof *widths);
}

/* LAUNCH gets what its kernel computes. */
static void find_computed(struct fake_launch *launch)
{
    const struct kernel *kernel = launch->function;
    launch->code = kernel->code;
    launch->count = kernel->parameters;
    launch->pointers = kernel->pointers;
    launch->is_held = kernel->parameters > 0 && strcmp(kernel->name, "hold__kernel__") == 0;
    for (size_t i = 0; i < sizeof computed / sizeof *computed && computed[i].name[0] != '\0'; i++)
        if (strcmp(computed[i].name, kernel->name) == 0) {
            launch->call = computed[i].call;
            launch->count = computed[i].count;
            launch->widths = computed[i].widths;
        }
}

static void see(struct fake_launch *launch)
{
    struct kernel *kernel = launch->function;
    load(kernel);
    __atomic_store_n(&fake_cuda_dynamic_memory, launch->dynamic_memory, __ATOMIC_RELAXED);
    if (fake_cuda_watch != NULL)
        fake_cuda_watch(kernel->name, launch->grid, launch->block, launch->parameters);
    find_computed(launch);
}

/* ---- streams ---------------------------------------------------------------------------------------------------------------------- */
FUNCTION(cuModuleGetGlobal_v2, uint64_t *address, size_t *size, void *module, const char *name)
{
    const struct fake_object *loaded = module;
    *address = 4096;
    *size = 8;
    FAIL_WITH(same("cuModuleGetGlobal"));
    if (loaded->opened == NULL)
        return strstr(name, "_exec_mode") != NULL || strncmp(name, "omptarget_", 10) == 0 ? 500 : 0;
    void *global = fake_image_find(loaded->opened, name, size);
    if (global == NULL)
        return 500;
    *address = (uintptr_t)global;
    fake_memory_add_global(module, global, *size);
    return 0;
}
FUNCTION(cuFuncSetAttribute, void *function, int attribute, int value)
{
    (void)function, (void)attribute, (void)value;
    return same("cuFuncSetAttribute");
}
/* The driver's default stream of the current context is NULL to its users. */
static void *real(void *stream)
{
    static struct fake_object defaults[FAKE_GPUS];
    struct fake_object *object = &defaults[fake_device()];
    if (stream != NULL)
        return stream;
    pthread_mutex_lock(&lock);
    if (object->context == NULL) {
        object->context = current();
        object->node_end = &object->node_first;
        fake_stream_open(object, 0);
    }
    pthread_mutex_unlock(&lock);
    return object;
}

FUNCTION(cuStreamGetCtx, void *stream, void **context)
{
    BREAK("cuStreamGetCtx");
    *context = stream != NULL ? *(void **)stream : current();
    return *context != NULL ? 0 : 201; /* CUDA_ERROR_INVALID_CONTEXT */
}
FUNCTION(cuStreamCreate, void **stream, unsigned flags)
{
    FAIL_WITH(make("cuStreamCreate", stream));
    fake_stream_open(*stream, flags);
    return 0;
}
/* The lower the number, the higher: an H100 has 0 to -5, and takes others as the nearest. */
FUNCTION(cuStreamCreateWithPriority, void **stream, unsigned flags, int priority)
{
    FAIL_WITH(make("cuStreamCreateWithPriority", stream));
    fake_stream_open(*stream, flags);
    ((struct fake_object *)*stream)->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    return 0;
}
FUNCTION(cuStreamGetPriority, void *stream, int *priority)
{
    BREAK("cuStreamGetPriority");
    *priority = ((struct fake_object *)real(stream))->priority;
    return 0;
}
FUNCTION(cuStreamDestroy_v2, void *stream)
{
    fake_stream_close(stream);
    return destroy("cuStreamDestroy", stream);
}
FUNCTION(cuStreamSynchronize, void *stream)
{
    BREAK("cuStreamSynchronize");
    fake_finish(real(stream));
    __atomic_store_n(&fake_cuda_busy, 0, __ATOMIC_RELAXED);
    return fake_cuda_lost;
}
FUNCTION(cuStreamQuery, void *stream)
{
    BREAK("cuStreamQuery");
    bool idle = fake_advance(real(stream));
    FAIL_WITH(fake_cuda_lost);
    return !idle || __atomic_load_n(&fake_cuda_busy, __ATOMIC_RELAXED) ? 600 : 0; /* CUDA_ERROR_NOT_READY */
}
/* A look at the event, which AddressSanitizer and ThreadSanitizer see: it must not be destroyed meanwhile. */
static int with_event(const char *name, const void *event)
{
    BREAK(name);
    return *(void *const *)event != NULL ? 0 : 400;
}

FUNCTION(cuStreamWaitEvent, void *stream, void *event, unsigned flags)
{
    FAIL_WITH(with_event("cuStreamWaitEvent", event));
    FAIL_WITH(flags != 0); /* CUDA_ERROR_INVALID_VALUE: there are some for captures alone */
    return fake_put_wait(real(stream), event);
}
FUNCTION(cuLaunchHostFunc, void *stream, void (*function)(void *argument), void *argument)
{
    BREAK("cuLaunchHostFunc");
    return fake_has_memory() ? fake_put_call(real(stream), function, argument) : 0;
}
/* Blocks of so many threads that one multiprocessor keeps. */
static int resident_blocks(const unsigned *block)
{
    size_t threads = (size_t)block[0] * block[1] * block[2];
    if (threads == 0 || threads > 1024)
        return 0;
    size_t blocks = (size_t)__atomic_load_n(&fake_cuda_resident_threads, __ATOMIC_RELAXED) / threads;
    return blocks > 32 ? 32 : (int)blocks;
}
enum { MULTIPROCESSORS = 132 };

/* As the driver: CUDA_ERROR_INVALID_CLUSTER_SIZE, and CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE. */
static int check_attributes(const struct fake_launch *launch)
{
    size_t blocks = 1, cluster = 1;
    bool is_multiple = true;
    for (int i = 0; i < 3; i++) {
        blocks *= launch->grid[i];
        if (launch->cluster[0] == 0)
            continue;
        if (launch->cluster[i] == 0)
            return 1; /* CUDA_ERROR_INVALID_VALUE */
        cluster *= launch->cluster[i];
        is_multiple &= launch->grid[i] % launch->cluster[i] == 0;
    }
    if (cluster > 8 || !is_multiple)
        return 912;
    return launch->is_cooperative && blocks > (size_t)resident_blocks(launch->block) * MULTIPROCESSORS ? 720 : 0;
}

static int launch_kernel(const char *name, struct fake_launch launch, void *stream, void **extra)
{
    void *from_buffer[FAKE_WORDS];
    void *function = launch.function;
    const unsigned *grid = launch.grid, *block = launch.block;
    BREAK(name);
    stream = real(stream);
    if (launch.parameters == NULL && extra != NULL && (uintptr_t)extra[0] == 1) { /* CU_LAUNCH_PARAM_BUFFER_POINTER */
        for (size_t i = 0; i < FAKE_WORDS; i++)
            from_buffer[i] = (uint64_t *)extra[1] + i;
        launch.parameters = from_buffer;
    }
    if (*(void **)((struct kernel *)function)->module != *(void **)stream)
        return 400; /* CUDA_ERROR_INVALID_HANDLE: the kernel is another context's */
    size_t blocks = (size_t)grid[0] * grid[1] * grid[2], threads = (size_t)block[0] * block[1] * block[2];
    if (blocks == 0 || threads == 0 || threads > 1024)
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    FAIL_WITH(check_attributes(&launch));
    see(&launch);
    return fake_put_launch(stream, &launch);
}

FUNCTION(cuLaunchKernel, void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
         unsigned block_z, unsigned dynamic_memory, void *stream, void **parameters, void **extra)
{
    struct fake_launch launch = {
        .function = function,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .dynamic_memory = dynamic_memory,
        .parameters = parameters,
    };
    return launch_kernel("cuLaunchKernel", launch, stream, extra);
}
FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, void *function, int threads, size_t dynamic_memory)
{
    const unsigned block[3] = {(unsigned)threads, 1, 1};
    BREAK("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    if (function == NULL || threads <= 0)
        return 1;
    size_t by_memory = dynamic_memory > 0 ? 233472 / (dynamic_memory + 1024) : 32;
    *blocks = resident_blocks(block);
    *blocks = (size_t)*blocks < by_memory ? *blocks : (int)by_memory;
    return 0;
}

#if !defined FAKE_OLD && !defined FAKE_WITHOUT_ATTRIBUTES
/* CUlaunchAttribute, CUlaunchConfig */
struct attribute {
    int id;
    char pad[4];
    union {
        char size[64];
        int word;
        unsigned cluster[3];
    } value;
};
struct configuration {
    unsigned grid[3], block[3], dynamic_memory;
    void *stream;
    const struct attribute *attributes;
    unsigned attribute_count;
};

/* The launch that it describes; false: it has an attribute that the fake does not know. */
static bool read_configuration(const struct configuration *with, struct fake_launch *launch)
{
    memcpy(launch->grid, with->grid, sizeof launch->grid);
    memcpy(launch->block, with->block, sizeof launch->block);
    launch->dynamic_memory = with->dynamic_memory;
    for (unsigned i = 0; i < with->attribute_count; i++) {
        const struct attribute *attribute = &with->attributes[i];
        if (attribute->id == 2) /* CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
            launch->is_cooperative = attribute->value.word != 0;
        else if (attribute->id == 4) /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */
            memcpy(launch->cluster, attribute->value.cluster, sizeof launch->cluster);
        else if (attribute->id != 0) /* CU_LAUNCH_ATTRIBUTE_IGNORE */
            return false;
    }
    return true;
}

FUNCTION(cuLaunchKernelEx, const struct configuration *with, void *function, void **parameters, void **extra)
{
    struct fake_launch launch = {.function = function, .parameters = parameters};
    if (!read_configuration(with, &launch))
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    return launch_kernel("cuLaunchKernelEx", launch, with->stream, extra);
}
FUNCTION(cuOccupancyMaxActiveClusters, int *clusters, void *function, const struct configuration *with)
{
    struct fake_launch launch = {.function = function};
    BREAK("cuOccupancyMaxActiveClusters");
    if (function == NULL || !read_configuration(with, &launch) || launch.cluster[0] == 0)
        return 1;
    FAIL_WITH(check_attributes(&launch));
    *clusters = resident_blocks(launch.block) * MULTIPROCESSORS / (int)(launch.cluster[0] * launch.cluster[1] * launch.cluster[2]);
    return 0;
}
#endif

/* ---- copies and fills ---------------------------------------------------------------------------------------------------------------- */

/* Where no device memory is, there is nothing to copy. TO and FROM are NULL where an address is none. */
static int copy(const char *name, void *stream, void *to, const void *from, size_t size)
{
    stream = real(stream);
    if (current() != *(void **)stream)
        return 400;
    BREAK(name);
    if (!fake_has_memory())
        return 0;
    return to == NULL || from == NULL ? 1 : fake_put_copy(stream, to, from, size);
}

/* A call that waits: for the streams that wait for the default one, and for the copy. */
static int copy_now(const char *name, void *to, const void *from, size_t size)
{
    if (current() == NULL)
        return 201; /* CUDA_ERROR_INVALID_CONTEXT */
    BREAK(name);
    if (!fake_has_memory())
        return 0;
    if (to == NULL || from == NULL)
        return 1;
    fake_finish_all(true);
    FAIL_WITH(fake_cuda_lost);
    memmove(to, from, size);
    return 0;
}

FUNCTION(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t size, void *stream)
{
    return copy("cuMemcpyHtoDAsync", stream, fake_memory(to, size), from, size);
}
FUNCTION(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t size, void *stream)
{
    return copy("cuMemcpyDtoHAsync", stream, to, fake_memory(from, size), size);
}
FUNCTION(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t size, void *stream)
{
    return copy("cuMemcpyDtoDAsync", stream, fake_memory(to, size), fake_memory(from, size), size);
}
/* As the driver, which goes by the addresses, takes the two contexts in either order: so LLVM gives them. The stream is of one of the two. */
FUNCTION(cuMemcpyPeerAsync, uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size, void *stream)
{
    struct fake_object *in = real(stream);
    BREAK("cuMemcpyPeerAsync");
    if (!fake_is_context(to_context) || !fake_is_context(from_context))
        return 201; /* CUDA_ERROR_INVALID_CONTEXT */
    if (in->context != to_context && in->context != from_context)
        return 400;
    if (!fake_has_memory())
        return 0;
    int to_device = fake_device_of(to), from_device = fake_device_of(from);
    int one = fake_device_of_context(to_context), other = fake_device_of_context(from_context);
    if ((to_device != one || from_device != other) && (to_device != other || from_device != one))
        return 1;
    void *to_bytes = fake_memory(to, size), *from_bytes = fake_memory(from, size);
    return to_bytes != NULL && from_bytes != NULL ? fake_put_copy(in, to_bytes, from_bytes, size) : 1; /* CUDA_ERROR_INVALID_VALUE */
}
FUNCTION(cuMemcpyAsync, uint64_t to, uint64_t from, size_t size, void *stream)
{
    return copy("cuMemcpyAsync", stream, fake_memory_of_any(to, size), fake_memory_of_any(from, size), size);
}
FUNCTION(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t size)
{
    return copy_now("cuMemcpyHtoD", fake_memory(to, size), from, size);
}
FUNCTION(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t size)
{
    return copy_now("cuMemcpyDtoH", to, fake_memory(from, size), size);
}
static int put_fill(const char *name, void *stream, uint64_t to, unsigned value, unsigned width, size_t count)
{
    void *bytes = count <= SIZE_MAX / width ? fake_memory(to, count * width) : NULL;
    BREAK(name);
    if (!fake_has_memory())
        return 0;
    return bytes != NULL ? fake_put_fill(real(stream), bytes, value, width, count) : 1;
}
FUNCTION(cuMemsetD8Async, uint64_t to, unsigned char value, size_t count, void *stream)
{
    return put_fill("cuMemsetD8Async", stream, to, value, 1, count);
}
FUNCTION(cuMemsetD16Async, uint64_t to, unsigned short value, size_t count, void *stream)
{
    return put_fill("cuMemsetD16Async", stream, to, value, 2, count);
}
FUNCTION(cuMemsetD32Async, uint64_t to, unsigned value, size_t count, void *stream)
{
    return put_fill("cuMemsetD32Async", stream, to, value, 4, count);
}

/* ---- events -------------------------------------------------------------------------------------------------------------------------- */

FUNCTION(cuEventCreate, void **event, unsigned flags)
{
    (void)flags;
    return make("cuEventCreate", event);
}
FUNCTION(cuEventDestroy_v2, void *event)
{
    fake_event_close(event);
    return destroy("cuEventDestroy", event);
}
static void *last_event;

FUNCTION(cuEventRecord, void *event, void *stream)
{
    __atomic_store_n(&last_event, event, __ATOMIC_RELAXED);
    FAIL_WITH(with_event("cuEventRecord", event));
    return fake_put_record(real(stream), event);
}
FUNCTION(cuEventSynchronize, void *event)
{
    FAIL_WITH(with_event("cuEventSynchronize", event));
    fake_finish_event(event);
    return fake_cuda_lost;
}
FUNCTION(cuEventQuery, void *event)
{
    FAIL_WITH(with_event("cuEventQuery", event));
    bool done = fake_advance_event(event);
    FAIL_WITH(fake_cuda_lost);
    return done ? 0 : 600; /* CUDA_ERROR_NOT_READY */
}
FUNCTION(cuEventElapsedTime, float *milliseconds, void *begin, void *end)
{
    *milliseconds = begin == __atomic_load_n(&last_event, __ATOMIC_RELAXED) && end != begin ? -1.5f : 1.5f;
    int result = with_event("cuEventElapsedTime", begin);
    return result == 0 && *(void **)begin != *(void **)end ? 400 : result;
}

/* ---- graphs -------------------------------------------------------------------------------------------------------------------------- */

#ifndef FAKE_OLD
FUNCTION(cuStreamBeginCapture_v2, void *stream, int mode)
{
    void *graph = NULL;
    (void)mode;
    FAIL_WITH(make("cuStreamBeginCapture", &graph));
    int result = fake_capture_begin(stream, graph);
    if (result != 0)
        destroy("cuGraphDestroy", graph);
    return result;
}
FUNCTION(cuStreamEndCapture, void *stream, void **graph)
{
    bool is_joined = fake_capture_is_joined(stream);
    *graph = fake_capture_end(stream);
    if (*graph == NULL)
        return 401; /* CUDA_ERROR_ILLEGAL_STATE */
    int result = fake_breaks("cuStreamEndCapture");
    result = result == 0 && !is_joined ? 904 : result; /* CUDA_ERROR_STREAM_CAPTURE_UNJOINED */
    if (result != 0) {
        fake_graph_close(*graph);
        destroy("cuGraphDestroy", *graph);
        *graph = &fake_cuda_objects; /* as make() */
    }
    return result;
}
FUNCTION(cuStreamGetCaptureInfo_v2, void *stream, int *status, uint64_t *id, void **graph, void *const **last, size_t *count)
{
    struct fake_object *in = stream;
    (void)id;
    *status = in->graph != NULL;
    *graph = in->graph;
    *last = in->last;
    *count = in->lasts;
    return same("cuStreamGetCaptureInfo");
}
FUNCTION(cuGraphInstantiateWithFlags, void **executable, void *graph, unsigned long long flags)
{
    (void)flags;
    FAIL_WITH(make("cuGraphInstantiate", executable));
    fake_instantiate(*executable, graph);
    return 0;
}

/* CUDA_KERNEL_NODE_PARAMS_v1 */
struct node {
    void *function;
    unsigned grid[3], block[3], dynamic_memory;
    void **parameters, **extra;
};

static struct fake_launch launch_of(const struct node *node)
{
    struct fake_launch launch = {
        .function = node->function,
        .dynamic_memory = node->dynamic_memory,
        .parameters = node->parameters,
    };
    memcpy(launch.grid, node->grid, sizeof launch.grid);
    memcpy(launch.block, node->block, sizeof launch.block);
    see(&launch);
    return launch;
}

FUNCTION(cuGraphExecKernelNodeSetParams, void *executable, void *node, const struct node *parameters)
{
    BREAK("cuGraphExecKernelNodeSetParams");
    struct fake_launch launch = launch_of(parameters);
    return fake_set_launch(executable, node, &launch);
}

FUNCTION(cuGraphUpload, void *executable, void *stream)
{
    (void)executable, (void)stream;
    return same("cuGraphUpload");
}
FUNCTION(cuGraphLaunch, void *executable, void *stream)
{
    stream = real(stream);
    const struct fake_object *launched = executable;
    if (launched->context != *(void **)stream || launched->end != NULL) /* which a stream has */
        return 400;
    BREAK("cuGraphLaunch");
    return fake_put_graph(stream, executable);
}
FUNCTION(cuGraphExecDestroy, void *executable)
{
    fake_graph_close(executable);
    return destroy("cuGraphExecDestroy", executable);
}
FUNCTION(cuGraphDestroy, void *graph)
{
    fake_graph_close(graph);
    return destroy("cuGraphDestroy", graph);
}
#endif
