/*
 * pack.c - the arguments of a queue's launch: which address the kernel gets of each row, and which launches are refused, with which words.
 *
 * The driver and libomptarget are fakes: the driver shows the test what each launch was given.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "inqueue.h"
#include "rex/entry.h"
#include "rex_kmp.h"
#include "rex/queue.h"

/* Of tests/data/kernels.cu. */
struct pair {
    double one, other;
};
static char plain_id, none_id, narrow_id, wide_id, absent_id;
#define ENTRY(key, name) {(key), (char *)(uintptr_t)(name), 0, 0, 0}
static struct __tgt_offload_entry entries[] = {ENTRY(&plain_id, "plain__kernel__"), ENTRY(&narrow_id, "narrow__kernel__"),
                                               ENTRY(&wide_id, "wide__kernel__"), ENTRY(&none_id, "none__kernel__"),
                                               ENTRY(&absent_id, "absent__kernel__")};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entries,
                                   .entries_end = entries + COUNT(entries) - 1,
                                   .image_name = "tests/data/sm_90.cubin"};

enum { DEVICE = 0x10000000, CELLS = 100 };
static uint64_t cells[CELLS], unmapped[CELLS];
static struct rex_queue *queue;

/* The first parameters of the last launch, 8 bytes each. */
static uint64_t seen[2];

static void watch(const char *kernel, const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block;
    for (size_t i = 0; i < COUNT(seen) && strcmp(kernel, "plain__kernel__") == 0; i++)
        memcpy(&seen[i], parameters[i], sizeof seen[i]);
}

static void start_on(int release)
{
    void (**watcher)(const char *, const unsigned *, const unsigned *, void **);
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "packed", 0, NULL), REX_OK);
    watcher = in_driver("fake_cuda_watch");
    *watcher = watch;
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)cells, sizeof cells, DEVICE};
}

static void start(void)
{
    start_on(22);
}

static int put(const void *key, const struct rex_map *map)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 2, 32);
    return launch_module_in(queue, &module, &launch, map);
}

static void expect_address(struct rex_row row, uint64_t address)
{
    uint64_t value = 7;
    REX_MAP(args, REX_VALUE(value), row);
    seen[1] = UINT64_MAX;
    CHECK_EQUAL(put(&plain_id, &args), REX_OK);
    CHECK_EQUAL(seen[0], 7);
    CHECK_EQUAL(seen[1], address);
}

/* The address of the row's base, from which the kernel indexes as the host does; what has no elements needs no memory. */
TEST_IN_CHILD(give_addresses)
{
    uint64_t *pointer = cells + 3;
    start();
    expect_address(REX_SECTION(REX_MAP_TO, cells, 0, CELLS), DEVICE);
    expect_address(REX_SECTION(REX_MAP_FROM, cells, 10, 5), DEVICE);
    expect_address(rex_row_of(cells + 2, cells + 10, 8, REX_MAP_TARGET_PARAM), DEVICE + 16);
    expect_address(REX_ATTACH(REX_MAP_TO, pointer, 10, 5), DEVICE + 24);
    expect_address(REX_SECTION(REX_MAP_TO, unmapped, 10, 0), (uintptr_t)unmapped);
    expect_address(REX_SECTION(REX_MAP_TO, cells, 10, 0), DEVICE);
    expect_address(REX_PRESENT(REX_HOLD(REX_IMPLICIT(REX_TOFROM(cells, CELLS)))), DEVICE);
}

/* What has no elements is NULL to these releases, and has its address on the host to newer ones. */
TEST_OF_EACH(give_no_elements, int, release, 14, 15, 16, 24)
{
    start_on(release);
    expect_address(REX_TO(unmapped, 0), release >= 16 ? (uintptr_t)unmapped : 0);
}

/* A launch of KEY with MAP: ERROR, a message with WORDS, and nothing is launched; the queue goes on. */
static void refuse(const void *key, const struct rex_map *map, int error, const char *words)
{
    int launches = driver_calls("cuLaunchKernel");
    CHECK_EQUAL(put(key, map), error);
    CHECK_MENTIONS(rex_last_error(), words);
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), launches);
    CHECK_EQUAL(put(&none_id, NULL), REX_OK);
}

/* Values and addresses that are as wide as no parameter. */
TEST_IN_CHILD(refuse_widths)
{
    struct pair pair = {1, 2};
    uint64_t word = 1;
    int four = 1;
    short two = 1;
    float half = 0.5f;
    double whole = 2;
    start();
    const struct pair *nowhere = NULL;
    REX_MAP(wide_word, REX_BY_VALUE(pair), REX_ALLOC(cells, CELLS));
    REX_MAP(narrow, REX_ALLOC(cells, CELLS), REX_VALUE(two), REX_VALUE(half), REX_VALUE(whole));
    REX_MAP(wide, REX_ALLOC(cells, CELLS), REX_VALUE(word), REX_VALUE(half), REX_VALUE(whole));
    REX_MAP(address, REX_ALLOC(cells, CELLS), REX_ALLOC(cells, CELLS), REX_VALUE(half), REX_VALUE(whole));
    REX_MAP(small_struct, REX_VALUE(word), REX_ALLOC(cells, CELLS));
    REX_MAP(null_struct, REX_BY_VALUE(*nowhere), REX_ALLOC(cells, CELLS));
    REX_MAP(right, REX_ALLOC(cells, CELLS), REX_VALUE(four), REX_VALUE(half), REX_VALUE(whole));
    refuse(&plain_id, &wide_word, REX_EPARAMS,
           "\"plain\": parameter 0 has 8 bytes, and the launch passes a value of 16 bytes");
    refuse(&narrow_id, &narrow, REX_EPARAMS,
           "\"narrow\": parameter 1 has 4 bytes, and the launch passes a value of 2 bytes");
    refuse(&narrow_id, &wide, REX_EPARAMS, "parameter 1 has 4 bytes, and the launch passes a value of 8 bytes");
    refuse(&narrow_id, &address, REX_EPARAMS, "parameter 1 has 4 bytes, and the launch passes an address of 8 bytes");
    refuse(&wide_id, &small_struct, REX_EPARAMS, "parameter 0 has 16 bytes, and the launch passes a value of 8 bytes");
    for (int column = 0; column < 4; column++) {
        struct rex_map lacking = {1, column == 0 ? NULL : right.base, column == 1 ? NULL : right.begin, column == 2 ? NULL : right.sizes,
                                  column == 3 ? NULL : right.types, NULL, NULL};
        refuse(&plain_id, &lacking, REX_EINVAL, "a column of the map is NULL (rows: 1)");
    }
    refuse(&plain_id, &(struct rex_map){.count = -1}, REX_EINVAL, "the map's number of rows, -1, is negative");
    refuse(&wide_id, &null_struct, REX_EINVAL,
           "\"wide\": map row 0: the address of the value is NULL (bytes: 16); row 0 is REX_BY_VALUE(*nowhere)");
    CHECK_EQUAL(put(&narrow_id, &right), REX_OK);
}

/* More than the driver's numbers hold, and a little less, which the driver may refuse. */
TEST_IN_CHILD(refuse_memory)
{
    struct rex_launch_config launch = rex_launch_config_of(&none_id, 2, 32);
    start();
    launch.dynamic_memory = UINT32_C(1) << 31;
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, NULL), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "\"none\" cannot have 2147483648 bytes of dynamic shared memory: cuFuncSetAttribute: CUDA_ERROR_");
    CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), 0);
    launch.dynamic_memory--;
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, NULL), REX_OK);
    CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), 1);
}

/* A strict launch leaves nothing to choose. */
TEST_IN_CHILD(refuse_strict)
{
    struct rex_launch_config launch = {.key = &none_id, .trip_count = 1000, .teams = {7}, .flags = REX_LAUNCH_STRICT};
    start();
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, NULL), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "none: a strict launch must set teams and threads: 7 teams of 0 threads");
}

/* Where modules are not compared with their images, what is not in one shows at the launch. */
TEST_IN_CHILD(refuse_unknown)
{
    setenv("REX_CHECK", "off", 1);
    module.entries_end++;
    start();
    refuse(&absent_id, NULL, REX_ENOKERNEL,
           "device image tests/data/sm_90.cubin has no kernel \"absent__kernel__\"");
}
