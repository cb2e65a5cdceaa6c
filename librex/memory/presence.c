/*
 * presence.c - rows against what is mapped on a device.
 *
 * LLVM 14 to 23 abort on rows that ask for present memory which is absent and on rows that overlap
 * a mapping in part; they pass over updates of absent memory in silence.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/error.h"
#include "omp/forward.h"
#include "memory/mappinghints.h"
#include "omp/mapping.h"
#include "memory/devicememory.h"
#include "memory/overlap.h"
#include "module/registration.h"
#include "memory/rowcheck.h"
#include "omp/runtime.h"

static int begins(enum rex_purpose purpose)
{
    return purpose == REX_FOR_LAUNCH || purpose == REX_FOR_BEGIN;
}

/*
 * Implicit rows may be larger than their mapping, but where they are copied: libomptarget copies
 * them whole.
 */
static int may_exceed(int64_t type, enum rex_purpose purpose)
{
    int copied = purpose == REX_FOR_END
                     ? rex_row_has(type, REX_TYPE_FROM)
                     : rex_row_has(type, REX_TYPE_ALWAYS) && rex_row_has(type, REX_TYPE_TOFROM);
    return rex_row_has(type, REX_TYPE_IMPLICIT) && !copied;
}

static int is_looked_up(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i];
    if (rex_row_has(type, REX_TYPE_NOT_MAPPED))
        return 0;
    /* A section of no length maps nothing, but it can ask for what is there. */
    if (map->sizes[i] == 0)
        return rex_row_has(type, REX_TYPE_PRESENT);
    /*
     * An update copies what lies in a parent, never the parent, which need not be mapped as a
     * whole.
     */
    if (purpose == REX_FOR_UPDATE)
        return rex_row_has(type, REX_TYPE_TOFROM | REX_TYPE_PRESENT);
    /* A member lies in its parent, which has been looked at; a pointee does not. */
    if (begins(purpose) && rex_row_has(type, REX_TYPE_MEMBER_MASK) &&
        !rex_row_has(type, REX_TYPE_POINTER))
        return 0;
    return begins(purpose) || rex_row_has(type, REX_TYPE_PRESENT) ||
           may_exceed(type, purpose) != rex_row_has(type, REX_TYPE_IMPLICIT);
}

/*
 * Globals are mapped when the image is loaded, which an empty region does where nothing else has.
 */
enum rex_presence rex_presence_after_load(const void *begin, size_t size, int number)
{
    rex_device_used(rex_runtime());
    REX_REAL(target_data_begin)
    (number, 0, NULL, NULL, NULL, NULL);
    return rex_memory_presence(begin, size, number);
}

/*
 * Rows that were found present, by their begin: a launch that is like the one before it need not
 * ask again, which costs a microsecond a row. Good for as long as no mapping may have ended; see
 * mapping.h. Where a mapping of another thread's launch was found, and has ended since, a row
 * passes that is not mapped any more: libomptarget then does what it does for absent rows.
 */
#define KNOWN 64

static __thread struct known {
    const void *begin;
    int64_t size;
    uint64_t generation; /* 0: nothing */
    int number;
} known[KNOWN];

static struct known *place_of(const void *begin)
{
    uintptr_t at = (uintptr_t)begin;
    return &known[((at >> 4) ^ (at >> 10) ^ (at >> 16)) % KNOWN];
}

/* A look at what is mapped on a device, for one call. */
struct look {
    const struct rex_map *map;
    enum rex_purpose purpose;
    int number;
    uint64_t generation;
    const char *what;
    const struct rex_release *release;
    struct rex_new_rows new_rows;
};

/* Memory to look for: what row ROW maps, or the pointer that it maps before. */
struct wanted {
    const void *begin;
    int64_t size, type;
    int32_t row;
    bool pointer;
};

static bool is_known(const struct look *look, const struct wanted *wanted)
{
    const struct known *place = place_of(wanted->begin);
    return place->begin == wanted->begin && place->size >= wanted->size &&
           place->number == look->number && place->generation == look->generation;
}

static void make_known(const struct look *look, const struct wanted *wanted)
{
    if (rex_mapping_all_seen())
        *place_of(wanted->begin) =
            (struct known){wanted->begin, wanted->size, look->generation, look->number};
}

static int absent(const struct look *look, const struct wanted *wanted, const char *where)
{
    return rex_fail(REX_EABSENT, "%s: map row %d, %lld bytes at %p, is %s on device %d", look->what,
                    wanted->row, (long long)wanted->size, wanted->begin, where, look->number);
}

static int overlap(const struct look *look, const struct wanted *wanted, const char *where)
{
    return rex_fail(
        REX_EOVERLAP,
        "%s: map row %d, %lld bytes at %p, is %s on device %d: libomptarget aborts on that",
        look->what, wanted->row, (long long)wanted->size, wanted->begin, where, look->number);
}

/* The call will map this: nothing that is mapped already may lie in it. */
static int check_new(struct look *look, const struct wanted *wanted)
{
    uintptr_t begin = (uintptr_t)wanted->begin;
    struct rex_new_row row = {begin, begin + (uintptr_t)wanted->size, wanted->row, wanted->pointer,
                              may_exceed(wanted->type, look->purpose)};
    const void *within;
    if (!row.may_exceed &&
        rex_mapping_within(wanted->begin, (size_t)wanted->size, look->number, &within) &&
        rex_memory_presence(within, 1, look->number) != REX_ABSENT)
        return overlap(look, wanted, "mapped in its middle");
    return rex_new_rows_add(&look->new_rows, row);
}

static int check_wanted(struct look *look, const struct wanted *wanted)
{
    enum rex_presence presence =
        rex_memory_presence(wanted->begin, (size_t)wanted->size, look->number);
    int needed = look->purpose == REX_FOR_UPDATE || rex_row_has(wanted->type, REX_TYPE_PRESENT);
    if (needed && presence == REX_ABSENT)
        presence = rex_presence_after_load(wanted->begin, (size_t)wanted->size, look->number);
    if (presence == REX_PRESENT_WHOLE)
        make_known(look, wanted);
    else if (needed)
        return absent(look, wanted, presence == REX_ABSENT ? "not mapped" : "mapped in part");
    else if (presence == REX_ABSENT)
        return look->purpose == REX_FOR_END ? REX_OK : check_new(look, wanted);
    else if (!may_exceed(wanted->type, look->purpose))
        return overlap(look, wanted, "mapped in part");
    return REX_OK;
}

/*
 * A pointee whose pointer its parent does not map: libomptarget maps the pointer, too, and first.
 */
static int maps_pointer(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i], parent = rex_row_parent(type);
    return begins(purpose) && rex_row_has(type, REX_TYPE_POINTER) &&
           !rex_row_has(type, REX_TYPE_NOT_MAPPED) &&
           (parent < 0 || !rex_row_contains(map, (int32_t)parent, map->base[i], sizeof(void *)));
}

/* What row I of the map maps, which with LLVM 14 to 16 is more than it says. */
static struct wanted wanted_of(const struct look *look, int32_t i)
{
    const struct rex_map *map = look->map;
    struct wanted wanted = {map->begin[i], map->sizes[i], map->types[i], i, false};
    uintptr_t more = (uintptr_t)wanted.begin % 8;
    if (more > 0 && look->release->parents_rounded && rex_row_is_parent(map, i) &&
        rex_row_parent(wanted.type) < 0) {
        wanted.begin = (const char *)wanted.begin - more;
        wanted.size += (int64_t)more;
    }
    return wanted;
}

static int check_row(struct look *look, int32_t i)
{
    const struct rex_map *map = look->map;
    int result = REX_OK;
    if (maps_pointer(map, i, look->purpose)) {
        struct wanted pointer = {map->base[i], sizeof(void *), map->types[i], i, true};
        result = is_known(look, &pointer) ? REX_OK : check_wanted(look, &pointer);
    }
    if (result == REX_OK && is_looked_up(map, i, look->purpose)) {
        struct wanted wanted = wanted_of(look, i);
        result = is_known(look, &wanted) ? REX_OK : check_wanted(look, &wanted);
    }
    return result;
}

/*
 * A row of no length counts no mapping where there is none yet, and ends what a later row of the
 * launch has mapped by then. After that the end of the launch has nothing more to end.
 */
static int check_end(const struct look *look, int32_t i)
{
    const struct rex_new_row *rows =
        rex_new_rows_all((struct rex_new_rows *)(uintptr_t)&look->new_rows);
    uintptr_t begin = (uintptr_t)look->map->begin[i];
    for (size_t j = 0; j < look->new_rows.count; j++)
        if (i < rows[j].row && begin >= rows[j].begin && begin < rows[j].end)
            return rex_fail(REX_EOVERLAP,
                            "%s: map row %d, of no length at %p, lies in row %d: LLVM %d aborts on "
                            "that, unless it comes after it",
                            look->what, i, (void *)begin, rows[j].row, look->release->number);
    return REX_OK;
}

static int check_ends(const struct look *look)
{
    int result = REX_OK;
    for (int32_t i = 0; look->map != NULL && i < look->map->count && result == REX_OK; i++)
        if (look->map->sizes[i] == 0 && look->map->begin[i] != NULL &&
            !rex_row_has(look->map->types[i], REX_TYPE_NOT_MAPPED))
            result = check_end(look, i);
    return result;
}

/*
 * What begins now is known from its first byte to its last. Of what a launch maps, only pointers of
 * pointees stay.
 */
static void note_new_rows(struct look *look)
{
    const struct rex_new_row *row = rex_new_rows_all(&look->new_rows);
    for (size_t i = 0; i < look->new_rows.count; i++)
        if ((look->purpose == REX_FOR_BEGIN || row[i].pointer) &&
            (look->map->mappers == NULL || look->map->mappers[row[i].row] == NULL))
            rex_mapping_note_whole(row[i].begin, row[i].end - row[i].begin, look->number);
}

int rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number,
                       const char *what)
{
    struct look look;
    look.map = map;
    look.purpose = purpose;
    look.number = number;
    /* before anything is asked: what ends meanwhile is not known then */
    look.generation = rex_mapping_now();
    look.what = what;
    look.release = rex_runtime();
    rex_new_rows_open(&look.new_rows);
    int result = REX_OK;
    for (int32_t i = 0; map != NULL && i < map->count && result == REX_OK; i++)
        result = check_row(&look, i);
    if (result == REX_OK)
        result = rex_new_rows_check(&look.new_rows, what);
    if (result == REX_OK && purpose == REX_FOR_LAUNCH && look.release->one_end_a_call)
        result = check_ends(&look);
    if (result == REX_OK && begins(purpose))
        note_new_rows(&look);
    rex_new_rows_free(&look.new_rows);
    return result;
}
