/*
 * A program without kernels maps data, and its shared object launches on what is mapped.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include "solver/solver.h"

enum { COUNT = 100 };

static int64_t values[COUNT];

static void fill(void)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = i + 1;
}

static void check_times(int64_t factor)
{
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(values[i], factor * (i + 1));
}

TEST(region_of_the_program)
{
    int ran = 0, code = rex_last_error_code();
    fill();
    REX_MAP(region, REX_TOFROM(values, COUNT));
    REX_MAP(back, REX_FROM(values, COUNT));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        assert_true(rex_target_is_present(values, sizeof values, 0));
        assert_int_equal(solver_triple(values, COUNT), 0);
        assert_int_equal(rex_data_update(-1, &back), 0);
        check_times(3);
        assert_int_equal(solver_triple(values, COUNT), 0);
        ran++;
    }
    assert_int_equal(ran, 1);
    check_times(9);
    assert_false(rex_target_is_present(values, sizeof values, 0));
    assert_int_equal(rex_last_error_code(), code);
    assert_int_equal(solver_triple(values, COUNT), REX_EABSENT);
}

TEST(after_the_shared_object)
{
    assert_int_equal(solver_init(), 0);
    region_of_the_program(NULL);
}

TEST(data_calls)
{
    void *rows[] = {values};
    int64_t sizes[] = {sizeof values}, types[] = {TOFROM}, from[] = {FROM};
    fill();
    REX_MAP(to, REX_TO(values, COUNT));
    REX_MAP(back, REX_FROM(values, COUNT));
    assert_int_equal(rex_data_enter(-1, &to), 0);
    assert_int_equal(solver_triple(values, COUNT), 0);
    assert_int_equal(rex_data_exit(-1, &back), 0);
    check_times(3);
    fill();
    __tgt_target_data_begin(-1, 1, rows, rows, sizes, types);
    assert_int_equal(solver_triple(values, COUNT), 0);
    __tgt_target_data_update(-1, 1, rows, rows, sizes, from);
    check_times(3);
    rex___tgt_target_data_end(-1, 1, rows, rows, sizes, types);
    assert_false(rex_target_is_present(values, 1, 0));
    assert_int_equal(rex_last_error_code(), 0);
}

/* The library's own, as code without the header calls them. */
void begin_without_header(int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types)
    __asm__("rex___tgt_target_data_begin");

/* A call that names no module finds that of the shared object as the first call of all. */
TEST(first_call)
{
    void *rows[] = {values};
    int64_t sizes[] = {sizeof values}, types[] = {TOFROM};
    begin_without_header(-1, 1, rows, rows, sizes, types);
    assert_int_equal(solver_triple(values, COUNT), 0);
    __tgt_target_data_end(-1, 1, rows, rows, sizes, types);
}

TEST(memory_and_queue)
{
    int64_t copy[COUNT] = {0};
    struct rex_queue *queue = NULL;
    fill();
    assert_int_equal(rex_queue_create(&queue, -1, "program", 0), 0);
    void *memory = rex_device_alloc(sizeof values, -1);
    assert_non_null(memory);
    assert_int_equal(rex_device_copy_to(memory, values, sizeof values, -1), 0);
    assert_int_equal(rex_queue_copy_from(queue, copy, memory, sizeof copy), 0);
    assert_int_equal(rex_queue_destroy(queue), 0);
    assert_memory_equal(copy, values, sizeof copy);
    rex_device_free(memory, -1);
    assert_int_equal(rex_last_error_code(), 0);
}

TEST(queue_without_offloading)
{
    struct rex_queue *queue = NULL;
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    assert_int_equal(rex_queue_create(&queue, -1, "program", 0), REX_EINVAL);
    assert_non_null(strstr(rex_last_error(), "offloading is disabled"));
    assert_null(queue);
}

TEST(data_without_offloading)
{
    REX_MAP(map, REX_TO(values, COUNT));
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    assert_int_equal(rex_data_enter(-1, &map), 0);
    assert_int_equal(rex_configure(REX_OPTION_REQUIRE_GPU, "on"), 0);
    assert_int_equal(rex_data_enter(-1, &map), REX_ENODEVICE);
    assert_non_null(strstr(rex_last_error(), "REX_REQUIRE_GPU is on"));
}

/* Launches and the program's own registration need kernels. */
TEST(registration)
{
    assert_ptr_equal(rex_this_module.entries_begin, rex_this_module.entries_end);
    assert_int_equal(rex_offload_init(), REX_EENTRIES);
    assert_non_null(strstr(rex_last_error(), "is empty"));
    first_call(NULL);
    region_of_the_program(NULL);
}

static struct rex_module foreign = {.struct_size = sizeof foreign, .image_name = "none.cubin"};

/* As a linker makes one that finds no table in the program. */
TEST(table_of_the_shared_object)
{
    REX_MAP(map, REX_TOFROM(values, COUNT));
    solver_table(&foreign.entries_begin, &foreign.entries_end);
    assert_int_equal(rex_module_register(&foreign, NULL), REX_EENTRIES);
    assert_non_null(strstr(rex_last_error(), "no offload entry was compiled into "));
    assert_non_null(strstr(rex_last_error(), "nokernels: the linker gave it the table of "));
    assert_non_null(strstr(rex_last_error(), "libsolver.so"));
    fill();
    assert_int_equal(rex_module_data_enter(&foreign, -1, &map), 0);
    assert_int_equal(solver_triple(values, COUNT), 0);
    assert_int_equal(rex_module_region_end(&foreign, -1, &map), 0);
    check_times(3);
}
