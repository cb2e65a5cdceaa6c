/*
 * Large copies of pageable memory, and small ones that go together, whoever makes them: every byte
 * and none beside it, in the order of the queue, and at the ends of mappings that are the last.
 * unit/copies has what goes wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/checks.h"

REX_KERNEL(nothing);

#define MIB ((size_t)1 << 20)
enum { MOST = 8 << 20, BESIDE = 0x5a };

static const char *const threads[] = {"0", "1", "3", "auto"};

static size_t choices(void)
{
    return gpu_present() ? sizeof threads / sizeof *threads : 1; /* without a GPU nobody chooses */
}

static unsigned char host[MOST], back[MOST], expected[MOST], *device;
static struct rex_queue *queue;

static void fill(unsigned char *bytes, size_t size, size_t seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)((i + seed) * 2654435761u >> 13);
}

static void start(void)
{
    OK(rex_offload_init());
    OK(rex_configure(REX_OPTION_COPY_THREADS, "2"));
    OK(rex_queue_create(&queue, -1, "copies", 0));
    assert_non_null(device = rex_device_alloc(MOST, -1));
}

static void finish(void)
{
    rex_device_free(device, -1);
    OK(rex_queue_destroy(queue));
    OK(rex_offload_fini());
}

static void fill_device(struct rex_queue *in, unsigned char value, size_t size)
{
    OK(rex_queue_fill(in, device, &value, 1, size));
}

/* SIZE bytes AT some place are on the device, and fills are before and after them. */
static void check_part(size_t at, size_t size, size_t seed)
{
    fill(host, MOST, seed);
    fill_device(queue, BESIDE, MOST);
    OK(rex_queue_copy_to(queue, device + at, host + at, size));
    fill_device(queue, 0x11, at + 100);
    OK(rex_queue_copy_from(queue, back, device, MOST));
    OK(rex_queue_sync(queue));
    memset(expected, BESIDE, MOST);
    memcpy(expected + at, host + at, size);
    memset(expected, 0x11, at + 100);
    assert_memory_equal(back, expected, MOST);
    /* The calls that wait. */
    OK(rex_device_copy_to(device + at, host, size, -1));
    OK(rex_device_copy_from(back, device, MOST, -1));
    memcpy(expected + at, host, size);
    assert_memory_equal(back, expected, MOST);
    memset(back, BESIDE, MOST);
    memset(expected, BESIDE, MOST);
    OK(rex_queue_copy_from(queue, back + at, device + at, size));
    OK(rex_queue_sync(queue));
    memcpy(expected + at, host, size);
    assert_memory_equal(back, expected, MOST);
}

TEST(sizes)
{
    static const struct {
        size_t at, size;
    } parts[] = {{0, 4 * MIB - 1}, {1, 4 * MIB}, {4095, 4 * MIB + 1}, {3, 7 * MIB + 13}, {0, MOST}};
    start();
    for (size_t i = 0; i < choices(); i++) {
        OK(rex_configure(REX_OPTION_COPY_THREADS, threads[i]));
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            check_part(parts[k].at, parts[k].size, 10 * i + k);
    }
    finish();
}

static void change_host(void *seed)
{
    fill(host, MOST, *(size_t *)seed);
}

/* What a copy waits for by an event, or comes after, is done before it; a graph copies what is
 * there when it is launched. */
TEST(order)
{
    struct rex_queue *other;
    struct rex_event *event;
    struct rex_graph *graph;
    size_t seed = 7;
    start();
    OK(rex_queue_create(&other, -1, "other", 0));
    OK(rex_event_create(&event));
    OK(rex_queue_host_func(other, change_host, &seed));
    OK(rex_event_record(event, other));
    OK(rex_queue_wait_event(queue, event));
    OK(rex_queue_copy_to(queue, device, host, MOST));
    fill_device(queue, 0x66, 100);
    OK(rex_event_record(event, queue));
    OK(rex_queue_wait_event(other, event));
    OK(rex_queue_copy_from(other, back, device, MOST));
    OK(rex_queue_sync(other));
    fill(expected, MOST, seed);
    memset(expected, 0x66, 100);
    assert_memory_equal(back, expected, MOST);
    OK(rex_graph_begin(queue));
    OK(rex_queue_copy_to(queue, device, host, MOST));
    OK(rex_graph_end(&graph, queue));
    fill(host, MOST, 8);
    OK(rex_graph_launch(graph, queue));
    OK(rex_queue_copy_from(queue, back, device, MOST));
    OK(rex_queue_sync(queue));
    assert_memory_equal(back, host, MOST);
    rex_graph_destroy(graph);
    rex_event_destroy(event);
    OK(rex_queue_destroy(other));
    finish();
}

/* ---- data calls ------------------------------------------------------------------------------ */

enum { PIECES = 70 };

/* An update of COUNT pieces of SIZE bytes, with as many bytes between: what lies between stays as
 * it was. */
static void update_pieces(int32_t count, size_t size, bool to_host, const char *breaks)
{
    static size_t seed; /* no bytes are those of an earlier call */
    void *begin[PIECES], *on_device = rex_mapped_ptr(host, -1);
    unsigned char *changed = to_host ? host : back, *other = to_host ? back : host;
    int64_t sizes[PIECES], types[PIECES];
    struct rex_map map = {
        .count = count, .base = begin, .begin = begin, .sizes = sizes, .types = types};
    for (int32_t i = 0; i < count; i++) {
        begin[i] = host + 2 * (size_t)i * size;
        sizes[i] = (int64_t)size;
        types[i] = to_host ? FROM : TO;
    }
    fill(other, MOST, ++seed);
    memset(changed, BESIDE, MOST);
    memset(expected, BESIDE, MOST);
    for (size_t i = 0; i < (size_t)count; i++)
        memcpy(expected + 2 * i * size, other + 2 * i * size, size);
    OK(rex_device_copy_to(on_device, back, MOST, -1));
    if (breaks != NULL)
        setenv("FAKE_CUDA_BREAKS", breaks, 1);
    OK(rex_data_update(-1, &map));
    unsetenv("FAKE_CUDA_BREAKS");
    if (!to_host)
        OK(rex_device_copy_from(back, on_device, MOST, -1));
    assert_memory_equal(changed, expected, MOST);
}

TEST(pieces)
{
    static const struct {
        int32_t count;
        size_t size;
    } updates[] = {{1, 1}, {64, 1000}, {PIECES, 1001}, {4, MIB / 2}, {3, MIB - 1}};
    start();
    REX_MAP(region, REX_ALLOC(host, MOST));
    OK(rex_data_enter(-1, &region));
    for (size_t i = 0; i <= choices(); i++) {
        if (i == choices())
            OK(rex_host_register(host, MOST));
        else
            OK(rex_configure(REX_OPTION_COPY_THREADS, threads[i]));
        for (size_t k = 0; k < sizeof updates / sizeof *updates; k++) {
            update_pieces(updates[k].count, updates[k].size, false, NULL);
            update_pieces(updates[k].count, updates[k].size, true, NULL);
        }
    }
    OK(rex_data_exit(-1, &region));
    OK(rex_host_unregister(host));
    finish();
}

/* Maps HOST by MAP, and gives the device the bytes of BACK. Returns the device address of HOST. */
static void *enter_with_other_bytes(const struct rex_map *map)
{
    OK(rex_data_enter(-1, map));
    void *on_device = rex_mapped_ptr(host, -1);
    fill(host, MOST, 1);
    fill(back, MOST, 2);
    OK(rex_device_copy_to(on_device, back, MOST, -1));
    return on_device;
}

/*
 * Both ways in one call, small and large. The driver copies pinned rows from their place, without a
 * question, and is waited for once.
 */
static void update_mixed(bool is_pinned)
{
    start();
    if (is_pinned)
        OK(rex_host_register(host, MOST));
    REX_MAP(region, REX_ALLOC(host, MOST));
    void *on_device = enter_with_other_bytes(&region);
    memcpy(expected, host, MOST);
    memcpy(expected + 8, back + 8, 8);
    memcpy(expected + MIB, back + MIB, 5 * MIB);
    REX_MAP(rows, REX_TO(host, 8), REX_FROM(host + 8, 8), REX_TO(host + 16, 8),
            REX_FROM(host + MIB, 5 * MIB), REX_TO(host + 7 * MIB, 8));
    bool is_counted = is_pinned && gpu_present() && !gpu_is_real();
    int before = is_counted ? fake_calls(NULL) : 0;
    int waits = is_counted ? fake_calls("cuStreamSynchronize") : 0;
    OK(rex_data_update(-1, &rows));
    if (is_counted) {
        assert_int_equal(fake_calls("cuStreamSynchronize") - waits, 1);
        assert_int_equal(fake_calls(NULL) - before, rows.count + 1);
    }
    assert_memory_equal(host, expected, MOST);
    memcpy(back, host, 8);
    memcpy(back + 16, host + 16, 8);
    memcpy(back + 7 * MIB, host + 7 * MIB, 8);
    OK(rex_device_copy_from(expected, on_device, MOST, -1));
    assert_memory_equal(back, expected, MOST);
    OK(rex_data_exit(-1, &region));
    if (is_pinned)
        OK(rex_host_unregister(host));
    finish();
}

TEST(mixed)
{
    update_mixed(false);
    update_mixed(true);
}

/* A pinned row comes back, and the next row is pageable at its ends and includes the first. */
TEST(order_of_overlapping_rows)
{
    start();
    unsigned char *pinned = host + MIB / 4;
    OK(rex_host_register(pinned, MIB / 4));
    REX_MAP(region, REX_ALLOC(host, MOST));
    void *on_device = enter_with_other_bytes(&region);
    memcpy(expected, host, MIB);
    memcpy(expected + MIB / 4 + 8, back + MIB / 4 + 8, MIB / 4 - 8);
    REX_MAP(rows, REX_TO(pinned, 8), REX_FROM(pinned + 8, MIB / 4 - 8), REX_TO(host, MIB));
    OK(rex_data_update(-1, &rows));
    assert_memory_equal(host, expected, MIB);
    OK(rex_device_copy_from(back, on_device, MIB, -1));
    assert_memory_equal(back, expected, MIB);
    OK(rex_data_exit(-1, &region));
    OK(rex_host_unregister(pinned));
    finish();
}

/* A region begins, once or again, and ends with a row of all its memory or of a part: what comes
 * back is what the last end names. */
static const struct {
    int64_t begins, ends;
    size_t at, size;
    bool again;
} regions[] = {{TOFROM, TOFROM, 0, MOST, false},  {TOFROM, TOFROM, 0, MOST, true},
               {FROM, FROM, 0, MOST, false},      {TOFROM, 0, 0, MOST, false},
               {TOFROM, FROM, 0, 6 * MIB, false}, {TOFROM, FROM, 2 * MIB, 6 * MIB, false},
               {TO, TOFROM, 0, MOST, false},      {TOFROM, FROM, 2 * MIB, 6 * MIB, true}};

static void use_region(size_t i, const char *breaks)
{
    void *begin = host, *end = host + regions[i].at;
    int64_t size = MOST, size_of_end = (int64_t)regions[i].size, begins = regions[i].begins,
            ends = regions[i].ends;
    struct rex_map whole = {
        .count = 1, .base = &begin, .begin = &begin, .sizes = &size, .types = &begins};
    struct rex_map part = {
        .count = 1, .base = &begin, .begin = &end, .sizes = &size_of_end, .types = &ends};
    fill(host, MOST, i);
    if (breaks != NULL)
        setenv("FAKE_CUDA_BREAKS", breaks, 1);
    OK(rex_data_enter(-1, &whole));
    void *on_device = rex_mapped_ptr(host, -1);
    OK(rex_device_copy_from(back, on_device, MOST, -1));
    if (begins & TO)
        assert_memory_equal(back, host, MOST);
    fill(back, MOST, i + 10);
    OK(rex_device_copy_to(on_device, back, MOST, -1));
    memcpy(expected, host, MOST);
    if (regions[i].again) {
        OK(rex_data_enter(-1, &whole));
        OK(rex_data_exit(-1, &part));
        assert_memory_equal(host, expected, MOST);
        OK(rex_device_copy_from(expected, on_device, MOST, -1));
        assert_memory_equal(back, expected, MOST);
        memcpy(expected, host, MOST);
    }
    if (ends & FROM)
        memcpy(expected + regions[i].at, back + regions[i].at, regions[i].size);
    OK(rex_data_exit(-1, &part));
    unsetenv("FAKE_CUDA_BREAKS");
    assert_memory_equal(host, expected, MOST);
    assert_false(rex_target_is_present(host, MOST, -1));
}

TEST(large_regions)
{
    start();
    for (size_t i = 0; i < choices(); i++) {
        OK(rex_configure(REX_OPTION_COPY_THREADS, threads[i]));
        for (size_t k = 0; k < sizeof regions / sizeof *regions; k++)
            use_region(k, NULL);
    }
    finish();
}

/* The device's bytes become others, which the host's are to be, or not. */
static void change_device(size_t seed)
{
    fill(host, MOST, seed);
    fill(expected, MOST, seed + 1);
    OK(rex_device_copy_to(rex_mapped_ptr(host, -1), expected, MOST, -1));
    memcpy(back, host, MOST);
}

/* What is held does not end, and is copied back when it is no longer held. */
TEST(held)
{
    start();
    REX_MAP(region, REX_TOFROM(host, MOST));
    REX_MAP(holds, rex_row_with(REX_TOFROM(host, MOST), REX_MAP_OMPX_HOLD));
    for (int held_first = 0; held_first < 2; held_first++) {
        OK(rex_data_enter(-1, held_first ? &holds : &region));
        OK(rex_data_enter(-1, held_first ? &region : &holds));
        change_device(1);
        OK(rex_data_exit(-1, &region));
        assert_true(rex_target_is_present(host, MOST, -1));
        assert_memory_equal(host, back, MOST);
        OK(rex_data_exit(-1, &holds));
        assert_memory_equal(host, expected, MOST);
        assert_false(rex_target_is_present(host, MOST, -1));
    }
    /* Nobody but the row that holds it has mapped it. */
    OK(rex_data_enter(-1, &holds));
    change_device(2);
    OK(rex_data_exit(-1, &region));
    assert_memory_equal(host, back, MOST);
    OK(rex_data_exit(-1, &holds));
    assert_memory_equal(host, expected, MOST);
    finish();
}

/* What the program's own calls have begun of it, too, stays until they end it. */
TEST(begun_by_others)
{
    void *base[] = {host}, *begin[] = {host + 8};
    int64_t size[] = {8}, type[] = {REX_MAP_ALLOC};
    start();
    REX_MAP(region, REX_TOFROM(host, MOST));
    OK(rex_data_enter(-1, &region));
    __tgt_target_data_begin(-1, 1, base, begin, size, type);
    change_device(1);
    OK(rex_data_exit(-1, &region));
    assert_memory_equal(host, back, MOST);
    assert_true(rex_target_is_present(host, MOST, -1));
    __tgt_target_data_end(-1, 1, base, begin, size, type);
    assert_false(rex_target_is_present(host, MOST, -1));
    finish();
}

/* A row of no length at the base may end it, without a copy. */
TEST(ended_by_its_base)
{
    unsigned char *inner = host + 64, *other = expected + 64;
    start();
    REX_MAP(whole, rex_row_of(host, inner, MOST - 64, TOFROM));
    REX_MAP(empty, rex_row_of(host, host, 0, REX_MAP_ALLOC));
    REX_MAP(filler, REX_TOFROM(other, MOST - 64));
    OK(rex_data_enter(-1, &whole));
    OK(rex_data_exit(-1, &empty));
    if (rex_target_is_present(inner, 8, -1)) { /* LLVM 14 does not end it */
        OK(rex_data_exit(-1, &whole));
        finish();
        return;
    }
    fill(host, MOST, 1);
    memcpy(back, host, MOST);
    OK(rex_data_enter(-1, &filler)); /* most likely where it was */
    OK(rex_data_exit(-1, &whole));
    assert_memory_equal(host, back, MOST);
    OK(rex_data_exit(-1, &filler));
    finish();
}

/* Where a copy of librex's fails libomptarget makes it, and nobody sees a difference. */
TEST(failing_once, .gpu = ON_GPU)
{
    const char *breaks = getenv("COPIES_BREAK"), *what = getenv("COPIES_WHAT");
    if (breaks == NULL || what == NULL)
        return; /* it is for the next test */
    bool is_pinned = strncmp(what, "pinned ", 7) == 0;
    start();
    if (is_pinned)
        OK(rex_host_register(host, MOST));
    use_region(0, NULL);
    if (strstr(what, "region") != NULL) {
        use_region(0, breaks);
    } else {
        REX_MAP(region, REX_ALLOC(host, MOST));
        OK(rex_data_enter(-1, &region));
        update_pieces(PIECES, 100, strstr(what, "from") != NULL, breaks);
        update_pieces(PIECES, 100, false, NULL); /* nothing comes late of what failed */
        OK(rex_data_exit(-1, &region));
    }
    if (is_pinned)
        OK(rex_host_unregister(host));
    finish();
}

TEST(failing, .gpu = ON_GPU)
{
    static const struct {
        const char *what, *breaks;
    } failures[] = {{"region", "cuMemHostAlloc:2:0"},     {"region", "cuMemcpyHtoDAsync:2:1"},
                    {"region", "cuMemcpyHtoDAsync:2:3"},  {"region", "cuMemcpyDtoHAsync:2:1"},
                    {"region", "cuMemcpyDtoHAsync:2:4"},  {"region", "cuEventRecord:2:2"},
                    {"region", "cuEventSynchronize:2:1"}, {"region", "cuStreamSynchronize:2:1"},
                    {"to", "cuMemcpyHtoDAsync:2:2"},      {"to", "cuStreamSynchronize:2:1"},
                    {"from", "cuMemcpyDtoHAsync:2:2"},    {"from", "cuStreamSynchronize:2:2"},
                    {"pinned region", "cuMemcpyHtoDAsync:2:1"},
                    {"pinned region", "cuMemcpyDtoHAsync:2:2"},
                    {"pinned region", "cuStreamSynchronize:2:1"},
                    {"pinned to", "cuMemcpyHtoDAsync:2:2"},
                    {"pinned to", "cuStreamSynchronize:2:1"},
                    {"pinned from", "cuMemcpyDtoHAsync:2:2"},
                    {"pinned from", "cuStreamSynchronize:2:1"}};
    if (gpu_is_real())
        leave_out("failures of a real driver");
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        setenv("COPIES_WHAT", failures[i].what, 1);
        setenv("COPIES_BREAK", failures[i].breaks, 1);
        assert_int_equal(run_self("failing_once"), 0);
    }
}
