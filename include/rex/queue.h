/*
 * rex/queue.h - queues and graphs: launches and copies that do not wait.
 *
 *     struct rex_queue *queue;
 *     rex_queue_create(&queue, -1, "steps", 0);           // a queue on the default device
 *     struct rex_launch_config in_queue = rex_launch_config_for(NULL, n);
 *     in_queue.queue = queue;
 *     REX_DATA_REGION(&error, -1, REX_TO(x, n), REX_TOFROM(y, n)) { // a queue's memory is mapped
 *         for (int step = 0; step < 1000; step++)         // each launch returns at once
 *             REX_LAUNCH_WITH(axpy, in_queue, REX_VALUE(n), REX_VALUE(a), REX_ALLOC(x, n),
 *                             REX_ALLOC(y, n));
 *         rex_queue_sync(queue);                          // before the mapping ends
 *     }
 *     rex_queue_destroy(queue);
 *
 * **Order.** What is put in one queue is done in that order, each thing after the one before it.
 * Between two queues, and between a queue and rex_launch(), rex_data_update() and the other calls
 * that wait, there is no order but what rex_queue_sync() and events make.
 *
 * **Memory.** Launches and rex_queue_update() take host addresses, which must be mapped on the
 * queue's device, every byte of them: nothing is mapped or copied for a launch, and memory that is
 * not mapped is REX_EABSENT. rex_queue_copy_to(), rex_queue_copy_from() and rex_queue_fill() take
 * device memory (rex_device_alloc(), rex_mapped_ptr()). A mapping and its host memory must last
 * until the queue has been waited for: ending a region that a queue works with is REX_EBUSY, and
 * nothing ends; with REX_UNFINISHED=wait it waits. The raw `__tgt_target_data_end` and
 * rex_device_free(), which cannot return an error, wait and say so; raw calls are not seen where a
 * program links libomptarget in front of librex.
 *
 * **Device addresses** are looked up once and remembered until some mapping ends: librex counts the
 * calls that end one, as they pass through its forwarders. Where libomptarget is linked in front of
 * librex they do not, and every launch looks its addresses up again. A call is never seen if
 * dlsym() gave its address for libomptarget itself, or if it comes from an object that dlopen()
 * opened with RTLD_DEEPBIND. After such a call that maps or unmaps, and after omp_target_free() of
 * memory that is associated, call rex_mappings_changed().
 *
 * **Values** have the size that the kernel's parameter has in the CUBIN, on every LLVM release:
 * `int`, `float` and structs by value (REX_BY_VALUE) are right here, where rex_launch() must have 8
 * bytes. REX_VALUE() widens an integer in a parameter of 8 bytes as C does.
 *
 * **Errors** that the device comes to later are returned by the next call that waits, with the
 * names of the kernels that it has been given since the last one. After a kernel has failed the
 * GPU's context is lost, for libomptarget as well, until the process ends: calls that would have
 * libomptarget use the device are REX_ECUDA from then on, also when the queue is gone.
 *
 * **Device globals.** A queue runs librex's own copy of the image, in the context that libomptarget
 * uses: a global variable exists twice. A module that has entries for globals refuses queue
 * launches (REX_EUNSUPPORTED), unless the queue was made with REX_QUEUE_OWN_GLOBALS; its kernels
 * then see the variables of librex's copy, which begin with their initial values
 * (rex_queue_global()). `__device__` variables that have no entry are in two copies as well.
 *
 * **Without CUDA**, on libomptarget's host device, a queue does everything at once, with the same
 * rules and results, and says so in the log at level info.
 *
 * Threads: any number of threads may use one queue; each call is one whole step in it. So may
 * events and graphs. A queue, event or graph must not be destroyed while another thread uses it.
 * After fork() a child can do nothing with a GPU's queue but get REX_EFORK.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_QUEUE_H
#define REX_QUEUE_H

#include <stdbool.h>

#include "rex/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** struct rex_queue: a queue. Its content is librex's. */
struct rex_queue;
/** struct rex_event: a place in a queue. Its content is librex's. */
struct rex_event;
/**
 * struct rex_graph: work that was captured, to be done again and again. Its content is librex's.
 */
struct rex_graph;

/*
 * ---- Queues -----------------------------------------------------------------------------------
 */

/** REX_QUEUE_NO_CACHE: look device addresses up at every launch, remember none. */
#define REX_QUEUE_NO_CACHE 0x1u
/**
 * REX_QUEUE_BLOCKING: every call waits for what it has put in the queue, so that an error comes
 * from the call that made it.
 */
#define REX_QUEUE_BLOCKING 0x2u
/**
 * REX_QUEUE_OWN_GLOBALS: launch kernels of modules with device globals, with the globals of
 * librex's copy.
 */
#define REX_QUEUE_OWN_GLOBALS 0x4u

#ifndef REX_BUILDING_LIBRARY

/**
 * rex_queue_create(): makes a queue, registering this binary's module first where needed. A binary
 * without entries needs a library (rex/library.h) or a shared object with kernels that was loaded
 * before. The first queue of a module on a
 * GPU loads the module's image there for queues, all kernels of it, so that no launch has to.
 *
 * @queue   where the new queue is stored; destroy it with rex_queue_destroy().
 * @device  device number, -1 for the default device as it is now.
 * @name    what messages call it, copied, up to 63 bytes; NULL: "queue 1" and so on.
 * @flags   REX_QUEUE_ bits.
 * Returns 0, REX_EINVAL, REX_ENOMEM, REX_EDEVICE, REX_ECUDA, REX_EUNSUPPORTED (the driver is too
 * old for queues: they want CUDA 11.4), or an error of rex_module_register().
 */
static inline int rex_queue_create(struct rex_queue **queue, int64_t device, const char *name,
                                   unsigned flags)
{
    return rex_module_queue_create(queue, &rex_this_module, device, name, flags, NULL);
}

/**
 * rex_queue_global(): the device address, in the copy of this binary's image that @queue's kernels
 * use, of the global whose host variable is @variable (REX_GLOBAL()). On the host device it is
 * libomptarget's, the only one. NULL with an error: REX_EINVAL, REX_EKEY, REX_EABSENT, REX_ECUDA,
 * REX_EFORK, or an error of rex_module_register(). Valid until this binary's module ends.
 */
static inline void *rex_queue_global(struct rex_queue *queue, const void *variable)
{
    return rex_module_queue_global(&rex_this_module, queue, variable);
}

#endif /* REX_BUILDING_LIBRARY */

/**
 * rex_queue_destroy(): waits for @queue and frees it. NULL is left alone. Returns 0 or what the
 * wait came to (REX_ECUDA), and the queue is gone in any case, unless it is being captured:
 * REX_EINVAL.
 */
REX_API int rex_queue_destroy(struct rex_queue *queue);

/**
 * rex_queue_copy_to(): copies @size bytes from the host's @from to device memory @to. From pinned
 * memory (rex_host_alloc()) the copy runs beside the program; @from must not change until it is
 * done. Large pieces of other memory may be copied before the call returns. Returns 0, REX_EINVAL,
 * REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_copy_to(struct rex_queue *queue, void *to, const void *from, size_t size);

/**
 * rex_queue_copy_from(): copies @size bytes from device memory @from to the host's @to. Returns
 * likewise.
 */
REX_API int rex_queue_copy_from(struct rex_queue *queue, void *to, const void *from, size_t size);

/**
 * rex_queue_update(): as rex_data_update(): copies each row of @map, REX_TO() to the device and
 * REX_FROM() from it, in that order. Memory that is not mapped is an error, and then no row is
 * copied. Returns 0, REX_EINVAL, REX_EABSENT, REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_update(struct rex_queue *queue, const struct rex_map *map);

/**
 * rex_queue_fill(): fills @size bytes of device memory @to with copies of the @pattern_size bytes
 * (1, 2 or 4) at @pattern; @to and @size are multiples of
 * @pattern_size. Returns 0, REX_EINVAL, REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_fill(struct rex_queue *queue, void *to, const void *pattern,
                           size_t pattern_size, size_t size);

/**
 * rex_queue_host_func(): calls @function with @argument on some thread once all that was queued
 * before is done; what is queued afterwards waits for it to return. It must not call librex,
 * libomptarget or CUDA. It is not called after an error. @argument may be NULL. Returns 0,
 * REX_EINVAL, REX_ECUDA, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_host_func(struct rex_queue *queue, void (*function)(void *argument),
                                void *argument);

/**
 * rex_queue_sync(): waits until all that was put in @queue is done. Returns 0; REX_ECUDA for an
 * error of any of it, with the names of the kernels; REX_EINVAL (@queue is NULL, or is being
 * captured) or REX_EFORK.
 */
REX_API int rex_queue_sync(struct rex_queue *queue);

/**
 * rex_queue_query(): 1 if nothing is left to do in @queue, 0 if there is, or an error as
 * rex_queue_sync() returns it.
 */
REX_API int rex_queue_query(struct rex_queue *queue);

/** rex_queue_device(): the number of @queue's device; REX_EINVAL where @queue is NULL. */
REX_API int rex_queue_device(const struct rex_queue *queue);

/**
 * rex_queue_is_synchronous(): whether @queue does everything at once: its device is no NVIDIA GPU.
 * False, with REX_EINVAL as the last error, where @queue is NULL.
 */
REX_API bool rex_queue_is_synchronous(const struct rex_queue *queue);

/**
 * rex_mappings_changed(): to be called after a call that made or ended a mapping and that librex
 * cannot see: a call by an address that dlsym() gave for libomptarget itself, or from an object
 * that dlopen() opened with RTLD_DEEPBIND. After it librex asks anew what it remembers of
 * mappings: device addresses of queues, and for rex_launch() and its like what is present and what
 * is not.
 */
REX_API void rex_mappings_changed(void);

/**
 * REX_BY_VALUE(object): an object of any size by value, for a kernel that has a parameter of that
 * very type. Up to 8 bytes it is REX_VALUE(); more are read from @object, an lvalue, at the launch:
 * for queues, and for launches that the CUDA driver sends; libomptarget cannot pass them.
 */
#define REX_BY_VALUE(object)                                                     \
    REX_ROW(                                                                     \
        REX_OF(object),                                                          \
        sizeof(object) <= 8                                                      \
            ? rex_row_value(&(object), sizeof(object) <= 8 ? sizeof(object) : 0) \
            : rex_row_object(&(object), sizeof(object), REX_MAP_LITERAL | REX_MAP_TARGET_PARAM))

/*
 * ---- Events -----------------------------------------------------------------------------------
 */

/**
 * rex_event_create(): makes an event. Returns 0, REX_EINVAL or REX_ENOMEM. Free it with
 * rex_event_destroy().
 */
REX_API int rex_event_create(struct rex_event **event);

/**
 * rex_event_destroy(): frees @event; NULL is left alone. Work that waits for it still waits for
 * what it stood for.
 */
REX_API void rex_event_destroy(struct rex_event *event);

/**
 * rex_event_record(): @event from now on stands for all that has been put in @queue up to here.
 * Returns 0, REX_EINVAL, REX_ECUDA, REX_ENOMEM, or REX_EFORK.
 */
REX_API int rex_event_record(struct rex_event *event, struct rex_queue *queue);

/**
 * rex_queue_wait_event(): what is put in @queue from now on waits for what @event stands for, which
 * may be in another queue, on another device as well. The calling thread does not wait. Returns 0,
 * REX_EINVAL (@event was never recorded), REX_ECUDA, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_wait_event(struct rex_queue *queue, struct rex_event *event);

/**
 * rex_event_sync(): waits until what @event stands for is done. Returns 0, REX_EINVAL (it was never
 * recorded, or in a graph), REX_ECUDA, with the names of the kernels of the device's queues where
 * one has failed, or REX_EFORK.
 */
REX_API int rex_event_sync(struct rex_event *event);

/** rex_event_query(): 1 if it is done, 0 if not, or an error as rex_event_sync() returns it. */
REX_API int rex_event_query(struct rex_event *event);

/**
 * rex_event_elapsed(): stores in @seconds the time between two events that are both done, as the
 * device measured it. Returns 0, REX_EINVAL (one was never recorded, or they are of different
 * devices), REX_ECUDA (one is not done, or as for rex_event_sync()) or REX_EFORK.
 */
REX_API int rex_event_elapsed(double *seconds, struct rex_event *begin, struct rex_event *end);

/*
 * ---- Graphs -----------------------------------------------------------------------------------
 *
 *     rex_graph_begin(queue);                 // from here on nothing is done, all is captured
 *     for (int step = 0; step < 1000; step++)
 *         REX_LAUNCH_WITH(axpy, in_queue, ...);
 *     struct rex_graph *graph;
 *     rex_graph_end(&graph, queue);
 *     for (int i = 0; i < 100; i++)
 *         rex_graph_launch(graph, queue);     // all 1000 at once, in one call
 *     rex_queue_sync(queue);
 *     rex_graph_destroy(graph);
 *
 * A graph keeps the host addresses that its launches were given. When a mapping has ended since,
 * the next rex_graph_launch() finds the device addresses again; what is no longer mapped is
 * REX_EABSENT.
 *
 * Another queue takes part in the capture from the moment that it waits for an event that was
 * recorded in it: what both do may overlap in the graph.
 */

/**
 * rex_graph_begin(): captures what is put in @queue from now on instead of doing it. Returns 0,
 * REX_EINVAL, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_graph_begin(struct rex_queue *queue);

/**
 * rex_graph_end(): ends the capture that rex_graph_begin() began on @queue, and makes a graph of
 * it; it takes about 6 microseconds a launch. Where it fails the capture has ended all the same
 * and there is no graph. Nothing has been done yet either way.
 * @graph  where the graph is stored; destroy it with rex_graph_destroy().
 * Returns 0, REX_EINVAL (@queue is not the one), REX_ENOMEM, REX_EABSENT, REX_ECUDA or REX_EFORK.
 */
REX_API int rex_graph_end(struct rex_graph **graph, struct rex_queue *queue);

/**
 * rex_graph_launch(): puts all of @graph in @queue, which must be of the same device. Returns 0,
 * REX_EINVAL, REX_EHOST, REX_EABSENT, REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_graph_launch(struct rex_graph *graph, struct rex_queue *queue);

/**
 * rex_graph_launches(): how many launches @graph has; they are numbered from 0 in the order in
 * which they were captured. 0, with REX_EINVAL as the last error, where @graph is NULL.
 */
REX_API size_t rex_graph_launches(const struct rex_graph *graph);

/**
 * rex_graph_set_args(): gives launch @number of @graph other arguments, values and pointers, from
 * the next rex_graph_launch() on; those under way are not touched.
 * @map  the arguments, as many as before and of the same kinds; NULL for none.
 * Returns 0, REX_EINVAL, REX_EPARAMS, REX_EABSENT, REX_ECUDA, REX_ENOMEM or REX_EFORK; on failure
 * the launch stays as it was.
 */
REX_API int rex_graph_set_args(struct rex_graph *graph, size_t number, const struct rex_map *map);

/**
 * rex_graph_destroy(): frees @graph; NULL is left alone. Launches of it that are under way finish.
 */
REX_API void rex_graph_destroy(struct rex_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
