/*
 * data.c - data calls: data regions, enter data, exit data and update data.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/data.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "calls/callreport.h"
#include "calls/calls.h"
#include "cuda/context.h"
#include "cuda/lost.h"
#include "memory/datacopies.h"
#include "memory/rowlookup.h"
#include "memory/unite.h"
#include "module/registry.h"
#include "omp/columns.h"
#include "omp/gate.h"
#include "omp/runtime.h"
#include "present/presentcalls.h"
#include "present/unfinished.h"
#include "rex/launch.h"

/* The state of one data call. */
struct data_call {
    int64_t device;
    int number; /* number of the device */
    const struct rex_map *map;
    enum rex_purpose purpose;
    const char *what;
    const struct rex_range_lock *ranges; /* ranges of the rows in the present table, or NULL */
};

static int32_t count_rows(const struct rex_map *map, int64_t bits)
{
    int32_t count = 0;
    for (int32_t i = 0; map->types != NULL && i < map->count; i++)
        count += (map->types[i] & bits) != 0;
    return count;
}

static int check_mapped_rows(const struct data_call *call)
{
    int result =
        rex_check_presence(call->map, call->purpose, call->number, call->what, call->ranges);
    if (result != REX_OK)
        return result;
    if (call->purpose == REX_FOR_END)
        result = rex_before_unmap(call->map, call->number, call->what);
    if (result != REX_OK)
        return result;
    rex_device_used();
    return REX_OK;
}

/* ---- bases of use_device_ptr ----------------------------------------------------------------- */

/*
 * If a row has REX_MAP_RETURN_PARAM, libomptarget overwrites the base of the row by a device
 * address. A second begin call with the map would read this device address as a host address, and
 * compute a wrong device address. So librex keeps the host addresses of the bases. The next begin
 * call or end call with the map restores the bases.
 */

/*
 * Those rows of one map whose bases libomptarget has overwritten. The address of the base column
 * identifies the map. A later map may have its column at the same address. So librex restores a
 * base only if the base still equals `written`, the address that libomptarget has written.
 */
struct bases {
    struct bases *next;
    void **column;
    int32_t count;
    struct {
        int32_t row;
        void *base, *written;
    } rows[];
};

static struct bases *kept_bases; /* guarded by rex_lists_lock() */

/*
 * Restores the bases of MAP. Use this before a begin call with MAP, and after an end call with MAP.
 */
static void put_bases_back(const struct rex_map *map)
{
    struct bases **at = &kept_bases, *returned;
    rex_lists_lock();
    while (*at != NULL && (*at)->column != map->base)
        at = &(*at)->next;
    returned = *at;
    if (returned != NULL)
        *at = returned->next;
    rex_lists_unlock();
    for (int32_t i = 0; returned != NULL && i < returned->count; i++) {
        int32_t row = returned->rows[i].row;
        if (row < map->count && (map->types[row] & REX_MAP_RETURN_PARAM) &&
            map->base[row] == returned->rows[i].written)
            map->base[row] = returned->rows[i].base;
    }
    free(returned);
}

/*
 * If row I has size 0 and its memory is not mapped, corrects the base that libomptarget has
 * written. BASE is the row's base before the call. If the row attaches a pointer, the host address
 * is the pointer at BASE. Otherwise the host address is BASE.
 *
 * LLVM 14 to 21 write NULL minus the offset of the row from the host address. Example: they write
 * -8 for a row that begins 8 bytes after the host address. Later LLVM releases write the host
 * address. OpenMP 5.1 requires the host address, or NULL if the program asks for NULL
 * (REX_MAP_FB_NULLIFY).
 */
static void settle_absent_base(const struct rex_map *map, int32_t i, void *base, int number)
{
    uintptr_t written = (uintptr_t)map->base[i];
    if (map->types[i] & REX_MAP_PTR_AND_OBJ)
        base = *(void **)base;
    uintptr_t null = (uintptr_t)base - (uintptr_t)map->begin[i];
    if (map->sizes[i] > 0 || (written != null && written != (uintptr_t)base) ||
        rex_memory_presence(map->begin[i], 1, number) == REX_PRESENT_WHOLE)
        return;
    map->base[i] = map->types[i] & REX_MAP_FB_NULLIFY ? NULL : base;
}

/* ---- end calls ------------------------------------------------------------------------------- */

/*
 * Returns true if two rows lie in one mapping. Also returns true if memory for the check is short.
 * Ignores a member without an attached pointer, because such a member drops no reference: its
 * parent does.
 */
static bool share_a_mapping(const struct rex_map *map, int number)
{
    struct rex_row_span *span = malloc((size_t)map->count * sizeof *span);
    bool share = span == NULL;
    size_t count = 0;
    for (int32_t i = 0; i < map->count && !share; i++)
        if (!(map->types[i] & REX_MAP_MEMBER_OF_MASK) || (map->types[i] & REX_MAP_PTR_AND_OBJ))
            span[count++] = (struct rex_row_span){.begin = (uintptr_t)map->begin[i]};
    if (count > 1)
        qsort(span, count, sizeof *span, rex_spans_compare);
    for (size_t i = 1; i < count && !share; i++)
        share =
            rex_memory_presence((const void *)span[i - 1].begin,
                                span[i].begin + 1 - span[i - 1].begin, number) == REX_PRESENT_WHOLE;
    free(span);
    return share;
}

static int end_mappings(const struct data_call *call)
{
    const struct rex_map *map = call->map;
    const struct rex_release *release = rex_runtime();
    bool aborts = release->one_end_a_call ||
                  (release->one_delete_a_call && count_rows(map, REX_MAP_DELETE) > 0);
    bool apart = aborts && map->count > 1 && share_a_mapping(map, call->number);
    struct rex_map ended = *map;
    rex_present_enter(REX_CALL_ENDS, map, call->number);
    int64_t *types = rex_rows_copy_back(map, call->number);
    if (types != NULL)
        ended.types = types;
    int result = REX_OK;
    if (!apart)
        result = rex_call_data(REX_DATA_END, call->what, call->device, &ended);
    /*
     * If `apart` is true, end each row in its own call, from the last row to the first, as
     * libomptarget does. A call may have a member without its parent, because libomptarget does not
     * check which row is the parent.
     *
     * Remove PRESENT, because librex has already checked PRESENT for all rows. Example: rows 1 and
     * 2 lie in one mapping. The call for row 2 may end the mapping, and libomptarget would then
     * abort on PRESENT of row 1.
     */
    for (int32_t i = map->count - 1; apart && i >= 0 && result == REX_OK; i--) {
        struct rex_map row = rex_rows_from(&ended, i, 1);
        int64_t type = ended.types[i] & ~REX_MAP_PRESENT;
        row.types = &type;
        result = rex_call_data(REX_DATA_END, call->what, call->device, &row);
    }
    rex_present_leave(REX_CALL_ENDS, map, call->number, REX_LEFT_DONE);
    free(types);
    if (result == REX_OK && count_rows(map, REX_MAP_RETURN_PARAM) > 0)
        put_bases_back(map);
    return result;
}

/* ---- begin calls and update calls ------------------------------------------------------------ */

/*
 * Enters the present table before the check. Until this call leaves the table, no other call
 * changes how the rows are mapped. If the check fails, nothing is mapped.
 */
static int begin_mappings(struct data_call *call)
{
    const struct rex_map *map = call->map;
    /* the bases of rows with RETURN_PARAM; `written` is set after the call */
    struct bases *returned = NULL;
    enum rex_present_outcome how = REX_LEFT_REFUSED;
    size_t bases = (size_t)count_rows(map, REX_MAP_RETURN_PARAM);
    call->ranges = rex_present_enter(REX_CALL_BEGINS, map, call->number);
    int result = check_mapped_rows(call);
    if (result != REX_OK)
        goto leave;
    if (bases > 0) {
        size_t size = sizeof *returned + bases * sizeof *returned->rows;
        put_bases_back(map);
        returned = malloc(size);
        if (returned == NULL) {
            result = rex_fail_memory(size, "the bases of a map");
            goto leave;
        }
        returned->column = map->base;
        returned->count = 0;
        for (int32_t i = 0; i < map->count; i++)
            if (map->types[i] & REX_MAP_RETURN_PARAM) {
                returned->rows[returned->count].row = i;
                returned->rows[returned->count++].base = map->base[i];
            }
    }
    result = rex_rows_begin(call->what, call->device, call->number, map);
    how = result == REX_OK ? REX_LEFT_DONE : REX_LEFT_UNSURE;
    if (returned != NULL) {
        for (int32_t i = 0; i < returned->count; i++) {
            int32_t row = returned->rows[i].row;
            if (result == REX_OK)
                settle_absent_base(map, row, returned->rows[i].base, call->number);
            returned->rows[i].written = map->base[row];
        }
        rex_lists_lock();
        returned->next = kept_bases;
        kept_bases = returned;
        rex_lists_unlock();
    }
leave:
    rex_present_leave(REX_CALL_BEGINS, map, call->number, how);
    return result;
}

static int make_data_call(struct rex_module *module, int64_t device, const struct rex_map *map,
                          enum rex_purpose purpose, const char *what)
{
    struct data_call call = {.device = device, .purpose = purpose, .what = what};
    struct rex_map united;
    int64_t *types = NULL;
    if (map == NULL)
        return rex_fail_null(what, "map");
    int result = rex_module_enter(module, REX_NEED_DEVICES, what);
    if (result != REX_OK)
        return result == REX_EHOST ? REX_OK : result;
    result = rex_check_rows(map, purpose, what);
    if (result != REX_OK)
        goto leave;
    result = rex_device_offload(device, &call.number);
    if (result != REX_OK)
        goto leave;
    result = rex_device_lost(call.number, what);
    if (result != REX_OK)
        goto leave;
    united = *map;
    call.map = &united;
    /* the rows of a launch are united already */
    if (purpose == REX_FOR_BEGIN || purpose == REX_FOR_END) {
        result = rex_rows_unite(&united, false, purpose, device, what, &types);
        if (result != REX_OK)
            goto leave;
    }
    /*
     * Check an end call before it enters the present table, because the check waits for queues.
     * While an end call is in the table, other calls with the same memory wait for the end call.
     */
    if (purpose == REX_FOR_END) {
        result = check_mapped_rows(&call);
        if (result != REX_OK)
            goto leave;
    }
    /*
     * Log before the call enters the table. Later, librex holds back lines for the program's log
     * function until the call has left the table.
     */
    if (rex_log_wanted(REX_LOG_DEBUG))
        rex_map_log(what, device, &united);
    if (purpose == REX_FOR_END) {
        result = end_mappings(&call);
    } else if (purpose != REX_FOR_UPDATE) {
        result = begin_mappings(&call);
    } else {
        call.ranges = rex_present_enter(REX_CALL_UPDATES, &united, call.number);
        result = check_mapped_rows(&call);
        if (result == REX_OK)
            result = rex_rows_update(what, device, call.number, &united);
        rex_present_leave(REX_CALL_UPDATES, &united, call.number, REX_LEFT_DONE);
    }
leave:
    free(types);
    rex_gate_leave();
    return result == REX_EHOST ? REX_OK : result;
}

int rex_module_data_enter(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    return make_data_call(module, device, map, REX_FOR_BEGIN, "data enter");
}

int rex_map_for_launch(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    return make_data_call(module, device, map, REX_FOR_LAUNCH, "data begin");
}

/*
 * Does not wait for queues. A command that was added before the launch uses only mappings that
 * existed before the launch. The launch added a reference to such a mapping, and drops only this
 * reference, so the mapping does not end. A command that is added during the launch must not use
 * the launch's own mappings (rex-queues(7)).
 */
int rex_unmap_after_launch(int64_t device, const struct rex_map *map)
{
    struct data_call call = {.device = device, .map = map, .what = "data end"};
    int result = rex_device_offload(device, &call.number);
    if (result != REX_OK)
        return result;
    return end_mappings(&call);
}

int rex_module_region_end(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    if (map == NULL || count_rows(map, REX_MAP_PRESENT) == 0)
        return make_data_call(module, device, map, REX_FOR_END, "data end");
    /*
     * Remove PRESENT from the rows. Memory that was present when the region began may be absent
     * now, and libomptarget would abort.
     */
    struct rex_map ended = *map;
    size_t count = (size_t)map->count;
    ended.types = malloc(count * sizeof *ended.types);
    if (ended.types == NULL)
        return rex_fail_memory(count * sizeof *ended.types, "the end of a region");
    for (size_t i = 0; i < count; i++)
        ended.types[i] = map->types[i] & ~REX_MAP_PRESENT;
    int result = make_data_call(module, device, &ended, REX_FOR_END, "data end");
    free(ended.types);
    return result;
}

int rex_module_data_exit(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    return make_data_call(module, device, map, REX_FOR_END, "data exit");
}

int rex_module_data_update(struct rex_module *module, int64_t device, const struct rex_map *map)
{
    return make_data_call(module, device, map, REX_FOR_UPDATE, "data update");
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

int rex_pass_data_call(enum rex_data_call call, MAP_P)
{
    static const struct {
        const char *what;
        enum rex_present_call in_table;
        enum rex_purpose purpose;
    } calls[] = {[REX_DATA_BEGIN] = {"data begin", REX_CALL_BEGINS, REX_FOR_BEGIN},
                 [REX_DATA_END] = {"data end", REX_CALL_ENDS, REX_FOR_END},
                 [REX_DATA_UPDATE] = {"data update", REX_CALL_UPDATES, REX_FOR_UPDATE}};
    const char *what = calls[call].what;
    struct rex_map map = {
        .count = count, .base = base, .begin = begin, .sizes = sizes, .types = types};
    int64_t *united = NULL;
    enum rex_present_outcome how = REX_LEFT_DONE;
    int result = REX_OK;
    if (rex_gate_check() != REX_OK)
        return rex_last_error_code();
    if (count < 0)
        return rex_fail(REX_EINVAL, "%s: the number of rows, %d, is negative", what, count);
    if (count > 0 && !rex_has_columns(&map))
        return rex_fail_null_column(NULL, what, &map);
    for (int32_t i = 0; i < count; i++) {
        if (sizes[i] < 0)
            return rex_fail(REX_EINVAL, "%s: map row %d has a negative size", what, i);
        if (rex_check_member(&map, i, what) != REX_OK)
            return REX_EINVAL;
        if (call == REX_DATA_BEGIN && rex_check_size(&map, i, what) != REX_OK)
            return REX_ENOMEM;
    }
    if (rex_device_check(device) != REX_OK)
        return REX_EDEVICE;
    rex_device_used();
    /*
     * If offloading is disabled, libomptarget ignores data calls, and there is no device on which
     * rows can be looked up.
     */
    if (rex_devices_known() == REX_DEVICES_DISABLED)
        return REX_OK;
    if (call != REX_DATA_UPDATE)
        result = rex_rows_unite(&map, true, calls[call].purpose, device, what, &united);
    if (result != REX_OK)
        goto done;
    if (count > 0)
        rex_map_log(what, device, &map);
    if (call == REX_DATA_END)
        rex_unfinished_wait(&map, device, what);
    int number = rex_openmp_number(device);
    rex_present_enter(calls[call].in_table, &map, number);
    result = rex_call_data(call, what, device, &map);
    if (result != REX_OK && call != REX_DATA_END)
        how = REX_LEFT_REFUSED;
    rex_present_leave(calls[call].in_table, &map, number, how);
done:
    free(united);
    return result;
}

int rex_module_target_data(struct rex_module *module, enum rex_data_call call, int64_t device,
                           int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types)
{
    if ((unsigned)call > REX_DATA_UPDATE)
        return rex_fail(REX_EINVAL, "rex_module_target_data: data call %d does not exist",
                        (int)call);
    int result = rex_module_enter(module, REX_NEED_DEVICES, "rex_module_target_data");
    if (result != REX_OK)
        return result;
    result = rex_pass_data_call(call, MAP_A);
    rex_gate_leave();
    return result;
}
