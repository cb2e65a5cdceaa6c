/*
 * bydriver.c - launches by the driver: what happens where the driver refuses, and in which words; grids that are chosen. What kernels
 * compute is seen by runtime/present.
 *
 * libomptarget is a fake, which launches nothing; the driver is a fake with memory, whose kernels are functions of the test. The program
 * exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include "inqueue.h"
#include "launch/run.h"
#include "module/trialload.h"
#include "rex_kmp.h"
#include "rex/launch.h"
#include "rex/queue.h"
#include "stateless.h"

/* ---- kernels ------------------------------------------------------------------------------------------------------------------------- */

static unsigned last_grid[3], last_block[3];

static void nothing(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)parameters;
    memcpy(last_grid, grid, sizeof last_grid);
    memcpy(last_block, block, sizeof last_block);
    computed++;
}

static void axpy(const unsigned *grid, const unsigned *block, void **parameters)
{
    uint64_t n = word(parameters, 0), a = word(parameters, 1);
    uint64_t *x = at_device(word(parameters, 2), n * 8), *y = at_device(word(parameters, 3), n * 8);
    CHECK(n == 0 || (x != NULL && y != NULL));
    for (uint64_t i = 0; i < n; i++)
        y[i] += a * x[i];
    nothing(grid, block, parameters);
}

static uint64_t last_word; /* the first one */

static void widths(const unsigned *grid, const unsigned *block, void **parameters)
{
    last_word = word(parameters, 0);
    nothing(grid, block, parameters);
}

static void name_kernels(void)
{
    static const size_t words[] = {8, 8, 8, 8}, of_each_width[] = {8, 1, 2, 4, 8, 16, 64};
    name_kernel("widths__kernel__", widths, 7, of_each_width);
    name_kernel("axpy__kernel__", axpy, 4, words);
    name_kernel("nothing__kernel__", nothing, 0, words);
}

static void start_with(int release, const char *order)
{
    use_computing_gpu(release, order);
    name_kernels();
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

static void start(int release)
{
    start_with(release, "late");
}

/* ---- launches ------------------------------------------------------------------------------------------------------------------------ */

enum { CELLS = 1000, TURNS = 20 /* until they are a graph, and more */ };
static uint64_t x[CELLS], y[CELLS], *pointer = y;
static const struct rex_launch_config plainly = {.key = &nothing_id, .teams = {2, 1, 1}, .threads = {64, 1, 1}};

static int launch_nothing(const struct rex_launch_config *launch)
{
    return rex_module_launch_map(&module, launch, NULL);
}

static int launch_rows(const void *key, const struct rex_map *map)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 2, 64);
    return rex_module_launch_map(&module, &launch, map);
}

static int launch_on(uint64_t n, struct rex_row from, struct rex_row to)
{
    uint64_t a = 1;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), from, to, REX_TO(x, CELLS));
    args.count = 4; /* behind which there is another row */
    return launch_rows(&axpy_id, &args);
}

static int launch_axpy(void)
{
    return launch_on(CELLS, REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
}

static int launch_attached(void)
{
    return launch_on(1, REX_FIRSTPRIVATE(x), REX_ATTACH(REX_MAP_TOFROM, pointer, 0, CELLS));
}

static void expect_refused(int line, int result, int wanted, const char *words)
{
    if (result != wanted || strstr(rex_last_error(), words) == NULL) {
        fprintf(stderr, "line %d: %d, %s\n", line, result, rex_last_error());
        _exit(99);
    }
}
#define REFUSED(call, error, words) expect_refused(__LINE__, (call), (error), (words))

static void fill(uint64_t *from, uint64_t *to, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        from[i] = i + 1;
        to[i] = 1000 * i;
    }
}

static void expect_axpy(const uint64_t *from, const uint64_t *to, uint64_t n, uint64_t a, uint64_t times)
{
    for (uint64_t i = 0; i < n; i++) {
        CHECK_EQUAL(from[i], i + 1);
        CHECK_EQUAL(to[i], 1000 * i + times * a * (i + 1));
    }
}

/* The driver is asked for stretches of so much memory whether it is pinned. Here one ends and another begins. */
static char *stretches(void)
{
    enum { STRETCH = 2 << 20 };
    static char room[2 * STRETCH];
    return room + STRETCH - (uintptr_t)room % STRETCH;
}

static void pin(void *address, size_t size)
{
    CHECK_EQUAL(DRIVERS(int (*)(void *, size_t, unsigned), "cuMemHostRegister_v2")(address, size, 0), 0);
}

/* A row's first byte is pinned, or its last: the processor does not touch it, and no graph, which it would do so for, is made. */
TEST_OF_EACH(use_pinned_part, int, at, -16, -15, 0, 4096 - 1, 4096)
{
    char *middle = stretches();
    start(22);
    pin(middle, 4096);
    for (int i = 0; i < 2 * TURNS; i++) /* it is the first of two, and then the second */
        CHECK_EQUAL(launch_on(0, REX_TO(middle + at, 16), REX_TO(middle + (i < TURNS ? 8192 : -8192), 16)), REX_OK);
    CHECK_EQUAL(driver_calls("cuGraphLaunch") > 0, at == -16 || at == 4096);
}

/* REX_CHECK=off: the first launch already knows how many threads the kernel allows. */
TEST_IN_CHILD(match_at_first_launch)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "off"), REX_OK);
    start(22);
    fill(x, y, CELLS);
    CHECK_EQUAL(launch_axpy(), REX_OK);
    expect_axpy(x, y, CELLS, 1, 1);
    struct rex_launch_config large = plainly;
    large.threads[0] = 2048;
    REFUSED(launch_nothing(&large), REX_EINVAL, "too large");
    CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
}

/* One of the six dimensions, or the dynamic memory, is another one. */
static struct rex_launch_config changed_in(unsigned number)
{
    struct rex_launch_config launch = {.key = &axpy_id, .teams = {2, 3, 5}, .threads = {7, 11, 13}};
    launch.dynamic_memory = number == 6 ? 512 : 0;
    if (number < 6)
        (number < 3 ? launch.teams : launch.threads)[number % 3]--;
    return launch;
}

static void expect_grid(const struct rex_launch_config *launch)
{
    CHECK(memcmp(last_grid, launch->teams, sizeof last_grid) == 0);
    CHECK(memcmp(last_block, launch->threads, sizeof last_block) == 0);
    CHECK_EQUAL(*(unsigned *)in_driver("fake_cuda_dynamic_memory"), launch->dynamic_memory);
}

/* After so many that a graph is launched, another grid, block or dynamic memory is. */
TEST_IN_CHILD(change_grids)
{
    uint64_t n = CELLS, a = 1;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, CELLS), REX_TOFROM(y, CELLS));
    start(22);
    for (unsigned i = 0; i < TURNS + 16; i++) {
        struct rex_launch_config launch = changed_in(i < TURNS ? 7 : (i - TURNS) / 2);
        CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
        expect_grid(&launch);
        /* the graph's kernel is changed where the launch differs from the one before, and is not one like it */
        CHECK_EQUAL(driver_calls("cuGraphExecKernelNodeSetParams"), i < TURNS ? 0 : (i - TURNS) / 2 + 1);
    }
    CHECK_EQUAL(driver_calls("cuGraphLaunch"), TURNS + 16 - REX_GRAPH_PAYS);
}

/* What a row has is copied, be it one byte; where no row is copied in a direction there is no call. */
TEST_IN_CHILD(copy_a_byte)
{
    start(22);
    CHECK_EQUAL(launch_on(0, REX_TO((char *)x, 1), REX_ALLOC(y, 1)), REX_OK);
    CHECK(driver_calls("cuMemcpyHtoDAsync") == 1 && driver_calls("cuMemcpyDtoHAsync") == 0);
    CHECK_EQUAL(launch_on(0, REX_ALLOC(x, 1), REX_FROM((char *)y, 1)), REX_OK);
    CHECK(driver_calls("cuMemcpyHtoDAsync") == 1 && driver_calls("cuMemcpyDtoHAsync") == 1);
    /* and where it is the last one that a graph copies; what is launched in between is remembered beside it, and is no graph so soon */
    fill(x, y, CELLS);
    for (int i = 0; i < TURNS; i++)
        CHECK(launch_on(65, REX_TO(x, 65), REX_TOFROM((char *)y, 64 * 8 + 1)) == REX_OK && launch_nothing(&plainly) == REX_OK);
    CHECK_EQUAL((unsigned char)y[64], (unsigned char)(64 * 1000 + TURNS * 65));
    CHECK_EQUAL(driver_calls("cuGraphLaunch"), TURNS - REX_GRAPH_PAYS);
}

/* A launch context keeps the graphs that were launched last; the others end. */
TEST_IN_CHILD(keep_graphs)
{
    enum { GRAPHS = REX_LAUNCH_GRAPHS + 4, PART = 512 /* from one size to the next for which there is another graph */ };
    start(22);
    for (int i = 0; i < GRAPHS * TURNS; i++) {
        int64_t in = PART * (1 + i / TURNS % 4), out = PART * (1 + i / TURNS / 4);
        CHECK_EQUAL(launch_on(0, REX_TO((char *)x, PART), REX_FROM((char *)y, PART)), REX_OK);
        CHECK_EQUAL(launch_on(0, REX_TO((char *)x, in), REX_FROM((char *)y, out)), REX_OK);
    }
    CHECK_EQUAL(driver_calls("cuGraphInstantiate"), GRAPHS);
    CHECK(rex_module_fini(&module) == REX_OK && driver_objects() == 0);
}

/* The largest rows that a graph copies fill all the room of a launch context; where one is larger all goes by single calls. */
enum { GRAPH_MOST = (128 << 10) / 8 };
static const struct {
    int64_t in, out; /* words */
    bool by_graph;
} rooms[] = {{GRAPH_MOST, GRAPH_MOST, true}, {GRAPH_MOST + 1, GRAPH_MOST / 2, false}, {GRAPH_MOST / 2, GRAPH_MOST + 1, false}};

TEST_FOR_EACH(fill_room, given, rooms)
{
    static uint64_t in[GRAPH_MOST + 1], out[GRAPH_MOST + 1];
    start(22);
    for (int i = 0; i < TURNS; i++)
        CHECK_EQUAL(launch_on(0, REX_TO(in, given->in), REX_FROM(out, given->out)), REX_OK);
    CHECK_EQUAL(driver_calls("cuGraphLaunch") > 0, given->by_graph);
}

/* As many launch contexts are kept as processors may use at once, up to 256, whatever came before; those beyond end when they are given back. */
TEST_IN_CHILD(keep_contexts)
{
    enum { MOST = 4096, MORE = 3 };
    static struct rex_launch_context *contexts[MOST];
    static int entered[MOST];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int kept = processors > REX_IDLE_MOST ? REX_IDLE_MOST : processors > 64 ? (int)processors : 64;
    CHECK(kept + MORE <= MOST);
    start(22);
    CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
    int others = driver_objects() - 1;
    for (int i = 0; i < 3; i++) {
        if (i == 2) /* the contexts end with the module */
            CHECK(rex_module_fini(&module) == REX_OK && rex_module_register(&module, NULL) == REX_OK && launch_nothing(&plainly) == REX_OK);
        for (int j = 0; j < kept + MORE; j++)
            CHECK(rex_launch_context_take(0, "this test", &contexts[j], &entered[j]) == REX_OK && contexts[j] != NULL);
        for (int j = kept + MORE; j-- > 0;)
            rex_launch_context_give(contexts[j], entered[j]);
        CHECK_EQUAL(driver_objects(), others + kept);
    }
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_current"), 0); /* no context of the driver's stays with the thread */
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
        CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
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
    if (!fault->lasts) {
        CHECK_EQUAL(rex_module_fini(&module), REX_OK);
        CHECK(device_bytes() == 0 && driver_objects() == 0 && context_users() == 0);
    }
    free(in);
    free(out);
}

/* A wait that fails by itself, and not the device. */
TEST_IN_CHILD(meet_failed_wait)
{
    start(18);
    CHECK_EQUAL(launch_axpy(), REX_OK);
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:1:1", 1);
    REFUSED(launch_axpy(), REX_ECUDA, "kernel \"axpy\": the wait failed: cuStreamSynchronize");
    CHECK_EQUAL(launch_axpy(), REX_OK);
    /* and one where the device is lost: packets are refused as well, and not by what LLVM 18 cannot do */
    struct __tgt_kernel_arguments packet = {.Version = 2, .Teams = {1, 1, 1}, .Threads = {32, 1, 1}};
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:700:0", 1);
    CHECK_EQUAL(rex_module_launch(&module, 0, 1, 32, &nothing_id, &packet), REX_ECUDA);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_module_launch(&module, 0, 1, 32, &nothing_id, &packet), REX_ECUDA);
    CHECK_EQUAL(rex_last_error_code(), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "nothing: device 0 is lost");
    /* The program's own calls are not made, either. */
    uint32_t before = the_record()->count;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 1, 32, &nothing_id, &packet), -1);
    __rex_real___tgt_target_data_update(0, 0, NULL, NULL, NULL, NULL);
    CHECK_MENTIONS(rex_last_error(), "data update: device 0 is lost");
    __rex_real___tgt_target_data_end(-1, 0, NULL, NULL, NULL, NULL);
    CHECK_MENTIONS(rex_last_error(), "data end: device 0 is lost");
    CHECK_EQUAL(the_record()->count, before);
}

TEST(test_faults)
{
    enum { SMALL = 100, LARGE = 300000 };
    static const struct fault faults[] = {
        {"cuStreamCreate:2", SMALL, REX_ECUDA, "axpy: cuStreamCreate", false, NULL},
        {"cuDevicePrimaryCtxRetain:2", SMALL, REX_ENOMEM, "GPU 0 has too little memory for a context: cuDevicePrimaryCtxRetain", false, NULL},
        {"cuMemHostAlloc:2", SMALL, REX_ENOMEM, "axpy: 262144 bytes of pinned memory cannot be allocated: cuMemHostAlloc", false, NULL},
        {"cuMemAlloc:2", SMALL, REX_ENOMEM, "axpy: 262144 bytes of device memory cannot be allocated: cuMemAlloc", false, NULL},
        {"cuMemAlloc:2", LARGE, REX_ENOMEM, " bytes of device memory cannot be allocated: cuMemAlloc", false, NULL},
        {"cuMemHostAlloc:719", SMALL, REX_ECUDA, "of pinned memory cannot be allocated: cuMemHostAlloc", false, NULL},
        {"cuMemAlloc:719", SMALL, REX_ECUDA, "of device memory cannot be allocated: cuMemAlloc", false, NULL},
        {"cuMemAlloc:719", LARGE, REX_ECUDA, " bytes of device memory cannot be allocated: cuMemAlloc", false, NULL},
        {"cuMemcpyHtoDAsync:1", SMALL, REX_ECUDA, "kernel \"axpy\": a copy to the device failed: cuMemcpyHtoDAsync", false, NULL},
        {"cuMemcpyHtoDAsync:1", LARGE, REX_ECUDA, "kernel \"axpy\": a copy to the device failed: cuMemcpyHtoDAsync", false, NULL},
        {"cuMemcpyDtoHAsync:1", SMALL, REX_ECUDA, "kernel \"axpy\": a copy from the device failed: cuMemcpyDtoHAsync", false, NULL},
        {"cuLaunchKernel:1", SMALL, REX_ECUDA,
         "kernel \"axpy\", 2 x 1 x 1 teams of 64 x 1 x 1 threads, 0 bytes of dynamic shared memory: "
         "cuLaunchKernel",
         false, NULL},
        {"cuLaunchKernel:1", LARGE, REX_ECUDA, "0 bytes of dynamic shared memory: cuLaunchKernel", false, NULL},
        {"cuLaunchKernel:700", SMALL, REX_ECUDA,
         "axpy: device 0 is lost until the process ends, because kernel \"axpy\" failed: cuLaunchKernel", true, NULL},
        {"cuStreamBeginCapture:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuStreamEndCapture:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuStreamGetCaptureInfo:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuGraphInstantiate:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuGraphExecKernelNodeSetParams:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuGraphLaunch:1", SMALL, REX_OK, NULL, false, NULL},
        {"cuStreamSynchronize:1", SMALL, REX_ECUDA,
         "axpy: device 0 is lost until the process ends, because kernel \"axpy\" failed: cuStreamSynchronize", true, NULL},
        {"cuStreamSynchronize:700", SMALL, REX_ECUDA,
         "axpy: device 0 is lost until the process ends, because kernel \"axpy\" failed: cuStreamSynchronize", true, NULL},
    };
    for (size_t i = 0; i < 2 * COUNT(faults); i++) {
        struct fault fault = faults[i / 2];
        fault.order = i % 2 == 0 ? "late" : "early";
        struct child child = run_child(meet_fault, &fault);
        if (child.status != 0)
            fail_msg("%s with %llu, %s: %d\n%s", fault.call, (unsigned long long)fault.n, fault.order, child.status, child.output);
    }
}

/* The driver refuses one deferred launch: the device is not lost. 701: too many registers; 720: a cooperative grid; 912: a cluster. */
TEST_OF_EACH(refuse_deferred, const char *, breaks, "cuLaunchKernel:701:0", "cuLaunchKernel:720:0", "cuLaunchKernel:912:0")
{
    setenv("REX_LAUNCH_BLOCKING", "off", 1);
    start(22);
    CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
    setenv("FAKE_CUDA_BREAKS", breaks, 1);
    REFUSED(launch_nothing(&plainly), REX_ECUDA, "0 bytes of dynamic shared memory: cuLaunchKernel");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
    CHECK_EQUAL(rex_device_sync(0), REX_OK);
}

/* Of two rows the second finds no memory: the first is given back. */
TEST_OF_EACH(lack_memory_for_a_row, const char *, check, "on", "full")
{
    enum { MOST_OF_IT = 80 << 20 };
    static char one[2 * MOST_OF_IT], *other = one + MOST_OF_IT;
    setenv("REX_CHECK", check, 1);
    start(22);
    CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
    size_t before = device_bytes();
    REFUSED(launch_on(0, REX_TO(one, MOST_OF_IT), REX_TO(other, MOST_OF_IT)), REX_ENOMEM,
            "kernel \"axpy\": map row 3: 83886080 bytes of device memory cannot be allocated: cuMemAlloc");
    CHECK_EQUAL(device_bytes(), before);
}

/* A launch context that cannot grow is as good as a new one. */
TEST_OF_EACH(lack_memory_to_grow, const char *, call, "cuMemHostAlloc:2:0", "cuMemAlloc:2:0")
{
    enum { MORE = (1 << 19) / 8 };
    static uint64_t in[MORE], out[MORE];
    start(22);
    fill(x, y, CELLS);
    CHECK_EQUAL(launch_axpy(), REX_OK);
    setenv("FAKE_CUDA_BREAKS", call, 1);
    REFUSED(launch_on(MORE, REX_TO(in, MORE), REX_TOFROM(out, MORE)), REX_ENOMEM, "axpy: 2097152 bytes of ");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(launch_axpy(), REX_OK);
    expect_axpy(x, y, CELLS, 1, 2);
    CHECK_EQUAL(launch_on(MORE, REX_TO(in, MORE), REX_TOFROM(out, MORE)), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(device_bytes(), 0);
}

/*
 * What fails names the whole grid; what comes after it, what was lost with it: a device, by libomptarget's number, which need not be the
 * driver's.
 */
TEST_IN_CHILD(name_grids)
{
#define GRID_IN_WORDS "kernel \"nothing\", 2 x 3 x 5 teams of 7 x 11 x 13 threads"
    struct rex_launch_config launch = {.key = &nothing_id, .device = 1, .teams = {2, 3, 5}, .threads = {7, 11, 13}, .dynamic_memory = 17};
    setenv("FAKE_DEVICES", "2", 1);
    use_gpu(90); /* without memory: the driver's only GPU is each of the two */
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    setenv("FAKE_CUDA_BREAKS", "cuLaunchKernel:719:0", 1);
    REFUSED(launch_nothing(&launch), REX_ECUDA,
            GRID_IN_WORDS ", 17 bytes of dynamic shared memory: cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED");
    launch.dynamic_memory = 70000;
    setenv("FAKE_CUDA_BREAKS", "cuFuncSetAttribute:719:0", 1);
    REFUSED(launch_nothing(&launch), REX_EINVAL,
            "kernel \"nothing\" cannot have 70000 bytes of dynamic shared memory: cuFuncSetAttribute: CUDA_ERROR_LAUNCH_FAILED");
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:719:0", 1);
    REFUSED(launch_nothing(&launch), REX_ECUDA, GRID_IN_WORDS ": cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED");
    REFUSED(launch_nothing(&launch), REX_ECUDA,
            "nothing: device 1 is lost until the process ends, because kernel \"nothing\" failed: cuStreamSynch");
}

/* The image is loaded by the first launch that can. */
static const struct {
    const char *call, *words;
} loads[] = {
    {"cuDevicePrimaryCtxRetain:719:2", "nothing: cuDevicePrimaryCtxRetain: CUDA_ERROR_LAUNCH_FAILED"},
    {"cuDevicePrimaryCtxRetain:719:3", "GPU 0 has no context for librex's own launches: cuDevicePrimaryCtxRetain: CUDA_ERROR_LAUNCH_FAILED"},
    {"cuModuleLoadData:719:1",
     "device image tests/data/stateless_sm_90.cubin cannot be loaded on GPU 0, for librex's own launches: cuModuleLoadData: CUDA_ERROR_LAUNCH_FAILED"},
    {"cuModuleGetFunction:719:0", "kernel \"nothing\": cuModuleGetFunction: CUDA_ERROR_LAUNCH_FAILED"},
    {"cuFuncLoad:719:0", "kernel \"nothing\": cuFuncLoad: CUDA_ERROR_LAUNCH_FAILED"},
};

TEST_FOR_EACH(load_in_vain, broken, loads)
{
    start(22);
    setenv("FAKE_CUDA_BREAKS", broken->call, 1);
    REFUSED(launch_nothing(&plainly), REX_ECUDA, broken->words);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
    expect_sent(1, 0);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK(driver_objects() == 0 && device_bytes() == 0 && context_users() == 0);
}

/* ---- who launches -------------------------------------------------------------------------------------------------------------------- */

/* Where the driver is demanded, another plugin's device is no error, */
TEST_IN_CHILD(allow_other_device)
{
    setenv("REX_LAUNCH_BY", "driver", 1);
    setenv("FAKE_CUDA_BREAKS", "cuPointerGetAttribute:1:0", 1);
    start(22);
    CHECK_EQUAL(launch_axpy(), REX_OK);
    expect_sent(0, 1);
}

/* nor is one beyond those that the driver's have a place for. */
TEST_IN_CHILD(allow_distant_device)
{
    struct rex_launch_config launch = plainly;
    launch.device = 64;
    setenv("FAKE_DEVICES", "65", 1);
    start(22);
    CHECK_EQUAL(launch_nothing(&launch), REX_OK);
    expect_sent(0, 1);
}

/* A driver that is too old does not launch: the log has the reason, and the error where the driver is demanded. */
static bool is_told;

static void find_old_driver(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    is_told |= strstr(message, "is launched by libomptarget: the CUDA driver is older than CUDA 11.4") != NULL;
}

TEST_OF_EACH(with_old_driver, bool, demanded, false, true)
{
    setenv("REX_LAUNCH_BY", demanded ? "driver" : "auto", 1);
    setenv("REX_LOG", "info", 1);
    rex_set_log_callback(find_old_driver, NULL);
    use_gpu_of("cuda-old", 90);
    use_release(16);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    if (demanded)
        REFUSED(launch_axpy(), REX_EUNSUPPORTED, "REX_LAUNCH_BY=driver, and only libomptarget can launch it: the CUDA driver is older than CUDA 11.4");
    else
        CHECK_EQUAL(launch_axpy(), REX_OK);
    CHECK_EQUAL(is_told, !demanded);
    expect_sent(0, !demanded);
    void *memory = rex_device_alloc(8, 0);
    CHECK_EQUAL(rex_device_fill(memory, &(char){3}, 1, 8, 0), REX_OK); /* libomptarget copies */
    rex_device_free(memory, 0);
}

/* rex_module_init() loads librex's own copy of the image, and the first launch loads none. */
TEST_IN_CHILD(load_before_launch)
{
    start(22);
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 1);
    CHECK_EQUAL(launch_axpy(), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 1);
}

/* LEFT bytes of the device's memory stay free. */
static void leave_memory(size_t left)
{
    size_t have, all;
    uint64_t block;
    CHECK_EQUAL(DRIVERS(int (*)(size_t *, size_t *), "cuMemGetInfo_v2")(&have, &all), 0);
    CHECK_EQUAL(DRIVERS(int (*)(uint64_t *, size_t), "cuMemAlloc_v2")(&block, have - left), 0);
}

/* Registers the module, whose load then takes what is left; with LESS it is a little short. */
static void make_memory_short(size_t less)
{
    start(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    size_t size = (newest_call(FAKE_REGISTER)->image_size + 511) / 512 * 512;
    leave_memory(size + REX_LOAD_MEMORY - less);
}

static void break_loads(const char *result)
{
    char broken[64];
    snprintf(broken, sizeof broken, "cuModuleLoadData:%s:0", result);
    setenv("FAKE_CUDA_BREAKS", broken, 1);
}

TEST_IN_CHILD(load_with_enough_memory)
{
    make_memory_short(0);
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 1);
}

/* Nothing comes to libomptarget, by any way, before an image that may not fit was loaded on trial. */
TEST_IN_CHILD(load_with_short_memory)
{
    REX_MAP(map, REX_TO(x, CELLS));
    struct __tgt_kernel_arguments packet = {.Version = 2, .Teams = {1, 1, 1}, .Threads = {32, 1, 1}};
    make_memory_short(512);
    break_loads("2");
    CHECK_EQUAL(rex_module_init(&module), REX_ENOMEM);
    CHECK_MENTIONS(rex_last_error(), "stateless_sm_90.cubin cannot be loaded on GPU 0, which has little memory left: "
                                     "cuModuleLoadData: CUDA_ERROR_OUT_OF_MEMORY");
    break_loads("719");
    CHECK_EQUAL(rex_module_init(&module), REX_ECUDA);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &map), REX_ECUDA);
    CHECK_EQUAL(rex_module_launch(&module, 0, 1, 32, &nothing_id, &packet), REX_ECUDA);
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 1, 32, &nothing_id, &packet), -1);
    __rex_real___tgt_target_data_begin(0, 0, NULL, NULL, NULL, NULL);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN] + the_record()->counts[FAKE_KERNEL], 0);
    CHECK(rex_device_alloc(8, 0) == NULL); /* from LLVM 20 on it would load the image, too */
    CHECK_EQUAL(rex_last_error_code(), REX_ECUDA);
    unsetenv("FAKE_CUDA_BREAKS");
    int before = driver_calls("cuModuleLoadData");
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), before + 2); /* on trial, and for librex's launches */
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), before + 2);
}

/* A module with device globals, which libomptarget launches. */
static char plain_id;
static struct __tgt_offload_entry plain_entry[] = {ENTRY(&plain_id, "plain")};
static struct rex_module with_globals = {
    .struct_size = sizeof(struct rex_module), .entries_begin = plain_entry, .entries_end = plain_entry + 1, .image_name = "tests/data/sm_90.cubin"};

static int launch_with_globals(void)
{
    struct rex_launch_config launch = rex_launch_config_of(&plain_id, 2, 64);
    REX_MAP(args, REX_VALUE(INT64_C(1)), REX_IS_DEVICE_PTR(pointer));
    return rex_module_launch_map(&with_globals, &launch, &args);
}

/* libomptarget would load an image that comes later at once. */
TEST_IN_CHILD(load_later_with_short_memory)
{
    make_memory_short(512);
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    break_loads("2");
    CHECK_EQUAL(rex_module_register(&with_globals, NULL), REX_ENOMEM);
    CHECK_MENTIONS(rex_last_error(), "sm_90.cubin cannot be loaded on GPU 0");
    CHECK_EQUAL(the_record()->registered, 1);
    unsetenv("FAKE_CUDA_BREAKS");
    int before = driver_calls("cuModuleLoadData");
    CHECK_EQUAL(rex_module_register(&with_globals, NULL), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), before + 1);
    CHECK_EQUAL(the_record()->registered, 2);
}

/* What a module keeps from one launch to the next is in libomptarget's load of it. That is the only one. */
TEST_IN_CHILD(obey_module)
{
    setenv("REX_LAUNCH_BY", "driver", 1);
    use_computing_gpu(22, "late");
    CHECK_EQUAL(rex_module_init(&with_globals), REX_OK);
    CHECK_EQUAL(newest_call(FAKE_BEGIN)->device, -1); /* the default one */
    REFUSED(launch_with_globals(), REX_EUNSUPPORTED, "the kernel's module has device globals, such as \"table\"");
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 0);
}

/* The driver gets no rows that are wrong. */
TEST_IN_CHILD(refuse_rows)
{
    uint64_t *none = NULL, *last = (uint64_t *)UINTPTR_MAX - 1;
    struct rex_map no_columns = {.count = 1};
    start(22);
    REFUSED(launch_on(0, REX_TO(none, 1), REX_TOFROM(y, CELLS)), REX_EINVAL, "map row 2 begins at NULL");
    REFUSED(launch_rows(&nothing_id, &no_columns), REX_EINVAL, "a column of the map is NULL (rows: 1)");
    REFUSED(launch_on(0, REX_TO(x, (INT64_C(1) << 37) + 1), REX_TOFROM(y, CELLS)), REX_ENOMEM, "more than a TiB");
    REFUSED(launch_on(0, rex_row_with(REX_TO(y, 0), REX_MAP_PRIVATE), REX_TOFROM(y, CELLS)), REX_EINVAL, "map row 2 is private and has no bytes");
    CHECK_EQUAL(launch_on(0, REX_TO(last, 2), REX_IS_DEVICE_PTR(none)), REX_OK); /* beyond all memory */
    for (int i = 0; i < 3; i++) /* a row inside a later one, which begins with it or before it; and two that overlap in part */
        CHECK_EQUAL(launch_on(0, REX_TO(x + (i == 1), 4), REX_TO(x + 2 * (i == 2), 8)), REX_EOVERLAP);
    expect_sent(0, 1);
}

/* A row inside an earlier one, at its begin, its end or between them, is a part of that one, be it small or large. */
TEST_OF_EACH(share_memory, int64_t, cells, 16, 300000)
{
    static uint64_t all[300000], wanted[300000];
    const int64_t places[] = {0, 3, cells - 8};
    start(22);
    for (size_t i = 0; i < COUNT(places); i++) {
        for (int j = 0; j < 8; j++)
            wanted[j] = ++all[j];
        for (int j = 0; j < 8; j++)
            wanted[places[i] + j] += wanted[j];
        CHECK_EQUAL(launch_on(8, REX_TOFROM(all, cells), REX_TOFROM(all + places[i], 8)), REX_OK);
        CHECK(memcmp(all, wanted, sizeof all) == 0);
    }
    expect_sent(COUNT(places), 0);
}

/* Of equal rows each copy is made, whichever asks for it; a part that asks for less than the whole gets no more. */
TEST_OF_EACH(unite_rows, int64_t, cells, 16, 300000)
{
    static uint64_t all[300000];
    const struct rex_row rows[][2] = {{REX_TO(all, cells), REX_FROM(all, cells)},
                                      {REX_FROM(all, cells), REX_TO(all, cells)},
                                      {REX_ALLOC(all, cells), REX_ALWAYS(REX_TOFROM(all, cells))},
                                      {REX_TOFROM(all, cells), REX_TO(all, cells)},
                                      {REX_TOFROM(all, cells), REX_ALLOC(all + 4, 4)}};
    start(22);
    for (size_t i = 0; i < COUNT(rows); i++) {
        all[cells - 1] = all[cells - 5] = 3;
        CHECK_EQUAL(launch_on((uint64_t)cells - 4, rows[i][0], rows[i][1]), REX_OK);
        CHECK_EQUAL(all[cells - 1], 3 + (i == 4 ? 3 : 0));
        CHECK_EQUAL(all[cells - 5], i == 4 ? 3 : 6);
    }
    expect_sent(COUNT(rows), 0);
}

/*
 * libomptarget cannot launch a kernel with such parameters. A row of no elements gives it the address that the release would: of the host, or
 * NULL, or where another row of the launch has it.
 */
TEST_OF_EACH(pass_no_elements, int, release, 14, 15, 16, 19, 22)
{
    enum { ROWS = 7 };
    struct rex_row none = REX_TO(x, 0), inside = REX_TO(y + 3, 0), section = REX_SECTION(REX_MAP_TO, x, 10, 0);
    uint64_t *nowhere = NULL, at_y;
    struct {
        double value[8];
    } large = {{0}}, *of_large = &large;
    struct {
        double value[2];
    } two = {{0}};
    start(release);
    REX_MAP(args, REX_TO(y, CELLS), REX_VALUE((char)1), REX_VALUE((short)1), REX_VALUE(1), REX_VALUE((int64_t)1), REX_BY_VALUE(two),
            REX_BY_VALUE(*of_large), REX_NO_PARAM(REX_TO(y, CELLS)));
#define GIVES(row, address)                                                                          \
    do {                                                                                             \
        args.base[0] = (row).base, args.begin[0] = (row).begin, args.sizes[0] = (row).size;          \
        CHECK_EQUAL(launch_rows(&widths_id, &args), REX_OK);                                         \
        CHECK_EQUAL(last_word, (address));                                                           \
    } while (0)
    args.count = ROWS;
    GIVES(none, release >= 16 ? (uintptr_t)x : 0);
    GIVES(REX_TO(nowhere, 0), 0);
    if (release >= 16)
        GIVES(section, (uintptr_t)x);
    CHECK_EQUAL(launch_rows(&widths_id, &args), REX_OK);
    args.count = ROWS + 1;
    if (release > 14) { /* which ends the row then */
        GIVES(inside, last_word);
        at_y = last_word - 24;
        CHECK(at_device(at_y, sizeof y) != NULL);
    }
    expect_sent(release >= 16 ? 5 : release > 14 ? 4 : 3, 0);
}

/*
 * What REX_LAUNCH_FOR() asks for: enough for the iterations, at most what the 132 multiprocessors of 2048 threads keep. libomptarget gets that
 * grid, too.
 */
static const struct {
    int64_t iterations;
    unsigned threads, teams;
} grids[] = {{-5, 128, 1},        {0, 128, 1},      {128, 128, 1},          {129, 128, 2},
             {270336, 128, 2112}, {600, 256, 3},    {INT64_MAX, 128, 2112}, {INT64_MAX, 256, 1056}};

TEST_OF_EACH(choose_grids, bool, by_driver, false, true)
{
    if (!by_driver)
        setenv("OMP_TEAM_LIMIT", "3000", 1);
    start(22);
    for (size_t i = 0; i < COUNT(grids); i++) {
        struct rex_launch_config launch = rex_launch_config_for(&nothing_id, grids[i].iterations);
        if (grids[i].threads != 128)
            launch.threads[0] = grids[i].threads;
        CHECK_EQUAL(launch_nothing(&launch), REX_OK);
        CHECK_EQUAL(by_driver ? last_grid[0] : last_call(FAKE_KERNEL)->grid[0], grids[i].teams);
        CHECK_EQUAL(by_driver ? last_block[0] : last_call(FAKE_KERNEL)->block[0], grids[i].threads);
    }
    struct rex_launch_config wrong[] = {rex_launch_config_for(&nothing_id, 1), rex_launch_config_for(&nothing_id, 1)};
    wrong[0].threads[0] = wrong[0].threads[1] = 1u << 31; /* there is no such block; */
    wrong[1].flags |= REX_LAUNCH_STRICT;                  /* a strict launch leaves nothing to choose */
    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK_EQUAL(launch_nothing(&wrong[i]), REX_EINVAL);
}

/* Exported for code that includes no header. */
int rex___tgt_target_teams(int64_t device, void *key, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types, int32_t teams,
                           int32_t threads);
int rex___tgt_target(int64_t device, void *key, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types);

/* What a packet leaves open its call says, if it says anything; else it is chosen. */
TEST_OF_EACH(complete_packets, bool, by_driver, false, true)
{
    static const struct {
        int32_t teams, threads, more_teams, more_threads;
        int64_t trip_count;
        unsigned grid, block;
    } asked[] = {{0, 0, 1, 1, 0, 1, 1},        {0, 0, 7, 96, 1000, 7, 96}, {3, 32, 7, 96, 1000, 3, 32}, {0, 0, 0, 0, 1000, 8, 128},
                 {0, 0, -1, -1, -5, 128, 128}, {0, 0, 0, 0, 0, 128, 128},  {3, 0, 7, 0, 1, 3, 128},     {0, 32, 0, 96, 33, 2, 32}};
    if (!by_driver)
        setenv("REX_LAUNCH_BY", "runtime", 1);
    start(22);
    for (size_t i = 0; i < COUNT(asked); i++) {
        struct __tgt_kernel_arguments packet = {
            .Version = 2, .Teams = {asked[i].teams}, .Threads = {asked[i].threads}, .Tripcount = asked[i].trip_count};
        CHECK_EQUAL(rex_module_launch(&module, 0, asked[i].more_teams, asked[i].more_threads, &nothing_id, &packet), 0);
        CHECK_EQUAL(by_driver ? last_grid[0] : last_call(FAKE_KERNEL)->grid[0], asked[i].grid);
        CHECK_EQUAL(by_driver ? last_block[0] : last_call(FAKE_KERNEL)->block[0], asked[i].block);
        REFUSED(rex_module_launch(&module, 9, 0, 0, &nothing_id, &packet), REX_EDEVICE, "device 9 does not exist");
    }
    /* The wrappers without a packet. */
    CHECK_EQUAL(rex___tgt_target(0, &nothing_id, 0, NULL, NULL, NULL, NULL), 0);
    CHECK_EQUAL(by_driver ? last_grid[0] * last_block[0] : last_call(FAKE_KERNEL)->grid[0] * last_call(FAKE_KERNEL)->block[0], 1);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex___tgt_target_teams(0, &nothing_id, 0, NULL, NULL, NULL, NULL, 3 * i, 32 * i), 0);
        CHECK_EQUAL(by_driver ? last_grid[0] : last_call(FAKE_KERNEL)->grid[0], i == 0 ? 128u : 3u);
        CHECK_EQUAL(by_driver ? last_block[0] : last_call(FAKE_KERNEL)->block[0], i == 0 ? 128u : 32u);
    }
    /* One dimension and more, in turn. */
    for (int i = 0; i < 12; i++) {
        struct __tgt_kernel_arguments packet = {.Version = 2, .Teams = {2, 1, 1}, .Threads = {8, 1, 1}};
        int32_t *changed = i < 6 ? packet.Teams : packet.Threads;
        changed[i / 2 % 3] += i % 2;
        CHECK_EQUAL(rex_module_launch(&module, 0, 0, 0, &nothing_id, &packet), 0);
        CHECK(memcmp(by_driver ? last_grid : last_call(FAKE_KERNEL)->grid, packet.Teams, sizeof packet.Teams) == 0);
        CHECK(memcmp(by_driver ? last_block : last_call(FAKE_KERNEL)->block, packet.Threads, sizeof packet.Threads) == 0);
    }
}

void __tgt_register_requires(int64_t flags);
static void require_unified(enum fake_function unused)
{
    (void)unused;
    __tgt_register_requires(8);
}

/* What stands against the driver may come up while a launch looks at its rows: then libomptarget launches, unless it has mapped for the driver. */
TEST_OF_EACH(turn_over, int, release, 18, 22)
{
    start(release);
    if (release == 18)
        map_on_device(0, y, sizeof y);
    rex_mappings_changed(); /* so that it looks */
    the_record()->on_data = require_unified;
    CHECK_EQUAL(release == 18 ? launch_attached() : launch_on(0, REX_TO(x, CELLS), REX_TOFROM(y, CELLS)), REX_OK);
    expect_sent(release == 18, release != 18);
}

/* ---- memory that is kept, and small updates ------------------------------------------------------------------------------------------- */

/* The memory of a launch is kept for the next one, until the program wants it. */
TEST_IN_CHILD(give_kept_memory)
{
    enum { LARGE = 4 << 20 };
    static char one[LARGE], other[LARGE];
    setenv("REX_COPY_THREADS", "2", 1);
    start(22);
    CHECK_EQUAL(launch_on(0, REX_TO(one, LARGE), REX_TO(other, LARGE)), REX_OK);
    CHECK(driver_calls("cuMemcpyHtoDAsync") > 2); /* threads copied it in pieces */
    size_t kept = device_bytes();
    void *small = rex_device_alloc(1, 0);
    CHECK(small != NULL && device_bytes() > kept);
    rex_device_free(small, 0);
    CHECK(rex_device_alloc(64 << 20, 0) != NULL);
}

static void map_row(enum fake_function function)
{
    const struct fake_call *call = &the_record()->calls[the_record()->count - 1];
    if (function == FAKE_BEGIN && call->packet.rows == 1)
        map_on_device(0, call->begin[0], (size_t)call->sizes[0]);
}

/* BYTES at HOST are mapped by a region, as far as librex sees. */
static void begin_region(void *host, size_t bytes)
{
    REX_MAP(region, REX_ALLOC((char *)host, bytes));
    the_record()->on_data = map_row;
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
}

/* Of the rows that are mapped those that are always copied are, each in its direction, be it one byte. */
TEST_IN_CHILD(copy_a_mapped_byte)
{
    start(22);
    begin_region(x, sizeof x);
    CHECK_EQUAL(launch_on(0, rex_row_with(REX_TO((char *)x, 1), REX_MAP_ALWAYS), rex_row_with(REX_TOFROM(x + 1, 0), REX_MAP_ALWAYS)), REX_OK);
    CHECK(driver_calls("cuMemcpyHtoDAsync") == 1 && driver_calls("cuMemcpyDtoHAsync") == 0);
    CHECK_EQUAL(launch_on(0, REX_TOFROM(x + 1, 1), rex_row_with(REX_FROM((char *)x, 1), REX_MAP_ALWAYS)), REX_OK);
    CHECK(driver_calls("cuMemcpyHtoDAsync") == 1 && driver_calls("cuMemcpyDtoHAsync") == 1);
    for (int i = 0; i < 2; i++) { /* beside one that is not mapped; and where it fails */
        CHECK_EQUAL(launch_on(0, rex_row_with(REX_TO(x, 1), REX_MAP_ALWAYS), rex_row_with(REX_TO(y, 1), REX_MAP_ALWAYS)), i == 0 ? REX_OK : REX_ECUDA);
        setenv("FAKE_CUDA_BREAKS", "cuMemcpyHtoDAsync:1:1", 1);
    }
}

static uint32_t updates_by_runtime(const struct rex_map *map)
{
    uint32_t before = the_record()->counts[FAKE_UPDATE];
    CHECK_EQUAL(rex_module_data_update(&module, 0, map), REX_OK);
    return the_record()->counts[FAKE_UPDATE] - before;
}

/* After so many rows that libomptarget copied; rows of one direction go together. */
TEST_IN_CHILD(update_together)
{
    start(22);
    begin_region(x, sizeof x);
    REX_MAP(alone, REX_TO(x, 8));
    REX_MAP(three, REX_TO(x, 8), REX_TO((char *)(x + 10), 1), REX_TO(x + 20, 8));
    REX_MAP(back, REX_FROM(x, 8), REX_FROM(x + 20, 8));
    back.mappers = (void *[]){NULL, NULL};
    for (int i = 1; i < 200 - 2; i++)
        CHECK_EQUAL(updates_by_runtime(&alone), 1);
    CHECK_EQUAL(updates_by_runtime(&three), 1); /* the third pays: libomptarget copies two */
    int waits = driver_calls("cuStreamSynchronize");
    CHECK_EQUAL(updates_by_runtime(&three), 0);
    CHECK_EQUAL(updates_by_runtime(&back), 0);
    CHECK_EQUAL(updates_by_runtime(&alone), 0);
    CHECK_EQUAL(driver_calls("cuStreamSynchronize"), waits + 3);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_current"), 0); /* no context of the driver's stays with the thread */
    back.mappers[0] = x; /* which alone knows what is copied */
    CHECK_EQUAL(updates_by_runtime(&back), 1);
    three.types[1] |= REX_MAP_PTR_AND_OBJ;
    CHECK_EQUAL(updates_by_runtime(&three), 1);
}

/* A row whose first or last byte is pinned libomptarget copies, and of several rows those alone. */
TEST_OF_EACH(update_beside_pinned, int, at, -16, -15, 0, 4096 - 1, 4096)
{
    char *middle = stretches();
    setenv("REX_COPY_THREADS", "1", 1);
    start(22);
    pin(middle, 4096);
    begin_region(middle - 4096, 3 * 4096);
    REX_MAP(rows, REX_TO(middle, 8), REX_TO(middle - 16, 8), REX_TO(middle + 8, 8), REX_TO(middle - 32, 8));
    CHECK_EQUAL(updates_by_runtime(&rows), 2);
    CHECK(last_call(FAKE_UPDATE)->packet.rows == 1 && last_call(FAKE_UPDATE)->begin[0] == middle + 8);
    REX_MAP(row, REX_TO(middle + at, 16));
    CHECK_EQUAL(updates_by_runtime(&row), at != -16 && at != 4096);
}

/* Rows that a call begins are mapped then; at an end none is any more. */
static void map_rows(enum fake_function function)
{
    const struct fake_call *call = &the_record()->calls[the_record()->count - 1];
    for (int i = 0; function == FAKE_BEGIN && i < (int)call->packet.rows; i++)
        if (rex_mapped_ptr(call->begin[i], 0) == NULL)
            map_on_device(i, call->begin[i], (size_t)call->sizes[i]);
    for (int i = 0; function == FAKE_END && i < 2; i++)
        the_record()->mappings[i].size = 0;
}

/* Threads copy large rows that a region maps, and those whose last end it is; libomptarget those that are mapped already, or stay. */
TEST_IN_CHILD(copy_large_rows)
{
    enum { LARGE = 4 << 20 };
    static char one[LARGE], other[LARGE];
    setenv("REX_COPY_THREADS", "2", 1);
    start(22);
    the_record()->on_data = map_rows;
    REX_MAP(both, REX_TOFROM(one, LARGE), REX_TOFROM(other, LARGE));
    REX_MAP(second, REX_TOFROM(other, LARGE));
    uint64_t **within = (uint64_t **)(void *)other;
    *within = pointer;
    REX_MAP(attached, REX_ATTACH(REX_MAP_TO, pointer, 0, CELLS));
    REX_MAP(attached_within, REX_ATTACH(REX_MAP_TO, *within, 0, CELLS));
    begin_region(other, LARGE);
    the_record()->on_data = map_rows;
    the_record()->mappings[1] = the_record()->mappings[0];
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &both), REX_OK);
    CHECK(!(newest_call(FAKE_BEGIN)->types[0] & REX_MAP_TO) && newest_call(FAKE_BEGIN)->types[1] & REX_MAP_TO);
    memset(at_device((uintptr_t)rex_mapped_ptr(one, 0), LARGE), 7, LARGE);
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &both), REX_OK);
    CHECK(!(newest_call(FAKE_END)->types[0] & REX_MAP_FROM) && newest_call(FAKE_END)->types[1] & REX_MAP_FROM);
    CHECK(one[0] == 7 && one[LARGE - 1] == 7);
    for (int i = 0; i < 3; i++) { /* the second time a pointer is attached elsewhere, the third time in the row */
        CHECK_EQUAL(rex_module_data_exit(&module, 0, &second), REX_OK);
        CHECK_EQUAL(newest_call(FAKE_END)->types[0] & REX_MAP_FROM, i > 1 ? REX_MAP_FROM : 0);
        CHECK_EQUAL(rex_module_data_enter(&module, 0, &second), REX_OK);
        CHECK_EQUAL(rex_module_data_enter(&module, 0, i == 0 ? &attached : &attached_within), REX_OK);
    }
}

/* ---- mapped by libomptarget, launched by the driver: plain kernels on LLVM 18 -------------------------------------------------------- */

/* Why the driver does not launch is told, be it for one byte; what was mapped is unmapped all the same. */
TEST_IN_CHILD(refuse_plain)
{
    char *bytes = (char *)y;
    start(18);
    REFUSED(launch_on(0, REX_FIRSTPRIVATE(x), REX_ATTACH(REX_MAP_TOFROM, bytes, 0, 1)), REX_EUNSUPPORTED,
            "librex does not launch the kernel by the driver instead: a row is mapped in part, or was mapped by a call that librex did not see");
    CHECK(the_record()->counts[FAKE_BEGIN] == the_record()->counts[FAKE_END] && computed == 0);
    struct rex_launch_config launch = plainly;
    launch.flags = REX_LAUNCH_NOWAIT;
    REFUSED(launch_nothing(&launch), REX_EUNSUPPORTED, "librex does not launch the kernel by the driver instead: the launch is asynchronous (nowait)");
    CHECK_EQUAL(launch_on(0, REX_FIRSTPRIVATE(x), REX_ATTACH(REX_MAP_TOFROM, bytes, 0, 0)), REX_OK);
    expect_sent(1, 0);
}

TEST_IN_CHILD(refuse_device)
{
    setenv("FAKE_CUDA_BREAKS", "cuPointerGetAttribute:1:0", 1);
    start(18);
    REFUSED(launch_nothing(&plainly), REX_EUNSUPPORTED, "librex does not launch the kernel by the driver instead: the device is not an NVIDIA GPU");
    expect_sent(0, 0);
}

/* What is wrong with the default device is not laid on the kernel. */
TEST_IN_CHILD(miss_device)
{
    struct rex_launch_config launch = plainly;
    launch.device = -1;
    use_computing_gpu(18, "late");
    setenv("OMP_DEFAULT_DEVICE", "99", 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    REFUSED(launch_nothing(&launch), REX_EDEVICE, "OMP_DEFAULT_DEVICE");
}

/* A packet whose kernel libomptarget has launched before names a device as well as the first one. */
TEST_IN_CHILD(miss_device_of_packet)
{
    struct __tgt_kernel_arguments packet = {.Version = 2, .Flags = REX_FLAG_NOWAIT, .Teams = {1, 1, 1}, .Threads = {32, 1, 1}};
    start(22);
    CHECK_EQUAL(rex_module_launch(&module, -1, 1, 32, &nothing_id, &packet), REX_OK);
    setenv("OMP_DEFAULT_DEVICE", "99", 1);
    REFUSED(rex_module_launch(&module, -1, 1, 32, &nothing_id, &packet), REX_EDEVICE, "OMP_DEFAULT_DEVICE");
    expect_sent(0, 1);
}

/* Where librex does not see all calls, a packet for the host is not launched on a GPU. */
TEST_IN_CHILD(keep_packet_on_host)
{
    struct __tgt_kernel_arguments packet = {.Version = 2, .Teams = {1, 1, 1}, .Threads = {32, 1, 1}};
    start(18);
    rex_add_process_reasons(REX_REASON_UNSEEN_CALLS);
    the_record()->result = -1;
    CHECK_EQUAL(rex_module_launch(&module, 1, 1, 32, &nothing_id, &packet), REX_EHOST);
    expect_sent(0, 1);
    CHECK_EQUAL(rex_module_launch(&module, 0, 1, 32, &nothing_id, &packet), REX_OK);
    expect_sent(1, 1);
}

/* The rows of launch_attached(), of which the last is the only one that is mapped. */
static void expect_mapped(const struct fake_call *call)
{
    for (int i = 0; i < 3; i++)
        CHECK(call->base[i] == NULL && call->begin[i] == NULL && call->sizes[i] == 0 && call->types[i] == 0);
    CHECK(call->base[3] == &pointer && call->begin[3] == y && call->sizes[3] == sizeof y);
    CHECK(call->packet.rows == 4 && call->types[3] == (REX_MAP_TOFROM | REX_MAP_PTR_AND_OBJ));
}

/* A kernel that libomptarget can launch it does. Where one loses the device, what was mapped for its launch is not ended: it would abort. */
TEST_IN_CHILD(lose_device)
{
    start(18);
    map_on_device(0, y, sizeof y);
    CHECK_EQUAL(launch_attached(), REX_OK);
    expect_mapped(newest_call(FAKE_BEGIN));
    expect_mapped(newest_call(FAKE_END));
    REX_MAP(env, REX_VALUE(INT64_C(1)), REX_VALUE(INT64_C(1)), REX_FIRSTPRIVATE(x), REX_ATTACH(REX_MAP_TOFROM, pointer, 0, CELLS));
    CHECK_EQUAL(launch_rows(&env_id, &env), REX_OK);
    expect_sent(1, 1);
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:700:0", 1);
    CHECK_EQUAL(launch_attached(), REX_ECUDA);
    CHECK(the_record()->counts[FAKE_BEGIN] == 2 && the_record()->counts[FAKE_END] == 1);
}
