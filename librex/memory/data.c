/*
 * data.c - data regions, enter and exit data, updates.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/data.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "memory/presence.h"
#include "memory/returned.h"
#include "memory/rowcopies.h"
#include "module/modules.h"
#include "omp/callreport.h"
#include "omp/calls.h"
#include "omp/columns.h"
#include "omp/flight.h"
#include "omp/presentcalls.h"
#include "omp/runtime.h"
#include "omp/unfinished.h"
#include "rex/launch.h"

/*
 * Checks a data call without a look at the mappings. Returns 0 and the number of the device, an
 * error, or REX_EHOST if the device is the host.
 */
static int prepare(struct rex_module *module, int64_t device, const struct rex_map *map,
                   enum rex_purpose purpose, const char *what, int *on_device)
{
    int number = 0,
        result = map != NULL ? rex_module_ready_for_data(module, what) : rex_fail_null(what, "map");
    if (result == REX_OK)
        result = rex_flight_check();
    if (result == REX_OK)
        result = rex_check_rows(map, purpose, what);
    if (result == REX_OK)
        result = rex_device_offload(device, &number);
    if (result == REX_OK)
        result = rex_device_lost(number, what);
    if (result == REX_OK)
        *on_device = number;
    return result;
}

static int check_mapped(const struct rex_map *map, enum rex_purpose purpose, int number,
                        const char *what, struct rex_new_rows *made)
{
    int result = rex_check_presence(map, purpose, number, what, made);
    if (result == REX_OK && purpose == REX_FOR_END)
        result = rex_before_unmap(map, number, what);
    if (result == REX_OK)
        rex_device_used();
    return result;
}

static bool any_row_has(const struct rex_map *map, int64_t bits)
{
    int64_t all = 0;
    for (int32_t i = 0; map != NULL && map->types != NULL && i < map->count; i++)
        all |= map->types[i];
    return (all & bits) != 0;
}

/*
 * The rows that end a reference, which a member without an attached pointer does not: its parent
 * does.
 */
static int collect(const struct rex_map *map, struct rex_new_rows *rows)
{
    int result = REX_OK;
    for (int32_t i = 0; i < map->count && result == REX_OK; i++) {
        struct rex_new_row row = {(uintptr_t)map->begin[i],
                                  rex_end_of(map->begin[i], (size_t)map->sizes[i]), i, false,
                                  false};
        if (!(map->types[i] & REX_MAP_MEMBER_OF_MASK) || (map->types[i] & REX_MAP_PTR_AND_OBJ))
            result = rex_new_rows_add(rows, row);
    }
    return result;
}

/* Returns 1 if two rows lie in one mapping, adjacent or not. */
static int share_a_mapping(const struct rex_map *map, int number)
{
    struct rex_new_rows rows;
    int share = 0;
    rex_new_rows_open(&rows);
    if (collect(map, &rows) == REX_OK) {
        const struct rex_new_row *row = rex_new_rows_all(&rows);
        rex_new_rows_sort(&rows);
        for (size_t i = 1; i < rows.count && !share; i++)
            share = rex_memory_presence((const void *)row[i - 1].begin,
                                        row[i].begin + 1 - row[i - 1].begin,
                                        number) == REX_PRESENT_WHOLE;
    }
    rex_new_rows_free(&rows);
    return share;
}

/*
 * Rows are ended from the last to the first, as libomptarget does. A member can be ended without
 * its parent: libomptarget only asks whether a row is a member, not of which row.
 */
static int end_one_by_one(int64_t device, const struct rex_map *map, const char *what)
{
    int result = REX_OK;
    for (int32_t i = map->count - 1; i >= 0 && result == REX_OK; i--) {
        struct rex_map row = rex_rows_from(map, i, 1);
        result = rex_call_data(REX_DATA_END, what, device, &row);
    }
    return result;
}

static int end(int64_t device, const struct rex_map *map, int number, const char *what)
{
    const struct rex_release *release = rex_runtime();
    bool aborts =
        release->one_end_a_call || (release->one_delete_a_call && any_row_has(map, REX_MAP_DELETE));
    bool apart = aborts && share_a_mapping(map, number);
    struct rex_map ended = *map;
    rex_present_enter(REX_CALL_ENDS, map, number);
    int64_t *types = rex_rows_copy_back(map, number);
    if (types != NULL)
        ended.types = types;
    int result = apart ? end_one_by_one(device, &ended, what)
                       : rex_call_data(REX_DATA_END, what, device, &ended);
    rex_present_leave(REX_CALL_ENDS, map, number, false);
    free(types);
    if (result == REX_OK && any_row_has(map, REX_MAP_RETURN_PARAM))
        rex_returned_put_back(map);
    return result;
}

static int begin(int64_t device, const struct rex_map *map, int number, const char *what)
{
    struct rex_returned *returned = NULL;
    int result = REX_OK;
    if (any_row_has(map, REX_MAP_RETURN_PARAM)) {
        rex_returned_put_back(map);
        result = rex_returned_prepare(map, &returned);
    }
    if (result != REX_OK)
        return result;
    rex_present_enter(REX_CALL_BEGINS, map, number);
    result = rex_rows_begin(what, device, number, map);
    if (returned != NULL)
        rex_returned_add(returned);
    rex_present_leave(REX_CALL_BEGINS, map, number, result != REX_OK);
    return result;
}

static int call_checked(int64_t device, const struct rex_map *map, enum rex_purpose purpose,
                        int number, const char *what)
{
    struct rex_new_rows made;
    rex_new_rows_open(&made);
    int result = check_mapped(map, purpose, number, what, &made);
    if (result == REX_OK)
        rex_map_log(what, device, map);
    if (result == REX_OK && purpose == REX_FOR_UPDATE)
        result = rex_rows_update(what, device, number, map);
    else if (result == REX_OK)
        result = purpose == REX_FOR_END ? end(device, map, number, what)
                                        : begin(device, map, number, what);
    rex_new_rows_free(&made);
    return result;
}

/* The mappings that an update finds stay until it returns. */
static int update(int64_t device, const struct rex_map *map, int number, const char *what)
{
    rex_present_enter(REX_CALL_UPDATES, map, number);
    int result = call_checked(device, map, REX_FOR_UPDATE, number, what);
    rex_present_leave(REX_CALL_UPDATES, map, number, false);
    return result;
}

static int call(struct rex_module *module, int64_t device, const struct rex_map *map,
                enum rex_purpose purpose, const char *what)
{
    int number = 0, result = prepare(module, device, map, purpose, what, &number);
    if (result != REX_OK)
        return result == REX_EHOST ? REX_OK : result;
    return purpose == REX_FOR_UPDATE ? update(device, map, number, what)
                                     : call_checked(device, map, purpose, number, what);
}

int rex_module_data_enter(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    return call(module, device, map, REX_FOR_BEGIN, "data begin");
}

int rex_map_for_launch(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    return call(module, device, map, REX_FOR_LAUNCH, "data begin");
}

/*
 * Asks no queue. A queue uses mappings that were there before its command, and the launch only
 * drops its reference to them.
 */
int rex_unmap_after_launch(int64_t device, const struct rex_map *map)
{
    int number = 0, result = rex_device_offload(device, &number);
    return result == REX_OK ? end(device, map, number, "data end") : result;
}

/*
 * Ends a region without its present modifiers. Memory that had to be present at the begin need not
 * be present at the end, and libomptarget would abort.
 */
static int end_without_presence(struct rex_module *module, int64_t device,
                                const struct rex_map *map)
{
    struct rex_map ended = *map;
    size_t count = (size_t)map->count;
    int result;
    ended.types = malloc(count * sizeof *ended.types);
    if (ended.types == NULL)
        return rex_fail_memory(count * sizeof *ended.types, "the end of a region");
    for (size_t i = 0; i < count; i++)
        ended.types[i] = map->types[i] & ~REX_MAP_PRESENT;
    result = call(module, device, &ended, REX_FOR_END, "data end");
    free(ended.types);
    return result;
}

int rex_module_region_end(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    if (any_row_has(map, REX_MAP_PRESENT))
        return end_without_presence(module, device, map);
    return call(module, device, map, REX_FOR_END, "data end");
}

int rex_module_data_exit(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    return call(module, device, map, REX_FOR_END, "data exit");
}

int rex_module_data_update(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    return call(module, device, map, REX_FOR_UPDATE, "data update");
}

/* ---- the end of the process ------------------------------------------------------------------ */

__attribute__((destructor)) static void warn_of_regions(void)
{
    struct rex_mapping first;
    int number;
    size_t count = rex_mappings_left(&first, &number);
    if (count > 0)
        rex_log(REX_LOG_WARN,
                "a region was never ended: %zu bytes at %p are still mapped on device %d (mappings "
                "left: %zu)",
                (size_t)(first.end - first.begin), (void *)first.begin, number, count);
}

/* ---- raw data calls -------------------------------------------------------------------------- */

int rex_check_data_call(int64_t device, int32_t count, void **base, void **begin,
                        const int64_t *sizes, const int64_t *types)
{
    if (rex_flight_check() != REX_OK)
        return rex_last_error_code();
    if (count < 0)
        return rex_fail(REX_EINVAL, "a data call with a negative number of rows, %d", count);
    if (count > 0 && (base == NULL || begin == NULL || sizes == NULL || types == NULL))
        return rex_fail_null_column(NULL, base, begin, sizes, types, count);
    const struct rex_map map = {.count = count,
                                .base = base,
                                .begin = begin,
                                .sizes = (int64_t *)(uintptr_t)sizes,
                                .types = (int64_t *)(uintptr_t)types};
    for (int32_t i = 0; i < count; i++) {
        if (sizes[i] < 0)
            return rex_fail(REX_EINVAL, "a data call: map row %d has a negative size", i);
        if (rex_check_member(&map, i, "a data call") != REX_OK)
            return REX_EINVAL;
    }
    if (rex_device_check(device) != REX_OK)
        return REX_EDEVICE;
    if (device == -1 && rex_device_check_default() != REX_OK)
        return REX_EDEVICE;
    rex_device_used();
    return REX_OK;
}

/* Logs the call unless the forwarders log it, so that it is logged once. */
int rex_module_check_map(struct rex_module *module, int64_t device, int32_t count, void **base,
                         void **begin, const int64_t *sizes, const int64_t *types)
{
    int result = rex_module_ready_for_data(module, "rex_module_check_map");
    if (result == REX_OK)
        result = rex_check_data_call(device, count, base, begin, sizes, types);
    if (result == REX_OK && rex_rows_wanted() && !rex_calls_logged()) {
        struct __tgt_kernel_arguments packet =
            rex_packet_of_columns(count, base, begin, sizes, types, NULL, NULL);
        rex_rows_log("data call", device, &packet);
    }
    return result;
}
