/*
 * wrap.h - libomptarget's functions that the recorder stands before. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef ORACLE_WRAP_H
#define ORACLE_WRAP_H

#include <stddef.h>
#include <stdint.h>

#include "recorder.h"

/* The packet of a launch, LLVM 15 on; the part that is recorded. */
struct packet {
    uint32_t version, count;
    void **base, **begin;
    int64_t *sizes, *types;
    void **names, **mappers;
    uint64_t trip_count, flags;
};

#define MAP_P int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types
#define MAPPER_P void *loc, MAP_P, void **names, void **mappers
#define NOWAIT_P MAPPER_P, int32_t depend_count, void *depend, int32_t no_alias_count, void *no_alias

/* X(type, name without "__tgt_", parameters) */
#define WRAPPED(X)                                                                                                      \
    X(int, target_kernel, (void *loc, int64_t device, int32_t teams, int32_t threads, void *key, struct packet *packet)) \
    X(int, target_teams_mapper,                                                                                         \
      (void *loc, int64_t device, void *key, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types,  \
       void **names, void **mappers, int32_t teams, int32_t threads))                                                   \
    X(void, target_data_begin, (MAP_P))                                                                                 \
    X(void, target_data_end, (MAP_P))                                                                                   \
    X(void, target_data_update, (MAP_P))                                                                                \
    X(void, target_data_begin_mapper, (MAPPER_P))                                                                       \
    X(void, target_data_end_mapper, (MAPPER_P))                                                                         \
    X(void, target_data_update_mapper, (MAPPER_P))                                                                      \
    X(void, target_data_begin_nowait_mapper, (NOWAIT_P))                                                                \
    X(void, target_data_end_nowait_mapper, (NOWAIT_P))                                                                  \
    X(void, target_data_update_nowait_mapper, (NOWAIT_P))                                                               \
    X(int64_t, mapper_num_components, (void *handle))                                                                   \
    X(void, push_mapper_component,                                                                                      \
      (void *handle, void *base, void *begin, int64_t size, int64_t type, void *name))

#endif
