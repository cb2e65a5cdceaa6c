/*
 * rex/kmpc.h - libomp's `__kmpc_*` functions, which outlined host code calls.
 *
 * libomp defines these functions: a program that calls them must link libomp. The calls fit
 * libomp's own signatures (kmp.h, kmp_csupport.cpp, kmp_tasking.cpp), which are unchanged from LLVM
 * 14 to 24. Some parameters have other types here than in libomp, so that generated code, such as
 * REX's, can pass arguments of its own types. Such a parameter is a `void *`, or a macro casts the
 * argument. @loc may be NULL. @gtid is the value of __kmpc_global_thread_num().
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
 * kmpc_micro_t: the function of an outlined parallel region. Its arguments are the address of the
 * global thread ID, the address of the bound thread ID, and the shared variables.
 */
typedef void (*kmpc_micro_t)(int32_t *global_tid, int32_t *bound_tid, ...);
/** kmpc_micro: LLVM's own name of kmpc_micro_t. */
typedef kmpc_micro_t kmpc_micro;
/** kmp_critical_name: the lock of a named critical section; static, initialised with zeros. */
typedef int32_t kmp_critical_name[8];
/**
 * kmp_routine_entry_t: the body of a task; its arguments are the global thread ID and the
 * kmp_task_t.
 */
typedef int32_t (*kmp_routine_entry_t)(int32_t gtid, void *task);
/**
 * kmp_task_t: the head of a task of __kmpc_omp_task_alloc(); the task's private data follows the
 * head.
 */
typedef struct kmp_task {
    void *shareds;               /**< block of pointers to shared variables. */
    kmp_routine_entry_t routine; /**< body of the task. */
    int32_t part_id;             /**< number of the part that runs next, in an untied task. */
} kmp_task_t;

/** __kmpc_global_thread_num(): returns the calling thread's global ID. */
int32_t __kmpc_global_thread_num(ident_t *loc);
/** __kmpc_push_num_threads(): sets the number of threads of the next parallel region. */
void __kmpc_push_num_threads(ident_t *loc, int32_t gtid, int32_t num_threads);
/**
 * __kmpc_fork_call(): runs @microtask on a team of threads, and passes to @microtask the @argc
 * pointers that follow @microtask. In a file that does not define REX_KMP_INTERNAL (rex_kmp.h), a
 * macro casts @microtask. So @microtask can be a function of any type, or a `void *`.
 */
void __kmpc_fork_call(ident_t *loc, int32_t argc, kmpc_micro_t microtask, ...);
/**
 * __kmpc_serialized_parallel(): begins a parallel region of one thread. Ignore the result: libomp
 * returns nothing, but REX's output expects an int.
 */
int32_t __kmpc_serialized_parallel(ident_t *loc, int32_t gtid);
/** __kmpc_end_serialized_parallel(): ends a parallel region of one thread. */
void __kmpc_end_serialized_parallel(ident_t *loc, int32_t gtid);
/**
 * __kmpc_for_static_init_4(): computes this thread's part of a statically scheduled loop, 32-bit
 * signed.
 */
void __kmpc_for_static_init_4(ident_t *loc, int32_t gtid, int32_t schedule, int32_t *last,
                              int32_t *lower, int32_t *upper, int32_t *stride, int32_t increment,
                              int32_t chunk);
/**
 * __kmpc_for_static_init_4u(): computes this thread's part of a statically scheduled loop, 32-bit
 * unsigned.
 */
void __kmpc_for_static_init_4u(ident_t *loc, int32_t gtid, int32_t schedule, int32_t *last,
                               uint32_t *lower, uint32_t *upper, int32_t *stride, int32_t increment,
                               int32_t chunk);
/**
 * __kmpc_for_static_init_8(): computes this thread's part of a statically scheduled loop, 64-bit
 * signed.
 */
void __kmpc_for_static_init_8(ident_t *loc, int32_t gtid, int32_t schedule, int32_t *last,
                              int64_t *lower, int64_t *upper, int64_t *stride, int64_t increment,
                              int64_t chunk);
/**
 * __kmpc_for_static_init_8u(): computes this thread's part of a statically scheduled loop, 64-bit
 * unsigned.
 */
void __kmpc_for_static_init_8u(ident_t *loc, int32_t gtid, int32_t schedule, int32_t *last,
                               uint64_t *lower, uint64_t *upper, int64_t *stride, int64_t increment,
                               int64_t chunk);
/** __kmpc_for_static_fini(): ends a statically scheduled loop. */
void __kmpc_for_static_fini(ident_t *loc, int32_t gtid);
/** __kmpc_dispatch_init_4(): begins a dynamically scheduled loop, 32-bit signed. */
void __kmpc_dispatch_init_4(ident_t *loc, int32_t gtid, int32_t schedule, int32_t lower,
                            int32_t upper, int32_t stride, int32_t chunk);
/** __kmpc_dispatch_init_4u(): begins a dynamically scheduled loop, 32-bit unsigned. */
void __kmpc_dispatch_init_4u(ident_t *loc, int32_t gtid, int32_t schedule, uint32_t lower,
                             uint32_t upper, int32_t stride, int32_t chunk);
/** __kmpc_dispatch_init_8(): begins a dynamically scheduled loop, 64-bit signed. */
void __kmpc_dispatch_init_8(ident_t *loc, int32_t gtid, int32_t schedule, int64_t lower,
                            int64_t upper, int64_t stride, int64_t chunk);
/** __kmpc_dispatch_init_8u(): begins a dynamically scheduled loop, 64-bit unsigned. */
void __kmpc_dispatch_init_8u(ident_t *loc, int32_t gtid, int32_t schedule, uint64_t lower,
                             uint64_t upper, int64_t stride, int64_t chunk);
/**
 * __kmpc_dispatch_next_4(): computes the next chunk of the loop, 32-bit signed. Returns 0 if no
 * chunk is left, otherwise 1.
 */
int32_t __kmpc_dispatch_next_4(ident_t *loc, int32_t gtid, int32_t *last, int32_t *lower,
                               int32_t *upper, int32_t *stride);
/**
 * __kmpc_dispatch_next_4u(): computes the next chunk of the loop, 32-bit unsigned. Returns 0 if no
 * chunk is left, otherwise 1.
 */
int32_t __kmpc_dispatch_next_4u(ident_t *loc, int32_t gtid, int32_t *last, uint32_t *lower,
                                uint32_t *upper, int32_t *stride);
/**
 * __kmpc_dispatch_next_8(): computes the next chunk of the loop, 64-bit signed. Returns 0 if no
 * chunk is left, otherwise 1.
 */
int32_t __kmpc_dispatch_next_8(ident_t *loc, int32_t gtid, int32_t *last, int64_t *lower,
                               int64_t *upper, int64_t *stride);
/**
 * __kmpc_dispatch_next_8u(): computes the next chunk of the loop, 64-bit unsigned. Returns 0 if no
 * chunk is left, otherwise 1.
 */
int32_t __kmpc_dispatch_next_8u(ident_t *loc, int32_t gtid, int32_t *last, uint64_t *lower,
                                uint64_t *upper, int64_t *stride);
/** __kmpc_barrier(): waits for all threads of the team. */
void __kmpc_barrier(ident_t *loc, int32_t gtid);
/** __kmpc_critical(): enters a critical section; @lock points to a kmp_critical_name (32 bytes). */
void __kmpc_critical(ident_t *loc, int32_t gtid, void *lock);
/** __kmpc_end_critical(): leaves a critical section. */
void __kmpc_end_critical(ident_t *loc, int32_t gtid, void *lock);
/** __kmpc_single(): returns 1 to the thread that runs a single construct, 0 to the others. */
int32_t __kmpc_single(ident_t *loc, int32_t gtid);
/**
 * __kmpc_end_single(): ends a single construct; only the thread that runs the construct calls this.
 */
void __kmpc_end_single(ident_t *loc, int32_t gtid);
/** __kmpc_master(): returns 1 to the team's first thread, 0 to the others. */
int32_t __kmpc_master(ident_t *loc, int32_t gtid);
/** __kmpc_end_master(): ends a master construct; only the team's first thread calls this. */
void __kmpc_end_master(ident_t *loc, int32_t gtid);
/** __kmpc_atomic_start(): begins an atomic update for which libomp has no function. */
void __kmpc_atomic_start(void);
/** __kmpc_atomic_end(): ends an atomic update. */
void __kmpc_atomic_end(void);
/**
 * __kmpc_omp_task_alloc(): allocates a task. @size_task is the size of the task in bytes, including
 * the kmp_task_t. In a file that does not define REX_KMP_INTERNAL (rex_kmp.h), a macro casts
 * @entry. So @entry can be a function of any type, or a `void *`.
 */
kmp_task_t *__kmpc_omp_task_alloc(ident_t *loc, int32_t gtid, int32_t flags, size_t size_task,
                                  size_t size_shareds, kmp_routine_entry_t entry);
/** __kmpc_omp_task(): makes the @task of __kmpc_omp_task_alloc() ready to run. */
int32_t __kmpc_omp_task(ident_t *loc, int32_t gtid, void *task);
/** __kmpc_omp_taskwait(): waits for the current task's children. */
int32_t __kmpc_omp_taskwait(ident_t *loc, int32_t gtid);
/** __kmpc_taskgroup(): begins a task group. */
void __kmpc_taskgroup(ident_t *loc, int32_t gtid);
/** __kmpc_end_taskgroup(): waits for the tasks of the task group, and ends the group. */
void __kmpc_end_taskgroup(ident_t *loc, int32_t gtid);
/** __kmpc_flush(): executes a memory fence. */
void __kmpc_flush(ident_t *loc);

#ifndef REX_KMP_INTERNAL
/*
 * The function of a generated region has a parameter for each shared variable, and the function of
 * a generated task has a parameter of the task's own type. These macros cast both functions to the
 * types that libomp's functions take.
 */
/* __kmpc_fork_call(): calls libomp's function, and casts the function of the region. */
#define __kmpc_fork_call(loc, argc, ...) \
    __kmpc_fork_call(loc, argc, __extension__(kmpc_micro_t)(void (*)(void)) __VA_ARGS__)
/* __kmpc_omp_task_alloc(): calls libomp's function, and casts the function of the task. */
#define __kmpc_omp_task_alloc(loc, gtid, flags, size_task, size_shareds, ...) \
    __kmpc_omp_task_alloc(loc, gtid, flags, size_task, size_shareds,          \
                          __extension__(kmp_routine_entry_t)(void (*)(void))(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#endif
