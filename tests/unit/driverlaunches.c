/*
 * driverlaunches.c - launches by the driver beside their results: which go to libomptarget and what the log says, the grid, the trace, and
 * what is loaded ahead.
 *
 * libomptarget is a fake, which launches nothing; the driver is a fake with memory, whose kernels are functions of the test. The program
 * exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include "launch/launch.h"
#include "module/modules.h"
#include "omp/mappingend.h"
#include "rex/launch.h"
#include "rex/queue.h"
#include "rex_kmp.h"
#include "stateless.h"

static struct {
    unsigned grid[3], block[3];
    uint64_t word[4]; /* of axpy's parameters */
} last;

static void nothing(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)parameters;
    memcpy(last.grid, grid, sizeof last.grid);
    memcpy(last.block, block, sizeof last.block);
    computed++;
}

static void axpy(const unsigned *grid, const unsigned *block, void **parameters)
{
    for (int i = 0; i < 4; i++)
        last.word[i] = word(parameters, (size_t)i);
    nothing(grid, block, parameters);
}

static void bind_kernels(void)
{
    static const size_t words[] = {8, 8, 8, 8};
    name_kernel("axpy__kernel__", axpy, 4, words);
    name_kernel("nothing__kernel__", nothing, 0, words);
}

static void start_on(int release)
{
    use_computing_gpu(release, "late");
    bind_kernels();
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

static void start(void)
{
    start_on(22);
}

static uint64_t x[10], y[10];

/* axpy, with four rows. */
static int launch_with(uint32_t flags)
{
    uint64_t n = 10, a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    launch.flags = flags;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 10), REX_TOFROM(y, 10));
    return rex_module_launch_map(&module, &launch, &args);
}

int omp_target_associate_ptr(const void *host, const void *on_device, size_t size, size_t offset, int device);
int omp_target_disassociate_ptr(const void *host, int device);

/* Memory that the program maps without a data call is not absent; what is absent is still the driver's. */
static void associate(const void *unused)
{
    static uint64_t z[10];
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    uint64_t n = 10, a = 1;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 10), REX_TOFROM(z, 10));
    (void)unused;
    start();
    CHECK_EQUAL(launch_with(0), REX_OK);
    uint32_t asked = the_record()->lookups;
    CHECK_EQUAL(launch_with(0), REX_OK);
    CHECK_EQUAL(the_record()->lookups, asked); /* nothing is asked while all is seen */
    expect_sent(2, 0);
    CHECK_EQUAL(omp_target_associate_ptr(y, x, sizeof y, 8, 0), 0);
    CHECK_EQUAL(the_record()->mappings[0].device, (uintptr_t)x + 8);
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(2, 1);
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
    expect_sent(3, 1);
    uint64_t before = rex_mapping_now();
    the_record()->mappings[0].size = 0;
    CHECK_EQUAL(omp_target_disassociate_ptr(y, 0), 1); /* as the fake says */
    CHECK(rex_mapping_now() != before);
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(4, 1);
}

static int launch_nothing(const struct rex_launch_config *launch)
{
    return rex_module_launch_map(&module, launch, NULL);
}

static const struct rex_launch_config plainly = {.key = &nothing_id, .teams = {2, 1, 1}, .threads = {64, 1, 1}};

/* ---- what is libomptarget's ---------------------------------------------------------------------------------------------------------- */

/* What stands against the process is obeyed, and told. */
static void obey_process(const void *unused)
{
    (void)unused;
    setenv("OMP_TEAM_LIMIT", "3", 1);
    start();
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(0, 1);
}

/* Of the kernel: it is libomptarget's by its mode, or nobody knows its parameters. */
static void obey_kernel(const void *unused)
{
    struct rex_target target;
    (void)unused;
    start();
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(1, 0);
    CHECK_EQUAL(rex_resolve(&module, &axpy_id, 0, &target), REX_OK);
    const struct rex_kernel_facts facts = rex_target_facts(&target);
    struct rex_kernel_facts changed = facts, known = facts;
    changed.flags |= REX_FACT_MANAGED;
    CHECK(rex_target_change_facts(&target, &known, changed));
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(1, 1);
    changed = facts;
    changed.parameters = REX_PARAMETERS_UNKNOWN;
    known = rex_target_facts(&target);
    CHECK(rex_target_change_facts(&target, &known, changed));
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(1, 2);
}

/* Of a row. */
static void obey_rows(const void *unused)
{
    (void)unused;
    start();
    uint64_t n = 10, a = 1, *at = y;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 10), REX_ATTACH(REX_MAP_TOFROM, at, 0, 10));
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
    expect_sent(0, 1);
}

/* Of the module: what it keeps from one launch to the next is in libomptarget's load of it. That is the only one. */
static void obey_module(const void *unused)
{
    static char key;
    static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
    static struct rex_module other = {
        .struct_size = sizeof(struct rex_module), .entries_begin = entry, .entries_end = entry + 1, .image_name = "tests/data/sm_90.cubin"};
    int64_t value = 1;
    struct rex_launch_config launch = rex_launch_config_of(&key, 2, 64);
    (void)unused;
    use_computing_gpu(22, "late");
    CHECK_EQUAL(rex_module_init(&other), REX_OK);
    REX_MAP(args, REX_VALUE(value), REX_VALUE(value));
    CHECK_EQUAL(rex_module_launch_map(&other, &launch, &args), REX_OK);
    expect_sent(0, 1);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 0);
}

/* One is not waited for; from then on nobody knows what is at work on what is mapped. */
static void obey_launch(const void *unused)
{
    (void)unused;
    start();
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
    expect_sent(2, 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(launch_with(REX_LAUNCH_NOWAIT), REX_OK);
    CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
    expect_sent(2, 3);
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_NOT_WAITED);
}

/* Exported beside those that rex_kmp.h declares. */
void begin_nowait(int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types, int32_t all, void *list,
                  int32_t others, void *other_list) __asm__("__tgt_target_data_begin_nowait");
int target_nowait(int64_t device, void *key, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types, int32_t all,
                  void *list, int32_t others, void *other_list) __asm__("__tgt_target_nowait");
int target_kernel(void *place, int64_t device, int32_t teams, int32_t threads, void *key,
                  struct __tgt_kernel_arguments *packet) __asm__("__tgt_target_kernel");
void register_requires(int64_t flags) __asm__("__tgt_register_requires");

/* Calls of others, by way of the forwarders: whether they stand against the driver from then on. Each ends its claims. */
static void call_as_others(const void *way)
{
    uint64_t n = 10, a = 1;
    unsigned against = REX_AGAINST_NOT_WAITED;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 10), REX_TOFROM(y, 10));
    struct __tgt_kernel_arguments packet = {
        .Version = 2, .NumArgs = args.count, .ArgsBase = args.base, .Args = args.begin, .ArgSizes = args.sizes, .ArgTypes = args.types};
    start();
    switch (*(const int *)way) {
    case 0: begin_nowait(0, REX_MAP_ARGUMENTS(args), 0, NULL, 0, NULL); break;
    case 1: target_nowait(0, &axpy_id, REX_MAP_ARGUMENTS(args), 0, NULL, 0, NULL); break;
    case 2:
        packet.Flags = 1;
        target_kernel(NULL, 0, 2, 64, &axpy_id, &packet);
        break;
    case 3:
        register_requires(8); /* unified shared memory */
        against = REX_AGAINST_UNIFIED;
        break;
    case 4:
        register_requires(1);
        against = 0;
        break;
    default: target_kernel(NULL, 0, 2, 64, &axpy_id, &packet); against = 0;
    }
    CHECK_EQUAL(rex_against_all(), against);
    CHECK_EQUAL(the_record()->counts[FAKE_REQUIRES], *(const int *)way == 3 || *(const int *)way == 4);
    CHECK_EQUAL(launch_with(0), REX_OK);
    CHECK_EQUAL(computed, against == 0);
}

/* The log was off before. */
static void tell_later(const void *not_waited)
{
    setenv("REX_LOG", "warn", 1);
    start();
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(not_waited != NULL ? launch_with(REX_LAUNCH_NOWAIT) : launch_nothing(&plainly), REX_OK);
        CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    }
}

#define BY_RUNTIME(why) "kernel \"axpy__kernel__\" is launched by libomptarget: " why
#define BY_DRIVER "kernel \"nothing__kernel__\" is launched by the CUDA driver"

static void expect_once(const char *output, const char *words)
{
    if (occurrences(output, words) != 1)
        fail_msg("not once \"%s\" in:\n%s", words, output);
}

TEST(test_reasons)
{
    for (int way = 0; way < 6; way++)
        in_child(call_as_others, &way);
    setenv("REX_LOG", "info", 1);
    expect_once(in_child(obey_process, NULL), BY_RUNTIME("OMP_TEAM_LIMIT is set, which libomptarget obeys"));
    in_child(obey_kernel, NULL);
    expect_once(in_child(obey_rows, NULL), BY_RUNTIME("a row has a type that only libomptarget maps"));
    in_child(associate, NULL);
    expect_once(in_child(obey_module, NULL), "is launched by libomptarget: its module has device globals, \"table\" for one");
    const char *output = in_child(obey_launch, NULL);
    expect_once(output, BY_RUNTIME("it is not waited for"));
    expect_once(output, BY_DRIVER);
    expect_once(output, "loaded tests/data/stateless_sm_90.cubin on GPU 0 a second time, for librex's own launches");
    expect_once(in_child(tell_later, ""), BY_RUNTIME("the program has made launches or data calls that are not waited for"));
    expect_once(in_child(tell_later, NULL), BY_DRIVER);
    unsetenv("REX_LOG");
}

/* ---- where no other is allowed ------------------------------------------------------------------------------------------------------- */

TEST_IN_CHILD(refuse_runtime)
{
    setenv("REX_LAUNCH_BY", "driver", 1);
    start();
    CHECK_EQUAL(launch_with(0), REX_OK);
    CHECK_EQUAL(launch_with(REX_LAUNCH_NOWAIT), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(),
                   "kernel \"axpy__kernel__\": REX_LAUNCH_BY=driver, and only libomptarget can launch it: it is not waited for");
    expect_sent(1, 0);
}

/* Where there is no such driver, or the device is none of its, that is no error. */
TEST_IN_CHILD(allow_other_device)
{
    setenv("REX_LAUNCH_BY", "driver", 1);
    setenv("FAKE_CUDA_BREAKS", "cuPointerGetAttribute:1:0", 1); /* another plugin's memory */
    start();
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(0, 1);
}

TEST_IN_CHILD(allow_old_driver)
{
    setenv("REX_LAUNCH_BY", "driver", 1);
    setenv("FAKE_CUDA_SM", "90", 1);
    CHECK(dlopen(FAKE("cuda-old/libcuda.so.1"), RTLD_NOW) != NULL);
    use_release(16);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_NO_DRIVER);
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(0, 1);
}

/* Nor where nothing is offloaded. */
TEST_IN_CHILD(allow_host)
{
    struct __tgt_kernel_arguments packet = {.Version = 2};
    setenv("REX_LAUNCH_BY", "driver", 1);
    use_computing_gpu(22, "late");
    setenv("OMP_TARGET_OFFLOAD", "DISABLED", 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(launch_nothing(&plainly), REX_EHOST);
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_DISABLED);
    CHECK_EQUAL(rex_module_launch(&module, 0, 2, 64, &nothing_id, &packet), 0); /* as the fake says */
    /* nor are rows looked for, which are wrong all the same */
    REX_MAP(args, REX_TO(x, 10));
    CHECK_EQUAL(rex_launch_check(&module, &plainly, &args, REX_FOR_LAUNCH), REX_OK);
    args.sizes[0] = -8;
    CHECK_EQUAL(rex_launch_check(&module, &plainly, &args, REX_FOR_LAUNCH), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "a launch: map row 0 has a negative size");
}

/* ---- the launch itself --------------------------------------------------------------------------------------------------------------- */

static void expect_grid(const unsigned *grid, const unsigned *block, unsigned dynamic_memory)
{
    CHECK(memcmp(last.grid, grid, sizeof last.grid) == 0 && memcmp(last.block, block, sizeof last.block) == 0);
    CHECK_EQUAL(*(unsigned *)in_driver("fake_cuda_dynamic_memory"), dynamic_memory);
}

#define GRID(...) ((const unsigned[3]){__VA_ARGS__})

TEST_IN_CHILD(send_grids)
{
    struct rex_launch_config launch = {.key = &nothing_id, .trip_count = 1000};
    start();
    /* what is not given is chosen */
    CHECK_EQUAL(launch_nothing(&launch), REX_OK);
    expect_grid(GRID(8, 1, 1), GRID(128, 1, 1), 0);
    launch = (struct rex_launch_config){.key = &nothing_id, .teams = {5, 4, 3}, .threads = {32, 2, 1}, .dynamic_memory = 4096};
    CHECK_EQUAL(launch_nothing(&launch), REX_OK);
    expect_grid(GRID(5, 4, 3), GRID(32, 2, 1), 4096);
    CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), 0);
    /* more than a block has unasked */
    for (int i = 0; i < 2; i++) {
        launch.dynamic_memory = 100000;
        CHECK_EQUAL(launch_nothing(&launch), REX_OK);
        expect_grid(GRID(5, 4, 3), GRID(32, 2, 1), 100000);
        CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), 1);
    }
    /* and more than there is */
    launch.dynamic_memory = 300000;
    CHECK_EQUAL(launch_nothing(&launch), REX_EUNSUPPORTED);
    launch = plainly;
    launch.teams[1] = 70000;
    CHECK_EQUAL(launch_nothing(&launch), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "70000");
    expect_sent(4, 0);
}

/* A row that is no argument of the kernel, and a device that there is not. */
TEST_IN_CHILD(send_packets)
{
    start();
    uint64_t n = 10, a = 1;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 10), REX_TO(x, 10), REX_TOFROM(y, 10));
    args.types[2] = REX_MAP_TO;
    struct __tgt_kernel_arguments packet = {
        .Version = 2, .NumArgs = args.count, .ArgsBase = args.base, .Args = args.begin, .ArgSizes = args.sizes, .ArgTypes = args.types};
    CHECK_EQUAL(rex_module_launch(&module, 0, 2, 64, &axpy_id, &packet), 0);
    CHECK_EQUAL(rex_module_launch(&module, 7, 2, 64, &axpy_id, &packet), REX_EDEVICE);
    CHECK_EQUAL(rex_last_error_code(), REX_EDEVICE);
    expect_sent(1, 0);
}

#define GRID_IN_WORDS "kernel \"nothing__kernel__\", 2 x 3 x 5 teams of 7 x 11 x 13 threads"

/* What fails names the whole grid; what comes after it, what was lost with it. */
TEST_IN_CHILD(name_grids)
{
    struct rex_launch_config launch = {.key = &nothing_id, .teams = {2, 3, 5}, .threads = {7, 11, 13}, .dynamic_memory = 17};
    start();
    setenv("FAKE_CUDA_BREAKS", "cuLaunchKernel:719:0", 1);
    CHECK_EQUAL(launch_nothing(&launch), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), GRID_IN_WORDS ", 17 bytes of dynamic shared memory: cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED");
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:719:0", 1);
    CHECK_EQUAL(launch_nothing(&launch), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), GRID_IN_WORDS ": cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED");
    CHECK_EQUAL(launch_nothing(&launch), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "nothing__kernel__: device 0 is lost, since kernel \"nothing__kernel__\" met with cuStreamSynch");
}

/* What a packet leaves open its call says, if it says anything; else it is chosen. */
TEST_IN_CHILD(complete_packets)
{
    static const struct {
        int32_t teams, threads, more_teams, more_threads;
        int64_t trip_count;
        unsigned grid, block;
    } asked[] = {{0, 0, 1, 1, 0, 1, 1},        {0, 0, 7, 96, 1000, 7, 96}, {3, 32, 7, 96, 1000, 3, 32}, {0, 0, 0, 0, 1000, 8, 128},
                 {0, 0, -1, -1, -5, 128, 128}, {0, 0, 0, 0, 0, 128, 128},  {3, 0, 7, 0, 1, 3, 128},     {0, 32, 0, 96, 33, 2, 32}};
    start();
    for (size_t i = 0; i < COUNT(asked); i++) {
        struct __tgt_kernel_arguments packet = {
            .Version = 2, .Teams = {asked[i].teams}, .Threads = {asked[i].threads}, .Tripcount = asked[i].trip_count};
        CHECK_EQUAL(rex_module_launch(&module, 0, asked[i].more_teams, asked[i].more_threads, &nothing_id, &packet), 0);
        expect_grid(GRID(asked[i].grid, 1, 1), GRID(asked[i].block, 1, 1), 0);
    }
    expect_sent((int)COUNT(asked), 0);
}

static void expect_teams(const struct rex_launch_config *launch, unsigned teams)
{
    CHECK_EQUAL(launch_nothing(launch), REX_OK);
    CHECK_EQUAL(last.grid[0], teams);
}

/* What REX_LAUNCH_FOR() asks for: enough for the iterations, at most what the 132 multiprocessors of 2048 threads keep. */
TEST_IN_CHILD(choose_grids)
{
    static const struct {
        int64_t iterations;
        uint32_t threads, teams;
    } asked[] = {{0, 128, 1},         {-5, 128, 1},           {1, 128, 1},            {128, 128, 1},         {129, 128, 2},
                 {270336, 128, 2112}, {270337, 128, 2112},    {INT64_MAX, 128, 2112}, {INT64_MAX, 256, 1056}, {600, 256, 3}};
    struct rex_launch_config launch;
    start();
    for (size_t i = 0; i < COUNT(asked); i++) {
        launch = rex_launch_config_for(&nothing_id, asked[i].iterations);
        if (asked[i].threads != 128)
            launch.threads[0] = asked[i].threads;
        expect_teams(&launch, asked[i].teams);
        CHECK_EQUAL(last.block[0], asked[i].threads);
    }
    /* what the program gives stays, */
    launch.teams[0] = 5000;
    expect_teams(&launch, 5000);
    /* also where there is no such block; */
    launch = (struct rex_launch_config){.key = &nothing_id, .threads = {1u << 31, 1u << 31, 4}, .flags = REX_LAUNCH_GRID_STRIDE};
    CHECK_EQUAL(launch_nothing(&launch), REX_EINVAL);
    /* a strict launch leaves nothing to choose; */
    launch = rex_launch_config_for(&nothing_id, 1);
    launch.flags |= REX_LAUNCH_STRICT;
    CHECK_EQUAL(launch_nothing(&launch), REX_EINVAL);
    /* and a queue does the same. */
    launch = rex_launch_config_for(&nothing_id, INT64_MAX);
    CHECK_EQUAL(rex_module_queue_create(&launch.queue, &module, 0, NULL, 0, NULL), REX_OK);
    CHECK_EQUAL(launch_nothing(&launch), REX_OK);
    CHECK_EQUAL(rex_queue_sync(launch.queue), REX_OK);
    CHECK_EQUAL(last.grid[0], 2112);
    CHECK_EQUAL(rex_queue_destroy(launch.queue), REX_OK);
}

/* libomptarget gets that grid, too. */
TEST_IN_CHILD(choose_for_runtime)
{
    struct rex_launch_config launch = rex_launch_config_for(&nothing_id, INT64_MAX);
    setenv("OMP_TEAM_LIMIT", "3000", 1);
    start();
    CHECK_EQUAL(launch_nothing(&launch), REX_OK);
    expect_sent(0, 1);
    CHECK_EQUAL(last_call(FAKE_KERNEL)->grid[0], 2112);
}

static void expect_said(int result, int wanted, const char *said)
{
    CHECK_EQUAL(result, wanted);
    if (strcmp(rex_last_error(), said) != 0) {
        fprintf(stderr, "%s\nand not\n%s\n", rex_last_error(), said);
        _exit(99);
    }
}

/* What is no argument for a parameter is refused before anything is copied, and leaves no memory behind. */
TEST_OF_EACH(refuse_arguments, const char *, check, "on", "full")
{
    struct {
        uint64_t word[2];
    } wide = {{1, 2}};
    uint64_t n = 10;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(by_value, REX_VALUE(n), REX_BY_VALUE(wide), REX_TO(x, 10), REX_TOFROM(y, 10));
    setenv("REX_CHECK", check, 1);
    start();
    CHECK_EQUAL(launch_with(0), REX_OK);
    size_t before = device_bytes();
    int copies = driver_calls("cuMemcpyHtoDAsync");
    expect_said(rex_module_launch_map(&module, &launch, &by_value), REX_EPARAMS,
                "argument 2 of axpy is a value of 16 bytes, its parameter is uint64_t; row 1 is REX_BY_VALUE(wide); it takes "
                "(uint64_t, uint64_t, pointer, pointer)");
    CHECK(device_bytes() == before && driver_calls("cuMemcpyHtoDAsync") == copies);
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(2, 0);
}

/* Each value is refused by the kinds that the image has, where it is of a kind that its parameter is not. */
TEST_IN_CHILD(refuse_kinds)
{
    static char kinds_id;
    static struct __tgt_offload_entry kinds_entry[] = {ENTRY(&kinds_id, "kinds")};
    static struct rex_module typed = {.struct_size = sizeof(struct rex_module),
                                      .entries_begin = kinds_entry,
                                      .entries_end = kinds_entry + 1,
                                      .image_name = "tests/data/typed_sm_90.cubin"};
    struct {
        char bytes[3];
    } three = {""};
    struct rex_launch_config launch = rex_launch_config_of(&kinds_id, 2, 64);
    char said[60];
    use_computing_gpu(22, "late");
    REX_MAP(args, REX_VALUE((int8_t)1), REX_VALUE((uint8_t)1), REX_VALUE((int16_t)1), REX_VALUE((uint16_t)1), REX_VALUE(1), REX_VALUE(1u),
            REX_VALUE(1L), REX_VALUE(1ULL), REX_VALUE(1.0f), REX_VALUE(1.0), REX_VALUE((bool)1), REX_VALUE(three), REX_VALUE(1u), REX_TO(x, 10));
    CHECK_EQUAL(rex_module_launch_map(&typed, &launch, &args), REX_OK);
    for (int i = 0; i < args.count; i++) {
        int64_t type = args.types[i], size = args.sizes[i];
        struct rex_row wrong = i == 9 ? REX_VALUE(1.0f) : REX_VALUE(1.0);
        args.types[i] = wrong.type, args.sizes[i] = wrong.size;
        CHECK_EQUAL(rex_module_launch_map(&typed, &launch, &args), REX_EPARAMS);
        snprintf(said, sizeof said, "argument %d of kinds is %s, its parameter is ", i + 1, i == 9 ? "float" : "double");
        CHECK_MENTIONS(rex_last_error(), said);
        args.types[i] = type, args.sizes[i] = size;
    }
    CHECK_EQUAL(rex_module_launch_map(&typed, &launch, &args), REX_OK);
}

/* Dynamic memory beyond what a block has unasked is asked for once, and again where the driver has refused it or there is more. */
TEST_IN_CHILD(ask_for_memory)
{
    static const struct {
        unsigned bytes;
        int calls;
    } asked[] = {{49152, 0}, {49153, 1}, {49153, 1}, {60000, 2}, {59999, 2}, {49152, 2}, {60001, 3}};
    struct rex_launch_config launch = plainly;
    start();
    for (size_t i = 0; i < COUNT(asked); i++) {
        launch.dynamic_memory = asked[i].bytes;
        CHECK_EQUAL(launch_nothing(&launch), REX_OK);
        CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), asked[i].calls);
    }
    launch.dynamic_memory = 70000;
    setenv("FAKE_CUDA_BREAKS", "cuFuncSetAttribute:719:0", 1);
    expect_said(launch_nothing(&launch), REX_EINVAL,
                "kernel \"nothing__kernel__\": 70000 bytes of dynamic shared memory: cuFuncSetAttribute: CUDA_ERROR_LAUNCH_FAILED");
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(launch_nothing(&launch), REX_OK);
    CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), 5);
}

/* The image is loaded by the first launch that can. */
static void load_in_vain(const void *given)
{
    const char *const *broken = given; /* and what the launch says */
    start();
    setenv("FAKE_CUDA_BREAKS", broken[0], 1);
    expect_said(launch_nothing(&plainly), REX_ECUDA, broken[1]);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
    expect_sent(1, 0);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK(driver_objects() == 0 && device_bytes() == 0 && context_users() == 0);
}

TEST(test_loads)
{
    static const char *const broken[][2] = {
        {"cuDevicePrimaryCtxRetain:719:2", "GPU 0: cuDevicePrimaryCtxRetain: CUDA_ERROR_LAUNCH_FAILED"},
        {"cuModuleLoadData:719:1",
         "device image tests/data/stateless_sm_90.cubin, for librex's own launches on GPU 0: cuModuleLoadData: CUDA_ERROR_LAUNCH_FAILED"},
        {"cuModuleGetFunction:719:0", "kernel \"nothing__kernel__\": cuModuleGetFunction: CUDA_ERROR_LAUNCH_FAILED"},
        {"cuFuncLoad:719:0", "kernel \"nothing__kernel__\": cuFuncLoad: CUDA_ERROR_LAUNCH_FAILED"}};
    for (size_t i = 0; i < COUNT(broken); i++)
        in_child(load_in_vain, broken[i]);
}

/* ---- written down -------------------------------------------------------------------------------------------------------------------- */

static void write_down(const void *path)
{
    struct rex_launch_config launch = {
        .key = &nothing_id, .teams = {5, 4, 3}, .threads = {32, 2, 1}, .dynamic_memory = 4096, .trip_count = 77};
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, path), REX_OK);
    start();
    CHECK_EQUAL(launch_nothing(&launch), REX_OK);
    CHECK_EQUAL(launch_with(0), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    exit(0);
}

static void log_rows(const void *unused)
{
    (void)unused;
    setenv("REX_LOG", "debug", 1);
    start();
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_sent(1, 0);
}

TEST(test_written)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    size_t size;
    make_folder(folder);
    snprintf(path, sizeof path, "%s/trace", folder);
    in_child(write_down, path);
    char *text = (char *)read_bytes(path, &size);
    text[size - 1] = '\0';
    assert_int_equal(occurrences(text, "\"function\":\"cuLaunchKernel\""), 2);
    assert_non_null(strstr(text, "\"teams\":[5,4,3],\"threads\":[32,2,1]"));
    assert_non_null(strstr(text, "\"dynamic_memory\":4096,\"trip_count\":77"));
    free(text);
    remove_folder(folder);
    const char *output = in_child(log_rows, NULL);
    expect_once(output, "axpy__kernel__: device 0, 2 x 1 x 1 teams of 64 x 1 x 1 threads, 0 bytes of dynamic shared memory, 4 rows");
    expect_once(output, "axpy__kernel__: row 3: ");
}

/* ---- ahead of the first ones ----------------------------------------------------------------------------------------------------------
 */

static void expect_calls(int loads, int streams, int pinned)
{
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), loads);
    CHECK_EQUAL(driver_calls("cuStreamCreate"), streams);
    CHECK_EQUAL(driver_calls("cuMemAlloc"), pinned + 1); /* and one to see whose memory it is */
}

/* The first launch finds all it needs. */
TEST_IN_CHILD(prepare)
{
    use_computing_gpu(22, "late");
    bind_kernels();
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    expect_calls(1, 1, 1);
    CHECK_EQUAL(launch_with(0), REX_OK);
    CHECK_EQUAL(launch_with(0), REX_OK);
    expect_calls(1, 1, 1);
    expect_sent(2, 0);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK(device_bytes() == 0 && driver_objects() == 0 && context_users() == 0);
}

/* Where the first launch would not go there, nothing is loaded. */
TEST_IN_CHILD(prepare_host)
{
    use_computing_gpu(22, "late");
    setenv("OMP_DEFAULT_DEVICE", "1", 1); /* the host */
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 0);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

TEST_IN_CHILD(prepare_other_device)
{
    use_computing_gpu(22, "late");
    setenv("FAKE_CUDA_BREAKS", "cuPointerGetAttribute:1:0", 1);
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    expect_calls(0, 0, 0);
}

TEST_IN_CHILD(prepare_bad_image)
{
    use_computing_gpu(22, "late");
    setenv("FAKE_CUDA_BREAKS", "cuModuleLoadData:200:0", 1);
    CHECK_EQUAL(rex_module_init(&module), REX_OK);
    expect_calls(1, 1, 0);
    unsetenv("FAKE_CUDA_BREAKS");
    bind_kernels();
    CHECK_EQUAL(launch_with(0), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

/* ---- mapped by libomptarget, launched by the driver: plain kernels on LLVM 18 -------------------------------------------------------- */

static uint64_t *pointer = y, *pointer_to_x = x;

static int launch_pointee(void)
{
    uint64_t n = 10, a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_FIRSTPRIVATE(x), REX_ATTACH(REX_MAP_TOFROM, pointer, 0, 10));
    return rex_module_launch_map(&module, &launch, &args);
}

/* What is mapped and unmapped is the launch's rows without what is the kernel's alone; the kernel gets where they lie. */
TEST_IN_CHILD(map_around)
{
    start_on(18);
    uint64_t device = map_on_device(0, y, sizeof y);
    CHECK_EQUAL(launch_nothing(&plainly), REX_OK);
    uint32_t before = the_record()->count;
    CHECK_EQUAL(launch_pointee(), REX_OK);
    expect_sent(2, 0);
    CHECK(last.word[0] == 10 && last.word[1] == 1 && last.word[3] == device);
    CHECK_EQUAL(*(uint64_t *)at_device(last.word[2], 8), x[0]);
    CHECK_EQUAL(the_record()->count, before + 2);
    const struct fake_call *begin = &the_record()->calls[before], *end = begin + 1;
    CHECK(begin->function == FAKE_BEGIN && end->function == FAKE_END);
    CHECK(begin->packet.rows == 4 && end->packet.rows == 4);
    for (int i = 0; i < 3; i++)
        CHECK(begin->base[i] == NULL && begin->begin[i] == NULL && begin->sizes[i] == 0 && begin->types[i] == 0);
    CHECK(begin->base[3] == &pointer && begin->begin[3] == y && begin->sizes[3] == sizeof y);
    CHECK_EQUAL(begin->types[3], REX_MAP_TOFROM | REX_MAP_PTR_AND_OBJ);
    CHECK(memcmp(begin->types, end->types, 4 * sizeof *begin->types) == 0 && memcmp(begin->begin, end->begin, 4 * sizeof(void *)) == 0);
}

/* What is absent and empty is named by the host's address. */
TEST_IN_CHILD(pass_empty)
{
    start_on(18);
    map_on_device(0, x, sizeof x);
    uint64_t n = 0, a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_ATTACH(REX_MAP_TO, pointer_to_x, 0, 10), REX_TOFROM(y, 0));
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
    CHECK_EQUAL(last.word[3], (uintptr_t)y);
    expect_sent(1, 0);
}

/* A device that is lost is asked for nothing more. */
TEST_IN_CHILD(lose_device)
{
    start_on(18);
    map_on_device(0, y, sizeof y);
    CHECK_EQUAL(launch_pointee(), REX_OK);
    setenv("FAKE_CUDA_BREAKS", "cuStreamSynchronize:700:0", 1);
    CHECK_EQUAL(launch_pointee(), REX_ECUDA);
    CHECK_EQUAL(the_record()->counts[FAKE_END], 1);
}

/* Who unmaps what another launch works on gets an error; what was mapped is unmapped all the same. */
TEST_IN_CHILD(miss_mapping)
{
    start_on(18);
    CHECK_EQUAL(launch_pointee(), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "axpy__kernel__");
    CHECK_MENTIONS(rex_last_error(), "not launched by the CUDA driver: a row is mapped in part, or by what librex has not seen");
    CHECK(the_record()->counts[FAKE_BEGIN] == the_record()->counts[FAKE_END] && computed == 0);
}

/* What stands against the driver for another reason than its rows does so here as well, and is told. */
TEST_IN_CHILD(refuse_others)
{
    start_on(18);
    uint64_t n = 10, a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    launch.flags = REX_LAUNCH_NOWAIT;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 10), REX_ATTACH(REX_MAP_TOFROM, pointer, 0, 10));
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "or use another release; not launched by the CUDA driver: it is not waited for");
    expect_sent(0, 0);
}

/* A device that the driver does not know gets no plain kernel from libomptarget; where there is none, nothing is refused. */
TEST_IN_CHILD(refuse_device)
{
    setenv("FAKE_CUDA_BREAKS", "cuPointerGetAttribute:1:0", 1);
    start_on(18);
    CHECK_EQUAL(launch_nothing(&plainly), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "not launched by the CUDA driver: the device is no NVIDIA GPU");
    CHECK_EQUAL(launch_pointee(), REX_EUNSUPPORTED);
    expect_sent(0, 0);
}

TEST_IN_CHILD(refuse_nothing)
{
    struct __tgt_kernel_arguments packet = {.Version = 2, .Teams = {2, 1, 1}, .Threads = {64, 1, 1}};
    use_computing_gpu(18, "late");
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(launch_nothing(&plainly), REX_EHOST);
    CHECK_EQUAL(rex_module_launch(&module, 0, 2, 64, &nothing_id, &packet), 0); /* as the fake says */
    expect_sent(0, 1);
}

/* What is wrong with the default device is not laid on the kernel. */
TEST_IN_CHILD(miss_device)
{
    struct __tgt_kernel_arguments packet = {.Version = 2, .Teams = {2, 1, 1}, .Threads = {64, 1, 1}};
    use_computing_gpu(18, "late");
    setenv("OMP_DEFAULT_DEVICE", "99", 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_launch(&module, -1, 2, 64, &nothing_id, &packet), REX_EDEVICE);
    CHECK_EQUAL(rex_last_error_code(), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "OMP_DEFAULT_DEVICE");
    expect_sent(0, 0);
}

/* What cannot be mapped is not launched, nor unmapped. */
TEST_IN_CHILD(refuse_overlap)
{
    start_on(18);
    uint64_t n = 10, a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&axpy_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_SECTION(REX_MAP_TOFROM, y, 5, 5), REX_ATTACH(REX_MAP_TOFROM, pointer, 0, 10));
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_EOVERLAP);
    CHECK(the_record()->counts[FAKE_BEGIN] == 0 && the_record()->counts[FAKE_END] == 0);
    expect_sent(0, 0);
}

/* A kernel with a parameter for the runtime is libomptarget's, as ever; one with another number of them nobody's. */
TEST_IN_CHILD(leave_env)
{
    start_on(18);
    uint64_t n = 10, a = 1;
    struct rex_launch_config launch = rex_launch_config_of(&env_id, 2, 64);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 10), REX_ATTACH(REX_MAP_TOFROM, pointer, 0, 10));
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
    expect_sent(0, 1);
    REX_MAP(fewer, REX_VALUE(n), REX_VALUE(a), REX_ATTACH(REX_MAP_TOFROM, pointer, 0, 10));
    launch.key = &axpy_id;
    expect_said(rex_module_launch_map(&module, &launch, &fewer), REX_EPARAMS,
                "kernel \"axpy__kernel__\" has 4 parameters, none of them the runtime's (uint64_t, uint64_t, pointer, pointer), and the "
                "launch 3 rows for them (of 3)");
    CHECK(the_record()->counts[FAKE_BEGIN] == 0 && the_record()->counts[FAKE_END] == 0);
    expect_sent(0, 1);
}
