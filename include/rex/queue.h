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
 * **Order.** The commands of one queue run in the order of the calls. Two queues, or a queue and
 * calls that wait, have no common order; rex_queue_sync() and events make one.
 *
 * **Memory.** The memory rows of launches and of rex_queue_update() have host addresses. A launch
 * in a queue maps and copies nothing: if no mapping on the queue's device has all bytes of a memory
 * row, the call returns REX_EABSENT. rex_queue_copy_to(), rex_queue_copy_from() and
 * rex_queue_fill() take device addresses, for example from rex_device_alloc() or rex_mapped_ptr().
 * Mappings, host memory that is copied, and the modules of kernels must last until the program has
 * waited for the queue.
 *
 * **Errors** of the device may be reported by a later call. The next call that waits for the failed
 * command reports them, if no earlier call has done so. If a kernel fails while it runs on a GPU,
 * the GPU is lost for the process. After a call has reported the failure, all launches, copies and
 * data calls that need the GPU return REX_ECUDA.
 *
 * **Without an NVIDIA GPU** a queue runs each command at once. The rules for rows and mappings are
 * those of a GPU. Launches with features that only the CUDA driver has, such as REX_BY_VALUE() of
 * more than 8 bytes, return REX_EUNSUPPORTED. If offloading is disabled or the device is the host,
 * an update copies nothing, and launches of kernels return REX_EHOST, or REX_ENODEVICE with
 * REX_REQUIRE_GPU=on. If offloading is disabled, copies and fills return REX_EINVAL. A capture
 * stores commands that would fail with REX_EHOST or REX_EINVAL for these reasons.
 * rex_graph_launch() then returns the error of the first such command.
 *
 * **Threads.** Any number of threads may use a queue, an event or a graph; each call is atomic. Do
 * not destroy an object while another thread uses it. In a child of fork() every call that would
 * use a GPU's queue returns REX_EFORK, and the functions rex_*_destroy() free only the child's
 * memory.
 *
 * For an argument that is NULL, the error is REX_EINVAL, unless the function's comment says
 * otherwise. For a queue, event or graph that was destroyed, the error is REX_EINVAL until a new
 * object has the address of the destroyed one. A new object gets the address that has been free for
 * longest.
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

/** struct rex_queue: a queue of one device. rex_queue_create() makes a queue. */
struct rex_queue;
/** struct rex_event: a position in a queue's order. rex_event_create() makes an event. */
struct rex_event;
/** struct rex_graph: captured commands. rex_graph_end() makes a graph. */
struct rex_graph;

/**
 * REX_QUEUE_NO_CACHE: a flag of rex_queue_create(). Each launch and update looks up its device
 * addresses again, instead of caching them.
 */
#define REX_QUEUE_NO_CACHE 0x1u
/**
 * REX_QUEUE_BLOCKING: a flag of rex_queue_create(). Every call outside a capture waits until its
 * command is done. Waiting is slow, but the call that causes an error returns the error.
 */
#define REX_QUEUE_BLOCKING 0x2u
/**
 * REX_QUEUE_OWN_GLOBALS: a flag of rex_queue_create(). The queue may launch kernels of images with
 * REX_GLOBAL() or REX_GLOBAL_LINK(). Without the flag such a launch on a GPU returns
 * REX_EUNSUPPORTED. For a graph only the queue of rex_graph_begin() needs the flag. In all queues
 * of a GPU these kernels use a second copy of the globals, which rex_queue_global() finds.
 * REX_LINK() does not set the pointer in the second copy. Kernels that use a `__device__` variable
 * without REX_GLOBAL() or REX_GLOBAL_LINK() need no flag. But launches by the driver, such as those
 * in queues, use another copy of the variable than launches by libomptarget.
 */
#define REX_QUEUE_OWN_GLOBALS 0x4u
/**
 * REX_QUEUE_PRIORITY(level): flag bits of rex_queue_create(). If blocks of kernels wait for free
 * multiprocessors of a GPU, the GPU prefers blocks of queues with a higher level. No running block
 * is interrupted, and copies have no priority. Levels are 0 to 15; a queue that rex_queue_create()
 * makes without the flag has level 0. A GPU has fewer levels, and treats any higher level as its
 * own highest level. A graph has the priority of the queue that it is launched in. Priorities have
 * no effect in a queue that runs each command at once.
 */
#define REX_QUEUE_PRIORITY(level) ((unsigned)(level) << 8)

/*
 * ---- Queues: launches and copies that do not wait ---------------------------------------------
 */

#ifndef REX_BUILDING_LIBRARY

/**
 * rex_queue_create(): makes a queue. If this binary's module is not registered, the call first
 * registers the module. In a binary without entries, first load a library (rex/library.h) or a
 * shared object with kernels. If offloading is disabled, the call returns REX_EINVAL in such a
 * binary. When this binary's first queue on a GPU is made, all kernels of the module are loaded on
 * that GPU. If a kernel cannot be loaded, its launch returns the error.
 *
 * @queue   receives the new queue; destroy it with rex_queue_destroy().
 * @device  device number; -1: the default device at this call.
 * @name    name of the queue in messages; its first 63 bytes are copied. NULL: "queue 1" and so on.
 * @flags   0, or bits of REX_QUEUE_NO_CACHE, REX_QUEUE_BLOCKING, REX_QUEUE_OWN_GLOBALS and
 *          REX_QUEUE_PRIORITY().
 *
 * Returns 0, an error of rex_module_register(), or one of these errors:
 *
 * REX_EINVAL        @queue is NULL, or @flags has an unknown bit. Or offloading is disabled, and
 *                   the binary has no entries.
 * REX_ENOMEM        the host or the device has too little memory.
 * REX_EDEVICE       the device does not exist.
 * REX_EUNSUPPORTED  the driver is older than CUDA 11.4.
 * REX_ECUDA         the driver failed, or the device is lost.
 */
static inline int rex_queue_create(struct rex_queue **queue, int64_t device, const char *name,
                                   unsigned flags)
{
    return rex_module_queue_create(queue, &rex_this_module, device, name, flags, NULL);
}

/**
 * rex_queue_global(): finds the copy of a device global that @queue's kernels use. @variable is the
 * address of the host variable (REX_GLOBAL()). On the host device there is only one copy. Pass the
 * returned device address to rex_queue_copy_to() and rex_queue_copy_from(). The address is valid
 * until this binary's module ends. On failure returns NULL and sets the last error to REX_ECUDA,
 * REX_EFORK, an error of rex_module_register(), or one of these errors:
 *
 * REX_EINVAL   @queue is NULL or destroyed.
 * REX_EKEY     @variable is NULL, or is not a global of the module.
 * REX_EABSENT  @queue's device is not an NVIDIA GPU, and the global is not on this device.
 */
static inline void *rex_queue_global(struct rex_queue *queue, const void *variable)
{
    return rex_module_queue_global(&rex_this_module, queue, variable);
}

#endif /* REX_BUILDING_LIBRARY */

/**
 * rex_queue_destroy(): waits for @queue and frees it; NULL is ignored. In a child of fork() the
 * call does not wait. Returns 0 or one of these errors:
 *
 * REX_ECUDA   the wait failed. @queue is freed nevertheless.
 * REX_EINVAL  @queue is being captured, and is not freed. Or @queue was destroyed before.
 */
REX_API int rex_queue_destroy(struct rex_queue *queue);

/*
 * ---- Copies, fills and calls in a queue -------------------------------------------------------
 */

/**
 * rex_queue_copy_to(): copies @size bytes from the host's @from to device memory @to. From pinned
 * memory (rex_host_alloc()) the copy can run concurrently with the program and with kernels of
 * other queues. With other memory the call may wait until a part of the bytes is copied or, if
 * @size is 4 MiB or more, until all bytes are copied. Do not change or free the memory at @from
 * until the copy is done. If @size is 0, @to and @from may be NULL. Returns 0, REX_EINVAL,
 * REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_copy_to(struct rex_queue *queue, void *to, const void *from, size_t size);

/**
 * rex_queue_copy_from(): copies @size bytes from device memory @from to the host's @to. If the
 * host's memory is not pinned, the call may wait until all bytes are copied, whatever @size is. Do
 * not read, change or free the memory at @to until the copy is done. If @size is 0, @to and @from
 * may be NULL. Returns 0, REX_EINVAL, REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_copy_from(struct rex_queue *queue, void *to, const void *from, size_t size);

/**
 * rex_queue_update(): copies each row of @map (REX_MAP()), first each REX_TO() to the device, then
 * each REX_FROM() from the device. If a row that has to be copied is not mapped, no row is copied.
 * Leave pointers that a mapping has attached (REX_ATTACH()) out of @map: unlike rex_data_update(),
 * this function overwrites such a pointer on the device with the host's pointer. The rules of
 * rex_queue_copy_to() and rex_queue_copy_from() hold for the host's memory. The program may change
 * @map after the call. Returns 0, REX_EINVAL, REX_EABSENT (the message names the row), REX_ECUDA,
 * REX_ERUNTIME, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_update(struct rex_queue *queue, const struct rex_map *map);

/**
 * rex_queue_fill(): fills @size bytes of device memory @to with copies of the @pattern_size bytes
 * (1, 2 or 4) at @pattern. The call reads @pattern before it returns. @to and @size must be
 * multiples of @pattern_size. Returns 0, REX_EINVAL, REX_ECUDA, REX_ERUNTIME, REX_ENOMEM or
 * REX_EFORK.
 */
REX_API int rex_queue_fill(struct rex_queue *queue, void *to, const void *pattern,
                           size_t pattern_size, size_t size);

/**
 * rex_queue_host_func(): calls @function with @argument, which may be NULL, after all earlier
 * commands are done; later commands wait until @function returns. @function runs on a thread of the
 * driver or on the calling thread, and must not call librex, libomptarget or CUDA. If an earlier
 * kernel has failed on the queue's GPU, @function is not called. Returns 0, REX_EINVAL, REX_ECUDA,
 * REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_queue_host_func(struct rex_queue *queue, void (*function)(void *argument),
                                void *argument);

/*
 * ---- Waiting for a queue, and its properties --------------------------------------------------
 */

/**
 * rex_queue_sync(): waits until all earlier commands of @queue are done; REX_WAIT (rex_configure())
 * sets how the thread waits. Returns 0 or one of these errors:
 *
 * REX_ECUDA   a command failed. The message has the driver's name of the error. If a kernel has
 *             failed, the message also names up to 8 kernels that were launched since the last
 *             wait.
 * REX_EINVAL  @queue is NULL, or is being captured.
 * REX_EFORK   the parent of this process made @queue on a GPU.
 */
REX_API int rex_queue_sync(struct rex_queue *queue);

/**
 * rex_queue_query(): returns 1 if all commands of @queue are done, otherwise 0. A negative result
 * is an error of rex_queue_sync(): REX_ECUDA, REX_EINVAL or REX_EFORK.
 */
REX_API int rex_queue_query(struct rex_queue *queue);

/**
 * rex_queue_device(): returns the number of @queue's device, or REX_EINVAL if @queue is NULL or
 * destroyed.
 */
REX_API int rex_queue_device(const struct rex_queue *queue);

/**
 * rex_queue_is_synchronous(): returns true if @queue runs each command at once, because its device
 * is not an NVIDIA GPU. If @queue is NULL or destroyed, returns false and sets the last error to
 * REX_EINVAL.
 */
REX_API bool rex_queue_is_synchronous(const struct rex_queue *queue);

/*
 * ---- Device addresses and values of launches in a queue ---------------------------------------
 */

/**
 * rex_mappings_changed(): discards librex's cached facts about mappings: device addresses for
 * queues, and the presence of memory for launches that wait. librex does not see a call through an
 * address that dlsym() returned for libomptarget itself, or a call from an object that dlopen()
 * opened with RTLD_DEEPBIND. If such a call makes or ends a mapping, call this function after it.
 * Any thread.
 */
REX_API void rex_mappings_changed(void);

/**
 * REX_BY_VALUE(object): an object of any size by value, for a kernel that has a parameter of the
 * object's type. @object must be an lvalue. An object of up to 8 bytes is read when the row is
 * made. Its bytes are passed, without the extension and the kind of REX_VALUE(). A larger object is
 * read at the launch. Only the CUDA driver can pass a larger object: in queues on a GPU, and in
 * other launches that the driver makes. In a queue on the host device the launch returns
 * REX_EUNSUPPORTED.
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
 * ---- Events: positions in queues, to wait for -------------------------------------------------
 *
 * If an event is recorded in a queue that is being captured, the event belongs to the graph. If,
 * during the capture, another queue of the graph's device waits for the event, that queue is
 * captured from the waiting call on. Until the event is recorded again, no thread can wait for the
 * event, and no queue of another device can. After the capture, no queue at all can wait for the
 * event.
 */

/**
 * rex_event_create(): makes an event, for queues of any device. Free it with rex_event_destroy().
 * Returns 0, REX_EINVAL or REX_ENOMEM.
 */
REX_API int rex_event_create(struct rex_event **event);

/**
 * rex_event_destroy(): frees @event; NULL is ignored. Queues that wait for @event still wait for
 * the recorded position. If @event was destroyed before, sets the last error to REX_EINVAL.
 */
REX_API void rex_event_destroy(struct rex_event *event);

/**
 * rex_event_record(): records the present end of @queue: @event is done when all commands that were
 * put in @queue before this call are done. An event may be recorded again, in any queue. A queue
 * that already waits for @event still waits for the earlier position. Returns 0, REX_EINVAL,
 * REX_ECUDA, REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_event_record(struct rex_event *event, struct rex_queue *queue);

/**
 * rex_queue_wait_event(): makes later commands of @queue wait until @event is done. @event may have
 * been recorded in another queue, and on another device. The calling thread waits for @event only
 * if @queue runs each command at once or has REX_QUEUE_BLOCKING. Returns 0, REX_ECUDA, REX_ENOMEM,
 * REX_EFORK, or REX_EINVAL if:
 *
 * - @event was never recorded;
 * - @event was recorded in a graph that @queue cannot take part in;
 * - @queue is being captured, and @event was not recorded in that capture.
 */
REX_API int rex_queue_wait_event(struct rex_queue *queue, struct rex_event *event);

/**
 * rex_event_sync(): waits until @event is done. Returns 0, REX_EINVAL (@event was never recorded,
 * or was recorded in a graph), REX_ECUDA or REX_EFORK. If a kernel has failed, the message names up
 * to 8 kernels that the device's queues have launched since their last wait.
 */
REX_API int rex_event_sync(struct rex_event *event);

/**
 * rex_event_query(): returns 1 if @event is done, otherwise 0. A negative result is an error of
 * rex_event_sync(): REX_EINVAL, REX_ECUDA or REX_EFORK.
 */
REX_API int rex_event_query(struct rex_event *event);

/**
 * rex_event_elapsed(): writes to @seconds the time from @begin to @end. A GPU measures the time
 * with a resolution of about half a microsecond, and with the precision of a float. For a queue
 * that runs each command at once, the host measures the time. Both events must be done. Returns 0
 * or one of these errors. After an error @seconds is unchanged:
 *
 * REX_EINVAL  an event was never recorded, or was recorded in a graph. Or the events are of
 *             different devices.
 * REX_ECUDA   an event is not done, the driver failed, or the device is lost.
 * REX_EFORK   the parent of this process recorded an event on a GPU.
 */
REX_API int rex_event_elapsed(double *seconds, struct rex_event *begin, struct rex_event *end);

/*
 * ---- Graphs: commands that are captured once and run many times -------------------------------
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
 * A graph stores the host addresses of rows, and looks up their device addresses again after a
 * mapping has ended. Host memory that is copied, and memory with a device address in the graph,
 * must exist while a launch of the graph is not done.
 *
 * While a queue is being captured, rex_queue_sync(), rex_queue_query(), rex_queue_destroy(),
 * rex_graph_begin(), rex_graph_launch() and, on a GPU, rex_queue_stream() fail for the queue with
 * REX_EINVAL. On a GPU a copy to or from another device cannot be captured, and fails with
 * REX_EUNSUPPORTED.
 */

/**
 * rex_graph_begin(): begins a capture. Later commands of @queue are stored, and not run: launches,
 * copies, updates, fills, calls of functions, and events. Launches and updates are checked at once.
 * But on a GPU the error of a grid or block that is too large may come from rex_graph_end().
 * Returns 0, REX_EINVAL (also if @queue is being captured already), REX_ENOMEM or REX_EFORK.
 */
REX_API int rex_graph_begin(struct rex_queue *queue);

/**
 * rex_graph_end(): ends the capture that rex_graph_begin() began on @queue, for all queues that
 * take part, and makes a graph of the captured commands. No command has run yet.
 * @graph  receives the graph; destroy it with rex_graph_destroy().
 * Returns 0, REX_EINVAL, REX_ENOMEM, REX_EABSENT, REX_ECUDA or REX_EFORK. After an error @graph is
 * unchanged. After REX_ENOMEM, REX_EABSENT or REX_ECUDA the capture has ended. After REX_EINVAL the
 * state of the capture depends on the cause:
 *
 * - @graph is NULL, or @queue has not begun a capture. The capture continues.
 * - On a GPU, the module of a captured launch has ended. The capture has ended.
 */
REX_API int rex_graph_end(struct rex_graph **graph, struct rex_queue *queue);

/**
 * rex_graph_launch(): puts all commands of @graph in @queue. @queue is any queue of the graph's
 * device that is not being captured. A queue that runs each command at once stops at the first
 * command that fails. Returns 0, REX_EINVAL, REX_EABSENT, REX_EHOST, REX_ECUDA, REX_ERUNTIME,
 * REX_ENOMEM or REX_EFORK. The error is REX_EABSENT if memory is no longer mapped. The message then
 * names the kernel and the row, or the bytes of an update.
 */
REX_API int rex_graph_launch(struct rex_graph *graph, struct rex_queue *queue);

/**
 * rex_graph_launches(): returns the number of kernel launches in @graph. These launches are
 * numbered from 0 in the order of their capture. If @graph is NULL or destroyed, returns 0 and sets
 * the last error to REX_EINVAL.
 */
REX_API size_t rex_graph_launches(const struct rex_graph *graph);

/**
 * rex_graph_set_args(): replaces all arguments of kernel launch @number in @graph. The next
 * rex_graph_launch() uses the new arguments. Launches that are running do not change.
 * @map  all arguments of the launch (REX_MAP()): the number and order of values and pointers must
 *       not change. NULL: the kernel has no parameters.
 * Returns 0, REX_EINVAL, REX_EPARAMS, REX_EABSENT, REX_EUNSUPPORTED, REX_ECUDA, REX_ENOMEM or
 * REX_EFORK. The error is also REX_EINVAL if launch @number does not exist, and is REX_EUNSUPPORTED
 * if @map has a value of more than 8 bytes for the host device. After an error the launch is
 * unchanged.
 */
REX_API int rex_graph_set_args(struct rex_graph *graph, size_t number, const struct rex_map *map);

/**
 * rex_graph_destroy(): frees @graph; NULL is ignored. Launches of @graph that are running finish.
 * If @graph was destroyed before, sets the last error to REX_EINVAL.
 */
REX_API void rex_graph_destroy(struct rex_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
