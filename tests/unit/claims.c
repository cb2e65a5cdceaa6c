/*
 * claims.c - memory that launches by the driver work on, kept apart from data calls, from launches by libomptarget and from each other.
 *
 * libomptarget is a fake, which maps what the test says. Who waits is seen where pthread_cond_wait() is called: no test sleeps to find out.
 * The program exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include <pthread.h>
#include <sched.h>

#include "base/thread.h"
#include "memory/claims.h"
#include "omp/lookup.h"
#include "memory/mappings.h"
#include "omp/mappingend.h"
#include "omp/sender.h"
#include "rex/entry.h"
#include "rex/launch.h"

static char axpy_id;
static struct __tgt_offload_entry entry[] = {{&axpy_id, (char *)(uintptr_t)"axpy__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/stateless_sm_90.cubin"};

static void start(int release, void (*axpy)(const unsigned *, const unsigned *, void **))
{
    static const size_t words[] = {8, 8, 8, 8};
    use_computing_gpu(release, "late");
    name_kernel("axpy__kernel__", axpy, 4, words);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_against_all(), 0);
}

/* ---- who waits ------------------------------------------------------------------------------------------------------------------------
 */

static unsigned waits; /* begun */

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    __atomic_fetch_add(&waits, 1, __ATOMIC_SEQ_CST);
    return __real_pthread_cond_wait(condition, mutex);
}

static char memory[4096];

/* A launch by the driver (CLAIMS), or a call of libomptarget, with up to ROWS rows. */
enum { CLAIMS = 100, ROWS = 20 };
struct side {
    int what; /* CLAIMS, or a REX_CALL_ */
    struct {
        int at, size;
        int64_t type;
    } row[ROWS];
    int count; /* 0: one */
    int number; /* of the device */
};

struct work {
    const struct side *side;
    struct rex_claim claim;
    struct rex_place place[ROWS];
    void *begin[ROWS];
    int64_t sizes[ROWS], types[ROWS];
    struct rex_map map;
    bool is_begun;
};

static void prepare(struct work *work, const struct side *side)
{
    int count = side->count > 0 ? side->count : 1;
    memset(work, 0, sizeof *work);
    work->side = side;
    work->map = (struct rex_map){count, work->begin, work->begin, work->sizes, work->types, NULL, NULL};
    for (int i = 0; i < count; i++) {
        work->begin[i] = memory + side->row[i].at;
        work->sizes[i] = side->row[i].size;
        work->types[i] = side->row[i].type;
        work->place[i].begin = (uintptr_t)work->begin[i];
        work->place[i].end = work->place[i].begin + (uintptr_t)work->sizes[i];
        work->place[i].is_changed = (work->types[i] & REX_MAP_FROM) != 0;
    }
    for (int i = count; i < ROWS; i++) /* which are none of it */
        work->place[i] = (struct rex_place){.begin = 0, .end = UINTPTR_MAX};
    work->claim = (struct rex_claim){.place = work->place, .count = (size_t)count, .number = side->number};
}

static void begin(struct work *work)
{
    if (work->side->what == CLAIMS)
        rex_claim_begin(&work->claim);
    else
        rex_call_comes((enum rex_watched_call)work->side->what, &work->map, work->side->number);
    __atomic_store_n(&work->is_begun, true, __ATOMIC_SEQ_CST);
}

static void end(struct work *work)
{
    if (work->side->what == CLAIMS)
        rex_claim_end(&work->claim);
    else
        rex_call_is_over((enum rex_watched_call)work->side->what, &work->map, work->side->number);
}

static void *begin_and_end(void *argument)
{
    begin(argument);
    end(argument);
    return NULL;
}

/* WORK begins in a thread of its own: whether it waits, having waited for either. */
static bool begins_waiting(pthread_t *thread, struct work *work)
{
    unsigned before = __atomic_load_n(&waits, __ATOMIC_SEQ_CST);
    CHECK_EQUAL(pthread_create(thread, NULL, begin_and_end, work), 0);
    while (!__atomic_load_n(&work->is_begun, __ATOMIC_SEQ_CST) && __atomic_load_n(&waits, __ATOMIC_SEQ_CST) == before)
        sched_yield();
    return !__atomic_load_n(&work->is_begun, __ATOMIC_SEQ_CST);
}

static bool waits_for(const struct side *first, const struct side *second)
{
    static struct work one, other;
    pthread_t thread;
    prepare(&one, first);
    prepare(&other, second);
    begin(&one);
    bool waiting = begins_waiting(&thread, &other);
    end(&one);
    pthread_join(thread, NULL);
    return waiting;
}

#define BOTH REX_MAP_TOFROM
#define TO REX_MAP_TO
#define FROM REX_MAP_FROM
/* From 1000 on as many bytes are mapped. */
enum { MAPPED = 1000 };

struct pair {
    struct side one, other;
    bool waits;
};

/* Both ways round. */
TEST_IN_CHILD(meet_each_other)
{
    static const struct pair all[] = {
        /* launches: what one copies back the other must not have */
        {{CLAIMS, {{0, 10, BOTH}}, 0, 0}, {CLAIMS, {{0, 10, BOTH}}, 0, 0}, true},
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {CLAIMS, {{5, 1, FROM}}, 0, 0}, true},
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {CLAIMS, {{0, 10, TO}}, 0, 0}, false},
        {{CLAIMS, {{0, 10, BOTH}}, 0, 0}, {CLAIMS, {{9, 10, BOTH}}, 0, 0}, true},
        {{CLAIMS, {{0, 10, BOTH}}, 0, 0}, {CLAIMS, {{10, 10, BOTH}}, 0, 0}, false},
        {{CLAIMS, {{0, 10, BOTH}}, 0, 0}, {CLAIMS, {{0, 10, BOTH}}, 0, 1}, false},
        {{CLAIMS, {{0, 10, BOTH}, {40, 10, BOTH}}, 2, 0}, {CLAIMS, {{20, 10, BOTH}, {60, 10, BOTH}}, 2, 0}, false},
        {{CLAIMS, {{0, 10, TO}, {40, 10, BOTH}}, 2, 0}, {CLAIMS, {{60, 10, BOTH}, {45, 10, TO}}, 2, 0}, true},
        {{CLAIMS, {{0, 10, BOTH}, {40, 10, TO}}, 2, 0}, {CLAIMS, {{60, 10, BOTH}, {45, 10, TO}}, 2, 0}, false},
        /* but where it is mapped */
        {{CLAIMS, {{MAPPED, 10, BOTH}}, 0, 0}, {CLAIMS, {{MAPPED, 10, BOTH}}, 0, 0}, false},
        {{CLAIMS, {{MAPPED - 5, 10, BOTH}}, 0, 0}, {CLAIMS, {{MAPPED - 10, 8, BOTH}}, 0, 0}, false},
        /* whichever row of several it is */
        {{CLAIMS, {{0, 10, BOTH}, {40, 10, TO}}, 2, 0}, {CLAIMS, {{5, 1, TO}}, 0, 0}, true},
        {{CLAIMS, {{40, 10, BOTH}, {0, 10, TO}}, 2, 0}, {CLAIMS, {{45, 1, TO}}, 0, 0}, true},
        /* what is mapped must not change meanwhile, by whatever part of it */
        {{CLAIMS, {{MAPPED, 10, TO}}, 0, 0}, {REX_CALL_ENDS, {{MAPPED + 900, 1, TO}}, 0, 0}, true},
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{9, 10, TO}}, 0, 0}, true},
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{10, 10, TO}}, 0, 0}, false},
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{0, 0, TO}}, 0, 0}, true},
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{0, 10, TO}}, 0, 1}, false},
        /* a begin and an update of mapped memory leave it as it is; an update works on no other */
        {{CLAIMS, {{MAPPED, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{MAPPED + 900, 1, TO}}, 0, 0}, false},
        {{CLAIMS, {{MAPPED, 10, BOTH}}, 0, 0}, {REX_CALL_BEGINS, {{MAPPED, 1000, BOTH}}, 0, 0}, false},
        {{CLAIMS, {{MAPPED, 10, BOTH}}, 0, 0}, {REX_CALL_BEGINS, {{MAPPED - 5, 20, BOTH}}, 0, 0}, true},
        {{CLAIMS, {{MAPPED - 5, 10, BOTH}}, 0, 0}, {REX_CALL_BEGINS, {{MAPPED - 5, 10, BOTH}}, 0, 0}, true},
        {{CLAIMS, {{MAPPED, 10, BOTH}}, 0, 0}, {REX_CALL_UPDATES, {{MAPPED, 10, BOTH}}, 0, 0}, false},
        {{CLAIMS, {{0, 10, BOTH}}, 0, 0}, {REX_CALL_UPDATES, {{0, 10, BOTH}}, 0, 0}, false},
        {{REX_CALL_UPDATES, {{0, 10, BOTH}}, 0, 0}, {REX_CALL_UPDATES, {{0, 10, BOTH}}, 0, 0}, false},
        {{REX_CALL_UPDATES, {{0, 10, FROM}}, 0, 0}, {REX_CALL_BEGINS, {{5, 10, TO}}, 0, 0}, true},
        {{REX_CALL_UPDATES, {{MAPPED, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{MAPPED, 10, TO}}, 0, 0}, false},
        {{REX_CALL_UPDATES, {{MAPPED, 10, TO}}, 0, 0}, {REX_CALL_ENDS, {{MAPPED + 900, 1, TO}}, 0, 0}, true},
        {{REX_CALL_BEGINS, {{MAPPED, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{MAPPED, 10, TO}}, 0, 0}, false},
        {{REX_CALL_BEGINS, {{MAPPED, 10, TO}}, 0, 0}, {REX_CALL_ENDS, {{MAPPED + 900, 1, TO}}, 0, 0}, true},
        {{REX_CALL_LAUNCHES, {{MAPPED, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{MAPPED, 10, TO}}, 0, 0}, false},
        /* values, private copies and what has no size are not mapped */
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{0, 10, REX_MAP_LITERAL}}, 0, 0}, false},
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{0, 10, REX_MAP_PRIVATE | TO}}, 0, 0}, false},
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{0, -1, TO}}, 0, 0}, false},
        /* data calls */
        {{REX_CALL_BEGINS, {{0, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{0, 10, TO}}, 0, 0}, true},
        {{REX_CALL_BEGINS, {{0, 10, TO}}, 0, 0}, {REX_CALL_ENDS, {{5, 1, TO}}, 0, 0}, true},
        {{REX_CALL_BEGINS, {{0, 10, TO}}, 0, 0}, {REX_CALL_BEGINS, {{10, 10, TO}}, 0, 0}, false},
        /* launches of libomptarget's are as those by the driver */
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {REX_CALL_LAUNCHES, {{0, 10, BOTH}}, 0, 0}, true},
        {{CLAIMS, {{0, 10, TO}}, 0, 0}, {REX_CALL_LAUNCHES, {{0, 10, TO}}, 0, 0}, false},
        /* but they do not wait for each other */
        {{REX_CALL_LAUNCHES, {{0, 10, BOTH}}, 0, 0}, {REX_CALL_LAUNCHES, {{0, 10, BOTH}}, 0, 0}, false},
        {{REX_CALL_ENDS, {{MAPPED + 500, 10, TO}}, 0, 0}, {REX_CALL_LAUNCHES, {{MAPPED, 10, TO}}, 0, 0}, true},
    };
    start(22, NULL);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory + MAPPED, MAPPED, 0x10000000};
    REX_MAP(region, REX_TO(memory + MAPPED, MAPPED));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    for (size_t i = 0; i < 2 * COUNT(all); i++) {
        const struct pair *pair = &all[i / 2];
        bool waited = i % 2 == 0 ? waits_for(&pair->one, &pair->other) : waits_for(&pair->other, &pair->one);
        if (waited != pair->waits)
            fprintf(stderr, "pair %zu, %s\n", i / 2, i % 2 == 0 ? "as it is" : "the other way round");
        CHECK_EQUAL(waited, pair->waits);
    }
}

static unsigned random_state = 1;

static int below(int limit)
{
    random_state = random_state * 1103515245 + 12345;
    return (int)(random_state >> 16) % limit;
}

/* Few rows and many, in order and in none, one in another; none is mapped. */
static struct side any_side(void)
{
    static const int kinds[] = {CLAIMS, CLAIMS, REX_CALL_BEGINS, REX_CALL_ENDS};
    struct side side = {.what = kinds[below(COUNT(kinds))], .count = 1 + below(ROWS)};
    bool is_ordered = below(2) != 0;
    for (int i = 0, at = 0; i < side.count; i++) {
        at = is_ordered ? at + 1 + below(60) : below(MAPPED);
        side.row[i].at = at < MAPPED - 1 ? at : MAPPED - 1;
        side.row[i].size = 1 + below(below(4) == 0 ? 200 : 8);
        side.row[i].size = side.row[i].at + side.row[i].size > MAPPED ? 1 : side.row[i].size;
        side.row[i].type = below(4) == 0 ? BOTH : TO;
    }
    return side;
}

static bool should_wait(const struct side *one, const struct side *other)
{
    bool any = one->what != CLAIMS || other->what != CLAIMS, waits_so = false;
    for (int i = 0; i < one->count; i++)
        for (int j = 0; j < other->count; j++)
            waits_so |= one->row[i].at < other->row[j].at + other->row[j].size && other->row[j].at < one->row[i].at + one->row[i].size &&
                        (any || ((one->row[i].type | other->row[j].type) & FROM));
    return waits_so;
}

TEST_IN_CHILD(meet_at_random)
{
    enum { ROUNDS = 1000 };
    int waited = 0;
    start(22, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        const struct side one = any_side(), other = any_side();
        CHECK_EQUAL(waits_for(&one, &other), should_wait(&one, &other));
        waited += should_wait(&one, &other);
    }
    CHECK(waited > ROUNDS / 10 && waited < ROUNDS - ROUNDS / 10);
}

/* Beside each other claims of a million places are compared in no time; each place with each would take hours. */
TEST_IN_CHILD(compare_few_places)
{
    enum { MANY = 1000000 };
    static struct rex_place one[MANY], other[MANY];
    struct rex_claim first = {.place = one, .count = MANY}, second = {.place = other, .count = MANY};
    start(22, NULL);
    for (uintptr_t i = 0; i < MANY; i++) {
        one[i] = (struct rex_place){.begin = 4096 + 20 * i, .end = 4096 + 20 * i + 10, .is_changed = true};
        other[MANY - 1 - i] = (struct rex_place){.begin = 4096 + 20 * i + 10, .end = 4096 + 20 * i + 20, .is_changed = true, .row = (int32_t)i};
    }
    rex_claim_begin(&first);
    rex_claim_begin(&second);
    for (int32_t i = 0; i < MANY; i++)
        CHECK(other[i].row == i && one[i].begin + 10 == other[i].begin);
    rex_claim_end(&second);
    rex_claim_end(&first);
}

static bool is_through;

static void *end_once(void *unused)
{
    CHECK(rex_ending_begin());
    __atomic_store_n(&is_through, true, __ATOMIC_SEQ_CST);
    rex_ending_end();
    return unused;
}

static void *look_once(void *unused)
{
    rex_lookup_begin();
    __atomic_store_n(&is_through, true, __ATOMIC_SEQ_CST);
    rex_lookup_end();
    return unused;
}

static bool is_kept_waiting(pthread_t *thread, void *(*work)(void *))
{
    unsigned before = __atomic_load_n(&waits, __ATOMIC_SEQ_CST);
    is_through = false;
    CHECK_EQUAL(pthread_create(thread, NULL, work, NULL), 0);
    while (!__atomic_load_n(&is_through, __ATOMIC_SEQ_CST) && __atomic_load_n(&waits, __ATOMIC_SEQ_CST) == before)
        sched_yield();
    return !__atomic_load_n(&is_through, __ATOMIC_SEQ_CST);
}

/* Where a look-up takes a reference, it and the end of a mapping wait for each other. Ends do not, nor do they on later releases. */
TEST_IN_CHILD(keep_looks_from_ends)
{
    pthread_t thread;
    start(15, NULL);
    rex_lookup_begin();
    CHECK(is_kept_waiting(&thread, end_once));
    rex_lookup_end();
    pthread_join(thread, NULL);
    CHECK(rex_ending_begin());
    CHECK(!is_kept_waiting(&thread, end_once));
    pthread_join(thread, NULL);
    CHECK(is_kept_waiting(&thread, look_once));
    rex_ending_end();
    pthread_join(thread, NULL);
}

TEST_IN_CHILD(end_freely)
{
    start(16, NULL);
    CHECK(!rex_ending_begin());
}

/* No memory can be had by the thread. */
static __thread bool lacks_memory;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return lacks_memory ? NULL : __real_malloc(size);
}

static struct side many_rows(int what, bool backwards)
{
    struct side many = {.what = what, .count = ROWS};
    for (int i = 0; i < ROWS; i++) {
        many.row[i].at = 20 * (backwards ? ROWS - 1 - i : i);
        many.row[i].size = 10;
        many.row[i].type = TO;
    }
    return many;
}

/* All rows of a call are kept apart, however many they are. */
TEST_IN_CHILD(have_many_rows)
{
    start(22, NULL);
    for (int i = 0; i < 2 * ROWS; i++) {
        const struct side many = many_rows(REX_CALL_BEGINS, i % 2 != 0), on = {CLAIMS, {{20 * (i / 2) + 9, 1, TO}}, 0, 0},
                          behind = {CLAIMS, {{20 * (i / 2) + 10, 10, TO}}, 0, 0};
        CHECK(waits_for(&many, &on) && !waits_for(&many, &behind));
    }
    struct side launch = many_rows(REX_CALL_LAUNCHES, false);
    const struct side last = {CLAIMS, {{19 * 20, 10, TO}}, 0, 0}, before = {CLAIMS, {{18 * 20, 10, TO}}, 0, 0};
    launch.row[ROWS - 1].type = BOTH;
    CHECK(waits_for(&launch, &last) && !waits_for(&launch, &before));
}

/* Without room for so many, the call claims all memory of its device. */
TEST_IN_CHILD(lack_room_for_rows)
{
    const struct side many = many_rows(REX_CALL_LAUNCHES, false), elsewhere = {CLAIMS, {{3000, 10, BOTH}}, 0, 0},
                      elsewhere_mapped = {CLAIMS, {{MAPPED, 10, BOTH}}, 0, 0}, other_device = {CLAIMS, {{3000, 10, BOTH}}, 0, 1};
    start(22, NULL);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory + MAPPED, MAPPED, 0x10000000};
    REX_MAP(region, REX_TO(memory + MAPPED, MAPPED));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    CHECK(!waits_for(&many, &elsewhere));
    lacks_memory = true;
    CHECK(waits_for(&many, &elsewhere) && !waits_for(&many, &elsewhere_mapped) && !waits_for(&many, &other_device));
    lacks_memory = false;
    CHECK(!waits_for(&many, &elsewhere));
}

/* A data call that waits lets no more launches begin; what they then find is what it has left. */
TEST_IN_CHILD(wait_for_data_call)
{
    static const struct side reads = {CLAIMS, {{MAPPED, 10, TO}}, 0, 0}, ends = {REX_CALL_ENDS, {{MAPPED, 10, TO}}, 0, 0};
    static struct work at_work, ending, next;
    pthread_t one, other;
    start(22, NULL);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory + MAPPED, MAPPED, 0x10000000};
    REX_MAP(region, REX_TO(memory + MAPPED, MAPPED));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    prepare(&at_work, &reads);
    prepare(&ending, &ends);
    prepare(&next, &reads);
    begin(&at_work);
    CHECK(at_work.place[0].device == 0x10000000 && at_work.place[0].is_mapped);
    CHECK(begins_waiting(&one, &ending));
    CHECK(begins_waiting(&other, &next));
    rex_mapping_ended_unseen();
    end(&at_work);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    CHECK(next.place[0].device == 0 && !next.place[0].is_mapped);
}

/* The index has a new mapping before all of it is copied: calls that find it there wait for the begin. */
TEST_IN_CHILD(wait_for_begin)
{
    static const struct side begins = {REX_CALL_BEGINS, {{MAPPED, 10, BOTH}}, 0, 0};
    static const struct side others[] = {{CLAIMS, {{MAPPED, 10, TO}}, 0, 0},
                                         {REX_CALL_UPDATES, {{MAPPED, 10, FROM}}, 0, 0},
                                         {REX_CALL_LAUNCHES, {{MAPPED, 10, TO}}, 0, 0},
                                         {REX_CALL_BEGINS, {{MAPPED, 10, TO}}, 0, 0}};
    static struct work beginning, next;
    pthread_t thread;
    start(22, NULL);
    for (size_t i = 0; i < COUNT(others); i++) {
        prepare(&beginning, &begins);
        prepare(&next, &others[i]);
        begin(&beginning);
        the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory + MAPPED, 10, 0x10000000};
        rex_mapping_made(memory + MAPPED, 10, 0);
        CHECK(begins_waiting(&thread, &next));
        end(&beginning);
        pthread_join(thread, NULL);
        the_record()->mappings[0] = (struct fake_mapping){0};
        rex_mapping_ended_unseen();
    }
}

/* A call that libomptarget makes within another is that one's, whatever has come to stand against the driver in between. */
TEST_OF_EACH(call_within_call, bool, stands, false, true)
{
    static const struct side outer = {REX_CALL_BEGINS, {{0, 10, TO}}, 0, 0}, inner = {REX_CALL_BEGINS, {{5, 10, TO}}, 0, 0},
                             reads = {CLAIMS, {{0, 1, TO}}, 0, 0};
    static struct work one, other, launch;
    pthread_t thread;
    start(22, NULL);
    prepare(&one, &outer);
    prepare(&other, &inner);
    prepare(&launch, &reads);
    begin(&one);
    if (stands)
        rex_stand_against_all(REX_AGAINST_UNIFIED);
    begin(&other);
    end(&other);
    CHECK(begins_waiting(&thread, &launch));
    end(&one);
    pthread_join(thread, NULL);
}

/* No launch goes by the driver: nobody waits. */
TEST_IN_CHILD(claim_nothing)
{
    static const struct side call = {REX_CALL_BEGINS, {{0, 10, TO}}, 0, 0};
    start(22, NULL);
    rex_stand_against_all(REX_AGAINST_UNIFIED);
    CHECK(!waits_for(&call, &call));
}

/* A child has none of its parent's threads, and nothing of what they were at. */
TEST_IN_CHILD(claim_in_child)
{
    static const struct side works = {CLAIMS, {{0, 10, BOTH}}, 0, 0};
    static struct work one, other;
    int status;
    start(22, NULL);
    prepare(&one, &works);
    prepare(&other, &works);
    begin(&one);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(20);
        begin(&other);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    end(&one);
}

/* ---- what calls leave ------------------------------------------------------------------------------------------------------------------
 */

static void call_once(enum rex_watched_call call, int64_t type, void *base, void *at, int64_t size, void *mapper)
{
    void *mappers[] = {mapper};
    struct rex_map map = {1, &base, &at, &size, &type, mappers, NULL};
    rex_call_comes(call, &map, 0);
    rex_call_is_over(call, &map, 0);
}

static bool is_known(const void *at, size_t size)
{
    struct rex_mapping found;
    return rex_mapping_find(at, size, 0, &found);
}

/* The call makes mapping SLOT of the fake's. */
static void begin_new(int slot, int64_t type, void *base, void *at, int64_t size)
{
    struct rex_map map = {1, &base, &at, &size, &type, NULL, NULL};
    const struct fake_mapping made = the_record()->mappings[slot];
    the_record()->mappings[slot].size = 0;
    rex_call_comes(REX_CALL_BEGINS, &map, 0);
    the_record()->mappings[slot] = made;
    rex_call_is_over(REX_CALL_BEGINS, &map, 0);
}

/* What a call has begun is in the index: what libomptarget has whole, and nothing else. */
static void add_what_began(const void *unused)
{
    static char *pointer = memory;
    (void)unused;
    start(22, NULL);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory, 100, 0x10000000};
    the_record()->mappings[1] = (struct fake_mapping){(uintptr_t)&pointer, sizeof pointer, 0x20000000};
    call_once(REX_CALL_ENDS, TO, memory, memory, 100, NULL);
    call_once(REX_CALL_LAUNCHES, TO, memory, memory, 100, NULL);
    call_once(REX_CALL_BEGINS, REX_MAP_LITERAL, memory, memory, 100, NULL);
    call_once(REX_CALL_BEGINS, TO, memory, memory, 0, NULL);
    call_once(REX_CALL_BEGINS, TO, memory, memory + 200, 10, NULL);
    call_once(REX_CALL_BEGINS, TO, memory, memory + 90, 20, NULL);
    call_once(REX_CALL_BEGINS, TO, memory, memory, 100, memory);
    struct rex_place around = {.begin = (uintptr_t)memory, .end = (uintptr_t)memory + 100};
    call_once(REX_CALL_BEGINS, TO, memory, memory + 50, 0, NULL);
    rex_mappings_place(&around, 1, 0);
    CHECK(!is_known(memory, 1) && !is_known(memory + 200, 1) && !around.is_mapped);
    begin_new(0, TO, memory, memory, 100);
    CHECK(is_known(memory, 100) && !is_known(memory, 101) && !is_known(&pointer, 1));
    begin_new(1, TO | REX_MAP_PTR_AND_OBJ, &pointer, memory, 50);
    CHECK(is_known(memory, 100) && is_known(&pointer, sizeof pointer));
    uint32_t asked = the_record()->lookups;
    call_once(REX_CALL_BEGINS, TO, memory, memory, 100, NULL);
    CHECK_EQUAL(the_record()->lookups, asked); /* what is known need not be asked for */
}

/*
 * A mapping that librex has not seen may be larger than a row that lies in it, and ends with other rows: the index gets what was absent
 * before the call.
 */
static void add_what_was_absent(const void *unused)
{
    (void)unused;
    start(22, NULL);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory, 100, 0x10000000};
    rex_mapped_unseen();
    call_once(REX_CALL_BEGINS, TO, memory, memory, 50, NULL);
    CHECK(!is_known(memory, 1));
    the_record()->mappings[1] = (struct fake_mapping){(uintptr_t)memory + 200, 50, 0x20000000};
    begin_new(1, TO, memory, memory + 200, 50);
    CHECK(is_known(memory + 200, 50));
    /* what the index has already does not count as unseen */
    void *bases[] = {memory, memory}, *begins[] = {memory + 200, memory + 300};
    int64_t sizes[] = {50, 50}, types[] = {TO, TO};
    struct rex_map two = {2, bases, begins, sizes, types, NULL, NULL};
    rex_call_comes(REX_CALL_BEGINS, &two, 0);
    the_record()->mappings[2] = (struct fake_mapping){(uintptr_t)memory + 300, 50, 0x30000000};
    rex_call_is_over(REX_CALL_BEGINS, &two, 0);
    CHECK(is_known(memory + 300, 50));
    void *pointer = memory + 400;
    the_record()->mappings[3] = (struct fake_mapping){(uintptr_t)&pointer, 8, 0x40000000};
    the_record()->mappings[4] = (struct fake_mapping){(uintptr_t)memory + 400, 50, 0x50000000};
    call_once(REX_CALL_BEGINS, TO | REX_MAP_PTR_AND_OBJ, &pointer, memory + 400, 50, NULL);
    CHECK(!is_known(memory + 400, 1) && !is_known(&pointer, 1));
}

/* On the host everything is present for ever: an entry would stay. */
static void add_nothing_on_host(const void *unused)
{
    void *base = memory, *at = memory;
    int64_t size = 100, type = TO;
    struct rex_map map = {1, &base, &at, &size, &type, NULL, NULL};
    struct rex_place place = {.begin = (uintptr_t)memory, .end = (uintptr_t)memory + 100};
    (void)unused;
    start(22, NULL);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory, 100, (uintptr_t)memory};
    rex_call_comes(REX_CALL_BEGINS, &map, 1);
    rex_call_is_over(REX_CALL_BEGINS, &map, 1);
    rex_mappings_place(&place, 1, 1);
    CHECK(!place.is_mapped);
    /* a device that has come meanwhile is none */
    the_record()->devices = 2;
    rex_call_comes(REX_CALL_BEGINS, &map, 1);
    rex_call_is_over(REX_CALL_BEGINS, &map, 1);
    rex_mappings_place(&place, 1, 1);
    CHECK(place.is_mapped);
}

/* The pointer of a pointee is changed by the call, and so claimed. */
static void claim_pointer(const void *unused)
{
    static const struct side reads = {CLAIMS, {{500, 8, TO}}, 0, 0};
    static struct work launch;
    pthread_t thread;
    void *base = memory + 500, *at = memory;
    int64_t size = 10, type = TO | REX_MAP_PTR_AND_OBJ;
    struct rex_map map = {1, &base, &at, &size, &type, NULL, NULL};
    (void)unused;
    start(22, NULL);
    prepare(&launch, &reads);
    rex_call_comes(REX_CALL_LAUNCHES, &map, 0);
    CHECK(begins_waiting(&thread, &launch));
    rex_call_is_over(REX_CALL_LAUNCHES, &map, 0);
    pthread_join(thread, NULL);
}

static struct work *meanwhile; /* what begins where the index is about to learn of a mapping; NULL: nothing */
static pthread_t meanwhile_in;

void __real_rex_mappings_add(struct rex_mapping *made, size_t count);
void __wrap_rex_mappings_add(struct rex_mapping *made, size_t count);
void __wrap_rex_mappings_add(struct rex_mapping *made, size_t count)
{
    if (meanwhile != NULL)
        CHECK(begins_waiting(&meanwhile_in, meanwhile));
    __real_rex_mappings_add(made, count);
}

/* No launch finds a mapping neither begun nor in the index. */
static void begin_meanwhile(const void *unused)
{
    static const struct side reads = {CLAIMS, {{0, 100, TO}}, 0, 0};
    static struct work launch;
    (void)unused;
    start(22, NULL);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)memory, 100, 0x10000000};
    prepare(&launch, &reads);
    meanwhile = &launch;
    call_once(REX_CALL_BEGINS, TO, memory, memory, 100, NULL);
    pthread_join(meanwhile_in, NULL);
    CHECK_EQUAL(launch.place[0].device, 0x10000000);
}

struct unusual {
    enum rex_watched_call call;
    int64_t type, size;
    bool mapper, attaches, is_seen;
};

static void note_unusual(const void *context)
{
    const struct unusual *call = context;
    void *mapper = memory;
    start(22, NULL);
    CHECK(!rex_pointers_are_attached() && rex_all_mappings_are_seen());
    call_once(call->call, call->type, memory + 100, memory, call->size, call->mapper ? mapper : NULL);
    CHECK_EQUAL(rex_pointers_are_attached(), call->attaches);
    CHECK_EQUAL(rex_all_mappings_are_seen(), call->is_seen);
}

static bool has_no_memory;

void *__real_rex_part_new(enum rex_part part, size_t size);
void *__wrap_rex_part_new(enum rex_part part, size_t size);
void *__wrap_rex_part_new(enum rex_part part, size_t size)
{
    return has_no_memory ? NULL : __real_rex_part_new(part, size);
}

/* A call whose thread gets no memory for a claim waits all the same, and no launch goes by the driver afterwards. */
static void call_without_memory(const void *unused)
{
    static const struct side launches = {CLAIMS, {{0, 100, TO}}, 0, 0}, ends = {REX_CALL_ENDS, {{50, 100, TO}}, 0, 0};
    static struct work launch, call;
    pthread_t thread;
    (void)unused;
    start(22, NULL);
    prepare(&launch, &launches);
    prepare(&call, &ends);
    begin(&launch);
    has_no_memory = true;
    CHECK(begins_waiting(&thread, &call));
    end(&launch);
    pthread_join(thread, NULL);
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_NO_MEMORY);
}

TEST(test_calls)
{
    enum { ATTACH = 0x4000 };
    static const struct unusual calls[] = {
        {REX_CALL_BEGINS, TO, 8, false, false, true},
        {REX_CALL_BEGINS, TO, 8, true, true, false},
        {REX_CALL_UPDATES, TO, 8, true, false, true},
        {REX_CALL_BEGINS, TO | REX_MAP_PTR_AND_OBJ, 8, false, true, true},
        {REX_CALL_BEGINS, TO | ATTACH, 8, false, true, true},
        {REX_CALL_LAUNCHES, TO | REX_MAP_PTR_AND_OBJ, 8, false, true, false},
        {REX_CALL_LAUNCHES, TO, 8, false, false, true},
        {REX_CALL_LAUNCHES, REX_MAP_PRIVATE | REX_MAP_PTR_AND_OBJ, 8, false, false, true},
    };
    in_child(add_what_began, NULL);
    in_child(add_what_was_absent, NULL);
    in_child(add_nothing_on_host, NULL);
    in_child(claim_pointer, NULL);
    in_child(begin_meanwhile, NULL);
    in_child(call_without_memory, NULL);
    for (size_t i = 0; i < COUNT(calls); i++)
        in_child(note_unusual, &calls[i]);
}

/* ---- launches beside each other, and beside data calls
 * ------------------------------------------------------------------------------------------------------------------------- */

enum { CELLS = 1000 };
static uint64_t x[CELLS], y[CELLS];

static void launch_rows(uint64_t n, uint64_t *rows, size_t count)
{
    uint64_t a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 1), REX_TOFROM(rows, count));
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
}

enum { THREADS = 16, ROUNDS = 60, PART = 50 };
static uint64_t parts[THREADS * PART];

/* y[part * PART ...] += a, where n is the part. */
static void add_to_part(const unsigned *grid, const unsigned *block, void **parameters)
{
    uint64_t *part = (uint64_t *)at_device(word(parameters, 3), sizeof parts) + PART * word(parameters, 0);
    (void)grid, (void)block;
    for (size_t i = 0; i < PART; i++)
        part[i] += word(parameters, 1);
}

static void *add_often(void *number)
{
    for (int i = 0; i < ROUNDS; i++)
        launch_rows((uintptr_t)number, parts, THREADS * PART);
    return NULL;
}

static void add_from_all(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, add_often, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Each thread works on a part of one array, which each maps whole: none may copy back what another has changed since. */
TEST_IN_CHILD(run_threads)
{
    start(22, add_to_part);
    add_from_all();
    for (size_t i = 0; i < COUNT(parts); i++)
        CHECK_EQUAL(parts[i], ROUNDS);
    uint64_t there = map_on_device(0, parts, sizeof parts), *on_device = at_device(there, sizeof parts);
    memset(on_device, 0, sizeof parts);
    REX_MAP(region, REX_TOFROM(parts, THREADS * PART));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    add_from_all();
    for (size_t i = 0; i < COUNT(parts); i++)
        CHECK(parts[i] == ROUNDS && on_device[i] == ROUNDS);
    CHECK_EQUAL(by_runtime(), 0);
}

/* The launch is at work: whoever ends a mapping of what it works on waits for it. */
static int at_work;

static void be_at_work(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block, (void)parameters;
    __atomic_store_n(&at_work, 1, __ATOMIC_SEQ_CST);
    usleep(50000);
    CHECK_EQUAL(the_record()->counts[FAKE_END], 0);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], *(int *)at_device(word(parameters, 2), 4));
}

static void *launch_once(void *unused)
{
    (void)unused;
    launch_rows(0, y, CELLS);
    return NULL;
}

static void run_beside(int begins)
{
    pthread_t thread;
    REX_MAP(region, REX_TOFROM(y, CELLS));
    x[0] = (uint64_t)begins;
    at_work = 0;
    CHECK_EQUAL(pthread_create(&thread, NULL, launch_once, NULL), 0);
    while (!__atomic_load_n(&at_work, __ATOMIC_SEQ_CST))
        usleep(100);
    CHECK_EQUAL(begins > 0 ? rex_module_region_end(&module, 0, &region) : rex_module_data_enter(&module, 0, &region), REX_OK);
    pthread_join(thread, NULL);
}

TEST_IN_CHILD(run_beside_data_calls)
{
    start(19, be_at_work);
    map_on_device(0, y, sizeof y); /* of which librex knows from the data call on */
    run_beside(0);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], 1);
    run_beside(1);
    CHECK_EQUAL(the_record()->counts[FAKE_END], 1);
    CHECK_EQUAL(by_runtime(), 0);
}

/* A cancelled thread, which would end where the driver waits, ends its launch or call first. */
static void be_cancelled(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block, (void)parameters;
    pthread_testcancel();
}

static void *launch_cancelled(void *unused)
{
    pthread_cancel(pthread_self());
    launch_rows(0, y, CELLS);
    pthread_testcancel();
    CHECK(false);
    return unused;
}

static void *call_cancelled(void *unused)
{
    void *at = y;
    int64_t size = sizeof y, type = REX_MAP_TOFROM;
    struct rex_map map = {1, &at, &at, &size, &type, NULL, NULL};
    pthread_cancel(pthread_self());
    rex_call_comes(REX_CALL_BEGINS, &map, 0);
    pthread_testcancel();
    rex_call_is_over(REX_CALL_BEGINS, &map, 0);
    pthread_testcancel();
    CHECK(false);
    return unused;
}

TEST_IN_CHILD(run_cancelled)
{
    pthread_t thread;
    start(22, be_cancelled);
    CHECK_EQUAL(pthread_create(&thread, NULL, launch_cancelled, NULL), 0);
    pthread_join(thread, NULL);
    launch_rows(0, y, CELLS);
    CHECK_EQUAL(pthread_create(&thread, NULL, call_cancelled, NULL), 0);
    pthread_join(thread, NULL);
    launch_rows(0, y, CELLS);
    CHECK_EQUAL(by_runtime(), 0);
}
