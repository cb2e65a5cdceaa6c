/*
 * Rows that are not what the kernel's signature declares: each is REX_EPARAMS with the kernel's own list, whatever way the launch takes,
 * before anything runs; and the right rows run.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

REX_KERNEL(axpy);
REX_KERNEL(axpy_env);
REX_KERNEL(accessors);
REX_KERNEL(floating);

enum { N = 16 };
static double x[N], y[N];
static struct rex_queue *queue;

#define LIST "(rex_arg, rex_arg_f64, pointer, pointer)"

/* Both forms of the kernel are launched; LLVM 18 knows one of them. */
static void *keys[2];

static int start(void **state)
{
    (void)state;
    keys[0] = REX_KERNEL_ID(axpy);
    keys[1] = REX_KERNEL_ID(axpy_env);
    REX_DATA_MAP(region, REX_TO(x, N), REX_TOFROM(y, N));
    return rex_queue_create(&queue, -1, NULL, 0) == REX_OK && rex_data_begin(-1, &region) == REX_OK ? 0 : -1;
}

/* ---- ways to launch ------------------------------------------------------------------------------------------------------------ */

static struct rex_map map_of(struct rows *rows)
{
    return (struct rex_map){.count = rows->count, .base = rows->value, .begin = rows->value, .sizes = rows->size, .types = rows->type};
}

static int by_direct(void *key, struct rows *rows)
{
    struct __tgt_kernel_arguments packet = packet_of(rows, 1, 1);
    return rex_direct___tgt_target_kernel(-1, 1, 1, key, &packet) == 0 ? REX_OK : rex_last_error_code();
}

static int by_safe(void *key, struct rows *rows)
{
    struct __tgt_kernel_arguments packet = packet_of(rows, 1, 1);
    return rex___tgt_target_kernel(-1, 1, 1, key, &packet) == 0 ? REX_OK : rex_last_error_code();
}

static int by_launch(void *key, struct rows *rows)
{
    struct rex_kernel_launch launch = rex_kernel_launch_of(key, 1, 1);
    struct rex_map map = map_of(rows);
    return rex_launch(&launch, &map);
}

static int by_queue(void *key, struct rows *rows)
{
    struct rex_kernel_launch launch = rex_kernel_launch_of(key, 1, 1);
    struct rex_map map = map_of(rows);
    int result = rex_queue_launch(queue, &launch, &map);
    return result == REX_OK ? rex_queue_sync(queue) : result;
}

static int (*const ways[])(void *key, struct rows *rows) = {by_direct, by_safe, by_launch, by_queue};
#define WAYS (sizeof ways / sizeof *ways)

/* ---- rows ---------------------------------------------------------------------------------------------------------------------- */

static void right(struct rows *rows)
{
    const int64_t n = N;
    const double a = 2;
    rows->count = 0;
    add_literal(rows, &n, sizeof n);
    add_literal(rows, &a, sizeof a);
    add_row(rows, x, sizeof x, PARAMETER | TO);
    add_row(rows, y, sizeof y, PARAMETER | TOFROM);
}

static void exchange(struct rows *rows, int one, int other)
{
    void *value = rows->value[one];
    int64_t size = rows->size[one], type = rows->type[one];
    rows->value[one] = rows->value[other], rows->size[one] = rows->size[other], rows->type[one] = rows->type[other];
    rows->value[other] = value, rows->size[other] = size, rows->type[other] = type;
}

static void row_missing(struct rows *rows)
{
    rows->count--;
}

static void row_too_many(struct rows *rows)
{
    const int64_t more = 1;
    add_literal(rows, &more, sizeof more);
}

static void value_for_a_pointer(struct rows *rows)
{
    const int64_t more = 1000;
    rows->count = 2;
    add_literal(rows, &more, sizeof more);
    add_row(rows, y, sizeof y, PARAMETER | TOFROM);
}

static void short_value_for_a_pointer(struct rows *rows)
{
    const int32_t more = 100000;
    rows->count = 3;
    add_literal(rows, &more, sizeof more);
}

static void memory_for_a_value(struct rows *rows)
{
    exchange(rows, 0, 2);
}

static void memory_for_a_typed_value(struct rows *rows)
{
    rows->value[1] = x, rows->size[1] = sizeof x, rows->type[1] = PARAMETER | TO;
}

static void without_the_bit(struct rows *rows)
{
    rows->type[1] &= ~(int64_t)PARAMETER;
}

static void another_size(struct rows *rows)
{
    const float a = 2;
    rows->value[1] = rex_pack_literal_arg_bytes(&a, sizeof a), rows->size[1] = sizeof a;
}

static const struct {
    void (*spoil)(struct rows *rows);
    const char *words;
} cases[] = {
    {row_missing, "and the launch 3 rows for them (of 3)"},
    {row_too_many, "and the launch 5 rows for them (of 5)"},
    {without_the_bit, "and the launch 3 rows for them (of 4)"},
    {value_for_a_pointer, "parameter 2 is a pointer, and map row 2 a value of 8 bytes"},
    {short_value_for_a_pointer, "parameter 3 is a pointer, and map row 3 a value of 4 bytes"},
    {memory_for_a_value, "parameter 0 is a rex_arg, and map row 0 an address of mapped memory"},
    {memory_for_a_typed_value, "parameter 1 is a rex_arg_f64, and map row 1 an address of mapped memory"},
    {another_size, "parameter 1 is a rex_arg_f64, and map row 1 a value of 4 bytes"},
};

/* ---- tests --------------------------------------------------------------------------------------------------------------------- */

/* A form that the release runs. */
static bool runs(void *key)
{
    struct rows rows;
    right(&rows);
    int result = by_launch(key, &rows);
    assert_true(result == REX_OK || result == REX_EUNSUPPORTED);
    return result == REX_OK;
}

static void check_refused(int result, size_t number, const char *list)
{
    if (result != REX_EPARAMS)
        fail_msg("case %zu: %s: %s", number, rex_error_name(result), rex_last_error());
    if (strstr(rex_last_error(), cases[number].words) == NULL || strstr(rex_last_error(), list) == NULL)
        fail_msg("case %zu: %s", number, rex_last_error());
}

/* First of all launches, so that nothing was found right before. */
static void wrong_rows(void **state)
{
    struct rows rows;
    (void)state;
    for (size_t way = 0; way < WAYS; way++)
        for (size_t form = 0; form < 2; form++)
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                right(&rows);
                cases[i].spoil(&rows);
                check_refused(ways[way](keys[form], &rows), i, LIST);
            }
}

/* After a right launch the next wrong one is found as well, where its rows are others than those before. */
static void wrong_rows_later(void **state)
{
    struct rows rows;
    (void)state;
    for (size_t way = 2; way < WAYS; way++)
        for (size_t form = 0; form < 2; form++)
            for (size_t i = 0; i < sizeof cases / sizeof *cases && runs(keys[form]); i++) {
                right(&rows);
                assert_int_equal(ways[way](keys[form], &rows), REX_OK);
                cases[i].spoil(&rows);
                check_refused(ways[way](keys[form], &rows), i, LIST);
            }
}

static void right_rows(void **state)
{
    struct rows rows;
    double before;
    REX_DATA_MAP(back, REX_FROM(y, N));
    (void)state;
    for (size_t form = 0; form < 2; form++)
        for (size_t way = 0; way < WAYS && runs(keys[form]); way++) {
            assert_int_equal(rex_data_update(-1, &back), REX_OK);
            before = y[3];
            right(&rows);
            assert_int_equal(ways[way](keys[form], &rows), REX_OK);
            assert_int_equal(rex_data_update(-1, &back), REX_OK);
            assert_true(y[3] == before + 2 * x[3]);
        }
}

/* An address that is passed as a value: is_device_ptr, and NULL. */
static void addresses_as_values(void **state)
{
    const double *here = rex_device_address(x, -1);
    struct rows rows;
    (void)state;
    right(&rows);
    add_literal(&rows, &here, sizeof here);
    exchange(&rows, 2, 4);
    rows.count = 4;
    for (size_t form = 0; form < 2; form++)
        for (size_t way = 0; way < WAYS && runs(keys[form]); way++)
            assert_int_equal(ways[way](keys[form], &rows), REX_OK);
}

static void every_accessor(void **state)
{
    double out[12] = {0};
    struct rex_kernel_launch launch = rex_kernel_launch_of(REX_KERNEL_ID(accessors), 1, 1);
    REX_MAP(args, REX_VALUE((int8_t)-3), REX_VALUE((uint8_t)250), REX_VALUE((int16_t)-300), REX_VALUE((uint16_t)65000), REX_VALUE(-70000),
            REX_VALUE(4000000000u), REX_VALUE(INT64_C(-5000000000)), REX_VALUE(UINT64_C(1) << 63), REX_VALUE(0.5f), REX_VALUE(-0.25),
            REX_VALUE((bool)1), REX_VALUE((char)'r'), REX_FROM(out, 12));
    static const double wanted[12] = {-3, 250, -300, 65000, -70000, 4000000000.0, -5000000000.0, 9223372036854775808.0, 0.5, -0.25, 1, 'r'};
    (void)state;
    int result = rex_launch(&launch, &args);
    if (result == REX_EUNSUPPORTED) /* no plain kernels */
        return;
    assert_int_equal(result, REX_OK);
    for (size_t i = 0; i < 12; i++)
        assert_true(out[i] == wanted[i]);
}

#define KIND(value) ((REX_VALUE(value)).type >> 32)

/* What REX_VALUE tells of a value's type. */
static void kinds_of_values(void **state)
{
    struct {
        int a, b;
    } pair = {0, 0};
    const long constant = 1;
    char letter = 'l';
    (void)state;
    assert_true(KIND((int8_t)1) == REX_KIND_I8 && KIND((uint8_t)1) == REX_KIND_U8 && KIND((int16_t)1) == REX_KIND_I16);
    assert_true(KIND((uint16_t)1) == REX_KIND_U16 && KIND(1) == REX_KIND_I32 && KIND(1u) == REX_KIND_U32 && KIND(1L) == REX_KIND_I64);
    assert_true(KIND(1LL) == REX_KIND_I64 && KIND(1UL) == REX_KIND_U64 && KIND(1ULL) == REX_KIND_U64 && KIND(constant) == REX_KIND_I64);
    assert_true(KIND(1.0f) == REX_KIND_F32 && KIND(1.0) == REX_KIND_F64 && KIND((bool)1) == REX_KIND_BOOL);
    assert_true(KIND(&pair) == REX_KIND_POINTER && KIND(state) == REX_KIND_POINTER);
    assert_true(KIND(pair) == REX_KIND_UNKNOWN && KIND(letter) == REX_KIND_UNKNOWN);
    assert_int_equal(REX_DEVICE_POINTER(NULL).type >> 32, REX_KIND_POINTER);
}

/* A value of the right width and another type, where the macro tells it. */
static void values_of_another_type(void **state)
{
    static const char *const words[] = {"parameter 1 is a rex_arg_f64, and map row 1 a value of 8 bytes for a rex_arg_i64",
                                        "parameter 2 is a pointer, and map row 2 a value of 8 bytes for a rex_arg_u64"},
                             *const rows[] = {"; row 1 is REX_VALUE(n)", "; row 2 is REX_VALUE((uintptr_t)x)"};
    const int64_t n = N;
    (void)state;
    REX_MAP(integer, REX_VALUE(n), REX_VALUE(n), REX_TO(x, N), REX_TOFROM(y, N));
    REX_MAP(address, REX_VALUE(n), REX_VALUE(2.0), REX_VALUE((uintptr_t)x), REX_TOFROM(y, N));
    REX_MAP(good, REX_VALUE(n), REX_VALUE(2.0), REX_TO(x, N), REX_TOFROM(y, N));
    struct rex_map *wrong[] = {&integer, &address};
    for (size_t form = 0; form < 2; form++)
        for (int round = 0; round < 2 && runs(keys[form]); round++) {
            struct rex_kernel_launch launch = rex_kernel_launch_of(keys[form], 1, 1);
            assert_int_equal(rex_launch(&launch, &good), REX_OK);
            assert_int_equal(rex_queue_launch(queue, &launch, &good), REX_OK);
            for (size_t i = 0; i < 2; i++) {
                assert_int_equal(rex_launch(&launch, wrong[i]), REX_EPARAMS);
                assert_non_null(strstr(rex_last_error(), words[i]));
                assert_non_null(strstr(rex_last_error(), rows[i]));
                assert_int_equal(rex_queue_launch(queue, &launch, wrong[i]), REX_EPARAMS);
                assert_non_null(strstr(rex_last_error(), words[i]));
                assert_non_null(strstr(rex_last_error(), rows[i]));
            }
        }
}

/* By value a double is in a register of another sort; a queue on a GPU passes it. */
static void double_by_value(void **state)
{
    const double a = 3;
    struct rows rows = {0};
    (void)state;
    add_literal(&rows, &a, sizeof a);
    add_row(&rows, y, sizeof y, PARAMETER | TOFROM);
    if (gpu_present()) {
        assert_int_equal(by_queue(REX_KERNEL_ID(floating), &rows), REX_OK);
        return;
    }
    for (size_t way = 0; way < WAYS; way++) {
        assert_int_equal(ways[way](REX_KERNEL_ID(floating), &rows), REX_EPARAMS);
        assert_non_null(strstr(rex_last_error(),
                               "declared (floating point of 8 bytes, pointer): parameter 0 is a floating point of 8 bytes, "
                               "and the host device passes words of 8 bytes"));
    }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        x[i] = i, y[i] = 100 + i;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_rows),
        cmocka_unit_test(right_rows),
        cmocka_unit_test(wrong_rows_later),
        cmocka_unit_test(kinds_of_values),
        cmocka_unit_test(values_of_another_type),
        cmocka_unit_test(addresses_as_values),
        cmocka_unit_test(every_accessor),
        cmocka_unit_test(double_by_value),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
