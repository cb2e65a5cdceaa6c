/*
 * queuework.c - what queues and graphs ask of the driver: arguments as the CUBIN has them, on every release; no call more than needed; what
 * happens to unfinished work; kernels that are loaded in time.
 *
 * The driver and libomptarget are fakes: the driver counts, and shows the test what each launch was given. What the device makes of that is
 * tested on real ones, in tests/runtime. The program exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include <malloc.h>

#include "inqueue.h"
#include "rex/entry.h"
#include "rex_kmp.h"
#include "rex/queue.h"
#include "queue/capture.h"

/* Of tests/data/kernels.cu. */
struct pair {
    double one, other;
};
static char plain_id, env_id, narrow_id, narrow_first_id, wide_id, bounded_id;
static double table[4];
#define ENTRY(key, name, size) {(key), (char *)(uintptr_t)(name), (size), 0, 0}
static struct __tgt_offload_entry entries[] = {
    ENTRY(&plain_id, "plain__kernel__", 0), ENTRY(&env_id, "env__kernel__", 0),  ENTRY(&narrow_id, "narrow__kernel__", 0),
    ENTRY(&wide_id, "wide__kernel__", 0),   ENTRY(&table, "table", sizeof table),
};
static struct __tgt_offload_entry other_entries[] = {ENTRY(&narrow_first_id, "narrow_first__kernel__", 0)};
static struct __tgt_offload_entry limits_entries[] = {ENTRY(&bounded_id, "bounded", 0)}; /* of tests/data/limits.cu */
#define MODULE(first, count)                                                                                           \
    {                                                                                                                  \
        .struct_size = sizeof(struct rex_module), .entries_begin = (first), .entries_end = (first) + (count),          \
        .image_name = "tests/data/sm_90.cubin"                                                                         \
    }
static struct rex_module module = MODULE(entries, 4), with_globals = MODULE(entries, 5), other_module = MODULE(other_entries, 1);

enum { DEVICE = 0x10000000, CELLS = 100 };
static uint64_t cells[CELLS], more_cells[CELLS];

/* ---- the fakes ---------------------------------------------------------------------------------------------------------------------- */

static int *busy(void)
{
    return in_driver("fake_cuda_busy");
}

/* The last launch, or change of one in a graph. */
static struct {
    int count;
    char kernel[64];
    unsigned grid[3], block[3];
    unsigned char bytes[4][16]; /* the beginning of each parameter */
} seen;
static size_t widths[4]; /* of the parameters of what is launched */

static void watch(const char *kernel, const unsigned *grid, const unsigned *block, void **parameters)
{
    seen.count++;
    snprintf(seen.kernel, sizeof seen.kernel, "%s", kernel);
    memcpy(seen.grid, grid, sizeof seen.grid);
    memcpy(seen.block, block, sizeof seen.block);
    for (size_t i = 0; i < COUNT(widths) && widths[i] > 0; i++)
        memcpy(seen.bytes[i], parameters[i], widths[i]);
}

static void map_cells(const void *host, uintptr_t offset)
{
    the_record()->mappings[host == cells ? 0 : 1] = (struct fake_mapping){(uintptr_t)host, sizeof cells, DEVICE + offset};
}

static void start(int release, struct rex_module *of)
{
    void (**watcher)(const char *, const unsigned *, const unsigned *, void **);
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_module_register(of, NULL), REX_OK);
    watcher = in_driver("fake_cuda_watch");
    *watcher = watch;
    map_cells(cells, 0);
    map_cells(more_cells, 0x8000);
}

static struct rex_queue *new_queue(struct rex_module *of, const char *name, unsigned flags)
{
    struct rex_queue *queue = NULL;
    CHECK_EQUAL(rex_module_queue_create(&queue, of, 0, name, flags, NULL), REX_OK);
    return queue;
}

static int put_plain(struct rex_queue *queue, uint64_t value, uint64_t *out)
{
    struct rex_launch_config launch = rex_launch_config_of(&plain_id, 3, 64);
    REX_MAP(args, REX_VALUE(value), REX_ALLOC(out, CELLS));
    return launch_module_in(queue, &module, &launch, &args);
}

#define SEES(parameter, type, expected)                                                                                \
    do {                                                                                                               \
        type value_;                                                                                                   \
        memcpy(&value_, seen.bytes[parameter], sizeof value_);                                                         \
        CHECK(value_ == (expected));                                                                                   \
    } while (0)

/* ---- arguments ----------------------------------------------------------------------------------------------------------------------- */

static void expect(size_t first, size_t second, size_t third, size_t fourth)
{
    const size_t now[] = {first, second, third, fourth};
    memcpy(widths, now, sizeof widths);
    memset(&seen, 0xee, sizeof seen);
    seen.count = 0;
}

static void launch_narrow(struct rex_queue *queue)
{
    int a = -7;
    float b = 2.5f;
    double c = 0.125;
    struct rex_launch_config launch = {.key = &narrow_id, .device = 0, .teams = {5, 4, 3}, .threads = {32, 2, 1}};
    uint64_t *out = cells + 10;
    expect(8, 4, 4, 8);
    REX_MAP(args, REX_ALLOC(out, 20), REX_VALUE(a), REX_VALUE(b), REX_VALUE(c));
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, &args), REX_OK);
    CHECK_EQUAL(strcmp(seen.kernel, "narrow__kernel__"), 0);
    SEES(0, uint64_t, DEVICE + 80u);
    SEES(1, int, -7);
    SEES(2, float, 2.5f);
    SEES(3, double, 0.125);
    static const unsigned grid[] = {5, 4, 3}, block[] = {32, 2, 1};
    CHECK(memcmp(seen.grid, grid, sizeof grid) == 0 && memcmp(seen.block, block, sizeof block) == 0);
}

static void launch_others(struct rex_queue *queue)
{
    struct pair pair = {0.1, 1e300};
    uint64_t value = 77, *out = more_cells;
    struct rex_launch_config wide = rex_launch_config_of(&wide_id, 1, 1), env = rex_launch_config_of(&env_id, 1, 1);
    REX_MAP(wide_args, REX_BY_VALUE(pair), REX_ALLOC(out, CELLS));
    expect(16, 8, 0, 0);
    CHECK_EQUAL(launch_module_in(queue, &module, &wide, &wide_args), REX_OK);
    CHECK(memcmp(seen.bytes[0], &pair, sizeof pair) == 0);
    SEES(1, uint64_t, DEVICE + 0x8000u);
    /* The runtime's parameter is in front, whatever the release. */
    REX_MAP(env_args, REX_VALUE(value), REX_ALLOC(out, CELLS));
    expect(8, 8, 8, 0);
    CHECK_EQUAL(launch_module_in(queue, &module, &env, &env_args), REX_OK);
    SEES(1, uint64_t, 77u);
    SEES(2, uint64_t, DEVICE + 0x8000u);
}

/* A 4-byte value for an 8-byte parameter is filled up; what is too wide or too narrow is refused, and nothing is launched. */
static void launch_misfits(struct rex_queue *queue)
{
    int small = -1;
    int64_t large = 1;
    uint64_t *out = cells;
    struct rex_launch_config plain = rex_launch_config_of(&plain_id, 1, 1), narrow = rex_launch_config_of(&narrow_id, 1, 1);
    REX_MAP(filled, REX_VALUE(small), REX_ALLOC(out, CELLS));
    REX_MAP(too_wide, REX_ALLOC(out, CELLS), REX_VALUE(large), REX_VALUE(large), REX_VALUE(large));
    expect(8, 8, 0, 0);
    CHECK_EQUAL(launch_module_in(queue, &module, &plain, &filled), REX_OK);
    SEES(0, int64_t, -1); /* widened as in C */
    int before = driver_calls("cuLaunchKernel");
    CHECK_EQUAL(launch_module_in(queue, &module, &narrow, &too_wide), REX_EPARAMS);
    CHECK_MENTIONS(rex_last_error(), "\"narrow__kernel__\": parameter 1 is 4 bytes wide, and the launch has a value of 8 bytes");
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), before);
}

/* Of a signed kernel each argument has to be of its parameter's kind; else nothing is launched. */
TEST_ON_FAKES(launch_other_kinds, 16, 17, 18, 19, 20, 21, 22, 23)
{
    static struct rex_module signed_module = MODULE(entries, 4);
    int number = 1;
    float half = 0.5f;
    double whole = 3;
    uint64_t *out = cells;
    struct rex_launch_config launch = rex_launch_config_of(&narrow_id, 1, 1);
    signed_module.image_name = "tests/data/signed_sm_90.cubin";
    start(release, &signed_module);
    struct rex_queue *queue = new_queue(&signed_module, "kinds", 0);
    REX_MAP(right, REX_ALLOC(out, CELLS), REX_VALUE(number), REX_VALUE(half), REX_VALUE(whole));
    REX_MAP(one, REX_VALUE(whole), REX_VALUE(number), REX_VALUE(half), REX_VALUE(whole));
    REX_MAP(two, REX_ALLOC(out, CELLS), REX_VALUE(whole), REX_VALUE(half), REX_VALUE(whole));
    const struct rex_map *const wrong[] = {&one, &two};
    static const char *const says[] = {"argument 1 of narrow is double, its parameter is a pointer; row 0 is REX_VALUE(whole); it takes ",
                                       "argument 2 of narrow is double, its parameter is a value of 4 bytes; row 1 is REX_VALUE(whole); it takes "};
    expect(8, 4, 4, 8);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        CHECK_EQUAL(launch_module_in(queue, &signed_module, &launch, wrong[i]), REX_EPARAMS);
        CHECK_MENTIONS(rex_last_error(), "; it takes (pointer, value of 4 bytes, value of 4 bytes, value of 8 bytes)");
        CHECK_MENTIONS(rex_last_error(), says[i]);
    }
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), 0);
    CHECK_EQUAL(launch_module_in(queue, &signed_module, &launch, &right), REX_OK);
    SEES(1, int, 1);
    SEES(2, float, 0.5f);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

TEST_ON_FAKES(arguments, 16, 17, 18, 19, 20, 21, 22, 23)
{
    start(release, &module);
    struct rex_queue *queue = new_queue(&module, "arguments", 0);
    launch_narrow(queue);
    launch_others(queue);
    launch_misfits(queue);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* ---- calls --------------------------------------------------------------------------------------------------------------------------- */

/* A launch is one call of the driver, and asks libomptarget nothing, until a mapping ends; then it asks once. */
TEST_IN_CHILD(count_calls)
{
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "calls", 0);
    expect(8, 8, 0, 0);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    uint32_t lookups = the_record()->lookups;
    int all = driver_calls(NULL);
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK_EQUAL(put_plain(queue, i, cells), REX_OK);
        SEES(0, uint64_t, i);
    }
    CHECK_EQUAL(driver_calls(NULL) - all, 1000);
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), 1001);
    CHECK_EQUAL(the_record()->lookups, lookups);
    REX_MAP(elsewhere, REX_TO(more_cells, CELLS));
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_module_region_end(&module, 0, &elsewhere), REX_OK);
    map_cells(cells, 0x4000);
    lookups = the_record()->lookups;
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    SEES(1, uint64_t, DEVICE + 0x4000u);
    uint32_t asked = the_record()->lookups;
    CHECK(asked > lookups);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    CHECK_EQUAL(the_record()->lookups, asked);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

enum { WINDOWS = 4277, WINDOW = 10 };
static uint64_t windows[WINDOWS * WINDOW];

/* Thousands of windows of one mapping, each copied there, launched on and copied back: three calls of the driver each, and no look-ups. */
TEST_IN_CHILD(count_calls_of_windows)
{
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "windows", 0);
    struct rex_launch_config launch = rex_launch_config_of(&plain_id, 1, 32);
    REX_MAP(region, REX_ALLOC(windows, WINDOWS * WINDOW));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    the_record()->mappings[2] = (struct fake_mapping){(uintptr_t)windows, sizeof windows, DEVICE + 0x100000};
    expect(8, 8, 0, 0);
    int all = driver_calls(NULL);
    uint32_t lookups = the_record()->lookups;
    for (uint64_t i = 0; i < WINDOWS; i++) {
        uint64_t *window = windows + i * WINDOW;
        REX_MAP(there, REX_TO(window, WINDOW));
        REX_MAP(args, REX_VALUE(i), REX_ALLOC(window, WINDOW));
        REX_MAP(back, REX_FROM(window, WINDOW));
        CHECK_EQUAL(rex_queue_update(queue, &there), REX_OK);
        CHECK_EQUAL(launch_module_in(queue, &module, &launch, &args), REX_OK);
        CHECK_EQUAL(rex_queue_update(queue, &back), REX_OK);
        SEES(1, uint64_t, DEVICE + 0x100000 + i * WINDOW * sizeof *window);
    }
    CHECK_EQUAL(driver_calls(NULL) - all, 3 * WINDOWS);
    CHECK(the_record()->lookups - lookups <= 8);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* ---- copies and fills ---------------------------------------------------------------------------------------------------------------- */

static void check_moved(uint64_t to, uint64_t from, uint64_t size, uint64_t width)
{
    const uint64_t *moved = in_driver("fake_cuda_moved");
    CHECK_EQUAL(moved[0], to);
    CHECK_EQUAL(moved[1], from);
    CHECK_EQUAL(moved[2], size);
    CHECK_EQUAL(moved[3], width);
}

/* The driver is asked for as much as the program says, between the places that it says. */
TEST_IN_CHILD(move)
{
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "moves", 0);
    char *device = (char *)(uintptr_t)(DEVICE + 0x100000);
    const uint32_t pattern = 0x89abcdef;
    uint64_t *part = cells + 5;
    REX_MAP(there, REX_TO(part, 7));
    REX_MAP(back, REX_FROM(part, 7));
    CHECK_EQUAL(rex_queue_copy_to(queue, device, more_cells, 72), REX_OK);
    check_moved((uintptr_t)device, (uintptr_t)more_cells, 72, 0);
    CHECK_EQUAL(rex_queue_copy_from(queue, more_cells, device + 8, 64), REX_OK);
    check_moved((uintptr_t)more_cells, (uintptr_t)device + 8, 64, 0);
    CHECK_EQUAL(rex_queue_update(queue, &there), REX_OK);
    check_moved(DEVICE + 40, (uintptr_t)part, 56, 0);
    CHECK_EQUAL(rex_queue_update(queue, &back), REX_OK);
    check_moved((uintptr_t)part, DEVICE + 40, 56, 0);
    CHECK_EQUAL(rex_queue_fill(queue, device + 4, &pattern, 1, 20), REX_OK);
    check_moved((uintptr_t)device + 4, 0xef, 20, 1);
    CHECK_EQUAL(rex_queue_fill(queue, device + 4, &pattern, 2, 20), REX_OK);
    check_moved((uintptr_t)device + 4, 0xcdef, 10, 2);
    CHECK_EQUAL(rex_queue_fill(queue, device + 4, &pattern, 4, 20), REX_OK);
    check_moved((uintptr_t)device + 4, pattern, 5, 4);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* ---- unfinished work ----------------------------------------------------------------------------------------------------------------- */

static uint32_t ends(void)
{
    return the_record()->counts[FAKE_END];
}

TEST_IN_CHILD(refuse_ends)
{
    start(22, &module);
    CHECK_EQUAL(rex_module_register(&other_module, NULL), REX_OK); /* no kernel of which is at work */
    struct rex_queue *queue = new_queue(&module, "long one", 0);
    REX_MAP(used, REX_TOFROM(cells, CELLS));
    REX_MAP(unused, REX_TOFROM(more_cells, CELLS));
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    *busy() = 1;
    CHECK_EQUAL(rex_queue_query(queue), 0);
    uint32_t before = ends();
    CHECK_EQUAL(rex_module_region_end(&module, 0, &used), REX_EBUSY);
    CHECK_MENTIONS(rex_last_error(), "queue \"long one\"");
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &used), REX_EBUSY);
    CHECK_MENTIONS(rex_last_error(), "queue \"long one\"");
    CHECK_EQUAL(rex_module_fini(&module), REX_EBUSY);
    CHECK_MENTIONS(rex_last_error(), "queue \"long one\"");
    CHECK_EQUAL(ends(), before);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 0);
    CHECK_EQUAL(rex_module_fini(&other_module), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 1);
    CHECK_EQUAL(rex_module_fini(&module), REX_EBUSY);
    CHECK_EQUAL(driver_calls("cuStreamSynchronize"), 0);
    CHECK_EQUAL(rex_module_region_end(&module, 0, &unused), REX_OK); /* which the queue does not use */
    CHECK_EQUAL(ends(), before + 1);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_module_region_end(&module, 0, &used), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* What is mapped on another device is no business of the queue's. */
TEST_IN_CHILD(end_on_another_device)
{
    struct rex_queue *queue = NULL;
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    the_record()->devices = 2;
    map_cells(cells, 0);
    setenv("FAKE_CUDA_ORDINAL", "1", 1);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 1, "on the other", 0, NULL), REX_OK);
    REX_MAP(used, REX_TOFROM(cells, CELLS));
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    *busy() = 1;
    CHECK_EQUAL(rex_module_region_end(&module, 1, &used), REX_EBUSY);
    CHECK_MENTIONS(rex_last_error(), "queue \"on the other\"");
    CHECK_EQUAL(rex_module_region_end(&module, 0, &used), REX_OK);
    map_cells(cells, 0); /* which this libomptarget has on both devices or none */
    CHECK_EQUAL(rex_module_region_end(&module, 1, &used), REX_EBUSY);
    CHECK_EQUAL(driver_calls("cuStreamSynchronize"), 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* Copies and fills of memory that the program names by its address on the device use what is mapped there. */
TEST_IN_CHILD(refuse_ends_of_ranges)
{
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "ranges", 0);
    REX_MAP(used, REX_TOFROM(cells, CELLS));
    REX_MAP(unused, REX_TOFROM(more_cells, CELLS));
    char *on_device = rex_mapped_ptr(cells, 0);
    const uint32_t zero = 0;
    struct rex_graph *graph = NULL;
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(rex_queue_fill(queue, on_device + 8, &zero, 1, 8), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    for (int way = 0; way < 5; way++) {
        *busy() = 0;
        switch (way) {
        case 0: CHECK_EQUAL(rex_queue_copy_to(queue, on_device, cells, 8), REX_OK); break;
        case 1: CHECK_EQUAL(rex_queue_copy_from(queue, cells, on_device + sizeof cells - 8, 8), REX_OK); break;
        case 2: CHECK_EQUAL(rex_queue_fill(queue, on_device + 8, &zero, 4, 8), REX_OK); break;
        case 3: CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK); break;
        default: /* more ranges than there is room for */
            for (size_t i = 0; i < sizeof cells; i += 16)
                CHECK_EQUAL(rex_queue_fill(queue, on_device + i, &zero, 1, 8), REX_OK);
        }
        *busy() = 1;
        uint32_t before = ends();
        CHECK_EQUAL(rex_module_region_end(&module, 0, &used), REX_EBUSY);
        CHECK_MENTIONS(rex_last_error(), "queue \"ranges\"");
        CHECK_EQUAL(ends(), before);
        CHECK_EQUAL(rex_module_region_end(&module, 0, &unused), REX_OK);
        map_cells(more_cells, 0x8000);
        *busy() = 0;
        CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
        *busy() = 1;
        CHECK_EQUAL(rex_queue_copy_to(queue, on_device + 0x8000, cells, 8), REX_OK);
        CHECK_EQUAL(rex_module_region_end(&module, 0, &used), REX_OK);
        map_cells(cells, 0);
        *busy() = 0;
        CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    }
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* A raw call and the end of device memory cannot say no, so they wait, and say whose fault that is. */
static void wait_and_warn(const void *context)
{
    void *base[] = {cells};
    int64_t sizes[] = {sizeof cells}, types[] = {REX_MAP_TOFROM};
    (void)context;
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "late one", 0);
    void *memory = rex_device_alloc(100, 0);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    *busy() = 1;
    __rex_real___tgt_target_data_end(0, 1, base, base, sizes, types);
    CHECK_EQUAL(*busy(), 0);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    *busy() = 1;
    rex_device_free(memory, 0);
    CHECK_EQUAL(*busy(), 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* By configuration the end waits: once, and before libomptarget is called. */
TEST_IN_CHILD(wait_at_ends)
{
    void *base[] = {cells};
    int64_t sizes[] = {sizeof cells}, types[] = {REX_MAP_TOFROM};
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "waited for", 0);
    REX_MAP(used, REX_TOFROM(cells, CELLS));
    CHECK_EQUAL(rex_configure(REX_OPTION_UNFINISHED, "wait"), REX_OK);
    for (int way = 0; way < 3; way++) {
        CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
        *busy() = 1;
        if (way == 0)
            CHECK_EQUAL(rex_module_region_end(&module, 0, &used), REX_OK);
        else if (way == 1)
            __rex_real___tgt_target_data_end(0, 1, base, base, sizes, types);
        else
            CHECK_EQUAL(rex_module_fini(&module), REX_OK);
        CHECK_EQUAL(*busy(), 0);
        CHECK_EQUAL(driver_calls("cuStreamSynchronize"), way + 1);
    }
    CHECK_EQUAL(ends(), 2);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 1);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

static int refusals;

static void use_module(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    if (strstr(message, "waits for queue") == NULL)
        return;
    CHECK_EQUAL(rex_module_register(&module, module.image_name), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "while it is being registered or ended");
    CHECK_EQUAL(rex_module_fini(&module), REX_EINVAL);
    refusals++;
}

/* What would wait for the end of the module, which waits for it, is an error. */
TEST_IN_CHILD(log_function_at_the_end)
{
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "at the end", 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_UNFINISHED, "wait"), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    *busy() = 1;
    rex_set_log_callback(use_module, NULL);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    rex_set_log_callback(NULL, NULL);
    CHECK_EQUAL(refusals, 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

TEST(test_unfinished)
{
    struct child child = run_child(wait_and_warn, NULL);
    assert_int_equal(child.status, 0);
    assert_non_null(strstr(child.output, "__tgt_target_data_end waits for queue \"late one\""));
    assert_non_null(strstr(child.output, "rex_device_free waits for queue \"late one\""));
}

/* ---- graphs -------------------------------------------------------------------------------------------------------------------------- */

enum { LAUNCHES = 600, REPLAYS = 50 };

static struct rex_graph *record(struct rex_queue *queue)
{
    struct rex_graph *graph = NULL;
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    for (uint64_t i = 0; i < LAUNCHES; i++)
        CHECK_EQUAL(put_plain(queue, i, i % 2 ? cells : more_cells), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launches(graph), LAUNCHES);
    return graph;
}

/* A replay is one call of the driver; a change of one launch is one as well, before the next replay. */
static void replay(struct rex_queue *queue, struct rex_graph *graph)
{
    uint64_t value = 12345, *out = cells + 50;
    REX_MAP(changed, REX_VALUE(value), REX_ALLOC(out, 50));
    int all = driver_calls(NULL);
    for (int i = 0; i < REPLAYS; i++)
        CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(driver_calls(NULL) - all, REPLAYS);
    CHECK_EQUAL(driver_calls("cuGraphLaunch"), REPLAYS);
    CHECK_EQUAL(rex_graph_set_args(graph, 300, &changed), REX_OK);
    SEES(0, uint64_t, 12345u);
    SEES(1, uint64_t, DEVICE + 400u);
    CHECK_EQUAL(seen.grid[0], 3);
    CHECK_EQUAL(driver_calls(NULL) - all, REPLAYS + 1);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), LAUNCHES); /* when it was made */
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
}

static void end_elsewhere(void)
{
    static uint64_t somewhere[4];
    REX_MAP(elsewhere, REX_TO(somewhere, 4));
    CHECK_EQUAL(rex_module_region_end(&module, 0, &elsewhere), REX_OK);
}

TEST_IN_CHILD(use_graph)
{
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "graph", 0);
    expect(8, 8, 0, 0);
    struct rex_graph *graph = record(queue);
    CHECK_EQUAL(driver_calls("cuGraphLaunch"), 0);
    replay(queue, graph);
    /* Some other mapping ended: the graph stays. Its own memory was mapped elsewhere: it is made anew, with what was changed. */
    end_elsewhere();
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), 1);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    end_elsewhere();
    map_cells(cells, 0x4000);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), 2);
    SEES(0, uint64_t, LAUNCHES - 1u);
    SEES(1, uint64_t, DEVICE + 0x4000u);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* In a graph of REX_QUEUE_NO_CACHE what is mapped elsewhere is found without a word of it. */
TEST_IN_CHILD(use_graph_fresh)
{
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "fresh", REX_QUEUE_NO_CACHE);
    expect(8, 8, 0, 0);
    struct rex_graph *graph = record(queue);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    map_cells(cells, 0x4000);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    SEES(0, uint64_t, LAUNCHES - 1u);
    SEES(1, uint64_t, DEVICE + 0x4000u);
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), 2);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* What a graph works with is in use while a queue has it, and an error in it has the name of its kernel. */
TEST_IN_CHILD(graph_at_work)
{
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "held", 0);
    struct rex_graph *graph = record(queue);
    REX_MAP(used, REX_TOFROM(more_cells, CELLS));
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    *busy() = 1;
    CHECK_EQUAL(rex_module_region_end(&module, 0, &used), REX_EBUSY);
    CHECK_MENTIONS(rex_last_error(), "queue \"held\"");
    CHECK_EQUAL(rex_module_fini(&module), REX_EBUSY);
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:719:0", 1);
    CHECK_EQUAL(rex_queue_sync(queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "queue \"held\": cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED");
    CHECK_MENTIONS(rex_last_error(), "\"plain__kernel__\"");
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "is lost");
    rex_graph_destroy(graph);
}

/* The launch of a graph fails for what a kernel before it did: the message has that kernel, and the device is lost. */
TEST_IN_CHILD(graph_after_fault)
{
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "broken", 0);
    struct rex_graph *graph = record(queue);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    *(int *)in_driver("fake_cuda_lost") = 719;
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "queue \"broken\": cuStreamQuery: CUDA_ERROR_LAUNCH_FAILED");
    CHECK_MENTIONS(rex_last_error(), "\"plain__kernel__\"");
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "is lost");
    rex_graph_destroy(graph);
}

static void launch_narrow_first(struct rex_queue *queue)
{
    int one = 1;
    uint64_t value = 2, *out = cells;
    struct rex_launch_config launch = rex_launch_config_of(&narrow_first_id, 1, 32);
    REX_MAP(args, REX_VALUE(one), REX_VALUE(value), REX_ALLOC(out, CELLS));
    CHECK_EQUAL(launch_module_in(queue, &other_module, &launch, &args), REX_OK);
}

/* What a queue has done of a module it is not at work with any more. */
TEST_IN_CHILD(end_of_what_is_done)
{
    start(22, &module);
    CHECK_EQUAL(rex_module_register(&other_module, NULL), REX_OK);
    struct rex_queue *queue = new_queue(&module, "goes on", 0);
    expect(0, 0, 0, 0);
    launch_narrow_first(queue);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    launch_narrow_first(queue);
    *busy() = 1;
    CHECK_EQUAL(rex_module_fini(&other_module), REX_EBUSY);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    *busy() = 0;
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&other_module), REX_OK);
}

/* A graph keeps the images of all its kernels, also of modules that have ended: the driver would launch what is unloaded. */
TEST_IN_CHILD(graph_of_two_modules)
{
    struct rex_graph *graph = NULL;
    start(22, &module);
    CHECK_EQUAL(rex_module_register(&other_module, NULL), REX_OK);
    struct rex_queue *queue = new_queue(&module, "two modules", 0);
    expect(0, 0, 0, 0);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    launch_narrow_first(queue);
    launch_narrow_first(queue); /* held once */
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 2);
    CHECK_EQUAL(rex_module_fini(&other_module), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleUnload"), 0);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    rex_graph_destroy(graph);
    CHECK_EQUAL(driver_calls("cuModuleUnload"), 1);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleUnload"), 2);
}

/* What a graph keeps of a launch is its own: all rows, and the bytes of values that are wider than an address. */
TEST_IN_CHILD(keep_arguments)
{
    enum { ROWS = 40 };
    static const int64_t lengths[] = {9, 8, 31, INT64_C(1) << 60 /* which is not kept */, 17, 17, 17},
                         literal = REX_MAP_TARGET_PARAM | REX_MAP_LITERAL;
    char values[ROWS][32];
    void *base[ROWS], *begin[ROWS];
    int64_t length_of[ROWS], sizes[ROWS], types[ROWS];
    struct rex_command command = {.kind = REX_COMMAND_LAUNCH,
                                  .launch = {.map = {.count = ROWS, .base = base, .begin = begin, .sizes = sizes, .types = types}}};
    for (int i = 0; i < ROWS; i++) {
        memset(values[i], '0' + i, sizeof values[i]);
        base[i] = begin[i] = values[i];
        sizes[i] = length_of[i] = i < (int)COUNT(lengths) ? lengths[i] : 17 + i % 16;
        types[i] = i == 3 ? REX_MAP_TARGET_PARAM | REX_MAP_TO : literal;
    }
    base[3] = values[0];
    void *memory = rex_capture_own_map(&command);
    CHECK(memory != NULL);
    memset(values, 0, sizeof values);
    memset(sizes, 0, sizeof sizes);
    memset(types, 0, sizeof types);
    const struct rex_map *own = &command.launch.map;
    CHECK_EQUAL(own->count, ROWS);
    for (int i = 0; i < ROWS; i++) {
        CHECK_EQUAL(own->sizes[i], length_of[i]);
        CHECK_EQUAL(own->types[i], i == 3 ? REX_MAP_TARGET_PARAM | REX_MAP_TO : literal);
        bool wide = i != 3 && length_of[i] > 8;
        CHECK_EQUAL((char *)own->begin[i] == values[i], !wide);
        CHECK((char *)own->base[i] == (i == 3 ? values[0] : (char *)own->begin[i]));
        CHECK_EQUAL((uintptr_t)own->begin[i] % 16 == 0 || !wide, true);
        CHECK(!wide || (char *)own->begin[i] + length_of[i] <= (char *)memory + malloc_usable_size(memory));
        for (int64_t at = 0; wide && at < length_of[i]; at++)
            CHECK_EQUAL(((char *)own->begin[i])[at], '0' + i);
    }
    free(memory);
}

/* The rows of a launch are in the log, with its grid. */
static void log_rows(const void *context)
{
    int number = 9;
    float half = 0.5f;
    double whole = 3;
    uint64_t *out = cells;
    (void)context;
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "logged", 0);
    struct rex_launch_config launch = {.key = &narrow_id, .device = 0, .teams = {5, 4, 3}, .threads = {32, 2, 1}, .dynamic_memory = 24};
    REX_MAP(args, REX_ALLOC(out, CELLS), REX_VALUE(number), REX_VALUE(half), REX_VALUE(whole));
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), REX_OK);
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, &args), REX_OK);
    REX_MAP(update, REX_TO(cells, 2), REX_FROM(cells + 2, 2));
    CHECK_EQUAL(rex_queue_update(queue, &update), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, &args), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

TEST(test_log)
{
    const char *output = in_child(log_rows, NULL);
    assert_int_equal(occurrences(output, "narrow__kernel__: device 0, 5 x 4 x 3 teams of 32 x 2 x 1 threads, 24 bytes of dynamic shared "
                                         "memory, 4 rows\n"),
                     1);
    assert_int_equal(occurrences(output, "narrow__kernel__: row "), 4);
    assert_int_equal(occurrences(output, "queue update: device 0, 2 rows\n"), 1);
    assert_int_equal(occurrences(output, "narrow__kernel__: row 1: target_param|literal 0x9, 4 bytes\n"), 1);
}

static unsigned dynamic_memory(void)
{
    return *(unsigned *)in_driver("fake_cuda_dynamic_memory");
}

/* The dynamic shared memory of a launch gets to the driver: in a queue, in a graph, and in one that was given other arguments. */
TEST_IN_CHILD(ask_dynamic_memory)
{
    uint64_t value = 1, *out = cells;
    struct rex_graph *graph = NULL;
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "dynamic memory", 0);
    struct rex_launch_config launch = rex_launch_config_of(&plain_id, 1, 32);
    REX_MAP(args, REX_VALUE(value), REX_ALLOC(out, CELLS));
    expect(0, 0, 0, 0);
    launch.dynamic_memory = 1024;
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, &args), REX_OK);
    CHECK_EQUAL(dynamic_memory(), 1024);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    launch.dynamic_memory = 2048;
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, &args), REX_OK);
    CHECK_EQUAL(dynamic_memory(), 1024);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(dynamic_memory(), 2048);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    CHECK_EQUAL(dynamic_memory(), 0);
    CHECK_EQUAL(rex_graph_set_args(graph, 0, &args), REX_OK);
    CHECK_EQUAL(dynamic_memory(), 2048);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* What is copied in a graph has to be mapped when that is made, and when it is launched; then it is copied to where it is mapped. */
TEST_IN_CHILD(graph_of_what_is_gone)
{
    struct rex_graph *graph = NULL;
    uint64_t *part = cells + 5;
    start(22, &module);
    struct rex_queue *queue = new_queue(&module, "gone", 0);
    REX_MAP(there, REX_TO(part, 7));
    for (int way = 0; way < 2; way++) {
        map_cells(cells, 0);
        CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
        CHECK_EQUAL(rex_queue_update(queue, &there), REX_OK);
        CHECK_EQUAL(put_plain(queue, 1, more_cells), REX_OK);
        if (way == 1)
            CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
        the_record()->mappings[0].size = 0;
        rex_mappings_changed();
        int copies = driver_calls("cuMemcpyHtoDAsync"), objects = driver_objects();
        for (int i = 0; i <= way; i++)
            REFUSED(way == 0 ? rex_graph_end(&graph, queue) : rex_graph_launch(graph, queue), REX_EABSENT,
                    "queue update: 56 bytes at %p are not mapped whole on device 0", (void *)part);
        CHECK(driver_calls("cuMemcpyHtoDAsync") == copies && driver_objects() == objects && driver_calls("cuGraphLaunch") == 0);
    }
    map_cells(cells, 0x4000);
    rex_mappings_changed();
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    check_moved(DEVICE + 0x4000 + 40, (uintptr_t)part, 56, 0);
    int made = driver_calls("cuGraphInstantiate");
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), made); /* it is right again */
    map_cells(cells, 0x6000); /* and where the driver makes none, there is the old one */
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
        rex_mappings_changed();
        int objects = driver_objects();
        setenv("FAKE_CUDA_BREAKS", i == 0 ? "cuGraphInstantiate:719:0" : "cuGraphUpload:719:0", 1);
        CHECK_EQUAL(rex_graph_launch(graph, queue), REX_ECUDA);
        unsetenv("FAKE_CUDA_BREAKS");
        CHECK_EQUAL(driver_objects(), objects);
    }
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    check_moved(DEVICE + 0x6000 + 40, (uintptr_t)part, 56, 0);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* The end of each queue of a graph is waited for by the first, once. */
TEST_IN_CHILD(join_queues)
{
    enum { QUEUES = 4 };
    struct rex_queue *queue[QUEUES];
    struct rex_event *event;
    struct rex_graph *graph = NULL;
    start(22, &module);
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    for (int queues = 1; queues <= QUEUES; queues++) {
        queue[queues - 1] = new_queue(&module, "joined", 0);
        int records = driver_calls("cuEventRecord"), waits = driver_calls("cuStreamWaitEvent");
        CHECK_EQUAL(rex_graph_begin(queue[0]), REX_OK);
        CHECK_EQUAL(rex_event_record(event, queue[0]), REX_OK);
        for (int i = 0; i < queues; i++) {
            CHECK_EQUAL(i > 0 ? rex_queue_wait_event(queue[i], event) : REX_OK, REX_OK);
            CHECK_EQUAL(put_plain(queue[i], 1, cells), REX_OK);
        }
        CHECK_EQUAL(rex_graph_end(&graph, queue[0]), REX_OK);
        CHECK_EQUAL(driver_calls("cuEventRecord") - records, 1 + (queues - 1));
        CHECK_EQUAL(driver_calls("cuStreamWaitEvent") - waits, 2 * (queues - 1));
        CHECK_EQUAL(rex_graph_launches(graph), queues);
        rex_graph_destroy(graph);
    }
    rex_event_destroy(event);
    for (int i = 0; i < QUEUES; i++)
        CHECK_EQUAL(rex_queue_destroy(queue[i]), REX_OK);
}

/* Graphs that are captured at the same time end in any order, and an event of one is none of the other. */
TEST_OF_EACH(two_captures, int, first, 0, 1)
{
    struct rex_queue *queue[3];
    struct rex_graph *graph[2];
    struct rex_event *event[2];
    start(22, &module);
    for (int i = 0; i < 3; i++)
        queue[i] = new_queue(&module, "captured", 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_event_create(&event[i]), REX_OK);
        CHECK_EQUAL(rex_graph_begin(queue[i]), REX_OK);
        for (int launches = 0; launches <= i; launches++)
            CHECK_EQUAL(put_plain(queue[i], 1, cells), REX_OK);
        CHECK_EQUAL(rex_event_record(event[i], queue[i]), REX_OK);
    }
    for (int i = 0; i < 2; i++)
        REFUSED(rex_queue_wait_event(queue[i], event[1 - i]), REX_EINVAL,
                "rex_queue_wait_event: queue \"captured\" is being captured, and the event was not recorded in the same graph");
    CHECK_EQUAL(rex_queue_wait_event(queue[2], event[1 - first]), REX_OK);
    CHECK_EQUAL(put_plain(queue[2], 1, cells), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph[first], queue[first]), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph[1 - first], queue[1 - first]), REX_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_graph_launches(graph[i]), i + 1 + (i != first));
        CHECK_EQUAL(rex_graph_launch(graph[i], queue[2]), REX_OK); /* which is in none any more */
        REFUSED(rex_queue_wait_event(queue[2], event[i]), REX_EINVAL,
                "rex_queue_wait_event: the event was recorded in a graph, whose capture has ended");
        rex_event_destroy(event[i]);
    }
    CHECK_EQUAL(rex_queue_sync(queue[2]), REX_OK);
    for (int i = 0; i < 2; i++)
        rex_graph_destroy(graph[i]);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(rex_queue_destroy(queue[i]), REX_OK);
}

/* ---- the image ----------------------------------------------------------------------------------------------------------------------- */

/*
 * One queue is held up, and another kernel is launched for the first time, or one of a module that has a queue: nothing has to be loaded
 * then, which could wait for the first for ever. With the header rewritten, and without.
 */
TEST_ON_FAKES(load_in_time, 19, 22)
{
    uint64_t value = 1, *out = cells;
    int one = 1;
    start(release, &module);
    CHECK_EQUAL(rex_module_register(&other_module, NULL), REX_OK);
    struct rex_queue *queue = new_queue(&module, "held up", 0), *second = new_queue(&other_module, "second", 0);
    struct rex_launch_config env = rex_launch_config_of(&env_id, 1, 1), narrow_first = rex_launch_config_of(&narrow_first_id, 1, 1);
    REX_MAP(env_args, REX_VALUE(value), REX_ALLOC(out, CELLS));
    REX_MAP(narrow_args, REX_VALUE(one), REX_VALUE(value), REX_ALLOC(out, CELLS));
    expect(8, 8, 0, 0);
    CHECK_EQUAL(put_plain(queue, 1, cells), REX_OK);
    *busy() = 1;
    int loads = driver_calls("cuModuleLoadData");
    CHECK_EQUAL(loads, 2);
    CHECK_EQUAL(launch_module_in(second, &module, &env, &env_args), REX_OK);
    expect(4, 8, 8, 0);
    CHECK_EQUAL(launch_module_in(second, &other_module, &narrow_first, &narrow_args), REX_OK);
    SEES(0, int, 1);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), loads);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_late_loads"), 0);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(second), REX_OK);
}

/* Globals are in two copies: refused before anything is launched, unless the queue is told. */
TEST_IN_CHILD(have_globals)
{
    uint64_t value = 1, *out = cells;
    start(22, &with_globals);
    struct rex_launch_config launch = rex_launch_config_of(&plain_id, 1, 1);
    REX_MAP(args, REX_VALUE(value), REX_ALLOC(out, CELLS));
    struct rex_queue *queue = new_queue(&with_globals, "plain", 0), *own = new_queue(&with_globals, "own", REX_QUEUE_OWN_GLOBALS);
    CHECK_EQUAL(launch_module_in(queue, &with_globals, &launch, &args), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "kernel \"plain__kernel__\": its module has device globals");
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), 0);
    expect(8, 8, 0, 0);
    CHECK_EQUAL(launch_module_in(own, &with_globals, &launch, &args), REX_OK);
    /* In a graph, too. */
    struct rex_graph *graph = NULL;
    CHECK(rex_graph_begin(queue) == REX_OK && rex_graph_begin(own) == REX_OK);
    CHECK_EQUAL(launch_module_in(queue, &with_globals, &launch, &args), REX_EUNSUPPORTED);
    CHECK_EQUAL(launch_module_in(own, &with_globals, &launch, &args), REX_OK);
    CHECK(rex_graph_end(&graph, queue) == REX_OK && rex_graph_launches(graph) == 0);
    rex_graph_destroy(graph);
    CHECK(rex_graph_end(&graph, own) == REX_OK && rex_graph_launches(graph) == 1);
    rex_graph_destroy(graph);
    CHECK(rex_module_queue_global(&with_globals, own, table) != NULL);
    setenv("FAKE_CUDA_BREAKS", "cuModuleGetGlobal:719:0", 1);
    CHECK(rex_module_queue_global(&with_globals, own, table) == NULL && rex_last_error_code() == REX_ECUDA);
    CHECK(strcmp(rex_last_error(), "global \"table\": cuModuleGetGlobal: CUDA_ERROR_LAUNCH_FAILED") == 0);
    setenv("FAKE_CUDA_BREAKS", "cuCtxPushCurrent:719:0", 1);
    NO_ADDRESS(rex_module_queue_global(&with_globals, own, table), REX_ECUDA,
               "queue \"own\": cuCtxPushCurrent: CUDA_ERROR_LAUNCH_FAILED");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(own), REX_OK);
}

static int context_users_of(int device)
{
    int (*users)(int);
    void *address = in_driver("fake_cuda_context_users_of");
    memcpy(&users, &address, sizeof users);
    return users(device);
}

/*
 * Two modules, each for one of two GPUs. A queue loads its module's image where that can run and nowhere else, all in the right context:
 * the fake refuses what is in another.
 */
TEST_IN_CHILD(two_gpus)
{
    static struct rex_module older = MODULE(other_entries, 1);
    int one = 1;
    uint64_t value = 2, *out = cells;
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    setenv("FAKE_CUDA_SM", "90,80", 1);
    use_release(22);
    older.image_name = "tests/data/sm_80.cubin";
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_register(&older, NULL), REX_OK);
    the_record()->devices = 2;
    map_cells(cells, 0);
    struct rex_queue *first = new_queue(&module, "first GPU", 0), *second = NULL, *stranger = NULL;
    setenv("FAKE_CUDA_ORDINAL", "1", 1);
    CHECK_EQUAL(rex_module_queue_create(&second, &older, 1, "second GPU", 0, NULL), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 2);
    CHECK_EQUAL(rex_module_queue_create(&stranger, &module, 1, "stranger", 0, NULL), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 2);
    struct rex_launch_config launch = {.key = &narrow_first_id, .device = 1, .teams = {1}, .threads = {32}};
    REX_MAP(args, REX_VALUE(one), REX_VALUE(value), REX_ALLOC(out, CELLS));
    CHECK_EQUAL(put_plain(first, 1, cells), REX_OK);
    CHECK_EQUAL(launch_module_in(second, &older, &launch, &args), REX_OK);
    CHECK_EQUAL(launch_module_in(stranger, &older, &launch, &args), REX_OK);
    CHECK_EQUAL(rex_queue_copy_to(second, out, &one, sizeof one), REX_OK);
    CHECK_EQUAL(put_plain(first, 1, cells), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(first), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(second), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(stranger), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(rex_module_fini(&older), REX_OK);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_objects"), 0);
    /* Each context was given back as often as it was taken, and not one for the other. */
    CHECK_EQUAL(context_users_of(0), 0);
    CHECK_EQUAL(context_users_of(1), 0);
}

/*
 * The driver is asked for more than 48 KiB of shared memory for a kernel, of which 1 KiB is the kernel's own, once for each new most. With
 * checks off the image alone says what a kernel has.
 */
TEST_OF_EACH(ask_for_shared_memory, const char *, check, "on", "off")
{
    static struct rex_module limits = {.struct_size = sizeof(struct rex_module), .entries_begin = limits_entries,
                                       .entries_end = limits_entries + 1, .image_name = "tests/data/limits_sm_90.cubin"};
    static const struct {
        uint32_t bytes;
        uint32_t asked; /* by then */
    } launches[] = {{48 << 10, 1}, {(48 << 10) + 1, 2}, {48 << 10, 2}, {47 << 10, 2}, {0, 2}};
    setenv("REX_CHECK", check, 1);
    use_gpu(90);
    use_release(19);
    struct rex_queue *queue = new_queue(&limits, "shared memory", 0);
    struct rex_launch_config launch = rex_launch_config_of(&bounded_id, 1, 32);
    uint64_t *out = NULL;
    REX_MAP(args, REX_IS_DEVICE_PTR(out));
    launch.dynamic_memory = 47 << 10;
    CHECK_EQUAL(launch_module_in(queue, &limits, &launch, &args), REX_OK);
    CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), 0);
    for (size_t i = 0; i < COUNT(launches); i++) {
        launch.dynamic_memory = launches[i].bytes;
        CHECK_EQUAL(launch_module_in(queue, &limits, &launch, &args), REX_OK);
        CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), launches[i].asked);
    }
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* No queue and no graph: an error, whatever is asked of them. */
TEST(test_null)
{
    static const char *const says[] = {"rex_queue_device: the queue is NULL", "rex_queue_is_synchronous: the queue is NULL",
                                       "rex_graph_launches: the graph is NULL"};
    for (size_t asked = 0; asked < COUNT(says); asked++) {
        switch (asked) {
        case 0: assert_int_equal(rex_queue_device(NULL), REX_EINVAL); break;
        case 1: assert_false(rex_queue_is_synchronous(NULL)); break;
        default: assert_int_equal(rex_graph_launches(NULL), 0);
        }
        assert_int_equal(rex_last_error_code(), REX_EINVAL);
        assert_string_equal(rex_last_error(), says[asked]);
    }
}
