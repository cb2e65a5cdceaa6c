/*
 * rulesdata.c - maps, launches, data calls and device memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "rules.h"

/* The exported wrappers, in the place of the inline ones of rex_kmp.h. */
#define EXPORTED(result, name, parameters) result exported_##name parameters __asm__("rex___tgt_" #name)
#define ROWS int32_t, void **, void **, int64_t *, int64_t *
EXPORTED(int, target, (int64_t, void *, ROWS));
EXPORTED(int, target_teams, (int64_t, void *, ROWS, int32_t, int32_t));
EXPORTED(int, target_kernel, (int64_t, int32_t, int32_t, void *, struct __tgt_kernel_arguments *));
EXPORTED(void, target_data_begin, (int64_t, ROWS));
EXPORTED(void, target_data_end, (int64_t, ROWS));
EXPORTED(void, target_data_update, (int64_t, ROWS));

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
                                    REX_MAP_DELETE};
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
    *map = (struct walk_map){.form = FORM_NONE};
    map->map = (struct rex_map){0, map->base, map->begin, map->sizes, map->types, NULL, NULL};
    return map;
}

static void add(struct walk_map *map, struct rex_row row, struct part part)
{
    int i = map->map.count++;
    map->map.base[i] = row.base;
    map->map.begin[i] = row.begin;
    map->map.sizes[i] = row.size;
    map->map.types[i] = row.type;
    part.type = row.type;
    map->part[i] = part;
}

static void add_value(struct walk_map *map, int64_t value)
{
    add(map, REX_VALUE(value), (struct part){.host = -1, .value = value});
}

/* A row of the part that three arguments name. */
static void add_part(struct walk_map *map, const struct call *call, int type, int host, int width, bool parameter)
{
    int64_t cells = walk_integer(call, width);
    int lower = cells < 0 ? CELLS + (int)cells : 0, length = cells < 0 ? -(int)cells : (int)cells, number = walk_variable(call, host);
    if (number < 0) {
        map->wrong = map->wrong || length > 0;
        add(map, rex_row_of(NULL, NULL, 8 * length, clause(call, type) | (parameter ? REX_MAP_TARGET_PARAM : 0)),
            (struct part){.host = -1});
        return;
    }
    int64_t *array = walk_host[number];
    struct rex_row row = REX_SECTION(clause(call, type), array, lower, length);
    add(map, parameter ? row : REX_NO_PARAM(row), (struct part){.host = number, .begin = 8 * lower, .size = 8 * length});
}

/* A kernel works on the first cells of each array, which have to be mapped. */
static bool holds(const struct walk_map *map, int row, int64_t cells)
{
    const struct part *part = &map->part[row];
    return part->host >= 0 && part->begin == 0 && part->size >= 8 * cells && part->size > 0;
}

void rule_map_for_add(struct call *call)
{
    struct walk_map *map = empty(call);
    int64_t cells = walk_integer(call, 1);
    if (map == NULL)
        return;
    if (!walk_settings.gpu)
        add_value(map, cells);
    add_value(map, walk_integer(call, 2));
    if (!walk_settings.gpu)
        add_part(map, call, 4, 3, 5, true);
    add_part(map, call, 7, 6, 8, true);
    map->form = walk_settings.gpu || (holds(map, 2, cells) && holds(map, 3, cells)) ? FORM_ADD : FORM_NONE;
}

void rule_map_for_set(struct call *call)
{
    struct walk_map *map = empty(call);
    int64_t cells = walk_integer(call, 1);
    if (map == NULL)
        return;
    if (!walk_settings.gpu)
        add_value(map, cells);
    add_value(map, walk_integer(call, 2));
    add_part(map, call, 4, 3, 5, true);
    map->form = walk_settings.gpu || holds(map, 2, cells) ? FORM_SET : FORM_NONE;
}

void rule_map_of_one(struct call *call)
{
    struct walk_map *map = empty(call);
    if (map != NULL)
        add_part(map, call, 1, 2, 3, false);
}

void rule_map_add_row(struct call *call)
{
    struct walk_map *map = walk_map_of(call, 0);
    if (map == NULL || map->built || map->wrong || map->map.count == MOST_ROWS)
        return;
    walk_now.map_made[walk_variable(call, 0)]++;
    add_part(map, call, 1, 2, 3, false);
}

void rule_map_break(struct call *call)
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
    return rex_map_add(builder, REX_TO(walk_host[0], CELLS));
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

/* A map that is wrong, or of another kind, may be refused or not. */
void rule_rex_map_build(struct call *call)
{
    struct walk_map *map = walk_map_of(call, 0), *prefix = walk_map_of(call, 1), *suffix = walk_map_of(call, 3);
    int rows = walk_variable(call, 2), times = 1;
    struct walk_map built = {.built = true};
    if ((map != NULL && (map->built || map == prefix || map == suffix)) || (prefix != NULL && prefix->wrong) ||
        (suffix != NULL && suffix->wrong))
        return;
    int count = (prefix != NULL ? prefix->map.count : 0) + (suffix != NULL ? suffix->map.count : 0) + (rows == 0);
    if (count > MOST_ROWS)
        return;
    struct rex_map untouched = {.count = 77};
    built.map = untouched;
    walk_before();
    int result = rex_map_build(map != NULL ? &built.map : NULL, prefix != NULL ? &prefix->map : NULL,
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
    int at = 0;
    for (int i = 0; prefix != NULL && i < prefix->map.count; i++)
        built.part[at++] = prefix->part[i];
    if (rows == 0)
        built.part[at++] = (struct part){.host = 0, .size = BYTES, .type = REX_MAP_TO | REX_MAP_TARGET_PARAM};
    for (int i = 0; suffix != NULL && i < suffix->map.count; i++)
        built.part[at++] = suffix->part[i];
    for (int i = 0; i < count; i++)
        if (built.map.types[i] != built.part[i].type ||
            (built.part[i].host >= 0 && built.map.begin[i] != (char *)walk_host[built.part[i].host] + built.part[i].begin))
            walk_found("row %d of the map is not what it was made of", i);
    walk_now.map_made[walk_variable(call, 0)]++;
    *map = built;
}

void rule_rex_map_free(struct call *call)
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

static struct rex_launch_config launch_of(const struct call *call, int key)
{
    struct rex_launch_config launch = {.key = walk_key(call, key),
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
    static const struct walk_map nothing;
    const struct walk_map *rows = map != NULL ? map : &nothing;
    if (device < 0)
        walk_found("it has launched a kernel on no device");
    model_begin(device, rows);
    if (key < 2)
        model_kernel(device, rows);
    model_end(device, rows);
}

static bool has_values(const struct walk_map *map)
{
    return walk_has_types(map, REX_MAP_LITERAL | REX_MAP_PRIVATE);
}

void rule_rex_module_launch_map(struct call *call)
{
    struct rex_module *module = walk_module(call, 0);
    struct rex_launch_config launch = launch_of(call, 1);
    struct walk_map *map = walk_map_of(call, 6);
    int key = walk_variable(call, 1);
    if (!walk_is_harmless(call, 1, map))
        return;
    bool ready = walk_is_registered() && module == &walk_now.module && walk_device(call, 2) >= 0 && !walk_settings.gpu;
    bool right =
        key >= 0 && key < 3 && !walk_has_too_many(call, 1, map) && (map == NULL || (!map->wrong && !walk_has_types(map, REX_MAP_DELETE)));
    bool can = right && ready && (map == NULL || model_can_map(walk_device(call, 2), map));
    walk_before();
    int result = rex_module_launch_map(module, &launch, map != NULL ? &map->map : NULL);
    if (walk_judge_int(call, result,
                       !right || (ready && !can)                            ? MUST_FAIL
                       : ready && is_usual(&launch) && !walk_has_empty(map) ? MUST_WORK
                                                                            : EITHER))
        launched(walk_device(call, 2), map, key);
}

/* A raw launch checks less: librex(7) says what. */
static bool is_safe_raw(const struct call *call, int device, int key, const struct walk_map *map)
{
    int number = walk_device(call, device);
    return walk_settings.gpu ? map == NULL || !map->wrong
                             : map != NULL && !map->wrong && walk_is_harmless(call, key, map) && !walk_has_empty(map) &&
                                   !walk_has_types(map, REX_MAP_PRESENT | REX_MAP_DELETE) && (number < 0 || model_can_map(number, map));
}

static void launched_raw(struct call *call, int device, int key, const struct walk_map *map, int result)
{
    bool worked = walk_judge(call, result != 0, result < 0 ? 0 : result, EITHER);
    if (worked && walk_device(call, device) >= 0)
        launched(walk_device(call, device), map, walk_variable(call, key));
}

#define COLUMNS(map) (map)->map.count, (map)->map.base, (map)->map.begin, (map)->map.sizes, (map)->map.types

void rule_rex___tgt_target(struct call *call)
{
    struct walk_map *map = walk_map_of(call, 2);
    if (map == NULL || !is_safe_raw(call, 0, 1, map))
        return;
    walk_before();
    launched_raw(call, 0, 1, map, exported_target(walk_integer(call, 0), (void *)(uintptr_t)walk_key(call, 1), COLUMNS(map)));
}

void rule_rex___tgt_target_teams(struct call *call)
{
    struct walk_map *map = walk_map_of(call, 2);
    if (map == NULL || !is_safe_raw(call, 0, 1, map))
        return;
    walk_before();
    launched_raw(call, 0, 1, map,
                 exported_target_teams(walk_integer(call, 0), (void *)(uintptr_t)walk_key(call, 1), COLUMNS(map),
                                       (int32_t)walk_integer(call, 3), (int32_t)walk_integer(call, 4)));
}

/* ---- packets
 * --------------------------------------------------------------------------------------------------------------------------------- */

void rule_packet_fill(struct call *call)
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
    walk_before();
    int result = send(call, walk_integer(call, first), (int32_t)walk_integer(call, first + 1), (int32_t)walk_integer(call, first + 2),
                      (void *)(uintptr_t)walk_key(call, first + 3), packet);
    if (packet == NULL && result == 0)
        walk_found("a packet that is NULL was launched");
    launched_raw(call, first, first + 3, map, result);
    if (!unchanged(packet, &before))
        walk_found("it has changed the packet");
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

void rule_rex_module_launch(struct call *call)
{
    launch_packet(call, 1, by_module);
}

void rule_rex___tgt_target_kernel(struct call *call)
{
    launch_packet(call, 0, by_key);
}

/* ---- data
 * ------------------------------------------------------------------------------------------------------------------------------------ */

typedef int data_call(struct rex_module *module, int64_t device, const struct rex_map *map);
typedef bool can(int device, const struct walk_map *map);
typedef void change(int device, const struct walk_map *map);

static void data(struct call *call, data_call *function, can *possible, int64_t refused, change *changed)
{
    struct rex_module *module = walk_module(call, 0);
    struct walk_map *map = walk_map_of(call, 2);
    int device = walk_device(call, 1);
    bool ready = walk_is_registered() && module == &walk_now.module && device >= 0 && !walk_settings.gpu;
    bool wrong = map == NULL || map->wrong || has_values(map) || walk_has_types(map, refused);
    bool sure = ready && !wrong && !walk_has_empty(map);
    enum verdict verdict = wrong                           ? MUST_FAIL
                           : sure && possible(device, map) ? MUST_WORK
                           : sure && changed != model_end  ? MUST_FAIL
                                                           : EITHER;
    walk_before();
    int result = function(module, walk_integer(call, 1), map != NULL ? &map->map : NULL);
    if (walk_judge_int(call, result, verdict) && walk_device(call, 1) >= 0)
        changed(walk_device(call, 1), map);
}

void rule_rex_module_data_enter(struct call *call)
{
    data(call, rex_module_data_enter, model_can_map, REX_MAP_DELETE, model_begin);
}

void rule_rex_module_region_end(struct call *call)
{
    data(call, rex_module_region_end, model_can_end, 0, model_end);
}

static bool can_exit(int device, const struct walk_map *map)
{
    bool present = true;
    for (int i = 0; i < map->map.count; i++)
        present = present && (!(map->part[i].type & REX_MAP_PRESENT) || map->part[i].host < 0 ||
                              model_is_present(device, map->part[i].host, map->part[i].begin, map->part[i].size));
    return present && model_can_end(device, map);
}

void rule_rex_module_data_exit(struct call *call)
{
    data(call, rex_module_data_exit, can_exit, 0, model_end);
}

static void update(int device, const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++) {
        struct walk_map row = {.map = {.count = 1}, .part = {map->part[i]}};
        model_update(device, &row, REX_MAP_TO);
        if (!(map->part[i].type & REX_MAP_TO))
            model_update(device, &row, REX_MAP_FROM);
    }
}

/* Of a row that goes both ways it is not said which copy comes first; one that goes neither is refused. */
static bool is_one_way(const struct walk_map *map)
{
    for (int i = 0; map != NULL && !map->wrong && i < map->map.count; i++)
        if ((map->part[i].type & REX_MAP_TOFROM) == 0 || (map->part[i].type & REX_MAP_TOFROM) == REX_MAP_TOFROM)
            return false;
    return true;
}

void rule_rex_module_data_update(struct call *call)
{
    if (!is_one_way(walk_map_of(call, 2)))
        return;
    data(call, rex_module_data_update, model_all_mapped, 0, update);
}

/* No two rows in one mapping, which LLVM 14 aborts on where it ends: librex(7). */
static bool is_apart(int device, const struct walk_map *map)
{
    (void)device;
    for (int i = 0; i < map->map.count; i++)
        for (int j = 0; j < i; j++)
            if (map->part[i].host == map->part[j].host)
                return false;
    return true;
}

static bool can_end_raw(int device, const struct walk_map *map)
{
    return model_can_end(device, map) && is_apart(device, map);
}

static void raw_data(struct call *call, void (*function)(int64_t, ROWS), can *possible, change *changed)
{
    struct walk_map *map = walk_map_of(call, 1);
    int device = walk_device(call, 0);
    if (map == NULL || map->wrong || has_values(map) || walk_has_empty(map) || walk_has_types(map, REX_MAP_PRESENT | REX_MAP_DELETE))
        return;
    if (!walk_settings.gpu && (!walk_is_registered() || (device >= 0 && !possible(device, map))))
        return;
    walk_before();
    function(walk_integer(call, 0), COLUMNS(map));
    walk_judge_loosely(call);
    if (rex_last_error_code() > 0 || *rex_last_error() == '\0')
        walk_found("the last error is %d", rex_last_error_code());
    if (walk_device(call, 0) >= 0)
        changed(walk_device(call, 0), map);
}

void rule_rex___tgt_target_data_begin(struct call *call)
{
    raw_data(call, exported_target_data_begin, model_can_map, model_begin);
}

void rule_rex___tgt_target_data_end(struct call *call)
{
    raw_data(call, exported_target_data_end, can_end_raw, model_end);
}

void rule_rex___tgt_target_data_update(struct call *call)
{
    if (is_one_way(walk_map_of(call, 1)))
        raw_data(call, exported_target_data_update, model_all_mapped, update);
}

void rule_rex_module_check_map(struct call *call)
{
    struct walk_map *map = walk_map_of(call, 2);
    if (map == NULL)
        return;
    walk_before();
    walk_judge_int(call, rex_module_check_map(walk_module(call, 0), walk_integer(call, 1), COLUMNS(map)), EITHER);
}

/* ---- device memory
 * --------------------------------------------------------------------------------------------------------------------------- */

void rule_rex_device_alloc(struct call *call)
{
    int number = walk_variable(call, 0), device = walk_device(call, 2);
    int64_t size = walk_integer(call, 1);
    if (number < 0 || walk_now.memory[number].address != NULL)
        return;
    walk_before();
    void *memory = rex_device_alloc((size_t)size, walk_integer(call, 2));
    enum verdict verdict = device >= 0 && size > 0 && size <= 4095 ? MUST_WORK : size < 0 || size > INT64_C(1) << 40 ? MUST_FAIL : EITHER;
    if (!walk_judge(call, memory == NULL, 0, verdict))
        return;
    /* On the host's number it is the host's. */
    walk_now.memory[number].address = memory;
    walk_now.memory[number].size = size > BYTES ? BYTES : (int)size;
    walk_now.memory[number].device = (int)walk_integer(call, 2) == -1 ? 0 : (int)walk_integer(call, 2);
    model_memory_new(number);
}

static bool is_used_in_graph(int memory)
{
    for (int i = 0; i < QUEUES + GRAPHS; i++)
        for (int j = 0; walk_now.captured[i].graph != NULL && j < walk_now.captured[i].count; j++)
            if (walk_now.captured[i].command[j].memory == memory)
                return true;
    return false;
}

/* Nothing promises an error for memory of another device. */
static bool is_of_device(const struct call *call, int memory, int device)
{
    int64_t asked = walk_integer(call, device) == -1 ? 0 : walk_integer(call, device);
    return memory < 0 || walk_now.memory[memory].address == NULL || walk_now.memory[memory].device == asked || asked > rex_device_count() ||
           asked < 0;
}

void rule_rex_device_free(struct call *call)
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

static bool may_copy(const struct call *call, int memory, int size, int device)
{
    return memory < 0 || (walk_integer(call, size) <= (walk_now.memory[memory].address != NULL ? walk_now.memory[memory].size : BYTES) &&
                          is_of_device(call, memory, device));
}

static enum verdict verdict_of_copy(const struct call *call, int memory, const void *host, int device)
{
    bool null = host == NULL || memory < 0 || walk_now.memory[memory].address == NULL;
    return null ? MUST_FAIL : walk_device(call, device) >= 0 ? MUST_WORK : EITHER;
}

void rule_rex_device_copy_to(struct call *call)
{
    int memory = walk_variable(call, 0), host = walk_variable(call, 1);
    size_t size = (size_t)walk_integer(call, 2);
    if (!may_copy(call, memory, 2, 3))
        return;
    walk_before();
    int result = rex_device_copy_to(walk_memory_of(call, 0), walk_host_of(call, 1), size, walk_integer(call, 3));
    if (walk_judge_int(call, result, verdict_of_copy(call, memory, walk_host_of(call, 1), 3)))
        model_copy_to(memory, host, (int)size);
}

void rule_rex_device_copy_from(struct call *call)
{
    int memory = walk_variable(call, 1), host = walk_variable(call, 0);
    size_t size = (size_t)walk_integer(call, 2);
    if (!may_copy(call, memory, 2, 3))
        return;
    walk_before();
    int result = rex_device_copy_from(walk_host_of(call, 0), walk_memory_of(call, 1), size, walk_integer(call, 3));
    if (walk_judge_int(call, result, verdict_of_copy(call, memory, walk_host_of(call, 0), 3)))
        model_copy_from(memory, host, (int)size);
}

void rule_rex_device_copy_peer(struct call *call)
{
    int to = walk_variable(call, 0), from = walk_variable(call, 2);
    int64_t size = walk_integer(call, 4);
    if (to == from || !may_copy(call, to, 4, 1) || !may_copy(call, from, 4, 3))
        return;
    bool null = walk_memory_of(call, 0) == NULL || walk_memory_of(call, 2) == NULL;
    bool sure = walk_device(call, 1) >= 0 && walk_device(call, 3) >= 0;
    walk_before();
    int result =
        rex_device_copy_peer(walk_memory_of(call, 0), walk_integer(call, 1), walk_memory_of(call, 2), walk_integer(call, 3), (size_t)size);
    if (walk_judge_int(call, result, null ? MUST_FAIL : sure ? MUST_WORK : EITHER))
        model_copy_peer(to, from, (int)size);
}

void rule_rex_target_is_present(struct call *call)
{
    int host = walk_variable(call, 0), device = walk_device(call, 2);
    int64_t size = walk_integer(call, 1);
    walk_before();
    bool is = rex_target_is_present(walk_host_of(call, 0), (size_t)size, walk_integer(call, 2));
    if (!is)
        walk_judge_loosely(call);
    if (walk_settings.gpu || device < 0 || (host >= 0 && size >= 0 && size > BYTES))
        return;
    bool should = host >= 0 && size >= 0 && model_is_present(device, host, 0, size > 0 ? (int)size : 1);
    if (is != should)
        walk_found("it says that the memory is %spresent", is ? "" : "not ");
}

void rule_rex_mapped_ptr(struct call *call)
{
    int host = walk_variable(call, 0), device = walk_device(call, 1);
    walk_before();
    void *address = rex_mapped_ptr(walk_host_of(call, 0), walk_integer(call, 1));
    walk_judge_loosely(call);
    if (!walk_settings.gpu && device >= 0 && (address != NULL) != (host >= 0 && model_is_present(device, host, 0, 1)))
        walk_found("it says that the memory is %s", address != NULL ? "mapped" : "not mapped");
}
