/*
 * model.c - what arrays of the host, their mappings and device memory should hold: OpenMP's rules
 * of reference counts and copies, byte by byte.
 *
 * Queues do their work late. The model does it at once, which comes to the same: before two
 * commands, or a command and a call, work on the same bytes the walk makes one wait for the other.
 * The order that it needs is known by counting: each command has the number of its queue.
 *
 * A byte of a device that no call has written is not known. Where one is copied to the host, the
 * model takes what is there. A pointer that was attached is a device address; copied back it is
 * the host's again.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

enum { UNKNOWN, KNOWN, ATTACHED };
enum { MAPPINGS = 24, POINTER = offsetof(struct walk_record, data) };

struct mapping {
    int host, begin, size;
    int count, hold;              /* both 0: there is none; HOLD has a count of its own */
    unsigned made;                /* a number of its own */
    const void *address;          /* on the device, once it was asked for */
    unsigned attached[RECORDS];   /* the mapping that the pointer of each record leads to */
    struct place copy;
};

_Thread_local int64_t *walk_array[ARRAYS];
_Thread_local struct walk_record walk_record[RECORDS];
static _Thread_local struct place hosts[PLACES], memories[MEMORIES];
static _Thread_local struct mapping mappings[DEVICES][MAPPINGS];
static _Thread_local unsigned mappings_made;
/* Up to which command: put in the queue; known to be done; the queue itself was waited for. */
static _Thread_local unsigned number[QUEUES], seen[QUEUES + 1][QUEUES], idle[QUEUES];

static const int array_sizes[PLACES] = {BYTES,      BYTES, BYTES, BYTES, 160 << 10, MOST_BYTES,
                                        sizeof walk_record};

int model_size(int host)
{
    return array_sizes[host];
}

void *model_address(int host)
{
    return host < ARRAYS ? (void *)walk_array[host] : walk_record;
}

int model_host_at(const void *address, int *begin)
{
    for (int host = 0; host < PLACES; host++) {
        uintptr_t offset = (uintptr_t)address - (uintptr_t)model_address(host);
        if (offset < (uintptr_t)model_size(host)) {
            *begin = (int)offset;
            return host;
        }
    }
    return -1;
}

static void new_place(struct place *place, int size)
{
    *place = (struct place){.value = malloc((size_t)size), .known = calloc(1, (size_t)size),
                            .size = size};
    if (place->value == NULL || place->known == NULL)
        walk_found("there is no memory for the model");
}

static void free_place(struct place *place)
{
    free(place->value);
    free(place->known);
    *place = (struct place){0};
}

void model_reset(void)
{
    for (int host = 0; host < ARRAYS; host++) {
        walk_array[host] = malloc((size_t)model_size(host));
        for (int i = 0; i < model_size(host) / 8; i++)
            walk_array[host][i] = 1000 * (host + 1) + i;
    }
    for (int i = 0; i < RECORDS; i++)
        walk_record[i] = (struct walk_record){3 + i, walk_array[i], 77 + i};
    for (int host = 0; host < PLACES; host++) {
        new_place(&hosts[host], model_size(host));
        memcpy(hosts[host].value, model_address(host), (size_t)model_size(host));
        memset(hosts[host].known, KNOWN, (size_t)model_size(host));
    }
}

void model_end_all(void)
{
    for (int host = 0; host < PLACES; host++)
        free_place(&hosts[host]);
    for (int host = 0; host < ARRAYS; host++)
        free(walk_array[host]);
    for (int i = 0; i < MEMORIES; i++)
        free_place(&memories[i]);
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < MAPPINGS; i++)
            free_place(&mappings[device][i].copy);
}

/* ---- copies --------------------------------------------------------------------------------- */

static void copy(struct place *to, int to_at, const struct place *from, int from_at, int size)
{
    memmove(to->value + to_at, from->value + from_at, (size_t)size);
    memmove(to->known + to_at, from->known + from_at, (size_t)size);
}

static void to_device(struct place *place, int at, int host, int begin, int size)
{
    copy(place, at, &hosts[host], begin, size);
}

/* An attached pointer of the host's place stays what it is. */
static void to_host(const struct place *from, int at, int host, int begin, int size)
{
    if (memchr(from->known + at, ATTACHED, (size_t)size) == NULL)
        copy(&hosts[host], begin, from, at, size);
    else
        for (int i = 0; i < size; i++)
            if (from->known[at + i] != ATTACHED)
                copy(&hosts[host], begin + i, from, at + i, 1);
}

void model_write(int host, int64_t first)
{
    int64_t *array = walk_array[host];
    for (int i = 0; i < model_size(host) / 8; i++)
        array[i] = (int64_t)((uint64_t)first + 3 * (uint64_t)i);
    memcpy(hosts[host].value, array, (size_t)model_size(host));
    memset(hosts[host].known, KNOWN, (size_t)model_size(host));
}

/* ---- mappings ------------------------------------------------------------------------------- */

static bool is_there(const struct mapping *mapping)
{
    return mapping->count + mapping->hold > 0;
}

static bool contains(const struct mapping *mapping, const struct part *part)
{
    return is_there(mapping) && mapping->host == part->host && mapping->begin <= part->begin &&
           part->begin + part->size <= mapping->begin + mapping->size;
}

static bool overlaps(const struct mapping *mapping, const struct part *part)
{
    return is_there(mapping) && mapping->host == part->host &&
           mapping->begin < part->begin + part->size &&
           part->begin < mapping->begin + mapping->size;
}

static struct mapping *find(int device, const struct part *part)
{
    for (int i = 0; device >= 0 && i < MAPPINGS; i++)
        if (contains(&mappings[device][i], part))
            return &mappings[device][i];
    return NULL;
}

static bool in_part(int device, const struct part *part)
{
    bool touches = false;
    for (int i = 0; i < MAPPINGS; i++)
        touches = touches || overlaps(&mappings[device][i], part);
    return touches && find(device, part) == NULL;
}

bool model_is_present(int device, int host, int begin, int size)
{
    return find(device, &(struct part){.host = host, .begin = begin, .size = size}) != NULL;
}

bool model_any_mapping(void)
{
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < MAPPINGS; i++)
            if (is_there(&mappings[device][i]))
                return true;
    return false;
}

struct mapping *model_mapping(int device, int host, int *begin, int *size)
{
    for (int i = 0; device >= 0 && i < MAPPINGS; i++) {
        struct mapping *mapping = &mappings[device][i];
        if (is_there(mapping) && mapping->host == host) {
            *begin = mapping->begin;
            *size = mapping->size;
            return mapping;
        }
    }
    return NULL;
}

bool model_is_address(struct mapping *mapping, const void *address)
{
    if (mapping->address == NULL)
        mapping->address = address;
    return mapping->address == address;
}

/* Whether the row is a member, whose object's mapping counts for it. */
static bool is_member(const struct part *part)
{
    return (part->type & REX_MAP_MEMBER_OF_MASK) != 0 && (part->type & REX_MAP_PTR_AND_OBJ) == 0;
}

/* The pointer of the record that leads to the part, in the mapping of the record. */
static void attach(int device, const struct part *part, const struct mapping *object)
{
    for (int i = 0; i < RECORDS; i++) {
        struct part pointer = {.host = ARRAYS,
                               .begin = i * (int)sizeof *walk_record + POINTER,
                               .size = sizeof(void *)};
        struct mapping *mapping = find(device, &pointer);
        if (part->value == i && mapping != NULL) {
            memset(mapping->copy.known + pointer.begin - mapping->begin, ATTACHED, sizeof(void *));
            mapping->attached[i] = object != NULL ? object->made : 0;
        }
    }
}

/* Whether row I maps its memory by itself: it is no parent and no member. In a raw call librex compares no attached pointer's memory. */
static bool is_alone(const struct walk_map *map, int i)
{
    int64_t next = i + 1 < map->map.count ? map->part[i + 1].type : 0;
    return map->part[i].host >= 0 && map->part[i].size > 0 &&
           !is_member(&map->part[i]) && !(map->raw && (map->part[i].type & REX_MAP_PTR_AND_OBJ)) &&
           (int64_t)((uint64_t)next >> 48) != i + 1;
}

/* The copies of row I's memory: those of all rows with the same. */
static int64_t copies_of(const struct walk_map *map, int i)
{
    const struct part *part = &map->part[i];
    int64_t copies = part->type & REX_MAP_TOFROM;
    for (int j = 0; j < map->map.count; j++) {
        const struct part *other = &map->part[j];
        if (is_alone(map, i) && is_alone(map, j) && other->host == part->host &&
            other->begin == part->begin && other->size == part->size)
            copies |= other->type & REX_MAP_TOFROM;
    }
    return copies;
}

static int *count_of(struct mapping *mapping, const struct part *part)
{
    return part->type & REX_MAP_OMPX_HOLD ? &mapping->hold : &mapping->count;
}

static void begin_part(int device, const struct walk_map *map, int row)
{
    const struct part *part = &map->part[row];
    struct mapping *mapping = part->host >= 0 ? find(device, part) : NULL;
    bool is_new = mapping == NULL;
    if (part->host >= 0 && !(is_new && part->size == 0)) {
        for (int i = 0; mapping == NULL && i < MAPPINGS; i++)
            if (!is_there(&mappings[device][i]))
                mapping = &mappings[device][i];
        if (is_new) {
            free_place(&mapping->copy);
            *mapping = (struct mapping){.host = part->host, .begin = part->begin,
                                        .size = part->size, .made = ++mappings_made};
            new_place(&mapping->copy, part->size);
        }
        if (!is_member(part) || is_new)
            ++*count_of(mapping, part);
        is_new = is_new || (is_member(part) && mapping->count + mapping->hold == 1);
        if (is_new ? copies_of(map, row) & REX_MAP_TO
                   : (part->type & REX_MAP_TO) && (part->type & REX_MAP_ALWAYS))
            to_device(&mapping->copy, part->begin - mapping->begin, part->host, part->begin,
                      part->size);
    }
    if (part->type & REX_MAP_PTR_AND_OBJ)
        attach(device, part, mapping);
}

/* Whether the row's bytes go back at once. */
static bool end_part(struct mapping *mapping, const struct walk_map *map, int row)
{
    const struct part *part = &map->part[row];
    int *count = count_of(mapping, part), before = *count;
    *count = part->type & REX_MAP_DELETE || before == 0 ? 0 : before - 1;
    bool goes_back = is_there(mapping)
                         ? (part->type & REX_MAP_FROM) && (part->type & REX_MAP_ALWAYS)
                         : (copies_of(map, row) & REX_MAP_FROM) != 0;
    if (goes_back)
        to_host(&mapping->copy, part->begin - mapping->begin, part->host, part->begin,
                part->size);
    if (is_member(part))
        *count = before;
    return goes_back;
}

void model_begin(int device, const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++)
        begin_part(device, map, i);
}

void model_end(int device, const struct walk_map *map)
{
    struct mapping *of[MOST_ROWS] = {NULL};
    for (int i = 0; i < map->map.count; i++)
        of[i] = map->part[i].host >= 0 ? find(device, &map->part[i]) : NULL;
    for (int i = map->map.count - 1; i >= 0; i--)
        if (of[i] != NULL && is_there(of[i]) && end_part(of[i], map, i))
            of[i] = NULL;
    /* LLVM 23 and 24 copy back what any row of the call says, where another ends the mapping. */
    for (int i = 0; rex_runtime_release() >= 23 && i < map->map.count; i++)
        if (of[i] != NULL && !is_there(of[i]) && (map->part[i].type & REX_MAP_FROM))
            to_host(&of[i]->copy, map->part[i].begin - of[i]->begin, map->part[i].host,
                    map->part[i].begin, map->part[i].size);
}

void model_update(int device, const struct part *part, int64_t direction)
{
    struct mapping *mapping =
        part->host >= 0 && (part->type & direction) ? find(device, part) : NULL;
    if (mapping != NULL && (direction & REX_MAP_TO))
        to_device(&mapping->copy, part->begin - mapping->begin, part->host, part->begin,
                  part->size);
    else if (mapping != NULL)
        to_host(&mapping->copy, part->begin - mapping->begin, part->host, part->begin,
                part->size);
}

/* ---- what can be done ----------------------------------------------------------------------- */

/* Whether the copy that row I asks for is lost, because the call maps it with row WHOLE. */
static bool is_lost(const struct walk_map *map, int i, int whole)
{
    const struct part *part = &map->part[i];
    return is_alone(map, i) && is_alone(map, whole) &&
           (part->type & (REX_MAP_ALWAYS | REX_MAP_PRESENT)) == 0 &&
           (copies_of(map, i) & ~copies_of(map, whole)) != 0;
}

/* As libomptarget does it, row for row; only which bytes are mapped is looked at. */
bool model_can_map(int device, const struct walk_map *map)
{
    struct part added[MOST_ROWS];
    int count = 0, row[MOST_ROWS];
    bool can = true;
    for (int i = 0; i < map->map.count && can; i++) {
        const struct part *part = &map->part[i];
        if (part->host < 0)
            continue;
        bool is_there = find(device, part) != NULL, touches = in_part(device, part);
        bool at_entry = is_there || rex_runtime_release() < 23; /* which look before they map */
        for (int j = 0; j < count; j++) {
            struct mapping earlier = {.host = added[j].host,
                                      .begin = added[j].begin,
                                      .size = added[j].size,
                                      .count = 1};
            if (!is_there && contains(&earlier, part) && is_lost(map, i, row[j]))
                return false;
            is_there = is_there || contains(&earlier, part);
            touches = touches || (overlaps(&earlier, part) && !contains(&earlier, part));
        }
        can = !touches && ((is_there && at_entry) || !(part->type & REX_MAP_PRESENT));
        if (can && !is_there && part->size > 0)
            row[count] = i, added[count++] = *part;
    }
    return can;
}

bool model_all_mapped(int device, const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++)
        if (map->part[i].host >= 0 && map->part[i].size > 0 && find(device, &map->part[i]) == NULL)
            return false;
    return true;
}

bool model_can_end(int device, const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++)
        if (map->part[i].host >= 0 && in_part(device, &map->part[i]))
            return false;
    return true;
}

static bool lies_beside(int device, const struct part *part, const struct walk_map *map)
{
    for (int i = 0; i < MAPPINGS; i++)
        if (is_there(&mappings[device][i]) && mappings[device][i].host == part->host &&
            !contains(&mappings[device][i], part))
            return true;
    for (int i = 0; i < map->map.count; i++)
        if (map->part[i].host == part->host && map->part[i].size > 0)
            return true;
    return false;
}

bool model_is_vague(int device, const struct walk_map *map)
{
    for (int i = 0; device >= 0 && map != NULL && i < map->map.count; i++)
        if (map->part[i].host >= 0 &&
            (map->part[i].size == 0 ? lies_beside(device, &map->part[i], map)
                                    : (map->part[i].type & REX_MAP_IMPLICIT) && in_part(device, &map->part[i])))
            return true;
    return false;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* A row of a kernel's: bytes, and where they begin. */
struct cells {
    struct place *place;
    int at;
};

static struct cells cells_of(int device, const struct walk_map *map, int row)
{
    const struct part *part = &map->part[row];
    struct mapping *mapping = part->host >= 0 ? find(device, part) : NULL;
    if (mapping != NULL)
        return (struct cells){&mapping->copy, part->begin - mapping->begin};
    return (struct cells){map->memory >= 0 && row == 2 ? &memories[map->memory] : NULL, 0};
}

static int64_t cell(struct cells cells, int i, bool *known)
{
    int64_t value;
    int at = cells.at + 8 * i;
    memcpy(&value, cells.place->value + at, 8);
    for (int j = 0; j < 8; j++)
        *known = *known && cells.place->known[at + j] == KNOWN;
    return value;
}

static void set_cell(struct cells cells, int i, uint64_t value, bool known)
{
    memcpy(cells.place->value + cells.at + 8 * i, &value, 8);
    memset(cells.place->known + cells.at + 8 * i, known ? KNOWN : UNKNOWN, 8);
}

/* y = what FORM makes of it. */
static void compute(const struct walk_map *map, struct cells x, struct cells y)
{
    int64_t n = map->form == FORM_OBJECT ? 4 : map->part[0].value;
    uint64_t a = (uint64_t)map->part[1].value;
    for (int i = 0; i < n; i++) {
        bool known = true;
        uint64_t value = a + (uint64_t)i;
        if (map->form == FORM_ADD)
            value = (uint64_t)cell(y, i, &known) + a * (uint64_t)cell(x, i, &known);
        else if (map->form == FORM_SUM) /* x is the record */
            value = (uint64_t)cell(y, i, &known) + (uint64_t)cell(x, 0, &known);
        else if (map->form == FORM_OBJECT)
            value = (uint64_t)cell(y, i, &known) + (uint64_t)map->part[0].value + (uint64_t)i;
        set_cell(y, i, value, known);
    }
}

/* The row that is written, and the one that is read besides: (n, a, x, y), (n, a, y), (n, record,
 * members, array) and (object, y). */
static int written_row(enum form form)
{
    static const int rows[] = {[FORM_ADD] = 3, [FORM_SET] = 2, [FORM_SUM] = 3, [FORM_OBJECT] = 1};
    return form == FORM_NONE || form == FORM_NOTHING ? -1 : rows[form];
}

void model_kernel(int device, const struct walk_map *map)
{
    int y = written_row(map->form);
    struct cells x = {NULL, 0};
    if (map->form == FORM_ADD)
        x = cells_of(device, map, 2);
    else if (map->form == FORM_SUM)
        x = cells_of(device, map, 1);
    if (y >= 0)
        compute(map, x, cells_of(device, map, y));
}

bool model_is_attached(int device, const struct walk_map *map)
{
    if (map->form != FORM_SUM)
        return true;
    struct mapping *record = find(device, &map->part[1]), *array = find(device, &map->part[3]);
    return record != NULL && array != NULL && record->attached[map->part[3].value] == array->made;
}

/* ---- device memory -------------------------------------------------------------------------- */

void model_memory_new(int memory, int size)
{
    free_place(&memories[memory]);
    new_place(&memories[memory], size);
}

void model_copy_to(int memory, int host, int size)
{
    to_device(&memories[memory], 0, host, 0, size);
}

void model_copy_from(int memory, int host, int size)
{
    to_host(&memories[memory], 0, host, 0, size);
}

void model_copy_peer(int to, int from, int size)
{
    copy(&memories[to], 0, &memories[from], 0, size);
}

/* The kernel walk_add, by its name in a library: the first CELLS cells of each at most. */
void model_add(int to, int from, int64_t cells, int64_t a)
{
    struct walk_map map = {.form = FORM_ADD, .part = {{.value = cells}, {.value = a}}};
    compute(&map, (struct cells){&memories[from], 0}, (struct cells){&memories[to], 0});
}

void model_fill(int memory, const void *pattern, int width, int size)
{
    for (int i = 0; i < size; i++)
        memories[memory].value[i] = ((const unsigned char *)pattern)[i % width];
    memset(memories[memory].known, KNOWN, (size_t)size);
}

/* ---- order ---------------------------------------------------------------------------------- */

static void touch(struct touches *touches, struct place *place, bool write)
{
    if (place == NULL)
        return;
    if (touches->count == MOST_TOUCHES)
        abort();
    place->is_touched = true;
    touches->touch[touches->count++] = (struct touch){place, write};
}

void model_touch_host(struct touches *touches, int host, bool write)
{
    if (host >= 0)
        touch(touches, &hosts[host], write);
}

void model_touch_memory(struct touches *touches, int memory, bool write)
{
    if (memory >= 0 && memories[memory].value != NULL)
        touch(touches, &memories[memory], write);
}

void model_touch_mapping(struct touches *touches, struct mapping *mapping)
{
    touch(touches, &mapping->copy, false);
}

void model_touch_copies(struct touches *touches, int device, const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++) {
        struct mapping *mapping = map->part[i].host >= 0 ? find(device, &map->part[i]) : NULL;
        if (mapping != NULL)
            touch(touches, &mapping->copy, i == written_row(map->form));
    }
    model_touch_memory(touches, map->memory, true);
}

/* What is mapped already is copied where the row says `always`, and is else left alone. */
void model_touch_begin(struct touches *touches, int device, const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++) {
        const struct part *part = &map->part[i];
        struct mapping *mapping = part->host >= 0 ? find(device, part) : NULL;
        bool copies = mapping == NULL || (part->type & (REX_MAP_ALWAYS | REX_MAP_PTR_AND_OBJ)) ||
                      is_member(part);
        if (copies && mapping != NULL)
            touch(touches, &mapping->copy, true);
        if (copies && part->host >= 0)
            touch(touches, &hosts[part->host], false);
    }
}

void model_touch_end(struct touches *touches, int device, const struct walk_map *map)
{
    (void)device;
    for (int i = 0; i < map->map.count; i++)
        if (map->part[i].type & REX_MAP_FROM)
            model_touch_host(touches, map->part[i].host, true);
}

void model_touch_update(struct touches *touches, int device, const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++) {
        const struct part *part = &map->part[i];
        struct mapping *mapping = part->host >= 0 ? find(device, part) : NULL;
        model_touch_host(touches, part->host, (part->type & REX_MAP_FROM) != 0);
        if (mapping != NULL)
            touch(touches, &mapping->copy, (part->type & REX_MAP_TO) != 0);
    }
}

void model_touch_launch(struct touches *touches, int device, const struct walk_map *map)
{
    model_touch_begin(touches, device, map);
    model_touch_copies(touches, device, map);
    for (int i = 0; i < map->map.count; i++) {
        const struct part *part = &map->part[i];
        if ((part->type & REX_MAP_FROM) &&
            ((part->type & REX_MAP_ALWAYS) || part->host < 0 || find(device, part) == NULL))
            model_touch_host(touches, part->host, true);
    }
}

static unsigned known_to(int who, int queue)
{
    unsigned own = seen[who][queue], thread = seen[HOST][queue];
    return own > thread ? own : thread;
}

int model_unseen(int who, const struct touches *touches)
{
    for (int i = 0; i < touches->count; i++)
        for (int queue = 0; queue < QUEUES; queue++) {
            const struct place *place = touches->touch[i].place;
            unsigned known = known_to(who, queue);
            if (queue != who && (place->written[queue] > known ||
                                 (touches->touch[i].write && place->read[queue] > known)))
                return queue;
        }
    return -1;
}

bool model_has_unseen(int queue)
{
    bool has = number[queue] > seen[HOST][queue];
    for (int other = 0; other < QUEUES; other++)
        has = has || known_to(queue, other) > seen[HOST][other];
    return has;
}

/* Whether QUEUE is not done, and has worked on PLACE since it was waited for itself. */
static bool is_in_use(const struct place *place, int queue)
{
    return model_has_unseen(queue) &&
           (place->written[queue] > idle[queue] || place->read[queue] > idle[queue]);
}

bool model_copies_in_use(int device, const struct walk_map *map)
{
    for (int i = 0; i < map->map.count; i++) {
        struct mapping *mapping = map->part[i].host >= 0 ? find(device, &map->part[i]) : NULL;
        for (int queue = 0; mapping != NULL && queue < QUEUES; queue++)
            if (is_in_use(&mapping->copy, queue))
                return true;
    }
    return false;
}

void model_did(int queue, const struct touches *touches)
{
    number[queue]++;
    for (int i = 0; touches != NULL && i < touches->count; i++) {
        struct place *place = touches->touch[i].place;
        (touches->touch[i].write ? place->written : place->read)[queue] = number[queue];
    }
}

void model_record(int queue, unsigned now[QUEUES])
{
    for (int other = 0; other < QUEUES; other++)
        now[other] = known_to(queue, other);
    now[queue] = number[queue];
}

void model_idle(int queue)
{
    idle[queue] = number[queue];
}

void model_wait(int who, const unsigned now[QUEUES])
{
    for (int queue = 0; queue < QUEUES; queue++)
        if (now[queue] > seen[who][queue])
            seen[who][queue] = now[queue];
}

/* ---- against what is there ------------------------------------------------------------------ */

void model_forget(void)
{
    for (int host = 0; host < PLACES; host++) {
        memset(hosts[host].known, UNKNOWN, (size_t)hosts[host].size);
        hosts[host].is_touched = true;
    }
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < MAPPINGS; i++)
            if (is_there(&mappings[device][i]))
                memset(mappings[device][i].copy.known, UNKNOWN, (size_t)mappings[device][i].size);
    for (int i = 0; i < MEMORIES; i++)
        if (memories[i].value != NULL)
            memset(memories[i].known, UNKNOWN, (size_t)memories[i].size);
}

/* The first byte of PLACE that is known and not that of BYTES; -1: none. */
static int first_difference(const struct place *place, const unsigned char *bytes)
{
    if (memcmp(place->value, bytes, (size_t)place->size) != 0)
        for (int i = 0; i < place->size; i++)
            if (place->known[i] == KNOWN && place->value[i] != bytes[i])
                return i;
    return -1;
}

static const char *say_difference(const char *what, int which, int at, const struct place *place,
                                  const unsigned char *bytes)
{
    static _Thread_local char text[160];
    int64_t is = 0, should = 0;
    memcpy(&is, bytes + at / 8 * 8, 8);
    memcpy(&should, place->value + at / 8 * 8, 8);
    snprintf(text, sizeof text, "%s%d[%d] is %lld, and should be %lld", what, which, at / 8,
             (long long)is, (long long)should);
    return text;
}

static bool is_unseen(struct place *place)
{
    for (int queue = 0; queue < QUEUES; queue++)
        if (place->written[queue] > seen[HOST][queue])
            return true;
    return false;
}

const char *model_compare(bool all)
{
    for (int host = 0; host < PLACES; host++) {
        struct place *place = &hosts[host];
        if (is_unseen(place) || !(all || place->is_touched || place->size <= BYTES))
            continue;
        int at = first_difference(place, model_address(host));
        if (at >= 0)
            return say_difference("host", host, at, place, model_address(host));
        if (memchr(place->known, UNKNOWN, (size_t)place->size) != NULL) {
            memcpy(place->value, model_address(host), (size_t)place->size);
            memset(place->known, KNOWN, (size_t)place->size);
        }
        place->is_touched = false;
    }
    return NULL;
}

const char *model_compare_copy(struct mapping *mapping, const unsigned char *bytes)
{
    int at = first_difference(&mapping->copy, bytes);
    return at >= 0 ? say_difference("on the device host", mapping->host, at, &mapping->copy, bytes)
                   : NULL;
}
