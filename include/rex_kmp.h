/*
 * rex_kmp.h - the contract between generated (or hand-written) host code and LLVM's libomptarget.
 *
 * Include it before the first offload entry. It gives, in this order:
 *   1. the ABI structs of libomptarget (rex/abi.h), so that no LLVM header is needed;
 *   2. declarations of the host runtime's `__kmpc_*` functions that outlined host code calls (its
 *      user links libomp); REX's outlined functions need no cast;
 *   3. `__rex_real___tgt_X`: libomptarget's own entry points, under names that the rewrite of part
 *      7 does not touch;
 *   4. this binary's module, rex_offload_init() and rex_offload_fini() (rex/module.h),
 *      register_cubin(), and what packets are made and checked with;
 *   5. `rex_direct___tgt_X`: check, fit the packet to the bound LLVM release, call;
 *   6. `rex___tgt_X`: register first, where that has not happened, then the same; declared alone
 *      where REX_KMP_INTERNAL is defined, for a file that defines its own;
 *   7. the rewrite: code that calls `__tgt_X` gets part 5, or part 6 where REX_KMP_SAFE is defined,
 *      or nothing where REX_KMP_INTERNAL is.
 *
 * X is target, target_teams, target_kernel, target_data_begin, target_data_end, target_data_update.
 *
 * Generated code includes this header. Code that is written by hand has an easier way, without
 * packets and columns: rex.h. Works as C11 and C++17 with gcc and clang.
 *
 * Everything here is since 0.1 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_KMP_H
#define REX_KMP_H

#include "rex/detail_push.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h> /* generated code calls malloc() and free() */
#include <string.h>

#include "rex/abi.h"
#include "rex/detail.h"
#include "rex/device.h"
#include "rex/module.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rex_kernel_launch;
struct rex_map;

/*
 * ---- 2. libomp's host functions ---------------------------------------------------------------
 *
 * Signatures of libomp (kmp.h, kmp_csupport.cpp, kmp_tasking.cpp), the same from LLVM 14 to 23.
 * librex does not define them: code that calls them links libomp. @loc may be NULL; @gtid is the
 * value of __kmpc_global_thread_num().
 */

/**
 * kmpc_micro: an outlined parallel region: (&global thread id, &bound thread id, shared
 * variables...).
 */
typedef void (*kmpc_micro)(int32_t *global_tid, int32_t *bound_tid, ...);
/** kmp_critical_name: the lock of a named critical section; zero-initialised, static. */
typedef int32_t kmp_critical_name[8];
/** kmp_routine_entry_t: the body of a task: (global thread id, the kmp_task_t). */
typedef int32_t (*kmp_routine_entry_t)(int32_t gtid, void *task);
/**
 * kmp_task_t: head of a task as __kmpc_omp_task_alloc() returns it; the task's private data
 * follows.
 */
typedef struct kmp_task {
    void *shareds;               /**< block of pointers to shared variables. */
    kmp_routine_entry_t routine; /**< body. */
    int32_t part_id;             /**< for untied tasks. */
} kmp_task_t;

/** __kmpc_global_thread_num(): the calling thread's global id. */
int32_t __kmpc_global_thread_num(ident_t *loc);
/** __kmpc_push_num_threads(): number of threads of the next parallel region. */
void __kmpc_push_num_threads(ident_t *loc, int32_t gtid, int32_t num_threads);
/** __kmpc_fork_call(): runs @microtask on a team; @argc counts the pointers that follow. */
void __kmpc_fork_call(ident_t *loc, int32_t argc, kmpc_micro microtask, ...);
#ifndef REX_KMP_INTERNAL
/**
 * __kmpc_fork_call(): takes a function of any type, or a `void *`, as @microtask: generated regions
 * have a parameter for each pointer, and a function that is not variadic is no kmpc_micro.
 */
#define __kmpc_fork_call(loc, argc, ...) \
    __kmpc_fork_call(loc, argc, __extension__(kmpc_micro)(void (*)(void)) __VA_ARGS__)
#endif
/** __kmpc_serialized_parallel(): begins a parallel region of one thread. */
void __kmpc_serialized_parallel(ident_t *loc, int32_t gtid);
/** __kmpc_end_serialized_parallel(): ends it. */
void __kmpc_end_serialized_parallel(ident_t *loc, int32_t gtid);
/** __kmpc_for_static_init_4(): this thread's part of a statically scheduled loop, 32-bit signed. */
void __kmpc_for_static_init_4(ident_t *loc, int32_t gtid, int32_t schedule, int32_t *last,
                              int32_t *lower, int32_t *upper, int32_t *stride, int32_t increment,
                              int32_t chunk);
/** __kmpc_for_static_init_4u(): the same, 32-bit unsigned. */
void __kmpc_for_static_init_4u(ident_t *loc, int32_t gtid, int32_t schedule, int32_t *last,
                               uint32_t *lower, uint32_t *upper, int32_t *stride, int32_t increment,
                               int32_t chunk);
/** __kmpc_for_static_init_8(): the same, 64-bit signed. */
void __kmpc_for_static_init_8(ident_t *loc, int32_t gtid, int32_t schedule, int32_t *last,
                              int64_t *lower, int64_t *upper, int64_t *stride, int64_t increment,
                              int64_t chunk);
/** __kmpc_for_static_init_8u(): the same, 64-bit unsigned. */
void __kmpc_for_static_init_8u(ident_t *loc, int32_t gtid, int32_t schedule, int32_t *last,
                               uint64_t *lower, uint64_t *upper, int64_t *stride, int64_t increment,
                               int64_t chunk);
/** __kmpc_for_static_fini(): ends a statically scheduled loop. */
void __kmpc_for_static_fini(ident_t *loc, int32_t gtid);
/** __kmpc_dispatch_init_4(): begins a dynamically scheduled loop, 32-bit signed. */
void __kmpc_dispatch_init_4(ident_t *loc, int32_t gtid, int32_t schedule, int32_t lower,
                            int32_t upper, int32_t stride, int32_t chunk);
/** __kmpc_dispatch_init_4u(): the same, 32-bit unsigned. */
void __kmpc_dispatch_init_4u(ident_t *loc, int32_t gtid, int32_t schedule, uint32_t lower,
                             uint32_t upper, int32_t stride, int32_t chunk);
/** __kmpc_dispatch_init_8(): the same, 64-bit signed. */
void __kmpc_dispatch_init_8(ident_t *loc, int32_t gtid, int32_t schedule, int64_t lower,
                            int64_t upper, int64_t stride, int64_t chunk);
/** __kmpc_dispatch_init_8u(): the same, 64-bit unsigned. */
void __kmpc_dispatch_init_8u(ident_t *loc, int32_t gtid, int32_t schedule, uint64_t lower,
                             uint64_t upper, int64_t stride, int64_t chunk);
/** __kmpc_dispatch_next_4(): the next chunk; 0 when there is none. */
int32_t __kmpc_dispatch_next_4(ident_t *loc, int32_t gtid, int32_t *last, int32_t *lower,
                               int32_t *upper, int32_t *stride);
/** __kmpc_dispatch_next_4u(): the same, 32-bit unsigned. */
int32_t __kmpc_dispatch_next_4u(ident_t *loc, int32_t gtid, int32_t *last, uint32_t *lower,
                                uint32_t *upper, int32_t *stride);
/** __kmpc_dispatch_next_8(): the same, 64-bit signed. */
int32_t __kmpc_dispatch_next_8(ident_t *loc, int32_t gtid, int32_t *last, int64_t *lower,
                               int64_t *upper, int64_t *stride);
/** __kmpc_dispatch_next_8u(): the same, 64-bit unsigned. */
int32_t __kmpc_dispatch_next_8u(ident_t *loc, int32_t gtid, int32_t *last, uint64_t *lower,
                                uint64_t *upper, int64_t *stride);
/** __kmpc_barrier(): a barrier of the team. */
void __kmpc_barrier(ident_t *loc, int32_t gtid);
/** __kmpc_critical(): enters a critical section. */
void __kmpc_critical(ident_t *loc, int32_t gtid, kmp_critical_name *lock);
/** __kmpc_end_critical(): leaves it. */
void __kmpc_end_critical(ident_t *loc, int32_t gtid, kmp_critical_name *lock);
/** __kmpc_single(): 1 for the thread that runs a single construct. */
int32_t __kmpc_single(ident_t *loc, int32_t gtid);
/** __kmpc_end_single(): ends it, called by that thread only. */
void __kmpc_end_single(ident_t *loc, int32_t gtid);
/** __kmpc_master(): 1 for the team's first thread. */
int32_t __kmpc_master(ident_t *loc, int32_t gtid);
/** __kmpc_end_master(): ends it, called by that thread only. */
void __kmpc_end_master(ident_t *loc, int32_t gtid);
/** __kmpc_atomic_start(): begins an atomic update that has no function of its own. */
void __kmpc_atomic_start(void);
/** __kmpc_atomic_end(): ends it. */
void __kmpc_atomic_end(void);
/** __kmpc_omp_task_alloc(): allocates a task; sizes in bytes, including kmp_task_t. */
kmp_task_t *__kmpc_omp_task_alloc(ident_t *loc, int32_t gtid, int32_t flags, size_t size_task,
                                  size_t size_shareds, kmp_routine_entry_t entry);
/** __kmpc_omp_task(): makes a task ready to run. */
int32_t __kmpc_omp_task(ident_t *loc, int32_t gtid, kmp_task_t *task);
/** __kmpc_omp_taskwait(): waits for the current task's children. */
int32_t __kmpc_omp_taskwait(ident_t *loc, int32_t gtid);
/** __kmpc_flush(): a memory fence. */
void __kmpc_flush(ident_t *loc);

/*
 * ---- 3. libomptarget's entry points -----------------------------------------------------------
 *
 * The linker resolves them to libomptarget where the program links it, else to librex's forwarders,
 * which find libomptarget at run time and jump to it. They check nothing: libomptarget aborts the
 * process on nearly every mistake, and 19 to 22 crash when called before any registration.
 * Signatures: LLVM 14 to 23, interface.cpp.
 */

/** __rex_real___tgt_register_lib: registers a descriptor. */
void __rex_real___tgt_register_lib(struct __tgt_bin_desc *desc) __asm__("__tgt_register_lib");
/** __rex_real___tgt_unregister_lib: takes it back. */
void __rex_real___tgt_unregister_lib(struct __tgt_bin_desc *desc) __asm__("__tgt_unregister_lib");
/**
 * __rex_real___tgt_target: launches one team of one thread; LLVM 18 and later abort on it. 0, or
 * -1: run the host version.
 */
int __rex_real___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base,
                            void **args, int64_t *arg_sizes,
                            int64_t *arg_types) __asm__("__tgt_target");
/**
 * __rex_real___tgt_target_teams: launches @num_teams x @thread_limit. 0, or -1: run the host
 * version.
 */
int __rex_real___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num,
                                  void **args_base, void **args, int64_t *arg_sizes,
                                  int64_t *arg_types, int32_t num_teams,
                                  int32_t thread_limit) __asm__("__tgt_target_teams");
/**
 * __rex_real___tgt_target_kernel: launches with a packet (LLVM 15 on; on 14 librex translates).
 * Writes to the packet.
 */
int __rex_real___tgt_target_kernel(
    ident_t *loc, int64_t device_id, int32_t num_teams, int32_t thread_limit, void *host_ptr,
    struct __tgt_kernel_arguments *args) __asm__("__tgt_target_kernel");
/** __rex_real___tgt_target_data_begin: maps @arg_num rows. */
void __rex_real___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base,
                                        void **args, int64_t *arg_sizes,
                                        int64_t *arg_types) __asm__("__tgt_target_data_begin");
/** __rex_real___tgt_target_data_end: unmaps them. */
void __rex_real___tgt_target_data_end(int64_t device_id, int32_t arg_num, void **args_base,
                                      void **args, int64_t *arg_sizes,
                                      int64_t *arg_types) __asm__("__tgt_target_data_end");
/** __rex_real___tgt_target_data_update: copies between host and device. */
void __rex_real___tgt_target_data_update(int64_t device_id, int32_t arg_num, void **args_base,
                                         void **args, int64_t *arg_sizes,
                                         int64_t *arg_types) __asm__("__tgt_target_data_update");

/**
 * rex_pack_literal_arg_bytes(): the bytes of a scalar as the 8-byte value that a literal row
 * carries in base and begin; unused bytes are 0.
 * @src   the scalar; @size: its size in bytes, at most 8.
 * Returns the value, which for a scalar of zeros is NULL. A larger size, or NULL with a size above
 * 0, returns NULL, sets rex_last_error_code() to REX_EINVAL and prints the reason; the code stays
 * until the next failing call on the thread.
 */
static inline void *rex_pack_literal_arg_bytes(const void *src, size_t size)
{
    return rex_literal_bits(src, size);
}

/*
 * ---- 4. Packets, and an image by name -----------------------------------------------------------
 */

/**
 * rex_packet_fill(): the packet of @launch with the rows of @map (NULL: none), for raw
 * `__tgt_target_kernel`. @packet points into the map's columns.
 * Returns 0 or REX_EINVAL, and leaves @packet alone then.
 */
REX_API int rex_packet_fill(struct __tgt_kernel_arguments *packet,
                            const struct rex_kernel_launch *launch, const struct rex_map *map);

/**
 * rex_module_launch(): registers @module if it is not, checks a launch, fits a copy of its packet
 * to the bound release and passes that on. Parameters as for rex_module_launch_packet().
 * Returns 0; REX_EHOST (-1) only where the caller has to run its host version, because offloading
 * is disabled or the device is the host; or less than -1, with rex_last_error() about it: an
 * error of rex_module_launch_packet(), an error of rex_launch(), or an error of
 * rex_module_register().
 */
REX_API int rex_module_launch(struct rex_module *module, int64_t device, int32_t num_teams,
                              int32_t thread_limit, void *host_key,
                              struct __tgt_kernel_arguments *args);

/**
 * rex_module_launch_packet(): checks a launch and fits a copy of its packet to the bound release,
 * for code that launches it itself.
 *
 * @module         registered module that @host_key belongs to; not NULL.
 * @device         device number, -1 for the default device.
 * @num_teams      blocks in x where the packet has none; @thread_limit: threads in x likewise.
 * @host_key       address of the kernel's key, the `addr` of its entry.
 * @args           the caller's packet; it is not modified.
 * @packet         receives the packet to pass to `__tgt_target_kernel`, unchanged on failure.
 * Returns 0 when @packet is filled; 1 when the release needs a row of librex's own beside them,
 * which no packet shows: rex_module_launch() launches it; or REX_EINVAL, REX_EKEY, REX_EPARAMS,
 * REX_EDEVICE, REX_EUNSUPPORTED.
 */
REX_API int rex_module_launch_packet(struct __tgt_kernel_arguments *packet,
                                     struct rex_module *module, int64_t device, int32_t num_teams,
                                     int32_t thread_limit, const void *host_key,
                                     const struct __tgt_kernel_arguments *args);

#ifndef REX_BUILDING_LIBRARY /* librex itself is no module */

/**
 * register_cubin(): registers the image file @name (NULL, or REX_CUBIN_NAME however it is spelt:
 * the image that rex_offload_init() registers, the host image included) and returns the descriptor,
 * also in `__cubin_desc`; NULL on failure. Once registered, returns that descriptor whatever the
 * name. One function for each linked binary, as rex_offload_init() is.
 */
struct __tgt_bin_desc *register_cubin(const char *name);
REX_PER_BINARY struct __tgt_bin_desc *register_cubin(const char *name) /* older: rex_kmp(3) */
{
    return rex_module_register_image(&rex_this_module, name);
}

/*
 * ---- 5. Direct wrappers -----------------------------------------------------------------------
 *
 * One load tells whether the module is registered; only where it is not, a cold path registers it.
 * Launches return what rex_module_launch() returns: 0; -1 only for "run the host version"; or less
 * than -1, an error. Data calls return without effect on an error. rex_last_error() describes it.
 */

/** rex_ready(): whether this binary's module is registered, or could be registered now. */
static inline bool rex_ready(void)
{
    return __builtin_expect(__atomic_load_n(&rex_this_module.packet_rules, __ATOMIC_ACQUIRE) != 0,
                            1) ||
           rex_module_register(&rex_this_module) == 0;
}

/**
 * rex_direct___tgt_target_kernel(): launches the kernel of @host_ptr.
 * @device_id     device number, -1 for the default device.
 * @num_teams     blocks, where args->Teams[0] is 0; @thread_limit: threads of a block, where
 *                args->Threads[0] is 0.
 * @host_ptr      the kernel's host key.
 * @args          the packet; it is not modified and may be used again.
 * Returns as rex_module_launch().
 */
static inline int rex_direct___tgt_target_kernel(int64_t device_id, int32_t num_teams,
                                                 int32_t thread_limit, void *host_ptr,
                                                 struct __tgt_kernel_arguments *args)
{
    uintptr_t rules = __atomic_load_n(&rex_this_module.packet_rules, __ATOMIC_ACQUIRE);
    return __builtin_expect(rules != 0 && args != NULL, 1)
               ? rex_module_launch_registered(rules, device_id, num_teams, thread_limit, host_ptr,
                                              args)
               : rex_module_launch(&rex_this_module, device_id, num_teams, thread_limit, host_ptr,
                                   args);
}

/**
 * rex_direct___tgt_target_teams(): the older launch: @arg_num rows in four columns, @num_teams
 * blocks of @thread_limit threads. Goes out as a packet, so that every release gives the kernel the
 * same parameters. Returns as rex_module_launch().
 */
static inline int rex_direct___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num,
                                                void **args_base, void **args, int64_t *arg_sizes,
                                                int64_t *arg_types, int32_t num_teams,
                                                int32_t thread_limit)
{
    REX_PACKET_INT(32) rows = (REX_PACKET_INT(32))arg_num;
    REX_PACKET_INT(32) teams = (REX_PACKET_INT(32))(num_teams > 0 ? num_teams : 0);
    REX_PACKET_INT(32) threads = (REX_PACKET_INT(32))(thread_limit > 0 ? thread_limit : 0);
    struct __tgt_kernel_arguments packet = {
        3,    rows, args_base, args,          arg_sizes,       arg_types, NULL,
        NULL, 0,    0,         {teams, 1, 1}, {threads, 1, 1}, 0};
    return rex_direct___tgt_target_kernel(device_id, num_teams, thread_limit, host_ptr, &packet);
}

/**
 * rex_direct___tgt_target(): the oldest launch: one block of one thread. Goes out as a packet,
 * because libomptarget's own `__tgt_target` asks for 2^32 - 1 threads on LLVM 18 and later and
 * aborts. Returns as rex_module_launch().
 */
static inline int rex_direct___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num,
                                          void **args_base, void **args, int64_t *arg_sizes,
                                          int64_t *arg_types)
{
    return rex_direct___tgt_target_teams(device_id, host_ptr, arg_num, args_base, args, arg_sizes,
                                         arg_types, 1, 1);
}

/** rex_direct___tgt_target_data_begin(): maps @arg_num rows on @device_id (-1: default). */
static inline void rex_direct___tgt_target_data_begin(int64_t device_id, int32_t arg_num,
                                                      void **args_base, void **args,
                                                      int64_t *arg_sizes, int64_t *arg_types)
{
    if (rex_module_check_map(&rex_this_module, device_id, arg_num, args_base, args, arg_sizes,
                             arg_types) == 0)
        __rex_real___tgt_target_data_begin(device_id, arg_num, args_base, args, arg_sizes,
                                           arg_types);
}

/** rex_direct___tgt_target_data_end(): unmaps @arg_num rows on @device_id (-1: default). */
static inline void rex_direct___tgt_target_data_end(int64_t device_id, int32_t arg_num,
                                                    void **args_base, void **args,
                                                    int64_t *arg_sizes, int64_t *arg_types)
{
    if (rex_module_check_map(&rex_this_module, device_id, arg_num, args_base, args, arg_sizes,
                             arg_types) == 0)
        __rex_real___tgt_target_data_end(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}

/**
 * rex_direct___tgt_target_data_update(): copies @arg_num rows to or from @device_id (-1: default).
 */
static inline void rex_direct___tgt_target_data_update(int64_t device_id, int32_t arg_num,
                                                       void **args_base, void **args,
                                                       int64_t *arg_sizes, int64_t *arg_types)
{
    if (rex_module_check_map(&rex_this_module, device_id, arg_num, args_base, args, arg_sizes,
                             arg_types) == 0)
        __rex_real___tgt_target_data_update(device_id, arg_num, args_base, args, arg_sizes,
                                            arg_types);
}

/*
 * ---- 6. Safe wrappers -------------------------------------------------------------------------
 *
 * REX's names for wrappers that register first, whichever and however many threads arrive at once.
 * The direct wrappers have the same cold path, so the two differ in one test; code says with the
 * name whether it counts on an earlier rex_offload_init(). librex exports functions of the same
 * names for code that includes no header; those find the module by the host key. Where
 * REX_KMP_INTERNAL is defined, they are declared alone: the file may define wrappers of its own by
 * these names, and gets librex's where it does not.
 */

#ifdef REX_KMP_INTERNAL
int rex___tgt_target_kernel(int64_t device_id, int32_t num_teams, int32_t thread_limit,
                            void *host_ptr, struct __tgt_kernel_arguments *args);
int rex___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base,
                           void **args, int64_t *arg_sizes, int64_t *arg_types, int32_t num_teams,
                           int32_t thread_limit);
int rex___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base,
                     void **args, int64_t *arg_sizes, int64_t *arg_types);
void rex___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                                 int64_t *arg_sizes, int64_t *arg_types);
void rex___tgt_target_data_end(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                               int64_t *arg_sizes, int64_t *arg_types);
void rex___tgt_target_data_update(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                                  int64_t *arg_sizes, int64_t *arg_types);
#else

/**
 * rex___tgt_target_kernel(): registers on first use, then as rex_direct___tgt_target_kernel().
 * Returns as rex_module_launch().
 */
static inline int rex___tgt_target_kernel(int64_t device_id, int32_t num_teams,
                                          int32_t thread_limit, void *host_ptr,
                                          struct __tgt_kernel_arguments *args)
{
    return rex_direct___tgt_target_kernel(device_id, num_teams, thread_limit, host_ptr, args);
}

/**
 * rex___tgt_target_teams(): registers on first use, then as rex_direct___tgt_target_teams().
 * Returns as rex_module_launch().
 */
static inline int rex___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num,
                                         void **args_base, void **args, int64_t *arg_sizes,
                                         int64_t *arg_types, int32_t num_teams,
                                         int32_t thread_limit)
{
    return rex_direct___tgt_target_teams(device_id, host_ptr, arg_num, args_base, args, arg_sizes,
                                         arg_types, num_teams, thread_limit);
}

/**
 * rex___tgt_target(): registers on first use, then as rex_direct___tgt_target(). Returns as
 * rex_module_launch().
 */
static inline int rex___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num,
                                   void **args_base, void **args, int64_t *arg_sizes,
                                   int64_t *arg_types)
{
    return rex_direct___tgt_target(device_id, host_ptr, arg_num, args_base, args, arg_sizes,
                                   arg_types);
}

/**
 * rex___tgt_target_data_begin(): registers on first use, then as
 * rex_direct___tgt_target_data_begin().
 */
static inline void rex___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base,
                                               void **args, int64_t *arg_sizes, int64_t *arg_types)
{
    rex_direct___tgt_target_data_begin(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}

/**
 * rex___tgt_target_data_end(): registers on first use, then as rex_direct___tgt_target_data_end().
 */
static inline void rex___tgt_target_data_end(int64_t device_id, int32_t arg_num, void **args_base,
                                             void **args, int64_t *arg_sizes, int64_t *arg_types)
{
    rex_direct___tgt_target_data_end(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}

/**
 * rex___tgt_target_data_update(): registers on first use, then as
 * rex_direct___tgt_target_data_update().
 */
static inline void rex___tgt_target_data_update(int64_t device_id, int32_t arg_num,
                                                void **args_base, void **args, int64_t *arg_sizes,
                                                int64_t *arg_types)
{
    rex_direct___tgt_target_data_update(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}

#endif /* REX_KMP_INTERNAL */

#endif /* REX_BUILDING_LIBRARY */

#ifdef __cplusplus
}
#endif

#include "rex/detail_pop.h"

/*
 * ---- 7. The rewrite ---------------------------------------------------------------------------
 */

#ifndef REX_KMP_INTERNAL
#ifdef REX_KMP_SAFE
/** __tgt_target: code that calls it gets the safe wrapper. */
#define __tgt_target rex___tgt_target
/** __tgt_target_teams: code that calls it gets the safe wrapper. */
#define __tgt_target_teams rex___tgt_target_teams
/** __tgt_target_kernel: code that calls it, with five arguments, gets the safe wrapper. */
#define __tgt_target_kernel rex___tgt_target_kernel
/** __tgt_target_data_begin: code that calls it gets the safe wrapper. */
#define __tgt_target_data_begin rex___tgt_target_data_begin
/** __tgt_target_data_end: code that calls it gets the safe wrapper. */
#define __tgt_target_data_end rex___tgt_target_data_end
/** __tgt_target_data_update: code that calls it gets the safe wrapper. */
#define __tgt_target_data_update rex___tgt_target_data_update
#else
/** __tgt_target: code that calls it gets the direct wrapper. */
#define __tgt_target rex_direct___tgt_target
/** __tgt_target_teams: code that calls it gets the direct wrapper. */
#define __tgt_target_teams rex_direct___tgt_target_teams
/** __tgt_target_kernel: code that calls it, with five arguments, gets the direct wrapper. */
#define __tgt_target_kernel rex_direct___tgt_target_kernel
/** __tgt_target_data_begin: code that calls it gets the direct wrapper. */
#define __tgt_target_data_begin rex_direct___tgt_target_data_begin
/** __tgt_target_data_end: code that calls it gets the direct wrapper. */
#define __tgt_target_data_end rex_direct___tgt_target_data_end
/** __tgt_target_data_update: code that calls it gets the direct wrapper. */
#define __tgt_target_data_update rex_direct___tgt_target_data_update
#endif
#endif

#endif
