/*
 * pack.c - the arguments of a queue's launch: what the kernel gets of each row, which rows are refused and with which words; room for as
 * many parameters as there are.
 *
 * The driver and libomptarget are fakes: the driver shows the test what each launch was given.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <malloc.h>

#include "inqueue.h"
#include "launch/pack.h"
#include "memory/rowcheck.h"
#include "rex/entry.h"
#include "rex_kmp.h"
#include "rex/queue.h"

/* Of tests/data/kernels.cu. */
struct pair {
    double one, other;
};
static char plain_id, env_id, none_id, narrow_id, wide_id;
#define ENTRY(key, name) {(key), (char *)(uintptr_t)(name), 0, 0, 0}
static struct __tgt_offload_entry entries[] = {ENTRY(&plain_id, "plain__kernel__"), ENTRY(&env_id, "env__kernel__"),
                                               ENTRY(&narrow_id, "narrow__kernel__"), ENTRY(&wide_id, "wide__kernel__"),
                                               ENTRY(&none_id, "none__kernel__")};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entries,
                                   .entries_end = entries + COUNT(entries)};

enum { DEVICE = 0x10000000, CELLS = 100 };
static uint64_t cells[CELLS], unmapped[CELLS];
static struct rex_queue *queue;

/* The last launch; of the first parameters 8 bytes each. */
static struct {
    unsigned grid[3], block[3];
    uint64_t word[2];
} seen;

static void watch(const char *kernel, const unsigned *grid, const unsigned *block, void **parameters)
{
    memcpy(seen.grid, grid, sizeof seen.grid);
    memcpy(seen.block, block, sizeof seen.block);
    if (strcmp(kernel, "plain__kernel__") == 0)
        for (size_t i = 0; i < COUNT(seen.word); i++)
            memcpy(&seen.word[i], parameters[i], sizeof seen.word[i]);
}

/* How often rows were looked at more closely. */
static int checks;
int __real_rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what);
int __wrap_rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what);
int __wrap_rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what)
{
    checks++;
    return __real_rex_check_rows(map, purpose, what);
}

static void start_with(const char *image)
{
    void (**watcher)(const char *, const unsigned *, const unsigned *, void **);
    use_gpu(90);
    use_release(22);
    module.image_name = image;
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "packed", 0, NULL), REX_OK);
    watcher = in_driver("fake_cuda_watch");
    *watcher = watch;
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)cells, sizeof cells, DEVICE};
}

static void start(void)
{
    start_with("tests/data/sm_90.cubin");
}

static int put(const void *key, const struct rex_map *map)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 2, 32);
    return launch_module_in(queue, &module, &launch, map);
}

/* ---- what the kernel gets ------------------------------------------------------------------------------------------------------------ */

static void expect_address(struct rex_row row, uint64_t address)
{
    uint64_t value = 7;
    REX_MAP(args, REX_VALUE(value), row);
    seen.word[1] = UINT64_MAX;
    CHECK_EQUAL(put(&plain_id, &args), REX_OK);
    CHECK_EQUAL(seen.word[0], 7);
    CHECK_EQUAL(seen.word[1], address);
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
    expect_address(REX_SECTION(REX_MAP_TO, unmapped, 10, 0), 0);
    expect_address(REX_SECTION(REX_MAP_TO, cells, 10, 0), DEVICE);
    expect_address(REX_PRESENT(REX_HOLD(REX_IMPLICIT(REX_TOFROM(cells, CELLS)))), DEVICE);
}

/* A row that is no argument is none, and what comes after one without elements is the next. */
TEST_IN_CHILD(count_arguments)
{
    uint64_t value = 7;
    int four = 4;
    float half = 0.5f;
    double whole = 2;
    start();
    REX_MAP(beside, REX_VALUE(value), rex_row_of(unmapped, unmapped, 0, REX_MAP_TO), rex_row_of(cells, cells, 8, REX_MAP_TO),
            REX_ALLOC(cells, CELLS));
    CHECK_EQUAL(put(&plain_id, &beside), REX_OK);
    CHECK(seen.word[0] == 7 && seen.word[1] == DEVICE);
    REX_MAP(empty, REX_ALLOC(unmapped, 0), REX_VALUE(four), REX_VALUE(half), REX_VALUE(whole));
    CHECK_EQUAL(put(&narrow_id, &empty), REX_OK);
}

/* Rows as most are take no closer look. */
TEST_IN_CHILD(look_once)
{
    uint64_t value = 7;
    start();
    REX_MAP(kind, REX_VALUE(value), REX_TOFROM(cells, CELLS));
    REX_MAP(no_kind, rex_row_value(&value, sizeof value), REX_PRESENT(REX_ALLOC(cells, CELLS)));
    CHECK_EQUAL(put(&plain_id, &kind), REX_OK);
    CHECK_EQUAL(put(&plain_id, &no_kind), REX_OK);
    CHECK_EQUAL(checks, 0);
    uint64_t *pointer = cells;
    REX_MAP(pointee, REX_VALUE(value), REX_ATTACH(REX_MAP_TO, pointer, 0, 1));
    CHECK_EQUAL(put(&plain_id, &pointee), REX_OK);
    CHECK_EQUAL(checks, 1);
}

/* y and z of a grid are at least 1, and what is not said of x is chosen. */
TEST_IN_CHILD(complete_grid)
{
    struct rex_launch_config launch = {.key = &none_id, .teams = {2}, .threads = {32}};
    start();
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, NULL), REX_OK);
    static const unsigned grid[] = {2, 1, 1}, block[] = {32, 1, 1};
    CHECK(memcmp(seen.grid, grid, sizeof grid) == 0 && memcmp(seen.block, block, sizeof block) == 0);
    launch = (struct rex_launch_config){.key = &none_id, .trip_count = 1000, .threads = {100}};
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, NULL), REX_OK);
    CHECK(seen.grid[0] == 10 && seen.block[0] == 100);
    int launches = driver_calls("cuLaunchKernel");
    launch.flags = REX_LAUNCH_STRICT;
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, NULL), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "none__kernel__: a strict launch of 0 teams of 100 threads");
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), launches);
}

/* ---- what is refused ----------------------------------------------------------------------------------------------------------------- */

/* A launch of KEY with MAP: ERROR, a message with WORDS, and nothing is launched; the queue goes on. */
static void refuse(const void *key, const struct rex_map *map, int error, const char *words)
{
    int launches = driver_calls("cuLaunchKernel");
    CHECK_EQUAL(put(key, map), error);
    CHECK_MENTIONS(rex_last_error(), words);
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), launches);
    CHECK_EQUAL(put(&none_id, NULL), REX_OK);
}

/* Memory that is not there: a queue maps nothing. */
TEST_IN_CHILD(refuse_absent)
{
    uint64_t value = 1;
    start();
    const struct rex_row rows[] = {REX_TO(unmapped, 1), REX_PRESENT(REX_SECTION(REX_MAP_TO, unmapped, 0, 0)),
                                   REX_IMPLICIT(REX_SECTION(REX_MAP_TO, unmapped, 0, 0))};
    for (size_t i = 0; i < COUNT(rows); i++) {
        REX_MAP(args, REX_VALUE(value), rows[i]);
        refuse(&plain_id, &args, REX_EABSENT, "kernel \"plain__kernel__\": map row 1, ");
        CHECK_MENTIONS(rex_last_error(), "is not mapped on device 0: a queue maps nothing for a launch");
    }
    REX_MAP(beyond, REX_VALUE(value), REX_SECTION(REX_MAP_TO, cells, 1, CELLS));
    refuse(&plain_id, &beyond, REX_EABSENT, "is mapped in part on device 0");
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
    struct rex_row nowhere = REX_BY_VALUE(pair);
    nowhere.begin = NULL;
    REX_MAP(wide_word, REX_BY_VALUE(pair), REX_ALLOC(cells, CELLS));
    REX_MAP(narrow, REX_ALLOC(cells, CELLS), REX_VALUE(two), REX_VALUE(half), REX_VALUE(whole));
    REX_MAP(wide, REX_ALLOC(cells, CELLS), REX_VALUE(word), REX_VALUE(half), REX_VALUE(whole));
    REX_MAP(address, REX_ALLOC(cells, CELLS), REX_ALLOC(cells, CELLS), REX_VALUE(half), REX_VALUE(whole));
    REX_MAP(small_struct, REX_VALUE(word), REX_ALLOC(cells, CELLS));
    REX_MAP(null_struct, nowhere, REX_ALLOC(cells, CELLS));
    REX_MAP(right, REX_ALLOC(cells, CELLS), REX_VALUE(four), REX_VALUE(half), REX_VALUE(whole));
    refuse(&plain_id, &wide_word, REX_EPARAMS,
           "\"plain__kernel__\": parameter 0 is 8 bytes wide, and the launch has a value of 16 bytes for it");
    refuse(&narrow_id, &narrow, REX_EPARAMS,
           "\"narrow__kernel__\": parameter 1 is 4 bytes wide, and the launch has a value of 2 bytes for it");
    refuse(&narrow_id, &wide, REX_EPARAMS, "parameter 1 is 4 bytes wide, and the launch has a value of 8 bytes for it");
    refuse(&narrow_id, &address, REX_EPARAMS, "parameter 1 is 4 bytes wide, and the launch has an address of 8 bytes for it");
    refuse(&wide_id, &small_struct, REX_EPARAMS, "parameter 0 is 16 bytes wide, and the launch has a value of 8 bytes for it");
    refuse(&wide_id, &null_struct, REX_EINVAL, "\"wide__kernel__\": map row 0, a value of 16 bytes, is at NULL");
    CHECK_EQUAL(put(&narrow_id, &right), REX_OK);
}

/* Of a kernel with a signature: a struct for a word, and an address for a number, which is as wide. */
TEST_IN_CHILD(refuse_kinds)
{
    struct pair pair = {1, 2};
    int four = 1;
    float half = 0.5f;
    start_with("tests/data/signed_sm_90.cubin");
    REX_MAP(large, REX_BY_VALUE(pair), REX_ALLOC(cells, CELLS));
    REX_MAP(address, REX_ALLOC(cells, CELLS), REX_VALUE(four), REX_VALUE(half), REX_ALLOC(cells, CELLS));
    REX_MAP(number, REX_VALUE(four), REX_VALUE(half));
    refuse(&plain_id, &large, REX_EPARAMS,
           "\"plain__kernel__\": parameter 0 is 8 bytes wide, and the launch has a value of 16 bytes for it");
    refuse(&env_id, &number, REX_EPARAMS,
           "argument 2 of env is float, its parameter is a pointer; row 1 is REX_VALUE(half); it takes (value, pointer)");
    refuse(&narrow_id, &address, REX_EPARAMS, "argument 4 of narrow is an address of mapped memory, its parameter is a value of 8 bytes; row 3 is REX_ALLOC(cells, CELLS)");
}

/* Rows that no release knows what to do with, or no queue; and maps that are none. */
TEST_IN_CHILD(refuse_rows)
{
    uint64_t value = 1;
    start();
    REX_MAP(args, REX_VALUE(value), REX_ALLOC(cells, CELLS));
    static const struct {
        int64_t type, size;
        const char *words;
    } wrong[] = {
        {REX_MAP_TARGET_PARAM, -8, "map row 1 has a negative size"},
        {REX_MAP_TARGET_PARAM | REX_MAP_ALWAYS | REX_MAP_TO, 8, "map row 1 asks for a copy at every launch"},
        {REX_MAP_TARGET_PARAM | REX_MAP_PRIVATE, 8, "map row 1 is private, which a queue has no memory for"},
        {REX_MAP_TARGET_PARAM | REX_MAP_RETURN_PARAM, 8, "map row 1 asks for its device address"},
        {REX_MAP_TARGET_PARAM | REX_MAP_DELETE, 8, "map row 1 deletes"},
        {REX_MAP_TARGET_PARAM | INT64_C(0x2000000), 8, "map row 1 has type bits that are no map type"},
        {REX_MAP_TARGET_PARAM | INT64_C(5) << 48, 8, "map row 1 is a member of a row that does not come before it"},
    };
    const int64_t size = args.sizes[1], type = args.types[1];
    for (size_t i = 0; i < COUNT(wrong); i++) {
        args.sizes[1] = wrong[i].size;
        args.types[1] = wrong[i].type;
        refuse(&plain_id, &args, REX_EINVAL, wrong[i].words);
    }
    args.sizes[1] = size;
    args.types[1] = type;
    args.types[0] |= INT64_C(0x2000000);
    refuse(&plain_id, &args, REX_EINVAL, "map row 0 has type bits that are no map type");
    args.types[0] &= ~INT64_C(0x2000000);
    for (int column = 0; column < 4; column++) {
        struct rex_map lacks = args;
        if (column == 0)
            lacks.base = NULL;
        else if (column == 1)
            lacks.begin = NULL;
        else if (column == 2)
            lacks.sizes = NULL;
        else
            lacks.types = NULL;
        refuse(&plain_id, &lacks, REX_EINVAL, "plain__kernel__: a map of 2 rows with a column that is NULL");
    }
    args.count = -1;
    refuse(&none_id, &args, REX_EINVAL, "none__kernel__: a map with a negative number of rows, -1");
    CHECK_EQUAL(put(&none_id, &(struct rex_map){.count = 0}), REX_OK);
}

/* More than the driver's numbers hold, and a little less, which the driver may refuse. */
TEST_IN_CHILD(refuse_memory)
{
    struct rex_launch_config launch = rex_launch_config_of(&none_id, 2, 32);
    start();
    launch.dynamic_memory = UINT32_C(1) << 31;
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, NULL), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "\"none__kernel__\": 2147483648 bytes of dynamic shared memory: cuFuncSetAttribute: CUDA_ERROR_");
    CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), 0);
    launch.dynamic_memory--;
    CHECK_EQUAL(launch_module_in(queue, &module, &launch, NULL), REX_OK);
    CHECK_EQUAL(driver_calls("cuFuncSetAttribute"), 1);
}

/* Where modules are not compared with their images, what is not in one shows at the launch. */
TEST_IN_CHILD(refuse_unknown)
{
    static char absent_id;
    static struct __tgt_offload_entry absent[] = {ENTRY(&absent_id, "absent__kernel__")};
    setenv("REX_CHECK", "off", 1);
    module.entries_begin = absent;
    module.entries_end = absent + 1;
    start();
    CHECK_EQUAL(put(&absent_id, NULL), REX_ENOKERNEL);
    CHECK_MENTIONS(rex_last_error(), "device image tests/data/sm_90.cubin does not say what parameters kernel \"absent__kernel__\" has");
}

/* ---- room ---------------------------------------------------------------------------------------------------------------------------- */

enum { MOST = 600 };

/* COUNT words, each of a value of its own, as parameters of a kernel of that many. */
static void pack_words(struct rex_arguments *arguments, uint32_t count)
{
    static struct rex_image_parameter parameter[MOST];
    static void *base[MOST];
    static int64_t sizes[MOST], types[MOST];
    for (uint32_t i = 0; i < count; i++) {
        parameter[i] = (struct rex_image_parameter){.size = 8, .kind = REX_KIND_WORD, .offset = (uint16_t)(8 * i)};
        base[i] = (void *)(uintptr_t)(1000 * count + i);
        sizes[i] = 8;
        types[i] = REX_MAP_LITERAL | REX_MAP_TARGET_PARAM;
    }
    struct rex_loaded_kernel kernel = {.name = "words", .parameter = parameter, .parameters = count, .bytes = 8 * count, .known = true};
    struct rex_map map = {.count = (int32_t)count, .base = base, .begin = base, .sizes = sizes, .types = types};
    CHECK_EQUAL(rex_pack_arguments(arguments, &kernel, REX_FORM_PLAIN, &map, NULL), REX_OK);
    CHECK(arguments->room >= count && arguments->bytes >= 8 * count);
    CHECK(malloc_usable_size(arguments->address) >= count * sizeof *arguments->address);
    CHECK(malloc_usable_size(arguments->values) >= 8 * (size_t)count);
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQUAL(*(uint64_t *)arguments->address[i], 1000 * (uint64_t)count + i);
}

/* Room grows with the kernels, and is used again. */
TEST(test_room)
{
    static const uint32_t counts[] = {0, 1, 9, 15, 16, 17, 31, 32, 33, 40, 3, 100, MOST};
    struct rex_arguments arguments = {0};
    for (size_t i = 0; i < COUNT(counts); i++) {
        pack_words(&arguments, counts[i]);
        void **address = arguments.address;
        const unsigned char *values = arguments.values;
        pack_words(&arguments, counts[i]);
        pack_words(&arguments, 2);
        assert_ptr_equal(arguments.address, address);
        assert_ptr_equal(arguments.values, values);
    }
    rex_arguments_free(&arguments);
}
