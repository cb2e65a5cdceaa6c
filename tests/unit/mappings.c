/*
 * mappings.c - the index of mappings, against a byte-wise model of what is mapped.
 *
 * libomptarget is a fake whose mappings the test makes. The program exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "memory/mappings.h"
#include "memory/presence.h"
#include "omp/forward.h"
#include "omp/mappingend.h"
#include "omp/sender.h"
#include "rex/entry.h"
#include "rex/queue.h"
#include "rex_kmp.h"
#include "trace/trace.h"

REX_KERNEL(plain);

/* Exported beside those that rex_kmp.h declares. */
void data_end_mapper(void *place, int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types, void **names,
                     void **mappers) __asm__("__tgt_target_data_end_mapper");

static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof(struct rex_module), .entries_begin = entry, .entries_end = entry + 1, .image_name = "tests/data/sm_90.cubin"};

enum { BYTES = 512, DEVICES = 2, STEPS = 20000, MOST = 8 };
static char memory[BYTES];
static int owner[DEVICES][BYTES]; /* the number of the mapping that has the byte; 0: none */

static bool has_no_room;
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    void *memory_of_index = has_no_room ? NULL : __real_realloc(old, size);
    if (old == NULL && memory_of_index != NULL)
        memset(memory_of_index, 0, size); /* behind its end there seem to be more */
    return memory_of_index;
}

static void start(void)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK(rex_forward_first());
    the_record()->devices = DEVICES;
    memset(the_record()->mappings, 0, sizeof the_record()->mappings);
}

static unsigned state = 1;

static int below(int limit)
{
    state = state * 1103515245 + 12345;
    return (int)(state >> 16) % limit;
}

/* ---- the model ------------------------------------------------------------------------------------------------------------------ */

static int first_of(int device, int at)
{
    int first = at;
    while (first > 0 && owner[device][first - 1] == owner[device][at])
        first--;
    return first;
}

static int last_of(int device, int at)
{
    int last = at;
    while (last + 1 < BYTES && owner[device][last + 1] == owner[device][at])
        last++;
    return last;
}

static bool is_whole(int device, int at, int size)
{
    return owner[device][at] != 0 && last_of(device, at) >= at + size - 1;
}

static bool is_free(int device, int at, int size)
{
    for (int i = at; i < at + size; i++)
        if (owner[device][i] != 0)
            return false;
    return true;
}

/* What begins or ends in the bytes, and is not all of them. */
static bool is_divided(int device, int at, int size)
{
    return !is_free(device, at, size) && !is_whole(device, at, size);
}

/* ---- what is done to both ------------------------------------------------------------------------------------------------------- */

/* Up to MOST mappings in the order of their addresses; the fake has no device address for them. */
static void make(int device, int *number)
{
    struct rex_mapping made[MOST];
    size_t count = 0;
    for (int at = below(BYTES / 4); at < BYTES && count < MOST; at += 1 + below(BYTES / 8)) {
        int size = 1 + below(16);
        if (at + size > BYTES || !is_free(device, at, size))
            continue;
        made[count++] = (struct rex_mapping){(uintptr_t)&memory[at], (uintptr_t)&memory[at + size], device, 0};
        ++*number;
        for (int i = at; i < at + size; i++)
            owner[device][i] = *number;
        at += size;
    }
    memset(the_record()->mappings, 0, sizeof the_record()->mappings);
    rex_mappings_add(made, count);
}

/* Of the bytes at AT; with STAYS somebody else has a part in the mapping yet. */
static void end(int device, int at, bool stays)
{
    int first = first_of(device, at), last = last_of(device, at);
    void *begin = &memory[at];
    int64_t size = below(2), type = REX_MAP_TO;
    struct rex_map map = {.count = 1, .base = &begin, .begin = &begin, .sizes = &size, .types = &type};
    struct rex_mapping found;
    rex_mapping_ends(&map, device);
    CHECK(!rex_mapping_find(&memory[first], 1, device, &found));
    /* It has the others, too. */
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory, (uintptr_t)first, 4096};
    the_record()->mappings[1] = (struct fake_mapping){(uintptr_t)&memory[first], stays ? (uintptr_t)(last + 1 - first) : 0, 8192};
    the_record()->mappings[2] = (struct fake_mapping){(uintptr_t)memory + (uintptr_t)last + 1, (uintptr_t)(BYTES - last - 1), 12288};
    rex_mapping_ended(&map, device, false);
    for (int i = first; i <= last && !stays; i++)
        owner[device][i] = 0;
}

static void compare(int device)
{
    int at = below(BYTES), size = 1 + below(24);
    struct rex_mapping found;
    if (at + size > BYTES)
        size = BYTES - at;
    bool whole = rex_mapping_find(&memory[at], (size_t)size, device, &found);
    CHECK_EQUAL(whole, is_whole(device, at, size));
    CHECK_EQUAL(rex_mapping_divides(&memory[at], (size_t)size, device), is_divided(device, at, size));
    if (whole) {
        CHECK_EQUAL(found.begin - (uintptr_t)memory, first_of(device, at));
        CHECK_EQUAL(found.end - (uintptr_t)memory, last_of(device, at) + 1);
    }
}

/* Several at once, in any order: whether any byte is mapped. */
static void compare_places(int device)
{
    struct rex_place place[MOST];
    for (int i = 0; i < MOST; i++) {
        int at = below(BYTES), size = 1 + below(24);
        size = at + size > BYTES ? BYTES - at : size;
        place[i] = (struct rex_place){.begin = (uintptr_t)&memory[at], .end = (uintptr_t)&memory[at + size], .device = 1};
    }
    rex_mappings_place(place, MOST, device);
    for (int i = 0; i < MOST; i++) {
        int at = (int)(place[i].begin - (uintptr_t)memory), size = (int)(place[i].end - place[i].begin);
        CHECK_EQUAL(place[i].is_mapped, !is_free(device, at, size));
        CHECK_EQUAL(place[i].device, 0);
    }
}

static void at_random(const void *context)
{
    int number = 0;
    (void)context;
    start();
    for (int step = 0; step < STEPS; step++) {
        int device = below(DEVICES), at = below(BYTES);
        if (below(8) == 0)
            make(device, &number);
        else if (owner[device][at] != 0 && below(4) == 0)
            end(device, at, below(2));
        compare(device);
        if (below(4) == 0)
            compare_places(device);
    }
    CHECK(number > STEPS / 16);
}

/* ---- calls under way ------------------------------------------------------------------------------------------------------------ */

static struct rex_map row_of(void **begin, int64_t *size, int64_t *type)
{
    return (struct rex_map){.count = 1, .base = begin, .begin = begin, .sizes = size, .types = type};
}

static void map_whole(void)
{
    struct rex_mapping made = {(uintptr_t)memory, (uintptr_t)memory + BYTES, 0, 0};
    rex_mappings_add(&made, 1);
}

/* Of two calls that may end a mapping the first one leaves it: it is out of sight until the second has returned, too. */
static void two_ends(const void *context)
{
    void *begin = memory;
    int64_t size = BYTES, type = REX_MAP_FROM;
    struct rex_map map = row_of(&begin, &size, &type);
    struct rex_mapping found;
    (void)context;
    start();
    map_whole();
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory, BYTES, 4096};
    rex_mapping_ends(&map, 0);
    rex_mapping_ends(&map, 0);
    rex_mapping_ended(&map, 0, false);
    CHECK(!rex_mapping_find(memory, 1, 0, &found));
    rex_mapping_ended(&map, 0, false);
    CHECK(rex_mapping_find(memory, BYTES, 0, &found));
    /* What comes to the same place meanwhile is another mapping, and is seen. */
    rex_mapping_ends(&map, 0);
    struct rex_mapping half = {(uintptr_t)memory, (uintptr_t)memory + BYTES / 2, 0, 0};
    rex_mappings_add(&half, 1);
    CHECK(rex_mapping_find(memory, BYTES / 2, 0, &found) && !rex_mapping_find(memory, BYTES, 0, &found));
    rex_mapping_ended(&map, 0, false);
    CHECK(rex_mapping_find(memory, BYTES / 2, 0, &found));
}

/* What is mapped on one device is on no other, and nothing in a child. What is about to end divides nothing. */
static void have_no_mapping(const void *context)
{
    void *begin = memory;
    int64_t size = 1, type = REX_MAP_FROM;
    struct rex_map map = row_of(&begin, &size, &type);
    struct rex_mapping found, made = {(uintptr_t)memory, (uintptr_t)memory + BYTES / 2, 1, 0};
    int status;
    (void)context;
    start();
    rex_mappings_add(&made, 1);
    CHECK(rex_mapping_find(memory, 1, 1, &found) && !rex_mapping_find(memory, 1, 0, &found) && !rex_mapping_divides(memory, BYTES, 0));
    CHECK(rex_mapping_divides(memory, BYTES, 1));
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(rex_mapping_find(memory, 1, 1, &found));
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    rex_mapping_ends(&map, 1);
    CHECK(!rex_mapping_divides(memory, BYTES, 1));
}

/* A row ends all that it touches, and one that maps nothing ends nothing, not even for the time of the call. */
static void end_several(const void *context)
{
    static const int64_t unmapped[] = {REX_MAP_LITERAL, REX_MAP_PRIVATE | REX_MAP_TO};
    void *begin = memory + 10;
    int64_t size = 150, type;
    struct rex_map map = row_of(&begin, &size, &type);
    struct rex_mapping found, made[] = {{(uintptr_t)memory, (uintptr_t)memory + 100, 0, 0},
                                        {(uintptr_t)memory + 100, (uintptr_t)memory + 200, 0, 0},
                                        {(uintptr_t)memory + 200, (uintptr_t)memory + 300, 0, 0}};
    struct rex_place place = {.begin = (uintptr_t)memory, .end = (uintptr_t)memory + 200};
    (void)context;
    start();
    rex_mappings_add(made, COUNT(made));
    for (size_t i = 0; i < COUNT(unmapped); i++) {
        type = unmapped[i];
        rex_mapping_ends(&map, 0);
        CHECK(rex_mapping_find(memory, 100, 0, &found) && rex_mapping_find(memory + 100, 100, 0, &found));
        rex_mapping_ended(&map, 0, false);
    }
    type = REX_MAP_TO;
    rex_mapping_ends(&map, 0);
    CHECK(!rex_mapping_find(memory, 1, 0, &found) && !rex_mapping_find(memory + 100, 1, 0, &found));
    rex_mapping_ended(&map, 0, false);
    rex_mappings_place(&place, 1, 0);
    CHECK(!place.is_mapped && rex_mapping_find(memory + 200, 100, 0, &found));
}

/* Each row, and the pointer of each pointee: all are out of sight meanwhile, and what libomptarget still has is seen again. */
static void end_rows(const void *context)
{
    enum { ROWS = 3, EACH = 16 };
    void *base[ROWS] = {memory + 0, memory + 96, memory + 64}, *begin[ROWS] = {memory + 0, memory + 32, memory + 64};
    int64_t sizes[ROWS] = {EACH, EACH, 0}, types[ROWS] = {REX_MAP_TO, REX_MAP_TO | REX_MAP_PTR_AND_OBJ, REX_MAP_TO};
    struct rex_map map = {.count = ROWS, .base = base, .begin = begin, .sizes = sizes, .types = types};
    static const bool ends[] = {true, true, true, true, false}, stays[] = {true, false, true, true, true};
    struct rex_mapping found;
    (void)context;
    start();
    for (int i = 0; i < (int)COUNT(ends); i++) {
        struct rex_mapping made = {(uintptr_t)memory + 32 * (uintptr_t)i, (uintptr_t)memory + 32 * (uintptr_t)i + EACH, 0, 0};
        rex_mappings_add(&made, 1);
        the_record()->mappings[i] = (struct fake_mapping){made.begin, stays[i] ? EACH : 0, 4096};
    }
    rex_mapping_ends(&map, 0);
    for (int i = 0; i < (int)COUNT(ends); i++)
        CHECK_EQUAL(rex_mapping_find(memory + 32 * i, EACH, 0, &found), !ends[i]);
    rex_mapping_ended(&map, 0, false);
    for (int i = 0; i < (int)COUNT(ends); i++)
        CHECK_EQUAL(rex_mapping_find(memory + 32 * i, EACH, 0, &found), stays[i]);
}

/*
 * A row of no length may have ended the next mapping of its device on either side, unless it lies in one: which of them leave the index
 * where libomptarget no longer has them.
 */
static const struct beside {
    int at, size; /* at -1: NULL */
    int within;   /* a mapping; -1: none */
    bool leaves[3];
} besides[] = {{0, 0, -1, {true}},           {20, 0, -1, {true, true}},         {32, 0, 1, {false, true}}, {39, 0, 1, {false, true}},
               {40, 0, -1, {false, true, true}}, {200, 0, -1, {false, false, true}}, {201, 0, -1, {false, false, true}}, {20, 4, -1, {false}},
               {-1, 0, -1, {false}}};
enum when { STAY, GO, GO_LATER, WHENS };
static struct {
    const struct beside *row;
    enum when when;
} ended_beside;

static void end_beside(const void *unused)
{
    (void)unused;
    enum { EACH = 8 };
    const struct beside *row = ended_beside.row;
    void *at = row->at >= 0 ? memory + row->at : NULL, *begins[] = {memory, at};
    int64_t sizes[] = {16, row->size}, types[] = {REX_MAP_LITERAL, REX_MAP_ALLOC};
    struct rex_map map = {.count = 2, .base = begins, .begin = begins, .sizes = sizes, .types = types};
    struct rex_mapping found, other = {(uintptr_t)memory + 22, (uintptr_t)memory + 30, 1, 0};
    bool any = false;
    start();
    bool is_last = row->at == 200; /* of all */
    if (!is_last)
        rex_mappings_add(&other, 1);
    for (int i = 0; i < (int)COUNT(row->leaves); i++) {
        bool stays = ended_beside.when != GO || (!row->leaves[i] && at != NULL && row->within < 0);
        rex_mapping_made(memory + 8 + 24 * i, EACH, 0);
        the_record()->mappings[i] = (struct fake_mapping){(uintptr_t)memory + 8 + 24 * (uintptr_t)i, stays ? EACH : 0, 4096};
        any |= row->leaves[i];
    }
    rex_mapping_ends(&map, 0);
    for (int i = 0; i < (int)COUNT(row->leaves); i++)
        CHECK_EQUAL(rex_mapping_find(memory + 8 + 24 * i, EACH, 0, &found), row->within != i);
    rex_mapping_ended(&map, 0, ended_beside.when == GO_LATER);
    for (int i = 0; i < (int)COUNT(row->leaves); i++)
        CHECK_EQUAL(rex_mapping_find(memory + 8 + 24 * i, EACH, 0, &found), ended_beside.when == STAY || !row->leaves[i]);
    CHECK(is_last || rex_mapping_find(memory + 22, EACH, 1, &found));
    CHECK_EQUAL(rex_all_mappings_are_seen(), ended_beside.when == STAY || (ended_beside.when == GO && (row->within >= 0 || !any)));
}

/* What another row of the call ends is that one's. */
TEST_IN_CHILD(end_with_it)
{
    void *begins[] = {memory + 8, memory + 4};
    int64_t sizes[] = {8, 0}, types[] = {REX_MAP_FROM, REX_MAP_ALLOC};
    struct rex_map map = {.count = 2, .base = begins, .begin = begins, .sizes = sizes, .types = types};
    struct rex_mapping found, made = {(uintptr_t)memory + 8, (uintptr_t)memory + 16, 0, 0};
    start();
    rex_mappings_add(&made, 1);
    rex_mapping_ends(&map, 0);
    rex_mapping_ended(&map, 0, false);
    CHECK(!rex_mapping_find(memory + 8, 8, 0, &found) && rex_all_mappings_are_seen());
}

TEST(test_end_beside)
{
    for (size_t i = 0; i < COUNT(besides); i++)
        for (enum when when = STAY; when < WHENS; when++) {
            ended_beside.row = &besides[i];
            ended_beside.when = when;
            in_child(end_beside, NULL);
        }
}

/* What leaves the index though libomptarget may have it yet is asked for from then on. */
enum leaving { ENDED, LATER, OF_OTHERS, WITHOUT_ROOM, LEAVINGS };

static void leave_unseen(const void *which)
{
    enum leaving leaving = *(const enum leaving *)which;
    void *begin = memory;
    int64_t size = BYTES, type = REX_MAP_FROM;
    struct rex_map map = row_of(&begin, &size, &type);
    struct rex_mapping found;
    start();
    if (leaving != WITHOUT_ROOM) /* that is made once */
        map_whole();             /* and from now on the index is told of ends */
    rex_mapping_ends(&map, 0);
    rex_mapping_ended(&map, 0, false);
    for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
        has_no_room = leaving == WITHOUT_ROOM && is_mapped;
        if (is_mapped)
            map_whole();
        has_no_room = false;
        if (leaving == OF_OTHERS)
            rex_mapping_ended_unseen();
        else if (leaving != WITHOUT_ROOM) {
            rex_mapping_ends(&map, 0);
            rex_mapping_ended(&map, 0, leaving == LATER);
        }
        CHECK(!rex_mapping_find(memory, BYTES, 0, &found));
        CHECK_EQUAL(rex_all_mappings_are_seen(), leaving == ENDED || !is_mapped);
    }
}

/* In the order of their addresses, whatever these are: what lies between two mappings is in neither. */
static void place_in_order(const void *context)
{
    static const struct {
        uintptr_t begin, end;
        bool is_mapped;
    } parts[] = {{0, 4, true}, {26, 28, false}, {36, 40, true}, {40, 41, false}, {8, 9, false}, {16, 17, true}, {31, 33, true}, {24, 32, false}};
    (void)context;
    start();
    for (int device = 0; device < 2; device++)
        for (uintptr_t at = 0x7f0070000000; at <= 0x7f00f0000000; at += 0x80000000) {
            struct rex_mapping made[] = {{at, at + 8, device, 0}, {at + 16, at + 24, device, 0}, {at + 32, at + 40, device, 0}};
            struct rex_place place[COUNT(parts)];
            rex_mappings_add(made, COUNT(made));
            for (size_t i = 0; i < COUNT(parts); i++)
                place[i] = (struct rex_place){.begin = at + parts[i].begin, .end = at + parts[i].end};
            rex_mappings_place(place, COUNT(place), device);
            for (size_t i = 0; i < COUNT(parts); i++)
                CHECK_EQUAL(place[i].is_mapped, parts[i].is_mapped);
            rex_mappings_place(place, COUNT(place), 1 - device);
            for (size_t i = 0; i < COUNT(parts) && device == 0; i++)
                CHECK(!place[i].is_mapped);
        }
}

/* A row that deletes ends all of a mapping, of which not all may be known where some were not seen; a mapper, what nobody knows. */
static void end_unknown(const void *context)
{
    static void *none[1], *some[1] = {memory};
    static const struct {
        int64_t type;
        void **mappers;
        bool unseen, stays;
    } ways[] = {
        {REX_MAP_TO, NULL, false, true},  {REX_MAP_TO, none, false, true}, {REX_MAP_DELETE, NULL, false, true},
        {REX_MAP_TO, some, false, false}, {REX_MAP_TO, NULL, true, true},  {REX_MAP_DELETE, NULL, true, false},
    };
    void *begin = memory;
    int64_t size = 1, type;
    struct rex_map map = row_of(&begin, &size, &type);
    struct rex_mapping found, made = {(uintptr_t)memory + 100, (uintptr_t)memory + 200, 0, 0};
    (void)context;
    start();
    for (size_t i = 0; i < COUNT(ways); i++) {
        type = ways[i].type;
        map.mappers = ways[i].mappers;
        rex_mappings_add(&made, 1);
        if (ways[i].unseen)
            rex_mapped_unseen();
        rex_mapping_ends(&map, 0);
        rex_mapping_ended(&map, 0, false);
        CHECK_EQUAL(rex_mapping_find(memory + 100, 100, 0, &found), ways[i].stays);
    }
}

/* Room is made for as many as there are; what is known anew takes the place of what touches it, and a part of it is nothing new. */
static void replace(const void *context)
{
    enum { MANY = 500, OLD = 3 };
    static char many[MANY * 4];
    static struct rex_mapping made[MANY];
    struct rex_mapping found;
    (void)context;
    start();
    for (size_t i = 0; i < MANY; i++) {
        made[i] = (struct rex_mapping){(uintptr_t)&many[4 * i], (uintptr_t)&many[4 * i + 3], 0, 0};
        rex_mappings_add(&made[i], 1);
    }
    for (size_t i = 0; i < MANY; i++)
        CHECK(rex_mapping_find(&many[4 * i], 3, 0, &found) && !rex_mapping_find(&many[4 * i], 4, 0, &found));
    struct rex_mapping part = {(uintptr_t)many + 1, (uintptr_t)many + 2, 0, 0};
    rex_mappings_add(&part, 1);
    CHECK(rex_mapping_find(many + 1, 1, 0, &found) && found.begin == (uintptr_t)many);
    struct rex_mapping over = {(uintptr_t)many, (uintptr_t)many + 4 * OLD - 2, 0, 0};
    rex_mappings_add(&over, 1);
    CHECK(rex_mapping_find(many, 4 * OLD - 2, 0, &found) && rex_mapping_find(many + 4 * OLD, 3, 0, &found));
    CHECK(!rex_mapping_find(many + 4 * OLD - 4, 3, 0, &found));
    struct rex_mapping beside = {(uintptr_t)many + 4 * 20 + 1, (uintptr_t)many + 4 * 20 + 4, 0, 0}; /* of one alone, not its first byte */
    rex_mappings_add(&beside, 1);
    CHECK(!rex_mapping_find(many + 4 * 20, 1, 0, &found) && rex_mapping_find(many + 4 * 20 + 1, 3, 0, &found));
    CHECK(rex_mapping_find(many + 4 * 19, 3, 0, &found) && rex_mapping_find(many + 4 * 21, 3, 0, &found));
    struct rex_place wide = {.begin = (uintptr_t)many + 4 * 20 + 2, .end = (uintptr_t)many + 4 * 20 + 3};
    rex_mappings_widen(&wide, 0);
    CHECK(wide.begin == beside.begin && wide.end == beside.end);
    wide = (struct rex_place){.begin = (uintptr_t)many + 4 * OLD + 2, .end = (uintptr_t)many + 4 * (OLD + 2) + 1};
    rex_mappings_widen(&wide, 0);
    CHECK(wide.begin == (uintptr_t)many + 4 * OLD && wide.end == (uintptr_t)many + 4 * (OLD + 2) + 3);
    wide = (struct rex_place){.begin = (uintptr_t)many + 4 * OLD - 1, .end = (uintptr_t)many + 4 * (OLD + 1)};
    rex_mappings_widen(&wide, 0);
    CHECK(wide.begin == (uintptr_t)many + 4 * OLD - 1 && wide.end == (uintptr_t)many + 4 * (OLD + 1));
}

/* Whatever way it ends by, known or not. */
static void ways_to_end(const void *context)
{
    void *begin = memory, *mapper = memory, *pointer = memory;
    int64_t size = BYTES, type = REX_MAP_FROM, literal = REX_MAP_LITERAL, pointee = REX_MAP_PTR_AND_OBJ;
    struct rex_map map = row_of(&begin, &size, &type);
    struct rex_mapping found;
    (void)context;
    start();
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory, BYTES, 4096};
    for (int way = 0; way < 7; way++) {
        bool stays = way == 3;
        map_whole();
        CHECK(rex_mapping_find(memory, BYTES, 0, &found));
        switch (way) {
        case 0: rex_mappings_changed(); break;
        case 1:
            rex_mapping_ends(&map, 0);
            rex_mapping_ended(&map, 0, true);
            break;
        case 2:
            map.mappers = &mapper;
            data_end_mapper(NULL, 0, 1, &begin, &begin, &size, &type, NULL, &mapper);
            break;
        case 3: data_end_mapper(NULL, 0, 1, &begin, &begin, &size, &literal, NULL, NULL); break;
        case 4:
            the_record()->mappings[0].size = 0;
            data_end_mapper(NULL, 0, 1, &begin, &begin, &size, &type, NULL, NULL);
            break;
        case 5:
            begin = NULL;
            data_end_mapper(NULL, 0, 1, &pointer, &begin, &size, &pointee, NULL, NULL);
            break;
        default: CHECK_EQUAL(rex_module_fini(&module), 0); CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        }
        CHECK_EQUAL(rex_mapping_find(memory, BYTES, 0, &found), stays);
    }
}

#define TEST_OF(name) \
    TEST(test_##name) \
    { \
        in_child(name, NULL); \
    }
TEST_OF(at_random)
TEST_OF(two_ends)
TEST_OF(have_no_mapping)
TEST_OF(end_unknown)
TEST_OF(end_several)
TEST_OF(end_rows)
TEST(test_leave_unseen)
{
    for (enum leaving leaving = ENDED; leaving < LEAVINGS; leaving++)
        in_child(leave_unseen, &leaving);
}
TEST_OF(place_in_order)
TEST_OF(replace)
TEST_OF(ways_to_end)

/* ---- ends ---------------------------------------------------------------------------------------------------------------------------- */

/* The call of that NUMBER which ends mappings of 8 bytes; NULL: there were fewer. On LLVM 14 librex looks memory up by others. */
static const struct fake_call *end_call(uint32_t number)
{
    const struct fake_record *record = the_record();
    for (uint32_t at = 0, ends = 0; at < record->count; at++)
        if (record->calls[at].function == FAKE_END && record->calls[at].sizes[0] == 8 && ends++ == number)
            return &record->calls[at];
    return NULL;
}

/* LLVM 14 ends but one row of a mapping in a call: where rows share one, they are ended one by one, from the last. */
TEST_ON_FAKES(end_apart, 14, 15)
{
    enum { ROWS = 3 };
    static char near[100], far[100];
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    struct fake_record *record = the_record();
    record->mappings[0] = (struct fake_mapping){(uintptr_t)near, sizeof near, 0x10000000};
    record->mappings[1] = (struct fake_mapping){(uintptr_t)far, sizeof far, 0x20000000};
    REX_MAP(together, REX_TO(far, 8), REX_SECTION(REX_MAP_TO, near, 80, 8), REX_SECTION(REX_MAP_TO, near, 16, 8));
    REX_MAP(apart, REX_TO(far, 8), REX_SECTION(REX_MAP_TO, near, 16, 8));
    REX_MAP(alone, REX_TO(near, 8));
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &together), 0);
    uint32_t ends = release == 14 ? ROWS : 1;
    CHECK(end_call(ends - 1) != NULL && end_call(ends) == NULL);
    for (uint32_t i = 0; i < ROWS && release == 14; i++) {
        const struct fake_call *call = end_call(i);
        CHECK_EQUAL(call->packet.rows, 1);
        CHECK(call->begin[0] == together.begin[ROWS - 1 - i] && call->base[0] == together.base[ROWS - 1 - i]);
        CHECK(call->sizes[0] == 8 && call->types[0] == together.types[ROWS - 1 - i]);
    }
    record->mappings[1].size = 0;
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &apart), 0);
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &alone), 0);
    CHECK(end_call(ends + 1) != NULL && end_call(ends + 2) == NULL);
    CHECK(end_call(ends)->packet.rows == 2 && end_call(ends + 1)->packet.rows == 1);
}

/* ---- rows that are mapped in part --------------------------------------------------------------------------------------------------- */

/* An implicit row may be larger than its mapping where nothing of it is copied. */
TEST_IN_CHILD(mapped_in_part)
{
    static const int64_t some = REX_MAP_IMPLICIT, always = REX_MAP_ALWAYS;
    const struct {
        enum rex_purpose purpose;
        int64_t type;
        int result;
    } cases[] = {
        {REX_FOR_BEGIN, REX_MAP_TO, REX_EOVERLAP},
        {REX_FOR_BEGIN, REX_MAP_TO | some, REX_OK},
        {REX_FOR_BEGIN, REX_MAP_FROM | some, REX_OK},
        {REX_FOR_BEGIN, REX_MAP_TO | some | always, REX_EOVERLAP},
        {REX_FOR_BEGIN, some | always, REX_OK},
        {REX_FOR_LAUNCH, REX_MAP_TOFROM, REX_EOVERLAP},
        {REX_FOR_LAUNCH, REX_MAP_TOFROM | some, REX_OK},
        {REX_FOR_LAUNCH, REX_MAP_TOFROM | some | always, REX_EOVERLAP},
        {REX_FOR_END, REX_MAP_TO, REX_OK},
        {REX_FOR_END, REX_MAP_FROM, REX_OK},
        {REX_FOR_END, REX_MAP_TO | some, REX_OK},
        {REX_FOR_END, REX_MAP_TO | some | always, REX_OK},
        {REX_FOR_END, REX_MAP_FROM | some, REX_EOVERLAP},
    };
    static char bytes[100];
    void *begin = bytes;
    int64_t size = sizeof bytes, type;
    struct rex_map map = {.count = 1, .base = &begin, .begin = &begin, .sizes = &size, .types = &type};
    start();
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)bytes, 64, 0x10000000};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_new_rows rows;
        type = cases[i].type;
        rex_new_rows_open(&rows);
        int result = rex_check_presence(&map, cases[i].purpose, 0, "a test", &rows);
        if (result != cases[i].result)
            fprintf(stderr, "case %zu: %d\n", i, result);
        CHECK_EQUAL(result, cases[i].result);
        rex_new_rows_free(&rows);
    }
}

/* ---- who is asked before an end, and who is told of it ------------------------------------------------------------------------------- */

/* A queue that writes down what it is asked, in a letter, and answers as a test says. */
struct asked {
    struct rex_unfinished unfinished;
    const void *used; /* what it uses: a row, or &everything */
    const struct rex_registration *run;
    int result; /* of waiting */
    bool lost;
};
static char everything, cells[64], told[1024];
static int stands_for_a_module;
static const struct rex_registration *registration_here = (const struct rex_registration *)(const void *)&stands_for_a_module;

static __attribute__((format(printf, 1, 2))) void tell(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = strlen(told);
    vsnprintf(told + length, sizeof told - length, format, arguments);
    va_end(arguments);
}

static struct asked *asked_of(struct rex_unfinished *unfinished)
{
    return (struct asked *)(void *)unfinished;
}

static bool uses(struct rex_unfinished *unfinished, const void *begin, size_t size, int number)
{
    tell(" %s:%ld+%zu@%d", unfinished->name, begin != NULL ? (long)((const char *)begin - cells) : -1L, size, number);
    return asked_of(unfinished)->used == (begin != NULL ? begin : &everything);
}

static bool runs(struct rex_unfinished *unfinished, const struct rex_registration *registration)
{
    tell(" %s?", unfinished->name);
    return asked_of(unfinished)->run == registration;
}

static int waits(struct rex_unfinished *unfinished)
{
    tell(" %s!", unfinished->name);
    return asked_of(unfinished)->result;
}

static void forgets(struct rex_unfinished *unfinished, const struct rex_registration *registration)
{
    CHECK(registration == registration_here);
    tell(" %s-", unfinished->name);
}

static bool is_lost(struct rex_unfinished *unfinished, const char *why, struct rex_kernel_list *noted)
{
    CHECK(strcmp(why, "why") == 0);
    noted->count++;
    tell(" %s~", unfinished->name);
    return asked_of(unfinished)->lost;
}

/* What was asked and told since the last time. */
static void expect_told(int line, const char *expected)
{
    if (strcmp(told, expected) != 0) {
        fprintf(stderr, "line %d: \"%s\" and not \"%s\"\n", line, told, expected);
        _exit(99);
    }
    told[0] = '\0';
}
#define EXPECT_TOLD(expected) expect_told(__LINE__, expected)

static void unfinished_are_asked(const void *context)
{
#define ASKED(name, number) {.unfinished = {NULL, name, number, uses, runs, waits, forgets, is_lost}}
    static struct asked a = ASKED("a", 0), b = ASKED("b", 1), c = ASKED("c", 1);
    void *begin[] = {cells, cells + 1, cells + 2, cells + 20, cells + 30, cells + 40}; /* the last one is in no map */
    int64_t sizes[] = {8, 8, 16, 0, -1, 4},
            types[] = {REX_MAP_LITERAL | 0x20, REX_MAP_PRIVATE, REX_MAP_TO, REX_MAP_FROM, REX_MAP_TOFROM, REX_MAP_TO};
    const struct rex_map map = {.count = 5, .base = begin, .begin = begin, .sizes = sizes, .types = types};
    struct rex_kernel_list noted = {.count = 0};
    (void)context;
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    CHECK(!rex_any_unfinished());
    CHECK_EQUAL(rex_before_unmap(&map, 1, "a test"), REX_OK);
    EXPECT_TOLD("");
    rex_unfinished_add(&a.unfinished);
    rex_unfinished_add(&b.unfinished);
    rex_unfinished_add(&c.unfinished);
    CHECK(rex_any_unfinished());
    /* Memory: neither values nor what is private; no size is one byte. */
    CHECK_EQUAL(rex_before_unmap(&map, 1, "a test"), REX_OK);
    EXPECT_TOLD(" c:2+16@1 c:20+1@1 c:30+1@1 b:2+16@1 b:20+1@1 b:30+1@1 a:2+16@1 a:20+1@1 a:30+1@1");
    b.used = cells + 20;
    a.used = cells + 2;
    CHECK_EQUAL(rex_before_unmap(&map, 0, "a test"), REX_EBUSY);
    CHECK(strcmp(rex_last_error(), "a test: queue \"b\" has unfinished work that may use this memory: call rex_queue_sync() before, or set "
                                   "REX_UNFINISHED=wait") == 0);
    EXPECT_TOLD(" c:2+16@0 c:20+1@0 c:30+1@0 b:2+16@0 b:20+1@0");
    CHECK_EQUAL(rex_configure(REX_OPTION_UNFINISHED, "wait"), 0);
    CHECK_EQUAL(rex_before_unmap(&map, 0, "a test"), REX_OK);
    EXPECT_TOLD(" c:2+16@0 c:20+1@0 c:30+1@0 b:2+16@0 b:20+1@0 b! a:2+16@0 a!");
    b.result = REX_ECUDA;
    CHECK_EQUAL(rex_before_unmap(&map, 0, "a test"), REX_ECUDA);
    EXPECT_TOLD(" c:2+16@0 c:20+1@0 c:30+1@0 b:2+16@0 b:20+1@0 b!");
    rex_unfinished_sync(&map, 1, "a call");
    EXPECT_TOLD(" c:2+16@1 c:20+1@1 c:30+1@1 b:2+16@1 b:20+1@1 b! a:2+16@1 a!");
    c.used = &everything;
    rex_unfinished_sync(NULL, 1, "a call");
    EXPECT_TOLD(" c:-1+0@1 c! b:-1+0@1 a:-1+0@1");
    /* Modules: whose kernels run, and for the last one whatever is unfinished. */
    CHECK_EQUAL(rex_configure(REX_OPTION_UNFINISHED, "error"), 0);
    CHECK_EQUAL(rex_before_unload(registration_here, false), REX_OK);
    EXPECT_TOLD(" c? b? a?");
    CHECK_EQUAL(rex_before_unload(registration_here, true), REX_EBUSY);
    EXPECT_TOLD(" c? c:-1+0@-1");
    CHECK(strcmp(rex_last_error(), "the end of a module: queue \"c\" has unfinished work that may use it: call rex_queue_sync() before, or set "
                                   "REX_UNFINISHED=wait") == 0);
    c.used = NULL;
    CHECK_EQUAL(rex_before_unload(registration_here, true), REX_OK);
    EXPECT_TOLD(" c? c:-1+0@-1 b? b:-1+0@-1 a? a:-1+0@-1");
    b.run = registration_here;
    CHECK_EQUAL(rex_before_library_unload(registration_here), REX_EBUSY);
    EXPECT_TOLD(" c? b?");
    CHECK_MENTIONS(rex_last_error(), "rex_library_unload: queue \"b\" has unfinished work that may use it: ");
    rex_unfinished_forget(registration_here);
    EXPECT_TOLD(" c- b- a-");
    /* A device: all of its queues. */
    CHECK(!rex_unfinished_find_lost(1, "why", &noted));
    EXPECT_TOLD(" c~ b~");
    c.lost = true;
    CHECK(rex_unfinished_find_lost(1, "why", &noted) && !rex_unfinished_find_lost(0, "why", &noted) && noted.count == 5);
    EXPECT_TOLD(" c~ b~ a~");
    /* The one in the middle, one that is not there, the last one, the first one. */
    rex_unfinished_remove(&b.unfinished);
    rex_unfinished_remove(&b.unfinished);
    rex_unfinished_forget(registration_here);
    EXPECT_TOLD(" c- a-");
    rex_unfinished_remove(&a.unfinished);
    rex_unfinished_forget(registration_here);
    EXPECT_TOLD(" c-");
    rex_unfinished_remove(&c.unfinished);
    CHECK(!rex_any_unfinished());
}

static void watched_ends(const struct rex_map *map, int number)
{
    tell(" ends %d@%d", map->count, number);
}

static void watched_ended(const struct rex_map *map, int number, bool later)
{
    tell(" ended %d@%d%s", map->count, number, later ? " later" : "");
}

static void watched_unseen(void)
{
    tell(" unseen");
}

static void before_call(enum rex_watched_call call, const struct rex_map *map, int number)
{
    tell(" <%d %d@%d", (int)call, map->count, number);
}

static void after_call(enum rex_watched_call call, const struct rex_map *map, int number)
{
    tell(" >%d %d@%d", (int)call, map->count, number);
}

/* Who watches is told with the number of the device, in order; a map without a column has nothing to end. */
TEST_IN_CHILD(ends_are_told)
{
    static const struct rex_end_watch ends = {watched_ends, watched_ended, watched_unseen};
    static const struct rex_call_watch calls = {before_call, after_call};
    void *begin[] = {cells};
    int64_t sizes[] = {8}, types[] = {REX_MAP_TO};
    const struct rex_map map = {.count = 1, .base = begin, .begin = begin, .sizes = sizes, .types = types};
    use_gpu(90);
    use_release(22);
    setenv("OMP_DEFAULT_DEVICE", "3", 1);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    rex_ends_watch(NULL);
    rex_calls_watch(NULL);
    uint64_t generation = rex_mapping_now();
    rex_end_begins(&map, 0, "a call"); /* and nobody watches */
    rex_end_is_over(&map, 0, false);
    rex_mapping_ended_unseen();
    CHECK_EQUAL(rex_mapping_now(), generation + 2);
    rex_ends_watch(&ends);
    rex_calls_watch(&calls);
    rex_end_begins(&map, -1, "a call");
    EXPECT_TOLD(" <1 1@3 ends 1@3");
    CHECK_EQUAL(rex_mapping_now(), generation + 2);
    rex_end_is_over(&map, -1, false);
    EXPECT_TOLD(" ended 1@3 >1 1@3");
    CHECK_EQUAL(rex_mapping_now(), generation + 3);
    rex_end_begins(&map, 2, "a call");
    rex_end_is_over(&map, 2, true);
    EXPECT_TOLD(" <1 1@2 ends 1@2 ended 1@2 later >1 1@2");
    rex_call_comes(REX_CALL_LAUNCHES, &map, -1);
    rex_call_is_over(REX_CALL_BEGINS, &map, 5);
    EXPECT_TOLD(" <2 1@3 >0 1@5");
    CHECK_EQUAL(rex_mapping_now(), generation + 4);
    rex_mapping_ended_unseen();
    EXPECT_TOLD(" unseen");
    CHECK_EQUAL(rex_mapping_now(), generation + 5);
    for (int missing = 0; missing < 5; missing++) {
        struct rex_map part = {.count = missing != 0,
                               .base = missing != 1 ? begin : NULL,
                               .begin = missing != 2 ? begin : NULL,
                               .sizes = missing != 3 ? sizes : NULL,
                               .types = missing != 4 ? types : NULL};
        rex_end_begins(&part, 0, "a call");
        EXPECT_TOLD("");
        rex_end_is_over(&part, 0, false);
        EXPECT_TOLD("");
        CHECK_EQUAL(rex_mapping_now(), generation + 6 + (uint64_t)missing);
    }
    CHECK(rex_all_mappings_are_seen());
    rex_mappings_changed();
    EXPECT_TOLD(" unseen");
    CHECK(!rex_all_mappings_are_seen());
    CHECK_EQUAL(rex_mapping_now(), generation + 11);
}

/* The program's own calls are told of, if they have rows; what libomptarget calls within one is not. */
TEST_IN_CHILD(calls_are_told)
{
    static const struct rex_call_watch calls = {before_call, after_call};
    void *begin[] = {cells};
    int64_t sizes[] = {8}, types[] = {REX_MAP_TO};
    struct __tgt_kernel_arguments packet = {
        .Version = 3, .NumArgs = 1, .ArgsBase = begin, .Args = begin, .ArgSizes = sizes, .ArgTypes = types, .Teams = {1, 1, 1}, .Threads = {1, 1, 1}};
    const struct __tgt_kernel_arguments given = packet;
    start();
    CHECK_EQUAL(rex_against_all(), 0);
    rex_calls_watch(&calls);
    rex_ends_watch(NULL);
    __rex_real___tgt_target_data_begin(0, 1, begin, begin, sizes, types);
    EXPECT_TOLD(" <0 1@0 >0 1@0");
    __rex_real___tgt_target_data_update(0, 1, begin, begin, sizes, types);
    EXPECT_TOLD(" <3 1@0 >3 1@0");
    __rex_real___tgt_target_data_end(0, 1, begin, begin, sizes, types);
    EXPECT_TOLD(" <1 1@0 >1 1@0");
    for (int missing = 0; missing < 5; missing++)
        __rex_real___tgt_target_data_begin(0, missing != 0, missing != 1 ? begin : NULL, missing != 2 ? begin : NULL, missing != 3 ? sizes : NULL,
                                           missing != 4 ? types : NULL);
    EXPECT_TOLD("");
    rex_trace_depth = 1;
    __rex_real___tgt_target_data_begin(0, 1, begin, begin, sizes, types);
    EXPECT_TOLD("");
    rex_trace_depth = 0;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 1, 1, &plain__id__, &packet), 0);
    EXPECT_TOLD(" <2 1@0 >2 1@0");
    CHECK_EQUAL(rex_against_all(), 0);
    packet = given;
    packet.Flags = 1; /* not waited for */
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 1, 1, &plain__id__, &packet), 0);
    EXPECT_TOLD(" <2 1@0 >2 1@0");
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_NOT_WAITED);
    REX_REAL(register_requires)(1);
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_NOT_WAITED);
    REX_REAL(register_requires)(8);
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_NOT_WAITED | REX_AGAINST_UNIFIED);
    exit(0);
}

TEST(test_who_is_asked)
{
    const char *output = in_child(unfinished_are_asked, NULL);
    assert_int_equal(occurrences(output, "librex: info: a test waits for queue \"b\"\nlibrex: info: a test waits for queue \"a\"\n"), 1);
    assert_int_equal(occurrences(output, "librex: warning: a call waits for queue \"b\": call rex_queue_sync() before\n"), 1);
    assert_int_equal(occurrences(output, "librex: warning: a call waits for queue \"c\": call rex_queue_sync() before\n"), 1);
}

/* ---- kernels, for messages ---------------------------------------------------------------------------------------------------------- */

/* Each once, up to the most that a message names. */
TEST(test_lists)
{
    static const char names[REX_KERNEL_LIST_MAX + 2][2] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    static const char *const texts[] = {
        "no kernel",
        "\"a\"",
        "\"a\", \"b\"",
        "\"a\", \"b\", \"c\"",
        "\"a\", \"b\", \"c\", \"d\"",
        "\"a\", \"b\", \"c\", \"d\", \"e\"",
        "\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"",
        "\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\"",
        "\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\"",
        "\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\" and others",
        "\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\" and others",
    };
    for (size_t count = 0; count < COUNT(texts); count++) {
        struct rex_kernel_list list = {.count = 0}, all = {.count = 0};
        char text[REX_KERNEL_LIST_TEXT];
        for (size_t i = 0; i < 2 * count; i++)
            rex_kernel_list_add(&list, names[i / 2], NULL);
        rex_kernel_list_text(&list, text);
        assert_string_equal(text, texts[count]);
        for (int twice = 0; twice < 2; twice++) {
            rex_kernel_list_add_all(&all, &list);
            rex_kernel_list_text(&all, text);
            assert_string_equal(text, texts[count]);
        }
    }
    /* Names that are too long for a message are cut off. */
    static char name[REX_KERNEL_LIST_TEXT];
    struct rex_kernel_list list = {.count = 0};
    char text[REX_KERNEL_LIST_TEXT + 1];
    memset(name, 'x', sizeof name - 1);
    memset(text, '!', sizeof text);
    rex_kernel_list_add(&list, name, NULL);
    rex_kernel_list_add(&list, "b", NULL);
    rex_kernel_list_text(&list, text);
    assert_int_equal(strlen(text), REX_KERNEL_LIST_TEXT - 1);
    assert_int_equal(text[REX_KERNEL_LIST_TEXT], '!');
    /* Those of a library that is no more have no name. */
    list = (struct rex_kernel_list){.count = 0};
    for (size_t i = 0; i < REX_KERNEL_LIST_MAX + 1; i++)
        rex_kernel_list_add(&list, names[i], i % 7 == 0 ? registration_here : NULL);
    rex_kernel_list_forget(&list, registration_here);
    rex_kernel_list_text(&list, text);
    assert_string_equal(text, "\"a kernel of a library that is unloaded\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", "
                              "\"a kernel of a library that is unloaded\" and others");
    assert_true(list.kernel[0].registration == NULL && list.kernel[7].registration == NULL);
}

/* What is still mapped when the process ends is told once; an attached pointer may stay. */
static void leave_mapped(const void *count)
{
    static struct rex_mapping made[] = {{0x1000, 0x1008, 0, 0}, {0x2000, 0x2010, 0, 0}, {0x3000, 0x3100, 0, 0}, {0x4000, 0x4001, 1, 0}};
    start();
    rex_mappings_add(made, *(const size_t *)count);
    exit(0);
}

TEST(test_never_ended)
{
    static const char *const said[] = {"", "", "\n", ", and 1 more mapping\n", ", and 2 more mappings\n"};
    for (size_t count = 0; count < COUNT(said); count++) {
        const char *output = in_child(leave_mapped, &count);
        const char *line = strstr(output, "librex: warning: a region was never ended: 16 bytes at 0x2000 are still mapped on device 0");
        assert_int_equal(line != NULL, count > 1);
        assert_int_equal(occurrences(output, "\n"), count > 1);
        assert_non_null(strstr(output, said[count]));
    }
}
