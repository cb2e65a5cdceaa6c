/*
 * like.c - a launch with a map that is like the one before.
 *
 * It has the same kernel, and as many rows of the same types and sizes. Their memory was found on
 * the device in this generation of the mappings. So no check is needed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/like.h"

#include <stdlib.h>

#include "base/stackguard.h"
#include "cuda/context.h"
#include "launch/packet.h"
#include "memory/presence.h"
#include "omp/flight.h"
#include "omp/openmp.h"
#include "omp/runtime.h"

static inline bool is_same(const struct rex_shape *shape, enum rex_purpose purpose,
                           const struct rex_map *map)
{
    if (shape->count != map->count || shape->purpose != (int32_t)purpose)
        return false;
    int64_t differences = 0;
    for (int32_t i = 0; i < shape->count; i++)
        differences |=
            (shape->rows[i].size ^ map->sizes[i]) | (shape->rows[i].type ^ map->types[i]);
    return differences == 0;
}

static inline const struct rex_shape *find(const struct rex_kernel *last, enum rex_purpose purpose,
                                           const struct rex_map *map)
{
    const struct rex_shape *shape = __atomic_load_n(&last->shapes, __ATOMIC_ACQUIRE);
    while (shape != NULL && !is_same(shape, purpose, map))
        shape = shape->next;
    return shape;
}

static inline bool rows_hold(const struct rex_kernel *last, enum rex_purpose purpose,
                             const struct rex_map *map, int number)
{
    const struct rex_shape *shape = find(last, purpose, map);
    return shape != NULL && rex_rows_were_found(map, (const int32_t *)&shape->rows[shape->count],
                                                shape->looked_up, number);
}

/* The device of a launch like the one before; false if the number has to be checked. */
static inline bool number_of(int64_t device, int *number)
{
    int64_t asked = device == -1 ? rex_openmp_default_device() : device;
    *number = (int)asked;
    return (uint64_t)asked < rex_thread.flight.devices;
}

/* One dimension, no dynamic shared memory: nothing to check or fit. */
static inline bool is_usual(const struct rex_launch_config *launch, uint64_t most_teams,
                            uint64_t most_threads)
{
    return launch->teams[0] - 1 < most_teams && launch->threads[0] - 1 < most_threads &&
           (launch->teams[1] | launch->teams[2] | launch->threads[1] | launch->threads[2]) <= 1 &&
           launch->dynamic_memory == 0;
}

static inline bool has_columns(const struct rex_map *map)
{
    return rex_are_columns(map->base, map->begin, map->sizes, map->types) && map->mappers == NULL;
}

/* The packet that rex_packet_of() and rex_packet_fit() would make for a launch that is_usual(). */
static inline struct __tgt_kernel_arguments packet_of(const struct rex_kernel *last,
                                                      const struct rex_launch_config *launch,
                                                      const struct rex_map *map)
{
    return (struct __tgt_kernel_arguments){
        .Version = (int32_t)last->version,
        .NumArgs = map->count,
        .ArgsBase = map->base,
        .Args = map->begin,
        .ArgSizes = (int64_t *)(uintptr_t)map->sizes, /* libomptarget does not write to them */
        .ArgTypes = (int64_t *)(uintptr_t)map->types,
        .Tripcount = (int64_t)launch->trip_count,
        .Flags = (int64_t)rex_packet_flags(launch),
        .Teams = {(int32_t)launch->teams[0], 1, 1},
        .Threads = {(int32_t)launch->threads[0], 1, 1},
    };
}

/* The caller has counted itself in flight. */
static inline int launch_like(const struct rex_registration *registration,
                              const struct rex_launch_config *launch, const struct rex_map *map,
                              enum rex_purpose purpose)
{
    const struct rex_kernel *last = rex_last_launch(registration, launch->key);
    int number;
    if (last->key != launch->key || !number_of(launch->device, &number) || !has_columns(map) ||
        !is_usual(launch, registration->most_teams, last->most_threads) ||
        rex_any_device_is_lost() || !rows_hold(last, purpose, map, number))
        return REX_NOT_LIKE;
    struct __tgt_kernel_arguments packet = packet_of(last, launch, map);
    return rex_real.target_kernel(registration->location, launch->device, packet.Teams[0],
                                  packet.Threads[0], (void *)(uintptr_t)launch->key, &packet);
}

REX_NO_STACK_GUARD
int rex_launch_like(const struct rex_module *module, const struct rex_launch_config *launch,
                    const struct rex_map *map, enum rex_purpose purpose)
{
    const struct rex_registration *registration = rex_registration_of(module);
    if (registration == NULL)
        return REX_NOT_LIKE;
    rex_flight_begin();
    int result = launch_like(registration, launch, map, purpose);
    rex_flight_end();
    return result;
}

/* ---- a new shape ----------------------------------------------------------------------------- */

/* Pointers, members and mappers use memory that the columns do not tell. */
static bool is_simple(const struct rex_map *map)
{
    bool simple = map->mappers == NULL;
    for (int32_t i = 0; i < map->count; i++)
        simple &= !rex_row_has(map->types[i], REX_MAP_PTR_AND_OBJ | REX_MAP_MEMBER_OF_MASK);
    return simple;
}

static struct rex_shape *new_shape(enum rex_purpose purpose, const struct rex_map *map)
{
    size_t count = (size_t)map->count;
    struct rex_shape *shape =
        malloc(sizeof *shape + count * (sizeof *shape->rows + sizeof(int32_t)));
    if (shape == NULL)
        return NULL;
    *shape = (struct rex_shape){.purpose = (int32_t)purpose, .count = map->count};
    int32_t *rows = (int32_t *)&shape->rows[count];
    for (int32_t i = 0; i < map->count; i++) {
        shape->rows[i].size = map->sizes[i];
        shape->rows[i].type = map->types[i];
        if (rex_row_is_looked_up(map, i, purpose))
            rows[shape->looked_up++] = i;
    }
    return shape;
}

/* Adds by compare-and-swap: if two threads add at once, the second one looks again. */
void rex_shape_remember(const struct rex_target *target, enum rex_purpose purpose,
                        const struct rex_map *map)
{
    struct rex_kernel *kernel = target->kernel;
    struct rex_shape *first = __atomic_load_n(&kernel->shapes, __ATOMIC_ACQUIRE), *made = NULL;
    for (;;) {
        int shapes = 0;
        for (const struct rex_shape *shape = first; shape != NULL; shape = shape->next)
            shapes += is_same(shape, purpose, map) ? REX_SHAPES : 1;
        if (shapes >= REX_SHAPES || !is_simple(map) ||
            (made == NULL && (made = new_shape(purpose, map)) == NULL))
            break;
        made->next = first;
        if (__atomic_compare_exchange_n(&kernel->shapes, &first, made, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return;
    }
    free(made);
}
