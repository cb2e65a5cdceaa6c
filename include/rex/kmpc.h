/*
 * rex/kmpc.h - libomp's `__kmpc_*` functions, which outlined host code calls.
 *
 * The functions are libomp's: code that calls them links libomp. The signatures are those that
 * generated code calls, REX's among it: libomp's own (kmp.h, kmp_csupport.cpp, kmp_tasking.cpp, the
 * same from LLVM 14 to 24), but `void *` or a cast if a generator passes a type of its own. @loc
 * may be NULL. @gtid is the value of __kmpc_global_thread_num().
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_KMPC_H
#define REX_KMPC_H

#include <stddef.h>
#include <stdint.h>

#include "rex/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kmpc_micro_t: an outlined parallel region: (&global thread id, &bound thread id, shared
 * variables...).
 */
typedef void (*kmpc_micro_t)(int32_t *global_tid, int32_t *bound_tid, ...);
/** kmpc_micro: LLVM's own name of the type. */
typedef kmpc_micro_t kmpc_micro;
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
/**
 * __kmpc_fork_call(): runs @microtask on a team; @argc counts the pointers that follow. Without
 * REX_KMP_INTERNAL @microtask is a function of any type, or a `void *`, without a cast.
 */
void __kmpc_fork_call(ident_t *loc, int32_t argc, kmpc_micro_t microtask, ...);
/**
 * __kmpc_serialized_parallel(): begins a parallel region of one thread. Ignore the result: libomp
 * returns nothing, but REX declares an int.
 */
int32_t __kmpc_serialized_parallel(ident_t *loc, int32_t gtid);
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
/** __kmpc_critical(): enters a critical section; @lock points to 32 bytes, a kmp_critical_name. */
void __kmpc_critical(ident_t *loc, int32_t gtid, void *lock);
/** __kmpc_end_critical(): leaves it. */
void __kmpc_end_critical(ident_t *loc, int32_t gtid, void *lock);
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
/**
 * __kmpc_omp_task_alloc(): allocates a task; sizes in bytes, including kmp_task_t. Without
 * REX_KMP_INTERNAL @entry is a function of any type, or a `void *`, without a cast.
 */
kmp_task_t *__kmpc_omp_task_alloc(ident_t *loc, int32_t gtid, int32_t flags, size_t size_task,
                                  size_t size_shareds, kmp_routine_entry_t entry);
/** __kmpc_omp_task(): makes a task ready to run; @task is what __kmpc_omp_task_alloc() returned. */
int32_t __kmpc_omp_task(ident_t *loc, int32_t gtid, void *task);
/** __kmpc_omp_taskwait(): waits for the current task's children. */
int32_t __kmpc_omp_taskwait(ident_t *loc, int32_t gtid);
/** __kmpc_taskgroup(): begins a task group. */
void __kmpc_taskgroup(ident_t *loc, int32_t gtid);
/** __kmpc_end_taskgroup(): waits for the group's tasks and ends it. */
void __kmpc_end_taskgroup(ident_t *loc, int32_t gtid);
/** __kmpc_flush(): a memory fence. */
void __kmpc_flush(ident_t *loc);

#ifndef REX_KMP_INTERNAL
/*
 * Generated regions have a parameter for each pointer, and generated tasks a type of their own. The
 * library's functions take neither without a cast.
 */
/* __kmpc_fork_call(): the function, with the region cast. */
#define __kmpc_fork_call(loc, argc, ...) \
    __kmpc_fork_call(loc, argc, __extension__(kmpc_micro_t)(void (*)(void)) __VA_ARGS__)
/* __kmpc_omp_task_alloc(): the function, with the body of the task cast. */
#define __kmpc_omp_task_alloc(loc, gtid, flags, size_task, size_shareds, ...) \
    __kmpc_omp_task_alloc(loc, gtid, flags, size_task, size_shareds,          \
                          __extension__(kmp_routine_entry_t)(void (*)(void))(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#endif
