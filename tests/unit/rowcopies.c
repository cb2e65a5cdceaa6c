/*
 * rowcopies.c - rows of data calls that librex copies itself: large ones by threads, small ones of an update together; which are left to
 * libomptarget, and what it is asked for when a copy fails.
 *
 * The driver is a fake with device memory, which does nothing before somebody waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "copying.h"

#include "rex_kmp.h"
#include "memory/copythreads.h"

/* ---- regions -----------------------------------------------------------------------------------------------------------------
 */

/* The fake maps when it is called, unless it has before. */
static bool is_mapped_before, maps_at_load; /* which is a call without rows */
static unsigned char *of_region;

static void map_host(enum fake_function function)
{
    if (function == FAKE_BEGIN && (maps_at_load || last_call(FAKE_BEGIN)->packet.rows > 0))
        the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)host, 8 * MIB, (uintptr_t)device};
    else if (function == FAKE_END)
        the_record()->mappings[0].size = 0;
}

static void start_region(const char *threads)
{
    start("late", threads);
    of_region = bytes_at_device(device, MOST * MIB);
    memset(of_region, 0x33, MOST * MIB);
    fill(host, 8 * MIB, 1);
    the_record()->on_data = map_host;
    if (is_mapped_before)
        the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)host, 8 * MIB, (uintptr_t)device};
}

static uint32_t data_calls(enum fake_function function)
{
    return the_record()->counts[function];
}

/* A region on MAP begins; libomptarget is told to copy its first row, or threads do. */
static void begin_region(const struct rex_map *map, bool by_threads)
{
    CHECK_EQUAL(rex_module_data_enter(&module, -1, map), REX_OK); /* which is 0 */
    const struct fake_call *call = last_call(FAKE_BEGIN);
    for (int i = 0; i < map->count; i++)
        CHECK_EQUAL(call->types[i], map->types[i] & ~(by_threads && i == 0 ? REX_MAP_TO : 0));
    if (by_threads)
        CHECK(memcmp(of_region, host, 8 * MIB) == 0);
    else
        CHECK(is_all(of_region, 0x33, 8 * MIB));
}

/* MAP ends; its first row is copied back by libomptarget, or by threads. */
static void end_rows(const struct rex_map *map, bool by_threads)
{
    memset(of_region, 0x66, 8 * MIB);
    bool was_so = is_all(host, 0x66, 8 * MIB);
    CHECK_EQUAL(rex_module_region_end(&module, 0, map), REX_OK);
    const struct fake_call *call = last_call(FAKE_END);
    for (int i = 0; i < map->count; i++)
        CHECK_EQUAL(call->types[i], map->types[i] & ~(by_threads && i == 0 ? REX_MAP_FROM : 0));
    CHECK(is_all(host, 0x66, 8 * MIB) == (by_threads || was_so));
}

static void end_region(const struct rex_map *map, bool by_threads)
{
    end_rows(map, by_threads);
    the_record()->on_data = NULL;
    finish();
}

/* Large rows of a region and its updates, among small ones. */
TEST_IN_CHILD(copy_region)
{
    unsigned char small[64] = {0};
    start_region("2");
    REX_MAP(region, REX_TOFROM(host, 8 * MIB), REX_TO(small, sizeof small));
    begin_region(&region, true);
    CHECK_EQUAL(data_calls(FAKE_UPDATE), 0);
    REX_MAP(again, REX_TOFROM(host, 8 * MIB));
    memset(of_region, 0x33, 8 * MIB);
    begin_region(&again, false);

    REX_MAP(to, REX_TO(host + 1, 4 * MIB));
    CHECK_EQUAL(rex_module_data_update(&module, 0, &to), REX_OK);
    CHECK(of_region[0] == 0x33 && memcmp(of_region + 1, host + 1, 4 * MIB) == 0 && of_region[4 * MIB + 1] == 0x33);
    REX_MAP(from, REX_FROM(host, 16), REX_FROM(host, 8 * MIB), REX_FROM(host, 32));
    memset(of_region, 0x44, 8 * MIB);
    CHECK_EQUAL(rex_module_data_update(&module, 0, &from), REX_OK);
    CHECK(is_all(host, 0x44, 8 * MIB));
    CHECK_EQUAL(data_calls(FAKE_UPDATE), 0);
    CHECK_EQUAL(rex_module_data_update(&module, 0, &again), REX_OK);
    CHECK_EQUAL(last_call(FAKE_UPDATE)->types[0], again.types[0]);
    end_region(&region, false);
}

/* The smallest row that threads copy, and one a byte smaller. */
TEST_IN_CHILD(copy_least)
{
    for (size_t less = 0; less < 2; less++) {
        start_region("2");
        REX_MAP(region, REX_TO(host, 4 * MIB - less));
        CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
        CHECK_EQUAL(last_call(FAKE_BEGIN)->types[0], region.types[0] & ~(less == 0 ? REX_MAP_TO : 0));
        CHECK(less > 0 || memcmp(of_region, host, 4 * MIB) == 0);
        CHECK(is_all(of_region + (less > 0 ? 0 : 4 * MIB), 0x33, 4 * MIB));
        end_region(&region, false);
    }
}

/* An update of COUNT pieces of SIZE bytes, with as many bytes between, takes WAITS; what lies between stays as it was. */
static void update_pieces(int32_t count, size_t size, bool to_host, int waits)
{
    void *begin[100];
    int64_t bytes[100], types[100];
    struct rex_map map = {.count = count, .base = begin, .begin = begin, .sizes = bytes, .types = types};
    for (int32_t i = 0; i < count; i++) {
        begin[i] = host + 2 * (size_t)i * size;
        bytes[i] = (int64_t)size;
        types[i] = to_host ? REX_MAP_FROM : REX_MAP_TO;
    }
    fill(host, 8 * MIB, 1);
    memset(of_region, 0x33, 8 * MIB);
    int before = driver_calls("cuStreamSynchronize");
    CHECK_EQUAL(rex_module_data_update(&module, 0, &map), REX_OK);
    CHECK_EQUAL(driver_calls("cuStreamSynchronize") - before, waits);
    fill(back, 8 * MIB, 1);
    for (size_t i = 0; i < 2 * (size_t)count; i++) {
        bool from_device = to_host == (i % 2 == 0);
        const unsigned char *piece = (to_host ? host : of_region) + i * size;
        CHECK(from_device ? is_all(piece, 0x33, size) : memcmp(piece, back + i * size, size) == 0);
    }
}

/* Small rows of an update go together, at most 64 of them and 1 MiB; what the index does not know goes by libomptarget. */
TEST_OF_EACH(copy_small, const char *, threads, "2", "0")
{
    static int unknown = 5;
    start_region(threads);
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    begin_region(&region, strcmp(threads, "0") != 0);
    for (int to_host = 0; to_host < 2; to_host++) {
        update_pieces(1, 1, to_host, 1);
        update_pieces(64, 1000, to_host, 1);
        update_pieces(65, 1001, to_host, 2);
        update_pieces(4, MIB / 2, to_host, 2);
        update_pieces(3, MIB - 1, to_host, 3);
    }
    CHECK_EQUAL(data_calls(FAKE_UPDATE), 0);

    the_record()->mappings[1] = (struct fake_mapping){(uintptr_t)&unknown, sizeof unknown, (uintptr_t)device + MOST * MIB - 8};
    REX_MAP(mixed, REX_TO(host, 8), REX_FROM(host + 8, 8), REX_TO(&unknown, 1), REX_TO(host + 16, 8));
    memset(of_region, 0x55, 32);
    CHECK_EQUAL(rex_module_data_update(&module, 0, &mixed), REX_OK);
    CHECK_EQUAL(data_calls(FAKE_UPDATE), 1);
    CHECK(last_call(FAKE_UPDATE)->packet.rows == 1 && last_call(FAKE_UPDATE)->begin[0] == &unknown);
    CHECK(memcmp(of_region, host, 8) == 0 && is_all(host + 8, 0x55, 8) && memcmp(of_region + 16, host + 16, 8) == 0);
    end_region(&region, strcmp(threads, "0") != 0);
}

/*
 * Whose row is mapped when the call comes or by another thread meanwhile, lies in another row or in a struct, has a pointer beside it, is
 * pinned, or where no thread copies: libomptarget gets the rows as they are.
 */
enum reason { MAPPED, MEANWHILE, INSIDE, MEMBER, POINTER, PINNED, NO_THREADS, REASONS };

static void leave_region(const void *why)
{
    enum reason reason = *(const enum reason *)why;
    is_mapped_before = reason == MAPPED;
    maps_at_load = reason == MEANWHILE;
    start_region(reason == NO_THREADS ? "0" : "2");
    char *pointer = (char *)host;
    CHECK(reason != PINNED || rex_host_register(host, 8 * MIB) == REX_OK);
    REX_MAP(plain, REX_TO(host, 8 * MIB));
    REX_MAP(inside, REX_ALLOC(host, 8 * MIB), REX_TO(host, 6 * MIB));
    REX_MAP(with_member, REX_ALLOC(host, 8 * MIB), rex_row_member(REX_TO(host, 8 * MIB), 0));
    REX_MAP(with_pointer, REX_TO(host, 8 * MIB), REX_ATTACH(REX_MAP_TO, pointer, 0, 8));
    const struct rex_map *map = reason == INSIDE ? &inside : reason == MEMBER ? &with_member : reason == POINTER ? &with_pointer : &plain;
    begin_region(map, false);
    const struct rex_map *updated = reason == MEMBER ? &with_member : &plain;
    CHECK_EQUAL(rex_module_data_update(&module, 0, updated), REX_OK);
    CHECK_EQUAL(data_calls(FAKE_UPDATE), reason >= MEMBER);
    CHECK(reason < MEMBER || last_call(FAKE_UPDATE)->packet.rows == (uint32_t)updated->count);
    CHECK(reason != PINNED || rex_host_unregister(host) == REX_OK);
    end_region(map, false);
}

/* Where nobody has chosen threads, small rows go together from the update on with which 200 waits would have been saved. */
TEST_IN_CHILD(pay_first)
{
    void *begin[67];
    int64_t bytes[COUNT(begin)], types[COUNT(begin)];
    struct rex_map map = {.count = COUNT(begin), .base = begin, .begin = begin, .sizes = bytes, .types = types};
    const int32_t last = map.count - 1;
    start_region("auto");
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    begin_region(&region, false);
    for (int32_t i = 0; i < map.count; i++) {
        begin[i] = host + 16 * i;
        bytes[i] = 8;
        types[i] = REX_MAP_TO;
    }
    for (uint32_t i = 1; i <= 6; i++) {
        CHECK_EQUAL(rex_module_data_update(&module, 0, &map), REX_OK);
        CHECK_EQUAL(data_calls(FAKE_UPDATE), i < 3 ? i : 3);
        CHECK((memcmp(of_region + 16, host + 16, 8) == 0) == (i > 3));
        CHECK((memcmp(of_region + 16 * last, host + 16 * last, 8) == 0) == (i > 3));
    }
    end_region(&region, false);
}

/*
 * Where nobody has chosen threads, they copy from the copy on with which 128 MiB would have been left to others: that of a queue, of
 * rex_device_copy_to(), or of a region, each counted once. What is small, pinned or not copied counts nothing.
 */
TEST_IN_CHILD(pay_for_threads)
{
    enum { TIMES = 11 }; /* regions, among five other copies of 8 MiB */
    processors = 4;
    start_region("auto");
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    REX_MAP(present, REX_ALLOC(host, 8 * MIB));
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, 8 * MIB), REX_OK);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, 4 * MIB - 1), REX_OK);
    CHECK_EQUAL(rex_device_copy_to(device, host, 8 * MIB, 0), REX_OK);
    CHECK_EQUAL(rex_host_register(host, 8 * MIB), REX_OK);
    CHECK_EQUAL(rex_queue_copy_to(queue, device, host, 8 * MIB), REX_OK);
    CHECK_EQUAL(rex_host_unregister(host), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    memset(of_region, 0x33, 8 * MIB);
    REX_MAP(from, REX_FROM(host, 8 * MIB));
    for (int i = 0; i < 3; i++) {
        begin_region(&from, false);
        end_rows(&from, false);
        memset(of_region, 0x33, 8 * MIB);
    }
    for (int i = 1; i <= TIMES; i++) {
        begin_region(&region, i == TIMES);
        CHECK_EQUAL(rex_module_data_enter(&module, 0, &present), REX_OK);
        CHECK_EQUAL(rex_module_region_end(&module, 0, &region), REX_OK);
    }
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync"), 3 + 8);
    /* and all that comes later */
    memset(of_region, 0x33, 8 * MIB);
    begin_region(&region, true);
    end_region(&region, true);
}

/* What the threads cannot copy libomptarget is asked to, and is told no more than that. */
TEST_IN_CHILD(fail_region)
{
    start_region("2");
    setenv("FAKE_CUDA_BREAKS", "cuMemcpyHtoDAsync:2:0", 1);
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    CHECK_EQUAL(rex_module_data_enter(&module, -1, &region), REX_OK);
    CHECK_EQUAL(last_call(FAKE_UPDATE)->types[0], REX_MAP_TO);
    CHECK_EQUAL(last_call(FAKE_UPDATE)->device, -1);
    REX_MAP(to, REX_TO(host, 8 * MIB), REX_TO(host, 8));
    CHECK_EQUAL(rex_module_data_update(&module, 0, &to), REX_OK);
    CHECK(data_calls(FAKE_UPDATE) == 2 && last_call(FAKE_UPDATE)->packet.rows == 2);
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:2:0", 1);
    REX_MAP(from, REX_FROM(host, 8));
    CHECK_EQUAL(rex_module_data_update(&module, 0, &from), REX_OK);
    CHECK_EQUAL(data_calls(FAKE_UPDATE), 3);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_module_data_update(&module, 0, &from), REX_OK);
    CHECK_EQUAL(data_calls(FAKE_UPDATE), 3);
    end_region(&region, true);
    CHECK_EQUAL(driver_objects(), 0);
}

/* An update of MAP goes by libomptarget, all of it and at once, or does not. */
static void expect_update(const struct rex_map *map, bool by_runtime)
{
    uint32_t updates = data_calls(FAKE_UPDATE);
    CHECK_EQUAL(rex_module_data_update(&module, 0, map), REX_OK);
    CHECK_EQUAL(data_calls(FAKE_UPDATE), updates + by_runtime);
    CHECK(!by_runtime || last_call(FAKE_UPDATE)->packet.rows == (uint32_t)map->count);
}

/* What cannot be found after it was mapped is libomptarget's to copy. */
TEST_IN_CHILD(lose_row)
{
    start_region("2");
    the_record()->on_data = NULL; /* nothing is mapped */
    REX_MAP(region, REX_TO(host, 8 * MIB));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    CHECK_EQUAL(data_calls(FAKE_UPDATE), 1);
    CHECK_EQUAL(last_call(FAKE_UPDATE)->types[0], REX_MAP_TO);
    end_region(&region, false);
}

/* Bits of a row that change nothing about its copy. */
TEST_IN_CHILD(copy_whatever_bits)
{
    static const int64_t bits[] = {REX_MAP_ALWAYS, REX_MAP_IMPLICIT, REX_MAP_CLOSE, REX_MAP_PRESENT, REX_MAP_OMPX_HOLD};
    start_region("2");
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    begin_region(&region, true);
    for (size_t i = 0; i < COUNT(bits); i++)
        for (size_t size = 8; size <= 8 * MIB; size *= MIB) {
            memset(of_region, 0x33, 8 * MIB);
            REX_MAP(update, rex_row_with(REX_TO(host, size), bits[i]));
            expect_update(&update, false);
            CHECK(memcmp(of_region, host, size) == 0);
        }
    end_region(&region, true);
}

/* Small rows of which the driver knows an end, that have no elements or a mapper, or where others are at work. */
TEST_IN_CHILD(leave_small)
{
    void *mappers[] = {NULL, &plain_id};
    start_region("2");
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    begin_region(&region, true);
    REX_MAP(small, REX_TO(host, 8), REX_TO(host + 64, 8));
    /* Of each stretch of 2 MiB the driver is asked once. */
    unsigned char *edge = (unsigned char *)(((uintptr_t)host + 4 * MIB) & ~(uintptr_t)(2 * MIB - 1));
    REX_MAP(into, REX_TO(edge - 100, 200));
    REX_MAP(out_of, REX_TO(edge + 4000, 200));
    REX_MAP(nothing, REX_TO(host, 0));
    CHECK_EQUAL(rex_host_register(edge, 4096), REX_OK);
    expect_update(&into, true);
    expect_update(&out_of, true);
    CHECK_EQUAL(rex_host_unregister(edge), REX_OK);
    expect_update(&into, false);
    expect_update(&out_of, false);
    expect_update(&nothing, true);
    expect_update(&small, false);
    small.mappers = mappers;
    expect_update(&small, true);
    small.mappers = NULL;
    CHECK(rex_copy_threads_take());
    expect_update(&small, true);
    rex_copy_threads_give();
    expect_update(&small, false);
    end_region(&region, true);
}

/*
 * A row is copied back where its mapping ends for certain: it was mapped by one call, of librex's own, in one row, and ends in one of
 * exactly its bytes.
 */
enum ending {
    ONCE, FROM_ALONE, BASE_LAST, AGAIN, AGAIN_BY_OTHERS, WITHIN, BASE_BEFORE, BASE_BEHIND, FRONT, REAR, TWICE_BEGUN, TWICE_ENDED, HOLDS, HELD, NOT_OURS, MAPPER, MAPPER_WITHIN,
    ATTACHED, BROKEN, ENDINGS
};

static const struct rex_map *nested; /* libomptarget calls something that begins this */

static void map_nested(enum fake_function function)
{
    map_host(function);
    const struct rex_map *map = nested;
    nested = NULL;
    CHECK(map == NULL || rex_module_data_enter(&module, 0, map) == REX_OK);
}

static void begin_again(enum ending ending)
{
    void *base[] = {host}, *mappers[] = {&plain_id};
    int64_t size[] = {16}, type[] = {REX_MAP_ALLOC};
    if (ending == AGAIN_BY_OTHERS)
        __rex_real___tgt_target_data_begin(0, 1, base, base, size, type);
    static int other, *pointer = &other;
    REX_MAP(again, REX_ALLOC(host + MIB, 8));
    REX_MAP(mapped, REX_ALLOC(&other, sizeof other));
    REX_MAP(attached, REX_ATTACH(REX_MAP_ALLOC, pointer, 0, 1));
    mapped.mappers = mappers;
    REX_MAP(nesting, REX_TO(&other, sizeof other));
    const struct rex_map *maps[ENDINGS] = {[AGAIN] = &again, [WITHIN] = &nesting, [MAPPER_WITHIN] = &nesting, [MAPPER] = &mapped, [ATTACHED] = &attached};
    const struct rex_map *map = maps[ending];
    nested = ending == WITHIN ? &again : ending == MAPPER_WITHIN ? &mapped : NULL;
    the_record()->on_data = map_nested;
    CHECK(map == NULL || rex_module_data_enter(&module, 0, map) == REX_OK);
}

static void copy_back(const void *which)
{
    enum ending ending = *(const enum ending *)which;
    is_mapped_before = ending == NOT_OURS;
    start_region("2");
    REX_MAP(whole, REX_TOFROM(host, 8 * MIB));
    REX_MAP(from, REX_FROM(host, 8 * MIB));
    REX_MAP(twice, REX_TOFROM(host, 8 * MIB), REX_TO(host, 8));
    REX_MAP(front, REX_FROM(host, 6 * MIB));
    REX_MAP(rear, REX_FROM(host + 2 * MIB, 6 * MIB));
    REX_MAP(holds, rex_row_with(REX_TOFROM(host, 8 * MIB), REX_MAP_OMPX_HOLD));
    REX_MAP(before, rex_row_of(host - 1, host, 8 * MIB, REX_MAP_TOFROM));
    REX_MAP(last, rex_row_of(host + 8 * MIB, host, 8 * MIB, REX_MAP_TOFROM));
    REX_MAP(behind, rex_row_of(host + 8 * MIB + 1, host, 8 * MIB, REX_MAP_TOFROM));
    const struct rex_map *begins[ENDINGS] = {[FROM_ALONE] = &from,    [BASE_LAST] = &last,    [BASE_BEFORE] = &before,
                                             [BASE_BEHIND] = &behind, [TWICE_BEGUN] = &twice, [HOLDS] = &holds};
    const struct rex_map *ends[ENDINGS] = {[FRONT] = &front, [REAR] = &rear, [TWICE_ENDED] = &twice, [HELD] = &holds};
    const struct rex_map *begun = begins[ending] != NULL ? begins[ending] : &whole;
    const struct rex_map *ended = ends[ending] != NULL ? ends[ending] : &whole;
    CHECK_EQUAL(rex_module_data_enter(&module, 0, begun), REX_OK);
    begin_again(ending);
    if (ending == BROKEN)
        setenv("FAKE_CUDA_BREAKS", "cuMemcpyDtoHAsync:2:0", 1);
    if (ending != BROKEN) {
        end_region(ended, ending <= BASE_LAST);
        return;
    }
    CHECK_EQUAL(rex_module_region_end(&module, 0, ended), REX_OK);
    CHECK_EQUAL(last_call(FAKE_END)->types[0], ended->types[0]);
}

/* A row of no length has ended it. */
TEST_IN_CHILD(end_before)
{
    start_region("2");
    REX_MAP(whole, rex_row_of(host - 64, host, 8 * MIB, REX_MAP_TOFROM));
    REX_MAP(empty, rex_row_of(host - 64, host - 64, 0, REX_MAP_ALLOC));
    begin_region(&whole, true);
    end_rows(&empty, false);
    CHECK(!rex_target_is_present(host, 8, 0));
    end_region(&whole, false);
}

/* One end after another: a mapping of the same bytes is one of its own. */
TEST_IN_CHILD(copy_back_again)
{
    start_region("2");
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    REX_MAP(none, REX_ALLOC(host, 8 * MIB));
    for (int i = 0; i < 3; i++) {
        fill(host, 8 * MIB, 1);
        begin_region(&region, true);
        end_rows(&region, true);
    }
    fill(host, 8 * MIB, 1);
    begin_region(&region, true);
    end_region(&none, false);
}

/* The program wants libomptarget to launch, and so to copy. */
TEST_IN_CHILD(leave_all)
{
    setenv("REX_LAUNCH_BY", "runtime", 1);
    start_region("2");
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    begin_region(&region, false);
    REX_MAP(small, REX_TO(host, 8), REX_TO(host + 64, 8));
    expect_update(&small, true);
    expect_update(&region, true);
    end_region(&region, false);
}

/* One row of some cannot be copied, or nobody can say that they were: libomptarget gets all, and no chunk stays that may be at work. */
TEST_IN_CHILD(fail_small)
{
    int (*pinned)(void);
    start_region("2");
    void *found = in_driver("fake_cuda_pinned"), *current = in_driver("cuCtxGetCurrent");
    memcpy(&pinned, &found, sizeof pinned);
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    begin_region(&region, true);
    REX_MAP(small, REX_TO(host, 8), REX_TO(host + 64, 8), REX_TO(host + 128, 8));
    REX_MAP(back_again, REX_FROM(host, 8), REX_FROM(host + 64, 8));
    CHECK_EQUAL(pinned(), 4);
    setenv("FAKE_CUDA_BREAKS", "cuMemcpyHtoDAsync:2:1", 1);
    expect_update(&small, true);
    expect_update(&small, false);
    CHECK_EQUAL(pinned(), 4);
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:2:0", 1);
    expect_update(&back_again, true);
    CHECK_EQUAL(pinned(), 2);
    unsetenv("FAKE_CUDA_BREAKS");
    expect_update(&back_again, false);
    CHECK_EQUAL(pinned(), 4);
    void *context = NULL;
    int (*get)(void **);
    memcpy(&get, &current, sizeof get);
    CHECK(get(&context) == 0 && context == NULL);
    end_region(&region, true);
}

TEST(test_regions)
{
    for (enum reason reason = MAPPED; reason < REASONS; reason++)
        in_child(leave_region, &reason);
    for (enum ending ending = ONCE; ending < ENDINGS; ending++)
        in_child(copy_back, &ending);
}

/* ---- the trace -------------------------------------------------------------------------------------------------------------------- */

static char trace[PATH_MAX + 16];

/* A region that threads copy to the device, and updates of which each row goes its own way: one slice each, whoever copies. */
static void trace_region(const void *context)
{
    (void)context;
    setenv("REX_TRACE", trace, 1);
    start_region("2");
    REX_MAP(region, REX_TOFROM(host, 8 * MIB));
    begin_region(&region, true);
    REX_MAP(update, REX_FROM(host, 8 * MIB), REX_FROM(host, 16), REX_FROM(host + 16, 16));
    CHECK_EQUAL(rex_module_data_update(&module, 0, &update), REX_OK);
    REX_MAP(mixed, REX_FROM(host, 16), REX_TOFROM(host + 16, 16)); /* which is libomptarget's */
    CHECK_EQUAL(rex_module_data_update(&module, 0, &mixed), REX_OK);
    end_region(&region, true);
    exit(0);
}

TEST(test_traced_regions)
{
    static const struct {
        const char *part;
        int count; /* on the thread's track and the device's */
    } lines[] = {{"\"copy to device\"", 2},
                 {"\"copy from device\"", 2},
                 {"\"bytes_to\":0,\"bytes_from\":8388608", 2},
                 {"\"bytes_to\":8388608,\"bytes_from\":0", 2},
                 {"\"bytes_to\":0,\"bytes_from\":8388640", 2},
                 {"\"data update\"", 4},
                 {"\"data begin\"", 2},
                 {"\"data end\"", 2}};
    char folder[PATH_MAX];
    make_folder(folder);
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    in_child(trace_region, NULL);
    for (size_t i = 0; i < COUNT(lines); i++)
        if (in_file(trace, lines[i].part) != lines[i].count)
            fail_msg("%s is not there %d times", lines[i].part, lines[i].count);
    remove_folder(folder);
}
