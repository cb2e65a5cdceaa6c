/*
 * model.c - what arrays of the host, their mappings and device memory should hold: OpenMP's rules of reference counts and copies, byte by
 * byte.
 *
 * A byte of a device that nobody has written is not known. Where one is copied to the host, the model takes what is there.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <string.h>

#include "walk.h"

struct bytes {
    unsigned char value[BYTES];
    bool known[BYTES];
};

struct mapping {
    int host, begin, size, count; /* count 0: none */
    struct bytes copy;            /* from the array's first byte on */
};

enum { MAPPINGS = 16, MEMORIES = 3 };
int64_t walk_host[HOSTS][CELLS];
static unsigned char expected[HOSTS][BYTES];
static struct mapping mappings[DEVICES][MAPPINGS];
static struct bytes memories[MEMORIES];

void model_reset(void)
{
    memset(mappings, 0, sizeof mappings);
    for (int host = 0; host < HOSTS; host++)
        for (int i = 0; i < CELLS; i++)
            walk_host[host][i] = 1000 * (host + 1) + i;
    memcpy(expected, walk_host, sizeof expected);
}

/* ---- copies -------------------------------------------------------------------------------------------------------------------------- */

static void to_device(struct bytes *copy, int host, int begin, int size)
{
    memcpy(copy->value + begin, expected[host] + begin, (size_t)size);
    memset(copy->known + begin, true, (size_t)size);
}

/* What comes from FROM at AT, to the host's BEGIN. */
static void to_host(const struct bytes *from, int at, int host, int begin, int size)
{
    for (int i = 0; i < size; i++)
        expected[host][begin + i] = from->known[at + i] ? from->value[at + i] : ((unsigned char *)walk_host[host])[begin + i];
}

/* ---- mappings ------------------------------------------------------------------------------------------------------------------------ */

static bool contains(const struct mapping *mapping, const struct part *part)
{
    return mapping->count > 0 && mapping->host == part->host && mapping->begin <= part->begin &&
           part->begin + part->size <= mapping->begin + mapping->size;
}

static bool overlaps(const struct mapping *mapping, const struct part *part)
{
    return mapping->count > 0 && mapping->host == part->host && mapping->begin < part->begin + part->size &&
           part->begin < mapping->begin + mapping->size;
}

static struct mapping *find(int device, const struct part *part)
{
    for (int i = 0; i < MAPPINGS; i++)
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
            if (mappings[device][i].count > 0)
                return true;
    return false;
}

/* The fake has no mappings and runs no kernels: there the model stays empty. */
static int rows_of(const struct walk_map *map)
{
    return walk_settings.gpu ? 0 : map->map.count;
}

static void begin_part(int device, const struct part *part)
{
    struct mapping *mapping = find(device, part);
    bool is_new = mapping == NULL;
    if (part->host < 0 || (is_new && part->size == 0))
        return;
    for (int i = 0; mapping == NULL && i < MAPPINGS; i++)
        if (mappings[device][i].count == 0)
            mapping = &mappings[device][i];
    if (is_new)
        *mapping = (struct mapping){.host = part->host, .begin = part->begin, .size = part->size};
    mapping->count++;
    if ((part->type & REX_MAP_TO) && (is_new || (part->type & REX_MAP_ALWAYS)))
        to_device(&mapping->copy, part->host, part->begin, part->size);
}

static void end_part(int device, const struct part *part)
{
    struct mapping *mapping = part->host >= 0 ? find(device, part) : NULL;
    if (mapping == NULL)
        return;
    mapping->count = part->type & REX_MAP_DELETE ? 0 : mapping->count - 1;
    if ((part->type & REX_MAP_FROM) && (mapping->count == 0 || (part->type & REX_MAP_ALWAYS)))
        to_host(&mapping->copy, part->begin, part->host, part->begin, part->size);
}

void model_begin(int device, const struct walk_map *map)
{
    for (int i = 0; i < rows_of(map); i++)
        begin_part(device, &map->part[i]);
}

void model_end(int device, const struct walk_map *map)
{
    for (int i = rows_of(map) - 1; i >= 0; i--)
        end_part(device, &map->part[i]);
}

void model_update(int device, const struct walk_map *map, int64_t direction)
{
    for (int i = 0; i < rows_of(map); i++) {
        const struct part *part = &map->part[i];
        struct mapping *mapping = part->host >= 0 && (part->type & direction) ? find(device, part) : NULL;
        if (mapping != NULL && (direction & REX_MAP_TO))
            to_device(&mapping->copy, part->host, part->begin, part->size);
        else if (mapping != NULL)
            to_host(&mapping->copy, part->begin, part->host, part->begin, part->size);
    }
}

/* ---- what can be done ------------------------------------------------------------------------------------------------------------------
 */

/* As libomptarget does it, row for row; the mappings are put back. */
bool model_can_map(int device, const struct walk_map *map)
{
    static struct mapping before[MAPPINGS];
    static unsigned char arrays[HOSTS][BYTES];
    bool can = true;
    memcpy(before, mappings[device], sizeof before);
    memcpy(arrays, expected, sizeof arrays);
    for (int i = 0; i < map->map.count && can; i++) {
        const struct part *part = &map->part[i];
        can = part->host < 0 || !(in_part(device, part) || ((part->type & REX_MAP_PRESENT) && find(device, part) == NULL));
        if (can)
            begin_part(device, part);
    }
    memcpy(mappings[device], before, sizeof before);
    memcpy(expected, arrays, sizeof arrays);
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

/* ---- kernels ---------------------------------------------------------------------------------------------------------------------------
 */

static int64_t cell(const struct bytes *bytes, int i, bool *known)
{
    int64_t value;
    memcpy(&value, bytes->value + 8 * i, 8);
    for (int j = 0; j < 8; j++)
        *known = *known && bytes->known[8 * i + j];
    return value;
}

static void set_cell(struct bytes *bytes, int i, int64_t value, bool known)
{
    memcpy(bytes->value + 8 * i, &value, 8);
    memset(bytes->known + 8 * i, known, 8);
}

/* The rows are (n, a, x, y) and (n, a, y), and the arrays are mapped. */
void model_kernel(int device, const struct walk_map *map)
{
    const struct part *part = map->part;
    struct mapping *x = map->form == FORM_ADD ? find(device, &part[2]) : NULL,
                   *y = map->form == FORM_ADD || map->form == FORM_SET ? find(device, &part[map->form == FORM_ADD ? 3 : 2]) : NULL;
    for (int i = 0; !walk_settings.gpu && y != NULL && i < part[0].value; i++) {
        bool known = true;
        uint64_t a = (uint64_t)part[1].value;
        uint64_t value =
            map->form == FORM_SET ? a + (uint64_t)i : (uint64_t)cell(&y->copy, i, &known) + a * (uint64_t)cell(&x->copy, i, &known);
        set_cell(&y->copy, i, (int64_t)value, known);
    }
}

/* ---- device memory
 * ----------------------------------------------------------------------------------------------------------------------- */

void model_memory_new(int memory)
{
    memset(&memories[memory], 0, sizeof memories[memory]);
}

void model_copy_to(int memory, int host, int size)
{
    to_device(&memories[memory], host, 0, size);
}

void model_copy_from(int memory, int host, int size)
{
    to_host(&memories[memory], 0, host, 0, size);
}

void model_copy_peer(int to, int from, int size)
{
    memcpy(memories[to].value, memories[from].value, (size_t)size);
    memcpy(memories[to].known, memories[from].known, (size_t)size * sizeof *memories[to].known);
}

void model_fill(int memory, const void *pattern, int width, int size)
{
    for (int i = 0; i < size; i++) {
        memories[memory].value[i] = ((const unsigned char *)pattern)[i % width];
        memories[memory].known[i] = true;
    }
}

/* ---- against what is there
 * --------------------------------------------------------------------------------------------------------------- */

void model_forget(void)
{
    memcpy(expected, walk_host, sizeof expected);
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < MAPPINGS; i++)
            memset(mappings[device][i].copy.known, false, BYTES);
    for (int i = 0; i < MEMORIES; i++)
        memset(memories[i].known, false, BYTES);
}

const char *model_compare(void)
{
    static char text[128];
    for (int host = 0; host < HOSTS; host++)
        for (int i = 0; i < CELLS; i++) {
            int64_t value;
            memcpy(&value, &expected[host][8 * i], 8);
            if (value != walk_host[host][i]) {
                snprintf(text, sizeof text, "host%d[%d] is %lld, and should be %lld", host, i, (long long)walk_host[host][i],
                         (long long)value);
                return text;
            }
        }
    return NULL;
}
