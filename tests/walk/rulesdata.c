/*
 * rulesdata.c - maps, launches, data calls and device memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "exported.h"
#include "rules.h"

/* ---- maps
 * ------------------------------------------------------------------------------------------------------------------------------------ */

static int64_t clause(const struct call *call, int argument)
{
    static const int64_t types[] = {REX_MAP_TO,
                                    REX_MAP_FROM,
                                    REX_MAP_TOFROM,
                                    REX_MAP_ALLOC,
                                    REX_MAP_ALWAYS | REX_MAP_TO,
                                    REX_MAP_ALWAYS | REX_MAP_FROM,
                                    REX_MAP_ALWAYS | REX_MAP_TOFROM,
                                    REX_MAP_PRESENT | REX_MAP_TO,
                                    REX_MAP_PRESENT | REX_MAP_FROM,
                                    REX_MAP_PRESENT,
                                    REX_MAP_DELETE,
                                    REX_MAP_OMPX_HOLD | REX_MAP_TO,
                                    REX_MAP_OMPX_HOLD | REX_MAP_TOFROM,
                                    REX_MAP_CLOSE | REX_MAP_TOFROM};
    return types[call->step->argument[argument] % (sizeof types / sizeof *types)];
}

static struct walk_map *empty(const struct call *call)
{
    int number = walk_variable(call, 0);
    struct walk_map *map = number >= 0 ? &walk_now.map[number] : NULL;
    if (map == NULL)
        return NULL;
    if (map->built)
        rex_map_free(&map->map);
    walk_now.map_made[number]++;
    *map = (struct walk_map){.form = FORM_NONE, .memory = -1};
    map->map = (struct rex_map){0, map->base, map->begin, map->sizes, map->types, NULL, NULL};
    return map;
}

/* What a row is, by its columns. */
static struct part part_of(const struct rex_map *map, int i)
{
    struct part part = {.host = -1, .size = (int)map->sizes[i], .type = map->types[i]};
    int begin, record = ARRAYS;
    if (part.type & (REX_MAP_LITERAL | REX_MAP_PRIVATE))
        part.value = part.type & REX_MAP_PRIVATE ? *(int64_t *)map->begin[i]
                                                 : (int64_t)(intptr_t)map->base[i];
    else
        part.host = model_host_at(map->begin[i], &part.begin);
    if (part.type & REX_MAP_PTR_AND_OBJ) {
        record = model_host_at(map->base[i], &begin);
        part.value = record == ARRAYS ? begin / (int)sizeof *walk_record : -1;
    }
    return part;
}

static void add(struct walk_map *map, struct rex_row row)
{
    int i = map->map.count++;
    map->map.base[i] = row.base;
    map->map.begin[i] = row.begin;
    map->map.sizes[i] = row.size;
    map->map.types[i] = row.type;
    map->part[i] = part_of(&map->map, i);
}

/* So many cells of an array as the argument says: the first ones, the last, or inner ones, which
 * lie in both halves. */
static int64_t cells_of(const struct call *call, int width, int host, int64_t *lower)
{
    int64_t all = host >= 0 ? model_size(host) / 8 : CELLS, cells = walk_integer(call, width);
    const bool inside = cells == 16;
    cells = cells * all / CELLS;
    *lower = cells < 0 ? all + cells : inside ? 24 * all / CELLS : 0;
    return cells < 0 ? -cells : cells;
}

/* A row of the part that three arguments name. */
static void add_part(struct walk_map *map, const struct call *call, int type, int host, int width,
                     bool parameter)
{
    int number = walk_variable(call, host);
    int64_t lower, length = cells_of(call, width, number, &lower);
    if (number < 0) {
        map->wrong = map->wrong || length > 0;
        add(map, rex_row_of(NULL, NULL, 8 * length,
                            clause(call, type) | (parameter ? REX_MAP_TARGET_PARAM : 0)));
        return;
    }
    int64_t *array = walk_array[number];
    struct rex_row row = REX_SECTION(clause(call, type), array, lower, length);
    add(map, parameter ? row : REX_NO_PARAM(row));
}

/* A kernel works on the first cells of each array, which have to be mapped. */
static bool holds(const struct walk_map *map, int row, int64_t cells)
{
    const struct part *part = &map->part[row];
    return part->host >= 0 && part->begin == 0 && part->size >= 8 * cells && part->size > 0;
}

OWN_RULE(map_for_add, "Mnihcwhcw", 6)
{
    struct walk_map *map = empty(call);
    int64_t cells = walk_integer(call, 1);
    if (map == NULL)
        return;
    add(map, REX_VALUE(cells));
    add(map, REX_VALUE(walk_integer(call, 2)));
    add_part(map, call, 4, 3, 5, true);
    add_part(map, call, 7, 6, 8, true);
    map->form = holds(map, 2, cells) && holds(map, 3, cells) ? FORM_ADD : FORM_NONE;
}

OWN_RULE(map_for_set, "Mnihcw", 6)
{
    struct walk_map *map = empty(call);
    int64_t cells = walk_integer(call, 1);
    if (map == NULL)
        return;
    add(map, REX_VALUE(cells));
    add(map, REX_VALUE(walk_integer(call, 2)));
    add_part(map, call, 4, 3, 5, true);
    map->form = holds(map, 2, cells) ? FORM_SET : FORM_NONE;
}

/* (y, n, a), which no kernel takes. */
OWN_RULE(map_mixed, "Mihcw", 1)
{
    struct walk_map *map = empty(call);
    if (map == NULL)
        return;
    add_part(map, call, 3, 2, 4, true);
    add(map, REX_VALUE(walk_integer(call, 1)));
    add(map, REX_VALUE((double)1.0));
    map->mixed = true;
}

/* (n, a, y) again, with device memory, whose address is a value. */
OWN_RULE(map_for_memory, "Mniy", 3)
{
    int memory = walk_variable(call, 3);
    if (memory < 0 || walk_now.memory[memory].address == NULL)
        return;
    struct walk_map *map = empty(call);
    int64_t cells = walk_integer(call, 1);
    if (map == NULL)
        return;
    add(map, REX_VALUE(cells));
    add(map, REX_VALUE(walk_integer(call, 2)));
    add(map, REX_IS_DEVICE_PTR(walk_now.memory[memory].address));
    map->memory = memory;
    map->memory_made = walk_now.memory[memory].made;
    map->form = walk_now.memory[memory].size >= 8 * cells ? FORM_SET : FORM_NONE;
}

static int map_record(struct rex_map_builder *builder, void *element)
{
    struct walk_record *record = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *record));
    struct rex_row data = REX_ATTACH(REX_MAP_TOFROM, record->data, 0, CELLS);
    return result == REX_OK ? rex_map_add(builder, data) : result;
}

/* (n, record): a struct, its members one by one and what one of them points to. */
OWN_RULE(map_for_sum, "MnXcc", 5)
{
    int record = walk_variable(call, 2);
    struct walk_map *map = record >= 0 ? empty(call) : NULL;
    if (map == NULL)
        return;
    struct walk_record *one = &walk_record[record];
    add(map, REX_VALUE(walk_integer(call, 1)));
    add(map, REX_STRUCT(*one, count, tail));
    add(map, REX_MEMBER(1, clause(call, 3), *one, count));
    add(map, REX_MEMBER_POINTER(1, clause(call, 4), *one, data, 0, CELLS));
    if (record == 1)
        add(map, REX_MEMBER(1, clause(call, 3), *one, tail));
    map->form = walk_integer(call, 1) <= CELLS ? FORM_SUM : FORM_NONE;
}

/* (object, y): four numbers of the kernel's own. */
OWN_RULE(map_for_object, "Mihcw", 3)
{
    struct walk_map *map = empty(call);
    if (map == NULL)
        return;
    int64_t(*object)[4] = &walk_now.object[walk_variable(call, 0)];
    for (int i = 0; i < 4; i++)
        (*object)[i] = (int64_t)((uint64_t)walk_integer(call, 1) + (uint64_t)i);
    add(map, REX_FIRSTPRIVATE(*object));
    add_part(map, call, 3, 2, 4, true);
    map->form = holds(map, 1, 4) ? FORM_OBJECT : FORM_NONE;
}

/* Of one record, or of both in one section, by a mapper. */
static int some_records(struct rex_map_builder *builder, void *context)
{
    const int *first = context; /* -1: both */
    struct rex_row section =
        *first < 0 ? REX_TOFROM(walk_record, RECORDS) : REX_TOFROM(&walk_record[*first], 1);
    return rex_map_add_mapped(builder, map_record, section, sizeof *walk_record);
}

OWN_RULE(map_of_records, "MX", 2)
{
    int first = walk_variable(call, 1);
    struct walk_map *map = empty(call);
    if (map == NULL)
        return;
    if (rex_map_build(&map->map, NULL, some_records, &first, NULL) != REX_OK)
        walk_found("a mapper fails: %s", rex_last_error());
    map->built = true;
    for (int i = 0; i < map->map.count; i++)
        map->part[i] = part_of(&map->map, i);
}

OWN_RULE(map_of_one, "Mchw", 8)
{
    struct walk_map *map = empty(call);
    if (map != NULL)
        add_part(map, call, 1, 2, 3, false);
}

OWN_RULE(map_add_row, "Mchw", 3)
{
    struct walk_map *map = walk_map_of(call, 0);
    if (map == NULL || map->built || map->wrong || map->map.count == MOST_ROWS)
        return;
    walk_now.map_made[walk_variable(call, 0)]++;
    add_part(map, call, 1, 2, 3, false);
}

/* The region stores the device address of the array in the row. */
OWN_RULE(map_use_device_ptr, "Mh", 2)
{
    struct walk_map *map = walk_map_of(call, 0);
    void *array = walk_host_of(call, 1);
    if (map == NULL || array == NULL || map->built || map->wrong || map->map.count == MOST_ROWS)
        return;
    walk_now.map_made[walk_variable(call, 0)]++;
    add(map, REX_USE_DEVICE_PTR(array));
    map->form = FORM_NONE;
}

OWN_RULE(map_break, "Mb", 2)
{
    struct walk_map *map = walk_map_of(call, 0);
    if (map == NULL || map->built || map->map.count < 1)
        return;
    int last = map->map.count - 1;
    walk_now.map_made[walk_variable(call, 0)]++;
    map->wrong = true;
    switch (call->step->argument[1]) {
    case 0: map->map.count = -map->map.count; break;
    case 1: map->map.base = NULL; break;
    case 2: map->map.begin = NULL; break;
    case 3: map->map.sizes = NULL; break;
    case 4: map->map.types = NULL; break;
    case 5: map->sizes[last] = -8; break;
    case 6: map->types[last] |= INT64_C(0x4000); break;
    case 7:
        map->begin[last] = NULL;
        map->sizes[last] = 8;
        map->types[last] = REX_MAP_TO;
        break;
    case 8: map->types[last] = REX_MAP_TO | REX_MAP_MEMBER_OF(last); break;
    default: map->types[last] = REX_MAP_LITERAL | REX_MAP_PRIVATE; break;
    }
}

static int some_rows(struct rex_map_builder *builder, void *context)
{
    (void)context;
    return rex_map_add(builder, REX_TO(walk_array[0], CELLS));
}

/* Another number of rows each time. */
static int unsteady_rows(struct rex_map_builder *builder, void *context)
{
    int *times = context, result = REX_OK;
    for (int i = 0; i < *times && result == REX_OK; i++)
        result = some_rows(builder, NULL);
    *times += 1;
    return result;
}

static bool is_part(const struct walk_map *map)
{
    return map != NULL && (map->wrong || map->returned);
}

/* A member of the suffix names its parent where that is now. */
static bool is_same_row(const struct rex_map *built, int at, const struct rex_map *from, int i,
                        int moved)
{
    int64_t parent = from->types[i] & REX_MAP_MEMBER_OF_MASK ? moved : 0;
    return built->types[at] == (int64_t)((uint64_t)from->types[i] + ((uint64_t)parent << 48)) &&
           built->begin[at] == from->begin[i] && built->base[at] == from->base[i] &&
           built->sizes[at] == from->sizes[i];
}

/* A map that is wrong, or of another kind, may be refused or not. */
RULE(rex_map_build, "MMRM", 3)
{
    struct walk_map *map = walk_map_of(call, 0), *prefix = walk_map_of(call, 1),
                    *suffix = walk_map_of(call, 3);
    int rows = walk_variable(call, 2), times = 1;
    struct walk_map built = {.built = true, .memory = -1};
    if ((map != NULL && (map->built || map == prefix || map == suffix)) || is_part(prefix) ||
        is_part(suffix))
        return;
    int before = prefix != NULL ? prefix->map.count : 0,
        after = suffix != NULL ? suffix->map.count : 0, count = before + after + (rows == 0);
    if (count > MOST_ROWS)
        return;
    struct rex_map untouched = {.count = 77};
    built.map = untouched;
    walk_before();
    int result = rex_map_build(map != NULL ? &built.map : NULL,
                               prefix != NULL ? &prefix->map : NULL,
                               rows == 0   ? some_rows
                               : rows == 1 ? unsteady_rows
                                           : NULL,
                               &times, suffix != NULL ? &suffix->map : NULL);
    if (!walk_judge_int(call, result, map == NULL || rows == 1 ? MUST_FAIL : MUST_WORK)) {
        if (memcmp(&built.map, &untouched, sizeof untouched) != 0)
            walk_found("it fails, and has changed the map");
        return;
    }
    if (built.map.count != count)
        walk_found("it makes %d rows of %d", built.map.count, count);
    bool right = true;
    for (int i = 0; i < before; i++)
        right = right && is_same_row(&built.map, i, &prefix->map, i, 0);
    for (int i = 0; i < after; i++)
        right = right &&
                is_same_row(&built.map, count - after + i, &suffix->map, i, count - after);
    if (!right)
        walk_found("a row of the map is not what it was made of");
    for (int i = 0; i < count; i++)
        built.part[i] = part_of(&built.map, i);
    walk_now.map_made[walk_variable(call, 0)]++;
    *map = built;
}

RULE(rex_map_free, "M", 2)
{
    struct walk_map *map = walk_map_of(call, 0);
    walk_before();
    rex_map_free(map != NULL ? &map->map : NULL);
    walk_judge(call, false, 0, MUST_WORK);
    if (map != NULL && map->built) {
        if (map->map.count != 0 || map->map.base != NULL)
            walk_found("the map is not empty");
        empty(call);
    }
}

/* ---- launches
 * -------------------------------------------------------------------------------------------------------------------------------- */

static struct rex_launch_config launch_of(const struct call *call, int key, int kernel)
{
    struct rex_launch_config launch = {.key = walk_key(kernel),
                                       .device = walk_integer(call, key + 1),
                                       .teams = {(uint32_t)walk_integer(call, key + 2), 1, 1},
                                       .threads = {(uint32_t)walk_integer(call, key + 3), 1, 1},
                                       .flags = (uint32_t)walk_integer(call, key + 4)};
    return launch;
}

static bool is_usual(const struct rex_launch_config *launch)
{
    return launch->teams[0] < 8 && launch->threads[0] < 8 && launch->flags == 0;
}

/* What a launch of the map does, once it has succeeded. */
static void launched(int device, const struct walk_map *map, int key)
{
    static const struct walk_map nothing = {.memory = -1};
    struct walk_map rows = map != NULL ? *map : nothing;
    if (device < 0)
        walk_found("it has launched a kernel on no device");
    if (key == NOTHING)
        rows.form = FORM_NOTHING;
    model_begin(device, &rows);
    model_kernel(device, &rows);
    model_end(device, &rows);
}

static bool has_values(const struct walk_map *map)
{
    return walk_has_types(map, REX_MAP_LITERAL | REX_MAP_PRIVATE);
}

/* Device memory of another device, or a pointer that a region has stored: no launch is right. */
static bool is_foreign(int device, const struct walk_map *map)
{
    return map != NULL &&
           (walk_has_types(map, REX_MAP_RETURN_PARAM) ||
            (map->memory >= 0 && walk_now.memory[map->memory].device != device));
}

RULE(rex_module_launch_map, "mkdttxM", 10)
{
    struct rex_module *module = walk_module(call, 0);
    struct walk_map *map = walk_map_of(call, 6);
    int key = walk_kernel(call, 1, map), device = walk_device(call, 2);
    struct rex_launch_config launch = launch_of(call, 1, key);
    if (!walk_is_harmless(key, map) || is_foreign(device, map) || model_is_vague(device, map))
        return;
    bool ready = walk_is_registered() && module == &walk_modules[0] && device >= 0;
    bool right = key >= 0 && key < KERNELS && walk_fits(key, map) &&
                 (map == NULL || (!map->wrong && !walk_has_types(map, REX_MAP_DELETE)));
    bool can = right && ready && (map == NULL || model_can_map(device, map));
    walk_order_rows(device, map, model_touch_launch);
    walk_note_launch(&launch);
    walk_before();
    int result = rex_module_launch_map(module, &launch, map != NULL ? &map->map : NULL);
    bool sure = ready && is_usual(&launch) && !walk_has_empty(map) && !walk_may_refuse();
    if (walk_judge_int(call, result, !right || (ready && !can) ? MUST_FAIL
                                     : sure                    ? MUST_WORK
                                                               : EITHER))
        launched(walk_device(call, 2), map, key);
}

/* A raw launch checks less: librex(7) says what. One of as many rows as a launch before, maybe of
 * another thread, is not compared with the kernel again: it has to fit, or has too few rows. */
static bool is_safe_raw(const struct call *call, int device, int key, struct walk_map *map)
{
    if (map != NULL)
        map->raw = true;
    int number = walk_device(call, device), kernel = walk_kernel(call, key, map);
    return map != NULL && !map->wrong && walk_is_harmless(kernel, map) &&
           (walk_fits(kernel, map) || map->map.count < walk_parameters(kernel)) &&
           !walk_has_empty(map) && !is_foreign(number, map) &&
           !walk_has_types(map, REX_MAP_PRESENT | REX_MAP_DELETE) &&
           (number < 0 || model_can_map(number, map));
}

static void launched_raw(struct call *call, int device, int key, const struct walk_map *map,
                         int result)
{
    bool worked = walk_judge(call, result != 0, result < 0 ? 0 : result, EITHER);
    if (worked && walk_device(call, device) >= 0)
        launched(walk_device(call, device), map, walk_kernel(call, key, map));
}

#define COLUMNS(map) (map)->map.count, (map)->map.base, (map)->map.begin, (map)->map.sizes, (map)->map.types

static void launch_raw(struct call *call, bool teams)
{
    struct walk_map *map = walk_map_of(call, 2);
    if (map == NULL || !is_safe_raw(call, 0, 1, map))
        return;
    void *key = (void *)(uintptr_t)walk_key(walk_kernel(call, 1, map));
    walk_order_rows(walk_device(call, 0), map, model_touch_launch);
    walk_before();
    launched_raw(call, 0, 1, map,
                 teams ? exported_target_teams(walk_integer(call, 0), key, COLUMNS(map), (int32_t)walk_integer(call, 3),
                                               (int32_t)walk_integer(call, 4))
                       : exported_target(walk_integer(call, 0), key, COLUMNS(map)));
}

RULE(rex___tgt_target, "dkM", 1)
{
    launch_raw(call, false);
}

RULE(rex___tgt_target_teams, "dkMTT", 2)
{
    launch_raw(call, true);
}

/* ---- packets
 * --------------------------------------------------------------------------------------------------------------------------------- */

OWN_RULE(packet_fill, "jttxM", 4)
{
    int number = walk_variable(call, 0), map_number = walk_variable(call, 4);
    struct walk_map *map = walk_map_of(call, 4);
    if (number < 0)
        return;
    walk_now.packet[number].packet = (struct __tgt_kernel_arguments){.Version = 3,
                                                                     .Teams = {(int32_t)walk_integer(call, 1), 1, 1},
                                                                     .Threads = {(int32_t)walk_integer(call, 2), 1, 1},
                                                                     .Tripcount = walk_integer(call, 3)};
    if (map != NULL) {
        struct __tgt_kernel_arguments *packet = &walk_now.packet[number].packet;
        packet->NumArgs = map->map.count;
        packet->ArgsBase = map->map.base;
        packet->Args = map->map.begin;
        packet->ArgSizes = map->map.sizes;
        packet->ArgTypes = map->map.types;
        packet->ArgMappers = map->map.mappers;
    }
    walk_now.packet[number].map = map_number;
    walk_now.packet[number].made = map_number >= 0 ? walk_now.map_made[map_number] : 0;
    walk_now.packet[number].filled = true;
}

/* The map that the packet's columns are those of; false where the packet is none that may be launched. */
static bool packet_of(const struct call *call, int argument, struct __tgt_kernel_arguments **packet, struct walk_map **map)
{
    int number = walk_variable(call, argument);
    *packet = NULL;
    *map = NULL;
    if (number < 0)
        return true;
    int of = walk_now.packet[number].map;
    if (!walk_now.packet[number].filled || of < 0 || walk_now.map_made[of] != walk_now.packet[number].made)
        return false;
    *packet = &walk_now.packet[number].packet;
    *map = &walk_now.map[of];
    return true;
}

static bool unchanged(const struct __tgt_kernel_arguments *packet, const struct __tgt_kernel_arguments *before)
{
    return packet == NULL || memcmp(packet, before, sizeof *packet) == 0;
}

typedef int launcher(const struct call *call, int64_t device, int32_t teams, int32_t threads, void *key,
                     struct __tgt_kernel_arguments *packet);

static void launch_packet(struct call *call, int first, launcher *send)
{
    struct __tgt_kernel_arguments *packet, before = {0};
    struct walk_map *map;
    if (!packet_of(call, first + 4, &packet, &map) || (packet != NULL && !is_safe_raw(call, first, first + 3, map)))
        return;
    if (packet != NULL)
        before = *packet;
    walk_order_rows(walk_device(call, first), map, model_touch_launch);
    walk_before();
    int result = send(call, walk_integer(call, first), (int32_t)walk_integer(call, first + 1), (int32_t)walk_integer(call, first + 2),
                      (void *)(uintptr_t)walk_key(walk_kernel(call, first + 3, map)), packet);
    if (packet == NULL && result == 0)
        walk_found("a packet that is NULL was launched");
    launched_raw(call, first, first + 3, map, result);
    if (!unchanged(packet, &before))
        walk_found("it has changed the packet");
}

static int by_module_or_host(const struct call *call, int64_t device, int32_t teams, int32_t threads, void *key,
                             struct __tgt_kernel_arguments *packet)
{
    return rex_module_target_kernel(walk_module(call, 0), device, teams, threads, key, packet);
}

static int by_module(const struct call *call, int64_t device, int32_t teams, int32_t threads, void *key,
                     struct __tgt_kernel_arguments *packet)
{
    return rex_module_launch(walk_module(call, 0), device, teams, threads, key, packet);
}

static int by_key(const struct call *call, int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *packet)
{
    (void)call;
    return exported_target_kernel(device, teams, threads, key, packet);
}

RULE(rex_module_launch, "mdTTkj", 6)
{
    launch_packet(call, 1, by_module);
}

RULE(rex_module_target_kernel, "mdTTkj", 3)
{
    launch_packet(call, 1, by_module_or_host);
}

RULE(rex___tgt_target_kernel, "dTTkj", 2)
{
    launch_packet(call, 0, by_key);
}

/* ---- data
 * ------------------------------------------------------------------------------------------------------------------------------------ */

typedef int data_call(struct rex_module *module, int64_t device, const struct rex_map *map);
typedef bool can(int device, const struct walk_map *map);
typedef void change(int device, const struct walk_map *map);

/* A region stores the device address of an array that is mapped: as rex_mapped_ptr() says it. */
static void check_returned(const struct call *call, int device, struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++)
        if ((map->part[i].type & REX_MAP_RETURN_PARAM) && map->part[i].host >= 0) {
            void *array = walk_array[map->part[i].host], *mapped = rex_mapped_ptr(array, device);
            map->returned = true;
            if (mapped != NULL && rex_map_address(&map->map, i) != mapped)
                walk_found("row %d returns %p, and the array is at %p", i,
                           rex_map_address(&map->map, i), mapped);
        }
    (void)call;
}

static void check_put_back(struct walk_map *map)
{
    map->returned = false;
    for (int i = 0; i < map->map.count; i++)
        if ((map->part[i].type & REX_MAP_RETURN_PARAM) && map->part[i].host >= 0 &&
            map->map.base[i] != walk_array[map->part[i].host])
            walk_found("the end has not put the base of row %d back", i);
}

/* An end while a queue still works on the copies may be REX_EBUSY, which is tried now and then. */
static void order_data(const struct call *call, int device, const struct walk_map *map,
                       change *changed)
{
    bool ends = changed == model_end;
    if (map == NULL || map->wrong || device < 0)
        return;
    walk_order_rows(device, map, ends                     ? model_touch_end
                                 : changed == model_begin ? model_touch_begin
                                                          : model_touch_update);
    if (ends && call->step->argument[0] % 2 == 0)
        walk_order_rows(device, map, model_touch_update);
}

static void data(struct call *call, data_call *function, can *possible, int64_t refused,
                 change *changed)
{
    struct rex_module *module = walk_module(call, 0);
    struct walk_map *map = walk_map_of(call, 2);
    int device = walk_device(call, 1);
    bool ready = walk_is_registered() && module == &walk_modules[0] && device >= 0;
    bool ends = changed == model_end, begins = changed == model_begin;
    bool wrong = map == NULL || map->wrong || has_values(map) || walk_has_types(map, refused);
    if (map != NULL && walk_has_types(map, REX_MAP_RETURN_PARAM) &&
        (map->returned ? !ends : !begins))
        return;
    if (model_is_vague(device, map))
        return;
    order_data(call, device, map, changed);
    bool sure = ready && !wrong && !walk_has_empty(map);
    enum verdict verdict = wrong                                     ? MUST_FAIL
                           : sure && !ends && possible(device, map)  ? MUST_WORK
                           : sure && !ends                           ? MUST_FAIL
                                                                     : EITHER;
    if (ends && sure && possible(device, map) && !model_copies_in_use(device, map))
        verdict = MUST_WORK;
    walk_before();
    int result = function(module, walk_integer(call, 1), map != NULL ? &map->map : NULL);
    bool worked = walk_judge_int(call, result, verdict);
    device = walk_device(call, 1); /* the call may have registered the module */
    if (!worked || device < 0)
        return;
    changed(device, map);
    if (begins)
        check_returned(call, device, map);
    else if (map->returned)
        check_put_back(map);
}

RULE(rex_module_data_enter, "mdM", 9)
{
    data(call, rex_module_data_enter, model_can_map, REX_MAP_DELETE, model_begin);
}

RULE(rex_module_region_end, "mdM", 7)
{
    data(call, rex_module_region_end, model_can_end, 0, model_end);
}

static bool can_exit(int device, const struct walk_map *map)
{
    bool present = true;
    for (int i = 0; i < map->map.count; i++)
        present = present &&
                  (!(map->part[i].type & REX_MAP_PRESENT) || map->part[i].host < 0 ||
                   model_is_present(device, map->part[i].host, map->part[i].begin,
                                    map->part[i].size));
    return present && model_can_end(device, map);
}

RULE(rex_module_data_exit, "mdM", 4)
{
    data(call, rex_module_data_exit, can_exit, 0, model_end);
}

static void update(int device, const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++) {
        model_update(device, &map->part[i], REX_MAP_TO);
        if (!(map->part[i].type & REX_MAP_TO))
            model_update(device, &map->part[i], REX_MAP_FROM);
    }
}

/* Of a row that goes both ways it is not said which copy comes first; one that goes neither is
 * refused; and one of a struct's members has pointers. */
static bool is_one_way(const struct walk_map *map)
{
    for (int i = 0; map != NULL && i < map->map.count; i++)
        if ((map->part[i].type & REX_MAP_TOFROM) == 0 || map->part[i].host == ARRAYS ||
            (map->part[i].type & REX_MAP_TOFROM) == REX_MAP_TOFROM)
            return false;
    return true;
}

RULE(rex_module_data_update, "mdM", 5)
{
    if (!is_one_way(walk_map_of(call, 2)))
        return;
    data(call, rex_module_data_update, model_all_mapped, 0, update);
}

/* No two rows in one mapping, which LLVM 14 aborts on where it ends: librex(7). */
static bool is_apart(const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++)
        for (int j = 0; j < i; j++)
            if (map->part[i].host == map->part[j].host)
                return false;
    return true;
}

static bool can_end_raw(int device, const struct walk_map *map)
{
    return model_can_end(device, map) && is_apart(map);
}

/* A data call with the columns of a map; FIRST is the argument that is the device, and the map is the next. */
typedef int raw_call(const struct call *call, int64_t device, ROWS);

static void raw_data(struct call *call, int first, raw_call *function, can *possible, change *changed)
{
    struct walk_map *map = walk_map_of(call, first + 1);
    int device = walk_device(call, first);
    if (map == NULL || map->wrong || has_values(map) || walk_has_empty(map) ||
        walk_has_types(map, REX_MAP_PRESENT | REX_MAP_DELETE | REX_MAP_RETURN_PARAM))
        return;
    map->raw = true;
    if (!walk_is_registered() || (device >= 0 && !possible(device, map)))
        return;
    order_data(call, device, map, changed);
    walk_before();
    int result = function(call, walk_integer(call, first), COLUMNS(map));
    if (result != REX_OK)
        walk_judge_int(call, result, EITHER);
    else
        walk_judge_loosely(call);
    device = walk_device(call, first); /* the call may have registered a module */
    if (result == REX_OK && device >= 0)
        changed(device, map);
}

#define COLUMNS_P int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types
#define BY_EXPORTED(name)                                                                    \
    static int data_##name(const struct call *call, int64_t device, COLUMNS_P)               \
    {                                                                                        \
        (void)call;                                                                          \
        exported_target_data_##name(device, count, base, begin, sizes, types);               \
        return REX_OK;                                                                       \
    }
BY_EXPORTED(begin)
BY_EXPORTED(end)
BY_EXPORTED(update)

RULE(rex___tgt_target_data_begin, "dM", 2)
{
    raw_data(call, 0, data_begin, model_can_map, model_begin);
}

RULE(rex___tgt_target_data_end, "dM", 2)
{
    raw_data(call, 0, data_end, can_end_raw, model_end);
}

RULE(rex___tgt_target_data_update, "dM", 2)
{
    if (is_one_way(walk_map_of(call, 1)))
        raw_data(call, 0, data_update, model_all_mapped, update);
}

static int data_of_module(const struct call *call, int64_t device, COLUMNS_P)
{
    return rex_module_target_data(walk_module(call, 0), (enum rex_data_call)walk_integer(call, 1), device, count, base, begin, sizes, types);
}

RULE(rex_module_target_data, "mIdM", 3)
{
    int64_t which = walk_integer(call, 1);
    if (which == REX_DATA_BEGIN)
        raw_data(call, 2, data_of_module, model_can_map, model_begin);
    else if (which == REX_DATA_END)
        raw_data(call, 2, data_of_module, can_end_raw, model_end);
    else if (which != REX_DATA_UPDATE || is_one_way(walk_map_of(call, 3)))
        raw_data(call, 2, data_of_module, model_all_mapped, update);
}

/* The program writes the array. */
OWN_RULE(host_write, "hi", 5)
{
    int host = walk_variable(call, 0);
    if (host < 0)
        return;
    walk_order_host(host, true);
    model_write(host, walk_integer(call, 1));
}

/* The device's copy of an array against the model's. */
OWN_RULE(peek, "hd", 4)
{
    int device = walk_device(call, 1), host = walk_variable(call, 0);
    walk_peek(device, host);
}

void walk_peek(int device, int host)
{
    int begin, size;
    struct mapping *mapping = host >= 0 ? model_mapping(device, host, &begin, &size) : NULL;
    if (mapping == NULL)
        return;
    struct touches touches = {.count = 0};
    model_touch_mapping(&touches, mapping);
    walk_order(HOST, &touches);
    unsigned char *bytes = malloc((size_t)size);
    const void *address = rex_mapped_ptr((char *)model_address(host) + begin, device);
    if (address == NULL || rex_device_copy_from(bytes, address, (size_t)size, device) != REX_OK)
        walk_found("host%d on device %d is at %p: %s", host, device, address, rex_last_error());
    const char *differs = model_compare_copy(mapping, bytes);
    if (differs != NULL)
        walk_found("%s", differs);
    free(bytes);
}

/* ---- device memory
 * --------------------------------------------------------------------------------------------------------------------------- */

RULE(rex_device_alloc, "yzd", 4)
{
    int number = walk_variable(call, 0), device = walk_device(call, 2);
    int64_t size = walk_integer(call, 1);
    if (number < 0 || walk_now.memory[number].address != NULL)
        return;
    walk_before();
    void *memory = rex_device_alloc((size_t)size, walk_integer(call, 2));
    enum verdict verdict = device >= 0 && size > 0 && size <= MOST_BYTES && walk_is_registered()
                               ? MUST_WORK
                           : size < 0 || size > INT64_C(1) << 40 ? MUST_FAIL
                                                                 : EITHER;
    if (!walk_judge(call, memory == NULL, 0, verdict))
        return;
    /* On the host's number it is the host's. */
    walk_now.memory[number].address = memory;
    walk_now.memory[number].made++;
    walk_now.memory[number].size = size > MOST_BYTES ? MOST_BYTES : (int)size;
    walk_now.memory[number].device =
        (int)walk_integer(call, 2) == -1 ? 0 : (int)walk_integer(call, 2);
    model_memory_new(number, walk_now.memory[number].size);
}

static bool is_used_in_graph(int memory)
{
    for (int i = 0; i < QUEUES + GRAPHS; i++) {
        const struct captured *captured = &walk_now.captured[i];
        for (int j = 0; captured->used && j < captured->count; j++)
            if (captured->overfull || captured->command[j].memory == memory ||
                captured->command[j].from == memory || captured->command[j].map.memory == memory)
                return true;
    }
    return false;
}

/* Nothing promises an error for memory of another device. */
static bool is_of_device(const struct call *call, int memory, int device)
{
    int64_t asked = walk_integer(call, device) == -1 ? 0 : walk_integer(call, device);
    return memory < 0 || walk_now.memory[memory].address == NULL ||
           walk_now.memory[memory].device == asked || asked > rex_device_count() || asked < 0;
}

/* It waits for the queues of the device. */
RULE(rex_device_free, "yd", 2)
{
    int number = walk_variable(call, 0);
    if (number >= 0 && (is_used_in_graph(number) || !is_of_device(call, number, 1)))
        return;
    int64_t asked = walk_integer(call, 1) == -1 ? 0 : walk_integer(call, 1);
    walk_before();
    rex_device_free(walk_memory_of(call, 0), walk_integer(call, 1));
    walk_judge_loosely(call);
    if (number >= 0 && asked == walk_now.memory[number].device && rex_device_count() > 0)
        walk_now.memory[number].address = NULL;
}

/* It waits for the queues, too. */
RULE(rex_device_sync, "d", 1)
{
    int device = walk_device(call, 0);
    walk_before();
    if (!walk_judge_int(call, rex_device_sync(walk_integer(call, 0)), EITHER))
        return;
    for (int queue = 0; queue < QUEUES; queue++)
        if (walk_now.queue[queue].queue != NULL && walk_now.queue[queue].device == device)
            walk_wait_for_queue(queue);
}

static bool may_copy(const struct call *call, int memory, int size, int device)
{
    int room = memory >= 0 && walk_now.memory[memory].address != NULL
                   ? walk_now.memory[memory].size
                   : MOST_BYTES;
    return walk_integer(call, size) <= room && is_of_device(call, memory, device);
}

/* Whether an array of the host has so many bytes. */
static bool has_bytes(int host, size_t size)
{
    return host < 0 || size <= (size_t)model_size(host);
}

/* To the device, or from it. */
static void copy(struct call *call, bool to)
{
    int memory = walk_variable(call, !to), host = walk_variable(call, to);
    size_t size = (size_t)walk_integer(call, 2);
    void *at = walk_memory_of(call, !to), *array = walk_host_of(call, to);
    if (!may_copy(call, memory, 2, 3) || !has_bytes(host, size))
        return;
    walk_order_host(host, !to);
    walk_order_memory(memory, to);
    walk_before();
    int result = to ? rex_device_copy_to(at, array, size, walk_integer(call, 3)) : rex_device_copy_from(array, at, size, walk_integer(call, 3));
    if (walk_judge_int(call, result, array == NULL || at == NULL ? MUST_FAIL : walk_device(call, 3) >= 0 ? MUST_WORK : EITHER))
        (to ? model_copy_to : model_copy_from)(memory, host, (int)size);
}

RULE(rex_device_copy_to, "yhsd", 3)
{
    copy(call, true);
}

RULE(rex_device_copy_from, "hysd", 3)
{
    copy(call, false);
}

/* A part that is the beginning of an array is copied as that is. */
RULE(rex_device_copy_part, "yhsd", 2)
{
    int memory = walk_variable(call, 0), host = walk_variable(call, 1);
    int64_t size = walk_integer(call, 2);
    if (size < 0 || !may_copy(call, memory, 2, 3) || !has_bytes(host, (size_t)size))
        return;
    struct rex_dimension whole = {size + 1, 0, size, 1};
    struct rex_array_part to = {walk_memory_of(call, 0), &whole, walk_integer(call, 3)},
                          from = {walk_host_of(call, 1), &whole, rex_device_count()};
    walk_order_host(host, false);
    walk_order_memory(memory, true);
    walk_before();
    int result = rex_device_copy_part(&to, &from, 1, 1);
    if (walk_judge_int(call, result, from.base == NULL || to.base == NULL ? MUST_FAIL : walk_device(call, 3) >= 0 ? MUST_WORK : EITHER))
        model_copy_to(memory, host, (int)size);
}

RULE(rex_device_fill, "yhPsd", 2)
{
    int memory = walk_variable(call, 0);
    int64_t width = walk_integer(call, 2), size = walk_integer(call, 3);
    const void *pattern = walk_host_of(call, 1);
    if (!may_copy(call, memory, 3, 4))
        return;
    bool wrong = walk_memory_of(call, 0) == NULL || pattern == NULL || (width != 1 && width != 2 && width != 4);
    walk_order_host(walk_variable(call, 1), false);
    walk_order_memory(memory, true);
    walk_before();
    int result = rex_device_fill(walk_memory_of(call, 0), pattern, (size_t)width, (size_t)size, walk_integer(call, 4));
    if (walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER))
        model_fill(memory, pattern, (int)width, (int)size);
}

RULE(rex_module_resident_blocks, "mkdt", 1)
{
    int key = walk_kernel(call, 1, NULL);
    struct rex_launch_config launch = rex_launch_config_of(walk_key(key), 1, walk_integer(call, 3));
    launch.device = walk_integer(call, 2);
    walk_before();
    int64_t blocks = rex_module_resident_blocks(walk_module(call, 0), &launch);
    walk_judge(call, blocks < 0, blocks < 0 ? (int)blocks : 0, key < 0 ? MUST_FAIL : EITHER);
}

RULE(rex_device_copy_peer, "ydyds", 3)
{
    int to = walk_variable(call, 0), from = walk_variable(call, 2);
    int64_t size = walk_integer(call, 4);
    if (to == from || !may_copy(call, to, 4, 1) || !may_copy(call, from, 4, 3))
        return;
    bool null = walk_memory_of(call, 0) == NULL || walk_memory_of(call, 2) == NULL;
    bool sure = walk_device(call, 1) >= 0 && walk_device(call, 3) >= 0;
    walk_order_memory(to, true);
    walk_order_memory(from, false);
    walk_before();
    int result =
        rex_device_copy_peer(walk_memory_of(call, 0), walk_integer(call, 1), walk_memory_of(call, 2), walk_integer(call, 3), (size_t)size);
    if (walk_judge_int(call, result, null ? MUST_FAIL : sure ? MUST_WORK : EITHER))
        model_copy_peer(to, from, (int)size);
}

RULE(rex_target_is_present, "hzd", 3)
{
    int host = walk_variable(call, 0), device = walk_device(call, 2);
    int64_t size = walk_integer(call, 1);
    walk_before();
    bool is = rex_target_is_present(walk_host_of(call, 0), (size_t)size, walk_integer(call, 2));
    if (!is)
        walk_judge_loosely(call);
    if (device < 0 || (host >= 0 && size >= 0 && size > model_size(host)))
        return;
    bool should =
        host >= 0 && size >= 0 && model_is_present(device, host, 0, size > 0 ? (int)size : 1);
    if (is != should)
        walk_found("it says that the memory is %spresent", is ? "" : "not ");
}

/* An array's address stays the same as long as it is mapped. */
RULE(rex_mapped_ptr, "hd", 2)
{
    int host = walk_variable(call, 0), device = walk_device(call, 1), begin = 0, size;
    struct mapping *mapping =
        host >= 0 ? model_mapping(device, host, &begin, &size) : NULL;
    char *at = host >= 0 ? (char *)walk_array[host] + begin : NULL;
    walk_before();
    void *address = rex_mapped_ptr(at, walk_integer(call, 1));
    walk_judge_loosely(call);
    if (device >= 0 && (address != NULL) != (mapping != NULL))
        walk_found("it says that the memory is %s", address != NULL ? "mapped" : "not mapped");
    if (mapping != NULL && !model_is_address(mapping, address))
        walk_found("it says %p, and said another address before", address);
}
