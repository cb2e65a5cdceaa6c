/*
 * entrypoints.h - the table of libomptarget's entry points.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENTRYPOINTS_H
#define REX_INTERNAL_ENTRYPOINTS_H

#include <stdbool.h>
#include <stdint.h>

#ifndef REX_BUILDING_LIBRARY
#define REX_BUILDING_LIBRARY
#endif
#ifndef REX_KMP_INTERNAL
#define REX_KMP_INTERNAL
#endif
#include "rex_kmp.h"

/*
 * For each parameter list that entry points share: NAME_P declares the parameters, and NAME_A
 * passes them on.
 */
#define MAP_P \
    int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types
#define MAP_A device, count, base, begin, sizes, types
#define MAPPER_P ident_t *loc, MAP_P, void **names, void **mappers
#define MAPPER_A loc, MAP_A, names, mappers
#define DEP_P int32_t depend_count, void *depend, int32_t no_alias_count, void *no_alias
#define DEP_A depend_count, depend, no_alias_count, no_alias
#define TARGET_P                                                                         \
    int64_t device, void *key, int32_t count, void **base, void **begin, int64_t *sizes, \
        int64_t *types
#define TARGET_A device, key, count, base, begin, sizes, types
#define TARGET_MAPPER_P ident_t *loc, TARGET_P, void **names, void **mappers
#define TARGET_MAPPER_A loc, TARGET_A, names, mappers
#define GRID_P int32_t teams, int32_t threads
#define GRID_A teams, threads
#define KERNEL_P \
    ident_t *loc, int64_t device, GRID_P, void *key, struct __tgt_kernel_arguments *args
#define KERNEL_A loc, device, GRID_A, key, args
#define INTEROP_P                                                                     \
    ident_t *loc, int32_t gtid, void **interop, int32_t device, int32_t depend_count, \
        void *depend, int32_t nowait
#define INTEROP_A loc, gtid, interop, device, depend_count, depend, nowait

/*
 * Twelve parameters of one word, for entry points whose parameters differ between releases. Integer
 * and pointer arguments pass unchanged, in registers and on the stack. The callee ignores words
 * after its own parameters.
 */
#define WORDS_P                                                                                \
    uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, \
        uintptr_t h, uintptr_t i, uintptr_t j, uintptr_t k, uintptr_t l
#define WORDS_A a, b, c, d, e, f, g, h, i, j, k, l

/*
 * X(return type, name without "__tgt_", (parameters), (arguments), result if the bound libomptarget
 * lacks the function). The table has every `__tgt_` symbol that LLVM 14 to 24 export, with the
 * signature of interface.cpp. The parameter depend_count of `__tgt_interop_init` has 64 bits before
 * LLVM 18, and 32 bits in later releases. 64-bit machines pass both in the same way.
 */
#define REX_ENTRY_POINTS(X) \
    REX_REGISTERING(X)      \
    REX_ENDING(X)           \
    REX_ENDING_LATER(X)     \
    REX_FORWARDED(X)
/* These functions register and end modules. module/adopt.c exports them. */
#define REX_REGISTERING(X)                                          \
    X(void, register_lib, (struct __tgt_bin_desc * desc), (desc), ) \
    X(void, unregister_lib, (struct __tgt_bin_desc * desc), (desc), )
/*
 * These functions end mappings (REX_ENDING), or may end mappings of earlier calls
 * (REX_ENDING_LATER). The exports of these lists and of REX_REGISTERING are functions of librex.
 * All other exports are jumps to the functions in their slots (calls/forward.c). Functions of the
 * _MAPPER lists take names and mappers of rows. Functions of the _BARE lists do not.
 */
#define REX_ENDING(X)                 \
    REX_DATA_BARE(X, target_data_end) \
    REX_DATA_MAPPER(X, target_data_end)
#define REX_DATA_BARE(X, name)        \
    X(void, name, (MAP_P), (MAP_A), ) \
    X(void, name##_nowait, (MAP_P, DEP_P), (MAP_A, DEP_A), )
#define REX_DATA_MAPPER(X, name)                     \
    X(void, name##_mapper, (MAPPER_P), (MAPPER_A), ) \
    X(void, name##_nowait_mapper, (MAPPER_P, DEP_P), (MAPPER_A, DEP_A), )
#define REX_ENDING_LATER(X)           \
    X(void, rtl_deinit, (void), (), ) \
    X(void, target_nowait_query, (void **handle), (handle), )
/* These functions make mappings (REX_BEGINNING), or copy mapped memory (REX_UPDATING). */
#define REX_BEGINNING(X)                \
    REX_DATA_BARE(X, target_data_begin) \
    REX_DATA_MAPPER(X, target_data_begin)
#define REX_UPDATING(X)                  \
    REX_DATA_BARE(X, target_data_update) \
    REX_DATA_MAPPER(X, target_data_update)
/* These functions launch without a grid, with a grid, or with a packet. */
#define REX_LAUNCHING(X)          \
    REX_LAUNCHING_BARE(X)         \
    REX_LAUNCHING_MAPPER(X)       \
    REX_LAUNCHING_TEAMS_BARE(X)   \
    REX_LAUNCHING_TEAMS_MAPPER(X) \
    REX_LAUNCHING_PACKET(X)
#define REX_LAUNCHING_BARE(X)                  \
    X(int, target, (TARGET_P), (TARGET_A), -1) \
    X(int, target_nowait, (TARGET_P, DEP_P), (TARGET_A, DEP_A), -1)
#define REX_LAUNCHING_MAPPER(X)                                     \
    X(int, target_mapper, (TARGET_MAPPER_P), (TARGET_MAPPER_A), -1) \
    X(int, target_nowait_mapper, (TARGET_MAPPER_P, DEP_P), (TARGET_MAPPER_A, DEP_A), -1)
#define REX_LAUNCHING_TEAMS_BARE(X)                                  \
    X(int, target_teams, (TARGET_P, GRID_P), (TARGET_A, GRID_A), -1) \
    X(int, target_teams_nowait, (TARGET_P, GRID_P, DEP_P), (TARGET_A, GRID_A, DEP_A), -1)
#define REX_LAUNCHING_TEAMS_MAPPER(X)                                                     \
    X(int, target_teams_mapper, (TARGET_MAPPER_P, GRID_P), (TARGET_MAPPER_A, GRID_A), -1) \
    X(int, target_teams_nowait_mapper, (TARGET_MAPPER_P, GRID_P, DEP_P),                  \
      (TARGET_MAPPER_A, GRID_A, DEP_A), -1)
#define REX_LAUNCHING_PACKET(X)                       \
    X(int, target_kernel, (KERNEL_P), (KERNEL_A), -1) \
    X(int, target_kernel_nowait, (KERNEL_P, DEP_P), (KERNEL_A, DEP_A), -1)
/* These functions use devices, but do not map or launch. */
#define REX_DEVICE_CALLS(X)                                                       \
    X(int, print_device_info, (int64_t device), (device), 0)                      \
    X(void, interop_init,                                                         \
      (ident_t * loc, int32_t gtid, void **interop, int32_t type, int32_t device, \
       int64_t depend_count, void *depend, int32_t nowait),                       \
      (loc, gtid, interop, type, device, depend_count, depend, nowait), )         \
    X(void, interop_use, (INTEROP_P), (INTEROP_A), )                              \
    X(void, interop_destroy, (INTEROP_P), (INTEROP_A), )                          \
    X(uintptr_t, interop_get, (WORDS_P), (WORDS_A), 0)                            \
    X(uintptr_t, interop_use60, (WORDS_P), (WORDS_A), (uintptr_t)-1)              \
    X(uintptr_t, interop_release, (WORDS_P), (WORDS_A), (uintptr_t)-1)            \
    X(uintptr_t, target_sync, (WORDS_P), (WORDS_A), 0)                            \
    X(uintptr_t, activate_record_replay, (WORDS_P), (WORDS_A), (uintptr_t)-1)     \
    X(uintptr_t, target_kernel_replay, (WORDS_P), (WORDS_A), (uintptr_t)-1)
#define REX_FORWARDED(X)                                                                \
    REX_BEGINNING(X)                                                                    \
    REX_UPDATING(X)                                                                     \
    REX_LAUNCHING(X)                                                                    \
    REX_DEVICE_CALLS(X)                                                                 \
    X(void *, get_mapped_ptr, (int64_t device, const void *host), (device, host), NULL) \
    X(void, register_requires, (int64_t flags), (flags), )                              \
    X(void, init_all_rtls, (void), (), )                                                \
    X(void, rtl_init, (void), (), )                                                     \
    X(int64_t, mapper_num_components, (void *handle), (handle), 0)                      \
    X(void, push_mapper_component,                                                      \
      (void *handle, void *base, void *begin, int64_t size, int64_t type, void *name),  \
      (handle, base, begin, size, type, name), )                                        \
    X(void, set_info_flag, (uint32_t flag), (flag), )                                   \
    X(uintptr_t, register_rpc_callback, (WORDS_P), (WORDS_A), 0)

/*
 * The functions to which the exported functions jump. Each member has the name of its export
 * without "__tgt_". Before libomptarget is bound, the members are functions that bind it first.
 * After the binding, the members are functions of libomptarget, or functions of calls/calls.c
 * that call libomptarget (calls/forward.c).
 */
struct rex_entry_points {
#define SLOT(type, name, parameters, arguments, missing) type(*name) parameters;
    REX_ENTRY_POINTS(SLOT)
#undef SLOT
};

#endif
