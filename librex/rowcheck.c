/*
 * rowcheck.c - what is wrong with a row before libomptarget sees it.
 *
 * LLVM 14 to 23 abort on rows that ask for present memory which is absent and on rows that overlap a mapping in part; they pass over updates of
 * absent memory in silence. Types that make no sense are read one way by one release and another way by the next.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rowcheck.h"

#include "error.h"
#include "forward.h"
#include "mapping.h"
#include "memory.h"
#include "registration.h"
#include "runtime.h"

#define NOT_MAPPED (REX_TYPE_LITERAL | REX_TYPE_PRIVATE)
#define KNOWN_BITS                                                                                                     \
    (REX_TYPE_TOFROM | REX_TYPE_ALWAYS | REX_TYPE_DELETE | REX_TYPE_POINTER | REX_TYPE_PARAMETER | REX_TYPE_RETURN |   \
     REX_TYPE_PRIVATE | REX_TYPE_LITERAL | REX_TYPE_IMPLICIT | REX_TYPE_CLOSE | REX_TYPE_PRESENT | REX_TYPE_HOLD |     \
     REX_TYPE_MEMBER_MASK)

static int has(int64_t type, int64_t bits)
{
    return (type & bits) != 0;
}

/* Row I copies nothing itself: it spans the members that follow. */
static int is_parent(const struct rex_map *map, int32_t i)
{
    return i + 1 < map->count && (int64_t)((uint64_t)map->types[i + 1] >> 48) - 1 == i;
}

/* Why no release does what TYPE says, NULL if there is nothing wrong. */
static const char *wrong_type(int64_t type, enum rex_purpose purpose)
{
    if (has(type, ~KNOWN_BITS))
        return "has type bits that are no map type";
    if (has(type, REX_TYPE_LITERAL) && has(type, REX_TYPE_PRIVATE))
        return "is both a literal and private";
    if (has(type, REX_TYPE_LITERAL) && has(type, REX_TYPE_TOFROM | REX_TYPE_DELETE | REX_TYPE_ALWAYS) && !has(type, REX_TYPE_POINTER))
        return "is a literal and asks for a copy";
    if (has(type, REX_TYPE_PRIVATE) && has(type, REX_TYPE_FROM))
        return "is private and asks for a copy back";
    if (has(type, NOT_MAPPED) && !has(type, REX_TYPE_POINTER) && purpose != REX_FOR_LAUNCH && purpose != REX_FOR_QUEUE)
        return "is a kernel's argument, and this is not a launch";
    if (purpose == REX_FOR_QUEUE && has(type, REX_TYPE_PRIVATE))
        return "is private, which a queue has no memory for: pass a value, or map it";
    if (purpose == REX_FOR_QUEUE && has(type, REX_TYPE_ALWAYS))
        return "asks for a copy at every launch, which a queue does not make: use rex_queue_update()";
    if (has(type, REX_TYPE_DELETE) && purpose != REX_FOR_END && purpose != REX_FOR_UPDATE)
        return "deletes, which only the end of a mapping can";
    return NULL;
}

static const char *wrong_row(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i], parent = (int64_t)((uint64_t)type >> 48) - 1;
    if (map->sizes[i] < 0)
        return "has a negative size";
    if (parent >= i)
        return "is a member of a row that does not come before it";
    if (!has(type, NOT_MAPPED) && map->begin[i] == NULL && map->sizes[i] > 0)
        return "begins at NULL";
    if (has(type, REX_TYPE_POINTER) && !has(type, REX_TYPE_LITERAL) && map->base[i] == NULL)
        return "is a pointee whose pointer is at NULL";
    if (purpose == REX_FOR_UPDATE && !has(type, REX_TYPE_TOFROM) && !is_parent(map, i))
        return "is neither to nor from";
    if (purpose == REX_FOR_LAUNCH && has(type, REX_TYPE_LITERAL) && !has(type, REX_TYPE_POINTER) && map->sizes[i] > 8)
        return "is a value of more than 8 bytes, which only a queue can pass: map it, or use REX_FIRSTPRIVATE";
    return wrong_type(type, purpose);
}

int rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what)
{
    if (map == NULL)
        return REX_OK;
    if (map->count < 0)
        return rex_fail(REX_EINVAL, "%s: a map with a negative number of rows, %d", what, map->count);
    if (map->count > 0 && (map->base == NULL || map->begin == NULL || map->sizes == NULL || map->types == NULL))
        return rex_fail(REX_EINVAL, "%s: a map of %d rows with a column that is NULL", what, map->count);
    for (int32_t i = 0; i < map->count; i++) {
        const char *wrong = wrong_row(map, i, purpose);
        if (wrong != NULL)
            return rex_fail(REX_EINVAL, "%s: map row %d %s (base %p, begin %p, %lld bytes, type 0x%llx)", what, i, wrong, map->base[i],
                            map->begin[i], (long long)map->sizes[i], (unsigned long long)map->types[i]);
    }
    return REX_OK;
}

/* ---- against what is mapped ------------------------------------------------------------------------------------------------------ */

static int is_looked_up(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i];
    if (has(type, NOT_MAPPED) || map->sizes[i] == 0)
        return 0;
    /* An update copies what lies in a parent, never the parent, which need not be mapped as a whole. */
    if (purpose == REX_FOR_UPDATE)
        return has(type, REX_TYPE_TOFROM | REX_TYPE_PRESENT);
    /* A member lies in its parent, which has been looked at; a pointee does not. */
    if (has(type, REX_TYPE_MEMBER_MASK) && !has(type, REX_TYPE_POINTER))
        return 0;
    return purpose == REX_FOR_LAUNCH || purpose == REX_FOR_BEGIN || has(type, REX_TYPE_PRESENT);
}

/* Globals are mapped when the image is loaded, which an empty region does where nothing else has. */
enum rex_presence rex_presence_after_load(const void *begin, size_t size, int number)
{
    rex_device_used(rex_runtime());
    REX_REAL(target_data_begin)(number, 0, NULL, NULL, NULL, NULL);
    return rex_memory_presence(begin, size, number);
}

/*
 * Rows that were found present, by their begin: a launch that is like the one before it need not ask again, which costs a microsecond a row.
 * Good for as long as no mapping may have ended; see mapping.h. Where a mapping of another thread's launch was found, and has ended since, a row
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

static bool is_known(const struct rex_map *map, int32_t i, int number, uint64_t generation)
{
    const struct known *place = place_of(map->begin[i]);
    return place->begin == map->begin[i] && place->size >= map->sizes[i] && place->number == number && place->generation == generation;
}

static int check_one(const struct rex_map *map, int32_t i, enum rex_purpose purpose, int number, uint64_t generation, const char *what)
{
    int64_t type = map->types[i];
    enum rex_presence presence = rex_memory_presence(map->begin[i], (size_t)map->sizes[i], number);
    int needed = purpose == REX_FOR_UPDATE || has(type, REX_TYPE_PRESENT);
    if (needed && presence == REX_ABSENT)
        presence = rex_presence_after_load(map->begin[i], (size_t)map->sizes[i], number);
    const char *where = presence == REX_ABSENT ? "not mapped" : "mapped in part";
    if (presence == REX_PRESENT_WHOLE) {
        if (rex_mapping_all_seen())
            *place_of(map->begin[i]) = (struct known){map->begin[i], map->sizes[i], generation, number};
        return REX_OK;
    }
    if (needed)
        return rex_fail(REX_EABSENT, "%s: map row %d, %lld bytes at %p, is %s on device %d", what, i, (long long)map->sizes[i], map->begin[i],
                        where, number);
    if (presence == REX_ABSENT || has(type, REX_TYPE_IMPLICIT)) /* implicit rows may be larger than their mapping */
        return REX_OK;
    return rex_fail(REX_EOVERLAP, "%s: map row %d, %lld bytes at %p, is %s on device %d: libomptarget aborts on that", what, i,
                    (long long)map->sizes[i], map->begin[i], where, number);
}

int rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number, const char *what)
{
    /* Taken before anything is asked: what ends meanwhile is not known then. */
    uint64_t generation = rex_mapping_now();
    int result = REX_OK;
    for (int32_t i = 0; map != NULL && i < map->count && result == REX_OK; i++)
        if (is_looked_up(map, i, purpose) && !is_known(map, i, number, generation))
            result = check_one(map, i, purpose, number, generation, what);
    return result;
}
