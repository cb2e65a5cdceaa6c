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
 * **Order.** The commands of one queue are done in the order in which they were put in. Between two
 * queues, and between a queue and calls that wait, only rex_queue_sync() and events make an order.
 *
 * **Memory.** Launches and rex_queue_update() take host addresses. Every byte of a row must be
 * mapped on the queue's device before, or the call is REX_EABSENT: a launch maps and copies
 * nothing. rex_queue_copy_to(), rex_queue_copy_from() and rex_queue_fill() take device memory, of
 * rex_device_alloc() or rex_mapped_ptr(). Mappings, host memory that is copied, and the modules of
 * kernels must last until the queue has been waited for.
 *
 * **Errors** of the device come later: the next call that waits returns them, or a call for the
 * queue before it. After a kernel has failed on a GPU, every later call of the process that would
 * use that GPU is REX_ECUDA.
 *
 * **Without an NVIDIA GPU** a queue does everything at once, by the same rules and with the same
 * results. If offloading is disabled or the device is the host, launches of kernels, and of graphs
 * with kernels, are REX_EHOST, and an update copies nothing. If offloading is disabled, copies and
 * fills are REX_EINVAL.
 *
 * Threads: any number of threads may use a queue, an event or a graph; each call is one step. None
 * of them may be destroyed while another thread uses it. In a child of fork() every call that would
 * use a GPU's queue is REX_EFORK. The calls that destroy work, and free the child's memory alone.
 *
 * An argument that is NULL is REX_EINVAL, if the function does not say otherwise. So is a queue,
 * event or graph that was destroyed. A new one gets the address that has been free for longest.
 *
 * Everything here is since 0.2 unless it says otherwise. Guide: rex-queues(7).
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

/** struct rex_queue: a queue of one device, which rex_queue_create() makes. */
struct rex_queue;
/** struct rex_event: a place in a queue. rex_event_create() makes an event. */
struct rex_event;
/** struct rex_graph: commands that were captured. rex_graph_end() makes a graph. */
struct rex_graph;

/**
 * REX_QUEUE_NO_CACHE: a flag of rex_queue_create(). Each launch looks its device addresses up, and
 * remembers none.
 */
#define REX_QUEUE_NO_CACHE 0x1u
/**
 * REX_QUEUE_BLOCKING: a flag of rex_queue_create(). Every call waits for what it has put in the
 * queue. That is slow, and each error comes from the call that caused it.
 */
#define REX_QUEUE_BLOCKING 0x2u
/**
 * REX_QUEUE_OWN_GLOBALS: a flag of rex_queue_create(). The queue launches kernels of modules with
 * REX_GLOBAL(), and they use a copy of the globals that queues have: rex_queue_global(). On a GPU
 * such a launch is REX_EUNSUPPORTED without the flag. A `__device__` variable without REX_GLOBAL()
 * needs no flag, and has a copy for queues, too.
 */
#define REX_QUEUE_OWN_GLOBALS 0x4u
/**
 * REX_QUEUE_PRIORITY(level): flag bits of rex_queue_create(). Where kernels wait for room on a GPU,
 * those of queues of a higher level come first. No kernel is interrupted, and copies have no
 * priority. Levels are 0, which is that of a queue without the flag, to 15. A GPU has fewer, and
 * takes one above them as its highest. A graph has the priority of the queue that it is launched
 * in. A queue that does everything at once has no use for one.
 */
#define REX_QUEUE_PRIORITY(level) ((unsigned)(level) << 8)

/*
 * ---- Queues: launches and copies that do not wait ---------------------------------------------
 */

#ifndef REX_BUILDING_LIBRARY

/**
 * rex_queue_create(): makes a queue. If this binary's module is not registered, it is registered
 * first. A binary without entries must load a library (rex/library.h) or a shared object with
 * kernels before. The first queue of a module on a GPU loads all its kernels there, so that no
 * launch has to.
 *
 * @queue   where the new queue is stored; destroy it with rex_queue_destroy().
 * @device  device number, -1 for the default device as it is now.
 * @name    what messages call it, copied, up to 63 bytes; NULL: "queue 1" and so on.
 * @flags   0, or some of REX_QUEUE_NO_CACHE, REX_QUEUE_BLOCKING, REX_QUEUE_OWN_GLOBALS and
 *          REX_QUEUE_PRIORITY().
 *
 * Returns 0, REX_EINVAL (also for an unknown flag), REX_ENOMEM, REX_EDEVICE, REX_ECUDA,
 * REX_EUNSUPPORTED (the driver is too old for queues: they need CUDA 11.4), or an error of
 * rex_module_register().
 */
static inline int rex_queue_create(struct rex_queue **queue, int64_t device, const char *name,
                                   unsigned flags)
{
    return rex_module_queue_create(queue, &rex_this_module, device, name, flags, NULL);
}

/**
 * rex_queue_global(): finds the copy of a device global that @queue's kernels use. @variable is the
 * address of its host variable (REX_GLOBAL()). On the host device there is one copy for all. The
 * device address is for rex_queue_copy_to() and rex_queue_copy_from(), and valid until this
 * binary's module ends.
 * Returns the address, or NULL with an error: REX_EINVAL; REX_EKEY (@variable is no global of the
 * module); REX_EABSENT (it is not on the device); REX_ECUDA, REX_EFORK, or an error of
 * rex_module_register().
 */
static inline void *rex_queue_global(struct rex_queue *queue, const void *variable)
{
    return rex_module_queue_global(&rex_this_module, queue, variable);
}

#endif /* REX_BUILDING_LIBRARY */

/**
 * rex_queue_destroy(): waits for @queue and frees it; NULL is left alone. In a child of fork() it
 * frees without waiting. Returns 0; REX_ECUDA (the wait failed, and the queue is freed); or
 * REX_EINVAL (the queue is being captured, and is not freed; or it was destroyed before).
 */
REX_API int rex_queue_destroy(struct rex_queue *queue);

/*
 * ---- Copies, fills and calls in a queue -------------------------------------------------------
 */

/**
 * rex_queue_copy_to(): copies @size bytes from the host's @from to device memory @to. From pinned
 * memory (rex_host_alloc()) the copy runs beside the program and beside kernels of other queues.
 * With other memory the call may wait for part of the copy, and from 4 MiB on for all of it. @from
 * must not be changed or freed until the copy is done. With a @size of 0 both may be NULL. Returns
 * 0, REX_EINVAL, REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_copy_to(struct rex_queue *queue, void *to, const void *from, size_t size);

/**
 * rex_queue_copy_from(): copies @size bytes from device memory @from to the host's @to, as
 * rex_queue_copy_to() does. @to must not be read, changed or freed until the copy is done. Returns
 * 0, REX_EINVAL, REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_copy_from(struct rex_queue *queue, void *to, const void *from, size_t size);

/**
 * rex_queue_update(): as rex_data_update(): copies each row of @map (REX_MAP()), first every
 * REX_TO() to the device, then every REX_FROM() from it. If a row is not mapped, none is copied.
 * The bytes are copied as they are. A pointer that a mapping has attached (REX_ATTACH()) is
 * overwritten by the host's: leave such members out. The host's memory is read and written as by
 * rex_queue_copy_to(); @map may change after the call. Returns 0, REX_EINVAL, REX_EABSENT (the
 * message names the row), REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_update(struct rex_queue *queue, const struct rex_map *map);

/**
 * rex_queue_fill(): fills @size bytes of device memory @to with copies of the @pattern_size bytes
 * (1, 2 or 4) at @pattern, which are read at the call. @to and @size are multiples of
 * @pattern_size. Returns 0, REX_EINVAL, REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_fill(struct rex_queue *queue, void *to, const void *pattern,
                           size_t pattern_size, size_t size);

/**
 * rex_queue_host_func(): calls @function with @argument, which may be NULL, once all that was put
 * in before is done; later commands wait for it to return. It runs on a thread of the driver or on
 * this one, and must not call librex, libomptarget or CUDA. It is not called after an error.
 * Returns 0, REX_EINVAL, REX_ECUDA, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_host_func(struct rex_queue *queue, void (*function)(void *argument),
                                void *argument);

/*
 * ---- Waiting for a queue, and its properties --------------------------------------------------
 */

/**
 * rex_queue_sync(): waits until all that was put in @queue is done, in the way that REX_WAIT says
 * (rex_configure()). Returns 0; REX_ECUDA for an error of any of it, with the driver's name of the
 * error and the kernels that were launched since the last wait; REX_EINVAL (@queue is NULL, or is
 * being captured) or REX_EFORK.
 */
REX_API int rex_queue_sync(struct rex_queue *queue);

/**
 * rex_queue_query(): tells whether all that was put in @queue is done. Returns 1 if it is, 0 if
 * not; or, negative, an error as rex_queue_sync(): REX_ECUDA, REX_EINVAL or REX_EFORK.
 */
REX_API int rex_queue_query(struct rex_queue *queue);

/** rex_queue_device(): the number of @queue's device; REX_EINVAL if it is NULL or destroyed. */
REX_API int rex_queue_device(const struct rex_queue *queue);

/**
 * rex_queue_is_synchronous(): whether @queue does everything at once: its device is no NVIDIA GPU.
 * False, with REX_EINVAL as the last error, if @queue is NULL or destroyed.
 */
REX_API bool rex_queue_is_synchronous(const struct rex_queue *queue);

/*
 * ---- Device addresses and values of launches in a queue ---------------------------------------
 */

/**
 * rex_mappings_changed(): has librex look up anew what it remembers of mappings: device addresses
 * of queues, and for rex_launch() and its like what is present and what is not. Call it after a
 * call that made or ended a mapping and that librex does not see: by an address that dlsym() gave
 * for libomptarget itself, or from an object that dlopen() opened with RTLD_DEEPBIND; and after
 * omp_target_free() of memory that is associated. Any thread.
 */
REX_API void rex_mappings_changed(void);

/**
 * REX_BY_VALUE(object): an object of any size by value, for a kernel that has a parameter of that
 * very type. Up to 8 bytes it is REX_VALUE(); more are read from @object, an lvalue, at the launch.
 * For queues on a GPU, and for launches that the CUDA driver sends; libomptarget cannot pass them,
 * and neither can a queue on the host device (REX_EUNSUPPORTED).
 *
 *     struct parameters { double step, mass; int64_t count; } parameters; // as in advance.cu
 *     REX_LAUNCH_WITH(advance, in_queue, REX_BY_VALUE(parameters), REX_ALLOC(position, n));
 */
#define REX_BY_VALUE(object)                                                     \
    REX_ROW(                                                                     \
        REX_OF(object),                                                          \
        sizeof(object) <= 8                                                      \
            ? rex_row_value(&(object), sizeof(object) <= 8 ? sizeof(object) : 0) \
            : rex_row_object(&(object), sizeof(object), REX_MAP_LITERAL | REX_MAP_TARGET_PARAM))

/*
 * ---- Events: places in queues, to wait for ----------------------------------------------------
 *
 * An event that is recorded in a queue that is being captured belongs to that graph. A queue of the
 * same device that waits for it takes part in the capture from then on. No other queue, and no
 * thread, can wait for it.
 */

/**
 * rex_event_create(): makes an event, which no queue or device owns. Returns 0, REX_EINVAL or
 * REX_ENOMEM. Free it with rex_event_destroy().
 */
REX_API int rex_event_create(struct rex_event **event);

/**
 * rex_event_destroy(): frees @event; NULL is left alone. Queues that wait for it go on waiting for
 * what it stood for. REX_EINVAL is the last error if @event was destroyed before.
 */
REX_API void rex_event_destroy(struct rex_event *event);

/**
 * rex_event_record(): @event from now on stands for all that has been put in @queue up to here. It
 * may be recorded again, in any queue. A queue that waits for it already goes on waiting for what
 * it stood for. Returns 0, REX_EINVAL, REX_ECUDA, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_event_record(struct rex_event *event, struct rex_queue *queue);

/**
 * rex_queue_wait_event(): what is put in @queue from now on waits for what @event stands for. That
 * may be in another queue, and of another device. The calling thread does not wait, unless @queue
 * does everything at once. Returns 0, REX_EINVAL (@event was never recorded, or in a graph that
 * @queue cannot take part in; or @queue is being captured, and @event is not of that capture),
 * REX_ECUDA, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_wait_event(struct rex_queue *queue, struct rex_event *event);

/**
 * rex_event_sync(): waits until what @event stands for is done. Returns 0, REX_EINVAL (it was never
 * recorded, or in a graph), REX_ECUDA or REX_EFORK. If a kernel has failed, the message names the
 * kernels that the device's queues have launched since their last wait.
 */
REX_API int rex_event_sync(struct rex_event *event);

/**
 * rex_event_query(): tells whether what @event stands for is done. Returns 1 if it is, 0 if not;
 * or, negative, an error as rex_event_sync(): REX_EINVAL, REX_ECUDA or REX_EFORK.
 */
REX_API int rex_event_query(struct rex_event *event);

/**
 * rex_event_elapsed(): stores in @seconds the time between two events that are both done, as the
 * device measured it, to about half a microsecond. Returns 0; or, with nothing stored, REX_EINVAL
 * (one was never recorded, or in a graph, or they are of different devices), REX_ECUDA (one is not
 * done, or as for rex_event_sync()) or REX_EFORK.
 */
REX_API int rex_event_elapsed(double *seconds, struct rex_event *begin, struct rex_event *end);

/*
 * ---- Graphs: commands that are captured once and done again and again -------------------------
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
 * A graph keeps host addresses, and finds their device addresses again after a mapping has ended.
 * Host memory that is copied, and memory given by its device address, must exist whenever the graph
 * is launched.
 *
 * While a queue is being captured, rex_queue_sync(), rex_queue_query(), rex_queue_destroy(),
 * rex_queue_stream() and rex_graph_launch() are REX_EINVAL for it. On a GPU a copy to another
 * device cannot be captured: REX_EUNSUPPORTED.
 */

/**
 * rex_graph_begin(): captures what is put in @queue from now on instead of doing it: launches,
 * copies, updates, fills, calls of functions, and events. Launches and updates are checked at once.
 * Returns 0, REX_EINVAL (also where @queue is being captured), REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_graph_begin(struct rex_queue *queue);

/**
 * rex_graph_end(): ends the capture that rex_graph_begin() began on @queue, for all queues that
 * take part, and makes a graph of it. Nothing has been done yet.
 * @graph  where the graph is stored; destroy it with rex_graph_destroy().
 * Returns 0; or, with no graph made, REX_EINVAL (@graph is NULL, or @queue has not begun a
 * capture), REX_ENOMEM, REX_EABSENT, REX_ECUDA or REX_EFORK. After REX_EINVAL the capture goes on,
 * after the other errors it has ended.
 */
REX_API int rex_graph_end(struct rex_graph **graph, struct rex_queue *queue);

/**
 * rex_graph_launch(): puts all of @graph in @queue: any queue of the same device that is not being
 * captured. A queue that does everything at once stops at the first command that fails. Returns 0;
 * REX_EINVAL; REX_EABSENT (memory of a launch is no longer mapped: the message names kernel and
 * row); REX_EHOST, REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_graph_launch(struct rex_graph *graph, struct rex_queue *queue);

/**
 * rex_graph_launches(): how many launches @graph has; they are numbered from 0 in the order in
 * which they were captured. 0, with REX_EINVAL as the last error, if @graph is NULL or destroyed.
 */
REX_API size_t rex_graph_launches(const struct rex_graph *graph);

/**
 * rex_graph_set_args(): gives launch @number of @graph other arguments, values and pointers, from
 * the next rex_graph_launch() on; those under way are not touched.
 * @map  all arguments of the launch (REX_MAP()): as many as before, and values and pointers in the
 *       same places. NULL: the kernel has no parameters.
 * Returns 0, REX_EINVAL (also where there is no such launch), REX_EPARAMS, REX_EABSENT, REX_ECUDA,
 * REX_ENOMEM or REX_EFORK; on failure the launch stays as it was.
 */
REX_API int rex_graph_set_args(struct rex_graph *graph, size_t number, const struct rex_map *map);

/**
 * rex_graph_destroy(): frees @graph; NULL is left alone. Launches of it that are under way finish.
 * REX_EINVAL is the last error if @graph was destroyed before.
 */
REX_API void rex_graph_destroy(struct rex_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
