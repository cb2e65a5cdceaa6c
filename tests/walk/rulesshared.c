/*
 * rulesshared.c - arrays that all threads map, and a kernel adds to them. The order of the launches is
 * not known, but sums have no order: they are compared when all threads are over.
 *
 * X, Z and their copies are always the same numbers. Y on the host may be any sum on the way; each
 * device has one. X and Y are mapped throughout. Z is mapped by the threads, and by launches: a row
 * of it is present, absent, or present in part, which is refused. Launches with a mapper map V, always
 * whole: nobody but libomptarget knows a mapper's rows, and it aborts at a part of a mapping. RECORD
 * points to X; threads and launches map it, and attach the pointer. W is mapped as a whole, by threads and
 * by launches, and by nobody throughout: any of them may be the first or the last.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>

#include "exported.h"
#include "inqueue.h"
#include "omp/device.h"
#include "rules.h"

enum { SHARED = 256, SHARERS = 2, PARTS = 4, BLOCK = 16, ROUNDS = 8 };

static int64_t x[SHARED], z[SHARED], v[SHARED], w[SHARED], y[SHARERS][SHARED];
static struct walk_record record[SHARERS];
static uint64_t sums[SHARERS][SHARED];
static bool is_used;
static int devices;
static struct rex_queue *queue; /* of all threads */
static _Thread_local int entered; /* how often this thread has mapped X and Y */
static _Thread_local struct {
    int at, count;
} part[PARTS]; /* of Z, mapped by this thread; COUNT is 0: free */
static _Thread_local int records, wholes; /* how often this thread has mapped RECORD, and W */

static void must(const char *what, int result)
{
    if (result != REX_OK)
        walk_found("%s of what threads share fails: %s", what, rex_last_error());
}

void walk_share_begin(bool use)
{
    is_used = use;
    if (!use)
        return;
    for (int i = 0; i < SHARED; i++)
        x[i] = z[i] = v[i] = w[i] = i + 1;
    for (int i = 0; i < SHARERS; i++)
        record[i].data = x;
    devices = rex_device_count() < SHARERS ? rex_device_count() : SHARERS;
    for (int i = 0; i < devices; i++) {
        REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y[i], SHARED));
        must("a region", rex_module_data_enter(&walk_modules[0], i, &region));
    }
    must("a queue", rex_module_queue_create(&queue, &walk_modules[0], 0, "shared", 0, NULL));
}

/* Asked again, because what is not waited for may end between two questions. */
static bool agree(const void *at, int device)
{
    bool is_same = false;
    for (int i = 0; i < 100 && !is_same; i++)
        is_same = rex_target_is_present(at, 1, device) == (rex_runtime_omp()->is_present(at, device) != 0);
    return is_same;
}

void walk_compare_presence(const void *begin, size_t size)
{
    size_t step = size > BYTES ? size / CELLS : sizeof(int64_t);
    for (int device = 0; walk_is_registered() && device < rex_device_count() && device < DEVICES; device++)
        for (size_t at = 0; at < size; at += step)
            if (!agree((const char *)begin + at, device))
                walk_found("librex and libomptarget do not agree whether byte %zu of %zu is present on device %d", at, size, device);
}

static void compare_all_presence(void)
{
    walk_compare_presence(x, sizeof x);
    walk_compare_presence(z, sizeof z);
    walk_compare_presence(v, sizeof v);
    walk_compare_presence(w, sizeof w);
    walk_compare_presence(y, sizeof y);
    walk_compare_presence(record, sizeof record);
}

void walk_share_end(void)
{
    if (!is_used)
        return;
    must("a wait for the queue", rex_queue_destroy(queue));
    compare_all_presence();
    for (int of = 0; of < devices; of++) {
        REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y[of], SHARED));
        must("the end", rex_module_region_end(&walk_modules[0], of, &region));
        for (int i = 0; i < SHARED; i++)
            if ((uint64_t)y[of][i] != sums[of][i])
                walk_found("the sum of all threads at %d on device %d is %lld, and should be %lld", i, of,
                           (long long)y[of][i], (long long)sums[of][i]);
    }
}

static void leave_part(int which)
{
    REX_MAP(row, REX_TO(z + part[which].at, part[which].count));
    if (part[which].count > 0)
        must("the end of a part", rex_module_data_exit(&walk_modules[0], 0, &row));
    part[which].count = 0;
}

/* The record of a device from row AT on, and its pointer. */
#define RECORD(at, device)                                                              \
    REX_STRUCT(record[device], count, tail), REX_MEMBER(at, REX_MAP_TO, record[device], count), \
        REX_MEMBER_POINTER(at, REX_MAP_TO, record[device], data, 0, SHARED)

static void leave_record(void)
{
    REX_MAP(rows, RECORD(0, 0));
    int result = rex_module_data_exit(&walk_modules[0], 0, &rows);
    must("the end of a record", result == REX_EBUSY ? rex_queue_sync(queue) : result);
    records -= result == REX_OK;
}

static void leave_whole(void)
{
    REX_MAP(row, REX_TO(w, SHARED));
    must("the end of a whole array", rex_module_data_exit(&walk_modules[0], 0, &row));
    wholes--;
}

void walk_share_leave(void)
{
    REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y[0], SHARED));
    while (entered > 0) {
        int result = rex_module_region_end(&walk_modules[0], 0, &region);
        must("an end", result == REX_EBUSY ? rex_queue_sync(queue) : result);
        entered -= result == REX_OK;
    }
    for (int i = 0; i < PARTS; i++)
        leave_part(i);
    while (records > 0)
        leave_record();
    while (wholes > 0)
        leave_whole();
}

OWN_RULE(share_enter, "", 1)
{
    (void)call;
    REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y[0], SHARED));
    if (!is_used)
        return;
    must("a begin", rex_module_data_enter(&walk_modules[0], 0, &region));
    entered++;
}

/* The last mapping is the process's: no end here waits for a queue. */
OWN_RULE(share_exit, "", 1)
{
    (void)call;
    REX_MAP(region, REX_TO(x, SHARED), REX_TOFROM(y[0], SHARED));
    if (entered == 0)
        return;
    int result = rex_module_region_end(&walk_modules[0], 0, &region);
    if (result != REX_EBUSY)
        must("an end", result);
    entered -= result == REX_OK;
}

OWN_RULE(share_enter_part, "Pn", 2)
{
    int at = 16 * ((int)walk_integer(call, 0) & 7), count = (int)walk_integer(call, 1), i = 0;
    REX_MAP(row, REX_TO(z + at, count));
    while (i < PARTS && part[i].count > 0)
        i++;
    if (!is_used || i == PARTS || count == 0 || at + count > SHARED)
        return;
    walk_before();
    if (walk_judge_int(call, rex_module_data_enter(&walk_modules[0], 0, &row), EITHER)) {
        part[i].at = at;
        part[i].count = count;
    }
}

OWN_RULE(share_exit_part, "P", 2)
{
    leave_part((int)walk_integer(call, 0) & (PARTS - 1));
}

OWN_RULE(share_enter_record, "", 1)
{
    (void)call;
    REX_MAP(rows, RECORD(0, 0));
    if (!is_used)
        return;
    must("the begin of a record", rex_module_data_enter(&walk_modules[0], 0, &rows));
    records++;
}

OWN_RULE(share_exit_record, "", 1)
{
    (void)call;
    if (records > 0)
        leave_record();
}

OWN_RULE(share_enter_whole, "", 2)
{
    (void)call;
    REX_MAP(row, REX_TO(w, SHARED));
    if (!is_used)
        return;
    must("the begin of a whole array", rex_module_data_enter(&walk_modules[0], 0, &row));
    wholes++;
}

OWN_RULE(share_exit_whole, "", 2)
{
    (void)call;
    if (wholes > 0)
        leave_whole();
}

struct block {
    int64_t cell[BLOCK];
};

static int map_block(struct rex_map_builder *builder, void *element)
{
    return rex_map_add(builder, REX_OBJECT(REX_MAP_TO, *(struct block *)element));
}
REX_RUNTIME_MAPPER(share_block, map_block, struct block)

enum way { CHECKED, ASYNCHRONOUS, PACKET, EXPORTED, NOT_WAITED };

static int send(const struct rex_map *map, int device, enum way way, const void *kernel)
{
    void *key = (void *)(uintptr_t)kernel;
    struct rex_launch_config config = {.key = key, .device = device, .queue = way == ASYNCHRONOUS ? queue : NULL,
                                       .flags = way == NOT_WAITED ? REX_LAUNCH_NOWAIT : 0,
                                       .teams = {1, 1, 1}, .threads = {1, 1, 1}};
    struct __tgt_kernel_arguments packet = {.Version = 3, .NumArgs = map->count, .ArgsBase = map->base, .Args = map->begin,
                                            .ArgSizes = map->sizes, .ArgTypes = map->types, .ArgMappers = map->mappers,
                                            .Teams = {1, 1, 1}, .Threads = {1, 1, 1}};
    walk_note_launch(&config);
    return way == PACKET     ? rex_module_launch(&walk_modules[0], device, 1, 1, key, &packet)
           : way == EXPORTED ? exported_target_kernel(device, 1, 1, key, &packet)
                             : rex_module_launch_map(&walk_modules[0], &config, map);
}

/* What came of it, and what it adds: A times the numbers from AT on. */
static void judge(const struct call *call, int result, bool may_fail, int device, int at)
{
    int64_t n = walk_integer(call, 0), a = walk_integer(call, 1);
    if (!walk_judge(call, result != 0, result < 0 ? result : 0, may_fail ? EITHER : MUST_WORK))
        return;
    for (int64_t i = 0; i < n; i++)
        __atomic_fetch_add(&sums[device][at + i], (uint64_t)a * (uint64_t)(at + i + 1), __ATOMIC_RELAXED);
}

/*
 * Adds A times FROM, which is X, Z, V or W, from cell AT on, in blocks with a mapper if it IS_MAPPED. Without a check libomptarget aborts at a
 * part of a mapping. For an empty row the kernel gets the host's address, which the fake GPU refuses.
 */
static void launch(const struct call *call, int64_t *from, int at, int device, enum way way, bool is_mapped)
{
    int64_t n = walk_integer(call, 0), a = walk_integer(call, 1);
    void (*function)(void *, void *, void *, int64_t, int64_t, void *) = share_block;
    void *mappers[4] = {NULL};
    bool may_fail = from == z || way >= PACKET || (walk_may_refuse() && way != ASYNCHRONOUS);
    bool is_possible = from == z ? way == CHECKED && n > 0 : way != ASYNCHRONOUS || device == 0;
    if (is_mapped)
        is_possible = is_possible && way != ASYNCHRONOUS && n >= BLOCK;
    if (!is_used || at + n > SHARED || device >= devices || !is_possible)
        return;
    REX_MAP(rows, REX_VALUE(n), REX_VALUE(a), REX_TO(from + at, from == v || from == w ? SHARED : n), REX_TOFROM(y[device] + at, n));
    memcpy(&mappers[2], &function, sizeof function);
    rows.mappers = is_mapped ? mappers : NULL;
    walk_before();
    judge(call, send(&rows, device, way, walk_share_key(false)), may_fail, device, at);
}

OWN_RULE(share_add, "ni", 2)
{
    launch(call, x, 0, 0, CHECKED, false);
}

OWN_RULE(share_add_part, "niPPP", 3)
{
    bool is_z = walk_integer(call, 2) & 1;
    launch(call, is_z ? z : x, BLOCK * ((int)walk_integer(call, 3) & 7), (int)walk_integer(call, 2) >> 1 & 1,
           (enum way)(walk_integer(call, 4) & 3), false);
}

OWN_RULE(share_add_in_queue, "ni", 2)
{
    launch(call, x, 0, 0, ASYNCHRONOUS, false);
}

OWN_RULE(share_add_whole, "niPP", 3)
{
    bool is_packet = walk_integer(call, 3) & 1;
    launch(call, w, 0, (int)walk_integer(call, 2) >> 1 & 1, is_packet ? PACKET : CHECKED, false);
}

/* Launches on W while another thread begins and ends it. */
static void *race(void *is_over)
{
    REX_MAP(rows, REX_VALUE((int64_t)SHARED), REX_VALUE((int64_t)1), REX_TO(w, SHARED), REX_TOFROM(y[0], SHARED));
    do {
        int result = send(&rows, 0, CHECKED, walk_share_key(false));
        if (result != REX_OK && !walk_may_refuse())
            must("a launch beside ends", result);
        for (int i = 0; i < SHARED && result == REX_OK; i++)
            __atomic_fetch_add(&sums[0][i], (uint64_t)i + 1, __ATOMIC_RELAXED);
    } while (!__atomic_load_n((bool *)is_over, __ATOMIC_SEQ_CST));
    return NULL;
}

OWN_RULE(share_race, "", 1)
{
    (void)call;
    pthread_t launcher[2];
    REX_MAP(row, REX_TO(w, SHARED));
    for (int round = 0; is_used && round < ROUNDS; round++) {
        bool is_over = false;
        for (int i = 0; i < 2; i++)
            if (pthread_create(&launcher[i], NULL, race, &is_over) != 0)
                walk_found("a thread cannot be made");
        for (int i = 0; i < ROUNDS; i++) {
            must("a begin beside launches", rex_module_data_enter(&walk_modules[0], 0, &row));
            must("an end beside launches", rex_module_data_exit(&walk_modules[0], 0, &row));
        }
        __atomic_store_n(&is_over, true, __ATOMIC_SEQ_CST);
        for (int i = 0; i < 2; i++)
            pthread_join(launcher[i], NULL);
        walk_compare_presence(w, sizeof w);
    }
}

/* Not waited for, or with a mapper, or both. */
OWN_RULE(share_add_otherwise, "niPPP", 1)
{
    int64_t how = walk_integer(call, 4) & 7;
    bool is_mapped = how == 0 || (how & 4) != 0, is_v = is_mapped && (how & 1) != 0;
    launch(call, is_v ? v : x, is_v ? 0 : BLOCK * ((int)walk_integer(call, 3) & 7), (int)walk_integer(call, 2) >> 1 & 1,
           how & 2 ? NOT_WAITED : CHECKED, is_mapped);
}

/* Through the record's pointer. */
OWN_RULE(share_add_record, "niPP", 2)
{
    int64_t n = walk_integer(call, 0), a = walk_integer(call, 1);
    int device = (int)walk_integer(call, 2) >> 1 & 1, ways[] = {CHECKED, PACKET, EXPORTED, NOT_WAITED};
    enum way way = (enum way)ways[walk_integer(call, 3) & 3];
    if (!is_used || n > SHARED || device >= devices)
        return;
    REX_MAP(rows, REX_VALUE(n), REX_VALUE(a), RECORD(2, device), REX_TOFROM(y[device], n));
    walk_before();
    judge(call, send(&rows, device, way, walk_share_key(true)), way >= PACKET || walk_may_refuse(), device, 0);
}

/* What goes to the device is what is there. */
OWN_RULE(share_update, "", 1)
{
    (void)call;
    REX_MAP(rows, REX_TO(x, SHARED));
    if (is_used)
        must("an update", rex_module_data_update(&walk_modules[0], 0, &rows));
}

OWN_RULE(share_sync, "", 1)
{
    (void)call;
    if (is_used)
        must("a wait", rex_queue_sync(queue));
}

OWN_RULE(share_ask, "", 1)
{
    (void)call;
    if (is_used && (!rex_target_is_present(y[0], sizeof y[0], 0) || rex_mapped_ptr(x, 0) == NULL))
        walk_found("what threads share is not mapped: %s", rex_last_error());
}
