/*
 * bydriver.c - launches by the driver: what a kernel computes with rows of every kind, what comes back, and what happens where the
 * driver refuses.
 *
 * libomptarget is a fake, which maps what the test says; the driver is a fake with memory, whose kernels are functions of the test. The
 * program exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include "launch/slotgraph.h"
#include "rex_kmp.h"
#include "rex/device.h"
#include "rex/launch.h"
#include "rex/queue.h"
#include "stateless.h"

/* ---- kernels ------------------------------------------------------------------------------------------------------------------------- */

static void compute(void *const *parameters)
{
    uint64_t n = word(parameters, 0), a = word(parameters, 1);
    uint64_t *x = at_device(word(parameters, 2), n * 8), *y = at_device(word(parameters, 3), n * 8);
    CHECK(n == 0 || (x != NULL && y != NULL));
    for (uint64_t i = 0; i < n; i++)
        y[i] += a * x[i];
    computed++;
}

static void axpy(const unsigned *grid, const unsigned *block, void **parameters)
{
    CHECK(grid[0] == 2 && block[0] == 64);
    compute(parameters);
}

static void axpy_env(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block;
    CHECK(word(parameters, 0) == UINT64_MAX);
    compute(parameters + 1);
}

struct sixty_four {
    double value[8];
};

static void widths(const unsigned *grid, const unsigned *block, void **parameters)
{
    double sixteen[2];
    struct sixty_four all;
    memcpy(sixteen, parameters[5], sizeof sixteen);
    memcpy(&all, parameters[6], sizeof all);
    CHECK(grid[0] == 5 && grid[1] == 4 && grid[2] == 3 && block[0] == 32 && block[1] == 2 && block[2] == 1);
    uint64_t *out = at_device(word(parameters, 0), 8);
    *out = (uint64_t)(*(char *)parameters[1] + *(short *)parameters[2] + *(int *)parameters[3] + *(long *)parameters[4]) +
           (uint64_t)(sixteen[0] + sixteen[1] + all.value[7]);
    computed++;
}

static void nothing(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block, (void)parameters;
    computed++;
}

static void start_with(int release, const char *order)
{
    static const size_t words[] = {8, 8, 8, 8, 8}, of_widths[] = {8, 1, 2, 4, 8, 16, 64};
    use_computing_gpu(release, order);
    name_kernel("axpy__kernel__", axpy, 4, words);
    name_kernel("axpy_env__kernel__", axpy_env, 5, words);
    name_kernel("widths__kernel__", widths, 7, of_widths);
    name_kernel("nothing__kernel__", nothing, 0, words);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

static void start(int release)
{
    start_with(release, "late");
}

/* With "full" each row has an allocation of its own. */
static void start_checked(int release, const char *check)
{
    setenv("REX_CHECK", check, 1);
    start(release);
}

/* ---- launches ------------------------------------------------------------------------------------------------------------------------ */

static int launch_rows(const void *key, const struct rex_map *map)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 2, 64);
    return rex_module_launch_map(&module, &launch, map);
}

static void fill(uint64_t *x, uint64_t *y, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        x[i] = i + 1;
        y[i] = 1000 * i;
    }
}

static void expect_axpy(const uint64_t *x, const uint64_t *y, uint64_t n, uint64_t a, uint64_t times)
{
    for (uint64_t i = 0; i < n; i++) {
        CHECK_EQUAL(x[i], i + 1);
        CHECK_EQUAL(y[i], 1000 * i + times * a * (i + 1));
    }
}

/* Launches of one kind: by single calls, then as a graph that is made, and launched again. */
enum { TURNS = REX_GRAPH_PAYS + 2 };

static void run_size(const void *key, uint64_t n)
{
    uint64_t *x = calloc(n + 1, 8), *y = calloc(n + 1, 8), a = 3;
    CHECK(x != NULL && y != NULL);
    fill(x, y, n);
    x[n] = y[n] = 77;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n));
    for (uint64_t i = 1; i <= TURNS; i++) {
        CHECK_EQUAL(launch_rows(key, &args), REX_OK);
        expect_axpy(x, y, n, a, i);
    }
    CHECK(x[n] == 77 && y[n] == 77);
    free(x);
    free(y);
}

TEST_ON_FAKES(run_sizes, 14, 16, 18, 19, 22, 23)
{
    static const uint64_t sizes[] = {1, 2, 63, 64, 65, 1000, 4095, 8191, 8193, 60000, 131072, 140000, 300000};
    start(release);
    for (size_t i = 0; i < COUNT(sizes); i++)
        run_size(i % 2 ? &axpy_id : &env_id, sizes[i]);
    CHECK_EQUAL(computed, TURNS * (int)COUNT(sizes));
    CHECK_EQUAL(by_runtime(), 0);
    CHECK(driver_calls("cuGraphLaunch") > 0);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK(device_bytes() == 0 && driver_objects() == 0 && context_users() == 0);
}

/* Rows of more than 4 MiB, by threads: in pieces of 1 MiB. */
static void run_large(const void *release)
{
    uint64_t n = 600000, pieces = 5;
    setenv("REX_COPY_THREADS", "2", 1);
    start(*(const int *)release);
    run_size(&axpy_id, n);
    CHECK_EQUAL(computed, TURNS);
    CHECK_EQUAL(by_runtime(), 0);
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync"), (int)(TURNS * 2 * pieces));
    CHECK_EQUAL(driver_calls("cuMemcpyDtoHAsync"), (int)(TURNS * pieces));
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

TEST(test_sizes)
{
    static const int releases[] = {14, 16, 18, 19, 22, 23};
    in_child(run_large, &releases[3]);
}

/* ---- where rows lie ------------------------------------------------------------------------------------------------------------------ */

enum { CELLS = 1000 };
static uint64_t x[CELLS], y[CELLS];

#define LAUNCH_ROWS(n, a, ...)                                     \
    do {                                                           \
        uint64_t n_ = (n), a_ = (a);                               \
        REX_MAP(args_, REX_VALUE(n_), REX_VALUE(a_), __VA_ARGS__); \
        CHECK_EQUAL(launch_rows(&axpy_id, &args_), REX_OK);        \
    } while (0)

/* What is mapped is used where it is, and copied by nobody, but where its row says always. */
TEST_OF_EACH(use_present, const char *, check, "on", "full")
{
    start_checked(22, check);
    fill(x, y, CELLS);
    uint64_t there = map_on_device(0, y, sizeof y), *on_device = at_device(there, sizeof y);
    REX_MAP(region, REX_TOFROM(y, CELLS));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    memcpy(on_device, y, sizeof y);
    uint64_t *part = y + 10;
    LAUNCH_ROWS(100, 2, REX_TO(x, 100), REX_TOFROM(part, 100));
    for (uint64_t i = 0; i < CELLS; i++) {
        CHECK_EQUAL(y[i], 1000 * i);
        CHECK_EQUAL(on_device[i], 1000 * i + (i >= 10 && i < 110 ? 2 * (i - 9) : 0));
    }
    LAUNCH_ROWS(CELLS, 1, REX_TO(x, CELLS), REX_ALWAYS(REX_FROM(y, CELLS)));
    CHECK_EQUAL(y[500], 500000 + 501);
    CHECK_EQUAL(y[20], 20000 + 22 + 21);
    y[20] = 5;
    LAUNCH_ROWS(CELLS, 1, REX_TO(x, CELLS), REX_ALWAYS(REX_TO(y, CELLS)));
    CHECK(y[20] == 5 && on_device[20] == 5 + 21);
    expect_sent(3, 0);
    /* a section of no length in it, and one that leaves it */
    LAUNCH_ROWS(0, 1, REX_TO(x, 1), REX_TOFROM(part, 0));
    expect_sent(4, 0);
    uint64_t n = 1, a = 1;
    uintptr_t before = (uintptr_t)y - 8; /* which gcc does not follow */
    REX_MAP(across, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 1), REX_TOFROM((unsigned char *)before, 16));
    CHECK_EQUAL(launch_rows(&axpy_id, &across), REX_EOVERLAP);
    memset(&the_record()->mappings[0], 0, sizeof the_record()->mappings[0]);
    CHECK_EQUAL(rex_module_region_end(&module, 0, &region), REX_OK);
    fill(x, y, CELLS);
    LAUNCH_ROWS(CELLS, 4, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    expect_axpy(x, y, CELLS, 4, 1);
    CHECK_EQUAL(computed, 5);
}

static void map_both(enum fake_function function)
{
    if (function == FAKE_BEGIN && last_call(FAKE_BEGIN)->packet.rows == 2)
        the_record()->mappings[0].size = the_record()->mappings[1].size = sizeof x;
}

/* All that one call has mapped. */
TEST_IN_CHILD(use_all)
{
    start(22);
    fill(x, y, CELLS);
    uint64_t x_there = map_on_device(0, x, sizeof x), y_there = map_on_device(1, y, sizeof y);
    the_record()->mappings[0].size = the_record()->mappings[1].size = 0;
    the_record()->on_data = map_both;
    REX_MAP(region, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    memcpy(at_device(x_there, sizeof x), x, sizeof x);
    memcpy(at_device(y_there, sizeof y), y, sizeof y);
    LAUNCH_ROWS(CELLS, 2, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    uint64_t *on_device = at_device(y_there, sizeof y);
    CHECK(y[7] == 7000 && on_device[7] == 7000 + 16);
    expect_sent(1, 0);
}

/* Mapped by a raw call, through the forwarders. */
TEST_OF_EACH(use_raw, const char *, check, "on", "full")
{
    start_checked(19, check);
    fill(x, y, CELLS);
    uint64_t there = map_on_device(0, y, sizeof y), *on_device = at_device(there, sizeof y);
    REX_MAP(region, REX_TOFROM(y, CELLS));
    memcpy(on_device, y, sizeof y);
    __rex_real___tgt_target_data_begin(0, REX_MAP_ARGUMENTS(region));
    LAUNCH_ROWS(CELLS, 2, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    CHECK(y[7] == 7000 && on_device[7] == 7000 + 16);
    memset(&the_record()->mappings[0], 0, sizeof the_record()->mappings[0]);
    __rex_real___tgt_target_data_end(0, REX_MAP_ARGUMENTS(region));
    LAUNCH_ROWS(CELLS, 2, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    CHECK_EQUAL(y[7], 7000 + 16);
    expect_sent(2, 0);
}

/* Exported beside those that rex_kmp.h declares. */
void end_nowait(int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types, int32_t all, void *list,
                int32_t others, void *other_list) __asm__("__tgt_target_data_end_nowait");

/* Still mapped when another module ends, or after one end of two that was not waited for. */
TEST_OF_EACH(use_kept, bool, nowait, false, true)
{
    static char id;
    static struct __tgt_offload_entry entries_of_other[] = {{&id, (char *)(uintptr_t)"axpy__kernel__", 0, 0, 0}};
    static struct rex_module other;
    other = module;
    other.entries_begin = entries_of_other;
    other.entries_end = entries_of_other + 1;
    start(22);
    fill(x, y, CELLS);
    map_on_device(0, y, sizeof y);
    CHECK_EQUAL(rex_module_register(&other, NULL), REX_OK);
    REX_MAP(region, REX_TOFROM(y, CELLS));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    if (nowait)
        end_nowait(0, REX_MAP_ARGUMENTS(region), 0, NULL, 0, NULL);
    else
        CHECK_EQUAL(rex_module_fini(&other), REX_OK);
    LAUNCH_ROWS(CELLS, 2, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    expect_sent(0, 1);
}

/* Mapped by what librex has not seen: that is libomptarget's. */
TEST_IN_CHILD(use_unseen)
{
    start(22);
    map_on_device(0, y, sizeof y);
    rex_mappings_changed();
    LAUNCH_ROWS(CELLS, 2, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    expect_sent(0, 1);
    LAUNCH_ROWS(CELLS / 2, 2, REX_TO(x, CELLS / 2), REX_TOFROM(x + CELLS / 2, CELLS / 2));
    expect_sent(1, 1);
}

/* Rows in rows, the same row twice; rows that differ in what is copied. */
TEST_OF_EACH(use_shared, const char *, check, "on", "full")
{
    start_checked(16, check);
    fill(x, y, CELLS);
    uint64_t *inner = x + 100;
    LAUNCH_ROWS(10, 1, REX_TOFROM(x, CELLS), REX_TOFROM(inner, 10));
    for (uint64_t i = 0; i < 10; i++)
        CHECK_EQUAL(x[100 + i], 101 + i + i + 1);
    fill(x, y, CELLS);
    LAUNCH_ROWS(CELLS, 1, REX_TOFROM(x, CELLS), REX_TOFROM(x, CELLS));
    CHECK_EQUAL(x[999], 2000);
    expect_sent(2, 0);
    LAUNCH_ROWS(10, 1, REX_TO(x, CELLS), REX_TOFROM(inner, 10));
    expect_sent(2, 1);
    uint64_t n = 1, a = 1, *later = x + 5;
    REX_MAP(across, REX_VALUE(n), REX_VALUE(a), REX_TOFROM(x, 10), REX_TOFROM(later, 10));
    CHECK_EQUAL(launch_rows(&axpy_id, &across), REX_EOVERLAP);
}

/* From alone is not copied in, alloc is not copied, a private row is copied in alone. */
TEST_OF_EACH(use_directions, const char *, check, "on", "full")
{
    start_checked(22, check);
    fill(x, y, CELLS);
    LAUNCH_ROWS(CELLS, 1, REX_TO(x, CELLS), REX_FROM(y, CELLS));
    CHECK(y[0] != 1 && (y[0] - 1) == UINT64_C(0xa5a5a5a5a5a5a5a5));
    fill(x, y, CELLS);
    LAUNCH_ROWS(CELLS, 1, REX_TO(x, CELLS), REX_ALLOC(y, CELLS));
    CHECK_EQUAL(y[3], 3000);
    LAUNCH_ROWS(CELLS, 1, REX_TOFROM(x, CELLS), REX_FIRSTPRIVATE(y));
    CHECK(y[3] == 3000 && x[3] == 4);
    expect_sent(3, 0);
}

/* What is always copied is so beside rows that are not, and beside those that live for the launch. */
TEST_OF_EACH(use_always, const char *, check, "on", "full")
{
    start_checked(22, check);
    fill(x, y, CELLS);
    uint64_t *y_there = at_device(map_on_device(0, y, sizeof y), sizeof y), *x_there = at_device(map_on_device(1, x, sizeof x), sizeof x);
    REX_MAP(region, REX_TO(y, CELLS), REX_TO(x, CELLS));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    memcpy(y_there, y, sizeof y);
    memcpy(x_there, x, sizeof x);
    x[0] = 100; /* on the device it stays 1 */
    LAUNCH_ROWS(CELLS, 1, REX_TOFROM(x, CELLS), REX_ALWAYS(REX_FROM(y, CELLS)));
    CHECK(x[0] == 100 && x_there[0] == 1 && y[0] == 1 && y[1] == 1002);
    static uint64_t other[CELLS] = {7};
    y[0] = 50;
    LAUNCH_ROWS(CELLS, 2, REX_ALWAYS(REX_TOFROM(other, CELLS)), REX_ALWAYS(REX_TOFROM(y, CELLS)));
    CHECK(y[0] == 64 && y_there[0] == 64 && y[1] == 1002 && other[0] == 7);
    /* the first row of all */
    LAUNCH_ROWS(CELLS, 0, REX_ALWAYS(REX_TO(x, CELLS)), REX_TOFROM(y, CELLS));
    CHECK_EQUAL(x_there[0], 100);
    /* of no length: nothing to copy */
    int before = driver_calls("cuMemcpyHtoDAsync");
    LAUNCH_ROWS(0, 2, REX_ALWAYS(REX_TO(x, 0)), REX_ALWAYS(REX_TO(y, 1)));
    CHECK_EQUAL(driver_calls("cuMemcpyHtoDAsync"), before + 1);
    expect_sent(4, 0);
}

/* An allocation for each row, as large as that, and no larger one from before. */
TEST_IN_CHILD(use_blocks)
{
    start_checked(22, "full");
    CHECK_EQUAL(launch_rows(&nothing_id, NULL), REX_OK);
    size_t before = device_bytes();
    int taken = driver_calls("cuMemAlloc");
    for (int i = 1; i <= TURNS; i++) {
        LAUNCH_ROWS(100, 1, REX_TO(x, 100), REX_TOFROM(y, 100));
        CHECK_EQUAL(driver_calls("cuMemAlloc"), taken + 2 * i);
        CHECK_EQUAL(device_bytes(), before);
    }
    CHECK_EQUAL(driver_calls("cuGraphLaunch"), 0);
    /* of two rows the second finds no memory: the first is given back */
    enum { MOST_OF_IT = 40 << 20 };
    static char one[2 * MOST_OF_IT], *other = one + MOST_OF_IT;
    uint64_t n = 0;
    REX_MAP(large, REX_VALUE(n), REX_VALUE(n), REX_TO(one, MOST_OF_IT), REX_TO(other, MOST_OF_IT));
    CHECK_EQUAL(launch_rows(&axpy_id, &large), REX_ENOMEM);
    CHECK_MENTIONS(rex_last_error(), "kernel \"axpy__kernel__\": map row 3, 41943040 bytes: cuMemAlloc");
    CHECK_EQUAL(device_bytes(), before);
    expect_sent(TURNS + 1, 0);
}

/* Memory that the driver knows is never touched by the processor, but for what is not copied. */
TEST_IN_CHILD(use_pinned)
{
    start(22);
    uint64_t *pinned = rex_host_alloc(sizeof x);
    CHECK(pinned != NULL);
    fill(pinned, y, CELLS);
    for (int i = 0; i < TURNS; i++)
        LAUNCH_ROWS(CELLS, 1, REX_TO(pinned, CELLS), REX_TOFROM(y, CELLS));
    expect_axpy(pinned, y, CELLS, 1, TURNS);
    CHECK_EQUAL(driver_calls("cuGraphLaunch"), 0);
    for (int i = 0; i < TURNS; i++)
        LAUNCH_ROWS(CELLS, 1, REX_TOFROM(y, CELLS), REX_ALLOC(pinned, CELLS));
    CHECK(driver_calls("cuGraphLaunch") > 0);
    expect_sent(2 * TURNS, 0);
    CHECK_EQUAL(rex_host_free(pinned), REX_OK);
}

/* The first half of a row is pinned, or the second. */
TEST_OF_EACH(use_pinned_part, int, part, 0, 1)
{
    enum { STRETCH = 2 << 20, HALF = CELLS / 2 };
    static char room[2 * STRETCH];
    bool first = part == 0;
    char *middle = room + STRETCH - (uintptr_t)room % STRETCH;
    uint64_t *across = (uint64_t *)(void *)middle - HALF;
    start(22);
    fill(across, y, CELLS);
    int (*pin)(void *, size_t, unsigned);
    void *found = in_driver("cuMemHostRegister_v2");
    memcpy(&pin, &found, sizeof pin);
    CHECK_EQUAL(pin(first ? across : across + HALF, sizeof(uint64_t) * HALF, 0), 0);
    for (int i = 0; i < TURNS; i++)
        LAUNCH_ROWS(CELLS, 1, REX_TO(across, CELLS), REX_TOFROM(y, CELLS));
    expect_axpy(across, y, CELLS, 1, TURNS);
    CHECK_EQUAL(driver_calls("cuGraphLaunch"), 0);
}

TEST_ON_FAKES(use_widths, 14, 18, 22, 23)
{
    start(release);
    uint64_t out = 0;
    char one = 1;
    short two = -2;
    int four = 300;
    long eight = 4000;
    double sixteen[2] = {50000, 600000};
    struct {
        double value[2];
    } pair = {{sixteen[0], sixteen[1]}};
    struct sixty_four all = {{[7] = 7000000}};
    struct rex_launch_config launch = {.key = &widths_id, .device = 0, .teams = {5, 4, 3}, .threads = {32, 2, 1}};
    REX_MAP(args, REX_FROM(&out, 1), REX_VALUE(one), REX_VALUE(two), REX_VALUE(four), REX_VALUE(eight), REX_BY_VALUE(pair),
            REX_BY_VALUE(all));
    for (int i = 0; i < 3; i++) {
        out = 0;
        CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
        CHECK_EQUAL(out, 7654299);
    }
    expect_sent(3, 0);
}

/* ---- packets ------------------------------------------------------------------------------------------------------------------------- */

TEST_IN_CHILD(send_packets)
{
    start(18);
    fill(x, y, CELLS);
    uint64_t n = CELLS, a = 2;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    struct __tgt_kernel_arguments packet = {.Version = 2,
                                            .NumArgs = args.count,
                                            .ArgsBase = args.base,
                                            .Args = args.begin,
                                            .ArgSizes = args.sizes,
                                            .ArgTypes = args.types,
                                            .Teams = {2, 1, 1},
                                            .Threads = {64, 1, 1}};
    CHECK_EQUAL(rex_module_launch(&module, -1, 2, 64, &axpy_id, &packet), 0);
    CHECK_EQUAL(rex_module_launch(&module, 0, 2, 64, &axpy_id, &packet), 0);
    memset(packet.Teams, 0, sizeof packet.Teams);
    memset(packet.Threads, 0, sizeof packet.Threads);
    CHECK_EQUAL(rex_module_launch(&module, 0, 2, 64, &axpy_id, &packet), 0);
    expect_axpy(x, y, CELLS, 2, 3);
    expect_sent(3, 0);
    packet.NumArgs = 3;
    CHECK_EQUAL(rex_module_launch(&module, 0, 2, 64, &axpy_id, &packet), REX_EPARAMS);
    CHECK_EQUAL(rex_last_error_code(), REX_EPARAMS);
    expect_sent(3, 0);
}

/* ---- what the driver refuses --------------------------------------------------------------------------------------------------------- */

struct fault {
    const char *call; /* NAME:RESULT */
    uint64_t n;
    int result; /* of the launch */
    const char *words; /* of its message */
    bool lasts; /* the device is lost */
    const char *order; /* in which the driver does what is in a stream */
};

static void meet_fault(const void *context)
{
    const struct fault *fault = context;
    char always[64];
    uint64_t *in = calloc(fault->n, 8), *out = calloc(fault->n, 8);
    CHECK(in != NULL && out != NULL);
    start_with(22, fault->order);
    if (strncmp(fault->call, "cuMem", 5) == 0) /* what the first launch needs besides is there */
        CHECK_EQUAL(launch_rows(&nothing_id, NULL), REX_OK);
    snprintf(always, sizeof always, "%s:0", fault->call);
    setenv("FAKE_CUDA_BREAKS", always, 1);
    fill(in, out, fault->n);
    uint64_t n = fault->n, a = 3;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(in, n), REX_TOFROM(out, n));
    for (int i = 0; i < TURNS; i++)
        CHECK_EQUAL(launch_rows(&axpy_id, &args), fault->result);
    if (fault->words != NULL)
        CHECK_MENTIONS(rex_last_error(), fault->words);
    expect_axpy(in, out, n, a, fault->result == REX_OK ? TURNS : 0);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(launch_rows(&axpy_id, &args), fault->lasts ? REX_ECUDA : REX_OK);
    expect_axpy(in, out, n, a, fault->lasts ? 0 : fault->result == REX_OK ? TURNS + 1 : 1);
    /* what was begun has ended before the launch returned */
    if (strncmp(fault->call, "cuLaunch", 8) == 0 || strncmp(fault->call, "cuMemcpy", 8) == 0)
        CHECK_EQUAL(driver_calls("cuStreamSynchronize"), TURNS + 1 + (strncmp(fault->call, "cuMem", 5) == 0));
    if (!fault->lasts) {
        CHECK_EQUAL(rex_module_fini(&module), REX_OK);
        CHECK(device_bytes() == 0 && driver_objects() == 0 && context_users() == 0);
    }
    free(in);
    free(out);
}

/* A wait that fails by itself, and not the device. */
static void meet_failed_wait(const void *unused)
{
    (void)unused;
    start(22);
    LAUNCH_ROWS(1, 1, REX_TO(x, 1), REX_TOFROM(y, 1));
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:1:1", 1);
    uint64_t n = 1, a = 1;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 1), REX_TOFROM(y, 1));
    CHECK_EQUAL(launch_rows(&axpy_id, &args), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "kernel \"axpy__kernel__\": the wait: cuStreamSynchronize");
    CHECK_EQUAL(launch_rows(&axpy_id, &args), REX_OK);
    /* and one where the device is lost: packets are refused as well */
    struct __tgt_kernel_arguments packet = {.Version = 2, .Teams = {1, 1, 1}, .Threads = {32, 1, 1}};
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:700:0", 1);
    CHECK_EQUAL(rex_module_launch(&module, 0, 1, 32, &nothing_id, &packet), REX_ECUDA);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_module_launch(&module, 0, 1, 32, &nothing_id, &packet), REX_ECUDA);
    CHECK_EQUAL(rex_last_error_code(), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "nothing__kernel__: device 0 is lost");
}

TEST(test_faults)
{
    enum { SMALL = 100, LARGE = 300000 };
    static const struct fault faults[] = {
        {"cuStreamCreate:2", SMALL, REX_ECUDA, "axpy__kernel__: cuStreamCreate", false, NULL},
        {"cuDevicePrimaryCtxRetain:2", SMALL, REX_ECUDA, "axpy__kernel__: cuDevicePrimaryCtxRetain", false, NULL},
        {"cuMemHostAlloc:2", SMALL, REX_ENOMEM, "axpy__kernel__: 262144 bytes of pinned memory: cuMemHostAlloc", false, NULL},
        {"cuMemAlloc:2", SMALL, REX_ENOMEM, "axpy__kernel__: 262144 bytes of device memory: cuMemAlloc", false, NULL},
        {"cuMemAlloc:2", LARGE, REX_ENOMEM, " bytes: cuMemAlloc", false, NULL},
        {"cuMemcpyHtoDAsync:1", SMALL, REX_ECUDA, "kernel \"axpy__kernel__\": a copy to the device: cuMemcpyHtoDAsync", false, NULL},
        {"cuMemcpyHtoDAsync:1", LARGE, REX_ECUDA, "kernel \"axpy__kernel__\": a copy to the device: cuMemcpyHtoDAsync", false, NULL},
        {"cuMemcpyDtoHAsync:1", SMALL, REX_ECUDA, "kernel \"axpy__kernel__\": a copy from the device: cuMemcpyDtoHAsync", false, NULL},
        {"cuLaunchKernel:1", SMALL, REX_ECUDA,
         "kernel \"axpy__kernel__\", 2 x 1 x 1 teams of 64 x 1 x 1 threads, 0 bytes of dynamic shared memory: "
         "cuLaunchKernel",
         false, NULL},
        {"cuLaunchKernel:1", LARGE, REX_ECUDA, "0 bytes of dynamic shared memory: cuLaunchKernel", false, NULL},
        {"cuStreamBeginCapture:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuStreamGetCaptureInfo:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuGraphInstantiate:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuGraphExecKernelNodeSetParams:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuGraphLaunch:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuStreamSynchronize:1", SMALL, REX_ECUDA,
         "axpy__kernel__: device 0 is lost, since kernel \"axpy__kernel__\" met with cuStreamSynchronize", true, NULL},
        {"cuStreamSynchronize:700", SMALL, REX_ECUDA,
         "axpy__kernel__: device 0 is lost, since kernel \"axpy__kernel__\" met with cuStreamSynchronize", true, NULL},
    };
    for (size_t i = 0; i < 2 * COUNT(faults); i++) {
        struct fault fault = faults[i / 2];
        fault.order = i % 2 == 0 ? "late" : "early";
        struct child child = run_child(meet_fault, &fault);
        if (child.status != 0)
            fail_msg("%s with %llu, %s: %d\n%s", fault.call, (unsigned long long)fault.n, fault.order, child.status, child.output);
    }
    in_child(meet_failed_wait, NULL);
}

/* ---- who launched, in the trace ----------------------------------------------------------------------------------------------------- */

/* CONTEXT is REX_TRACE: one launch by the driver, two for other reasons by libomptarget. */
static void trace_senders(const void *context)
{
    setenv("REX_TRACE", context, 1);
    start(22);
    struct rex_launch_config launch = rex_launch_config_of(&nothing_id, 1, 1);
    struct __tgt_kernel_arguments packet = {.Version = 3, .Teams = {1, 1, 1}, .Threads = {1, 1, 1}};
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, NULL), REX_OK);
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 1, 1, &nothing_id, &packet), 0);
    launch.flags = REX_LAUNCH_NOWAIT;
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, NULL), REX_OK);
    expect_sent(1, 2);
    exit(0); /* at the end of the process the trace is written */
}

TEST(test_traces)
{
    static const char *const lines[] = {",\"by\":\"driver\"}}\n",
                                        ",\"by\":\"libomptarget\",\"because\":\"the program calls libomptarget itself\"}}\n",
                                        ",\"by\":\"libomptarget\",\"because\":\"it is not waited for\"}}\n"};
    static const char *const rows[] = {"  driver\n", "  libomptarget [1]\n", "  libomptarget [2]\n",
                                       "  [1] the program calls libomptarget itself\n  [2] it is not waited for\n"};
    char folder[PATH_MAX], path[PATH_MAX + 16];
    size_t size;
    make_folder(folder);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    in_child(trace_senders, path);
    char *text = (char *)read_bytes(path, &size);
    text[size - 1] = '\0';
    for (size_t i = 0; i < COUNT(lines); i++)
        if (occurrences(text, lines[i]) != 1)
            fail_msg("not once \"%s\" in:\n%s", lines[i], text);
    free(text);
    remove_folder(folder);
    const char *summary = in_child(trace_senders, "-");
    for (size_t i = 0; i < COUNT(rows); i++)
        if (occurrences(summary, rows[i]) != 1)
            fail_msg("not once \"%s\" in:\n%s", rows[i], summary);
}
