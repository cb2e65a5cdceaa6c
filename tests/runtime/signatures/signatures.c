/*
 * Rows that are not what the kernel's signature declares: each is REX_EPARAMS with the kernel's own list, whatever way the launch takes,
 * before anything runs; and the right rows run.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include <limits.h>

#include "kinds.h"

REX_KERNEL(axpy);
REX_KERNEL(axpy_env);
#define KERNEL(type, name) REX_KERNEL(takes_##name);
EACH_SCALAR(KERNEL)
REX_KERNEL(takes_few);
REX_KERNEL(takes_pointer);
REX_KERNEL(takes_half);
REX_KERNEL(bounded, (int64_t) n, (double *) out);
REX_KERNEL(bounded_env, (int64_t) n, (double *) out);
REX_KERNEL_STEM(OUT__1__bounded__70__, (int64_t) n, (double *) out);
REX_KERNEL_STEM(OUT__2__bounded__71__, (int64_t) n, (double *) out);

enum { N = 16 };
static double x[N], y[N];
static struct rex_queue *queue;

#define LIST "(int64_t, double, pointer, pointer)"

/* Both forms of the kernel are launched; LLVM 18 knows one of them. */
static void *keys[2];

static int start(void)
{
    keys[0] = REX_KERNEL_ID(axpy);
    keys[1] = REX_KERNEL_ID(axpy_env);
    REX_MAP(region, REX_TO(x, N), REX_TOFROM(y, N));
    return rex_queue_create(&queue, -1, NULL, 0) == REX_OK && rex_data_enter(-1, &region) == REX_OK ? 0 : -1;
}

/* ---- ways to launch ------------------------------------------------------------------------------------------------------------ */

static struct rex_map map_of(struct rows *rows)
{
    return (struct rex_map){.count = rows->count, .base = rows->value, .begin = rows->value, .sizes = rows->size, .types = rows->type};
}

enum { DIRECT, SAFE, LAUNCH, QUEUE, WAYS };

static int launch_by(size_t way, void *key, struct rows *rows)
{
    struct __tgt_kernel_arguments packet = packet_of(rows, 1, 1);
    struct rex_launch_config launch = rex_launch_config_of(key, 1, 1);
    struct rex_map map = map_of(rows);
    int result = way == DIRECT   ? rex_direct___tgt_target_kernel(-1, 1, 1, key, &packet)
                 : way == SAFE   ? rex___tgt_target_kernel(-1, 1, 1, key, &packet)
                 : way == LAUNCH ? rex_launch(&launch, &map)
                                 : launch_in(queue, &launch, &map);
    return way == QUEUE && result == REX_OK ? rex_queue_sync(queue) : result;
}

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

static const char *const spoilt[] = {
    "number of arguments is 3 (map rows: 3), and must be 4%s, of types " LIST ": parameter 3, a pointer, has no row",
    "number of arguments is 5 (map rows: 5), and must be 4%s, of types " LIST ": map row 4 has no parameter",
    "kernel \"axpy%s\": map row 2 is 0x3e8, a number too small for an address, and parameter 2 is a pointer",
    "kernel \"axpy%s\": map row 0 is an address of mapped memory, and parameter 0 is int64_t",
    "kernel \"axpy%s\": map row 1 is a value of 4 bytes, and parameter 1 is double",
};
enum { SPOILT = sizeof spoilt / sizeof *spoilt };

static void spoil(struct rows *rows, size_t number)
{
    const int64_t more = 1000; /* no address */
    const float a = 2;
    switch (number) {
    case 0: rows->count--; break;
    case 1: add_literal(rows, &more, sizeof more); break;
    case 2:
        add_literal(rows, &more, sizeof more);
        exchange(rows, 2, 4);
        rows->count--;
        break;
    case 3: exchange(rows, 0, 2); break;
    default:
        add_literal(rows, &a, sizeof a);
        exchange(rows, 1, 4);
        rows->count--;
    }
}

/* ---- tests --------------------------------------------------------------------------------------------------------------------- */

/* A form that the release runs. */
static bool runs(void *key)
{
    struct rows rows;
    right(&rows);
    int result = launch_by(LAUNCH, key, &rows);
    assert_true(result == REX_OK || result == REX_EUNSUPPORTED);
    return result == REX_OK;
}

static void check_refused(int result, size_t number, const char *list)
{
    if (result != REX_EPARAMS)
        fail_msg("case %zu: %s: %s", number, rex_error_name(result), rex_last_error());
    const char *of_env = number < 2 ? " (not counting the first parameter, which is for libomptarget)" : "_env";
    char words[300];
    snprintf(words, sizeof words, spoilt[number],
             strstr(rex_last_error(), "axpy_env") != NULL ? of_env : "");
    if (strstr(rex_last_error(), words) == NULL || strstr(rex_last_error(), list) == NULL)
        fail_msg("case %zu: %s", number, rex_last_error());
}

/* First of all launches, so that nothing was found right before; and after a right launch, where
 * its rows are others than those. */
TEST(wrong_rows)
{
    struct rows rows;
    for (int later = 0; later < 2; later++)
        for (size_t way = later ? LAUNCH : 0; way < WAYS; way++)
            for (size_t form = 0; form < 2; form++)
                for (size_t i = 0; i < SPOILT; i++) {
                    right(&rows);
                    if (later && runs(keys[form]))
                        assert_int_equal(launch_by(way, keys[form], &rows), REX_OK);
                    spoil(&rows, i);
                    check_refused(launch_by(way, keys[form], &rows), i, LIST);
                }
}

/* ---- each kind of value for each kind of parameter ----------------------------------------------------------------------------- */

#define KEY(type, name) {#type, REX_KERNEL_ID(takes_##name)},

static double out;

/*
 * ROW, a value that reads as -3, or as VALUE where it is unsigned or bool, for KEY: whether it FITS, and then what the kernel saw; or the
 * message.
 */
static void try_one(void *key, const char *takes, struct rex_row row, const char *given, bool fits, double value)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 1, 1);
    struct rex_row rows[] = {row, REX_OBJECT(REX_MAP_FROM, out)};
    void *base[2] = {rows[0].base, rows[1].base}, *begin[2] = {rows[0].begin, rows[1].begin};
    int64_t sizes[2] = {rows[0].size, rows[1].size}, types[2] = {rows[0].type, rows[1].type};
    struct rex_map map = {.count = 2, .base = base, .begin = begin, .sizes = sizes, .types = types};
    char said[200];
    out = 1000;
    int result = rex_launch(&launch, &map);
    if (fits && result == REX_EUNSUPPORTED) /* no plain kernels */
        return;
    if (result != (fits ? REX_OK : REX_EPARAMS))
        fail_msg("%s for %s: %s: %s", given, takes, rex_error_name(result), rex_last_error());
    if (fits && out != value)
        fail_msg("%s for %s: %g, not %g", given, takes, out, value);
    if (fits)
        return;
    snprintf(said, sizeof said, "\": map row 0 is %s, and parameter 0 is %s", given, takes);
    if (strncmp(rex_last_error(), "kernel \"takes_", 14) != 0 || strstr(rex_last_error(), said) == NULL)
        fail_msg("%s for %s: %s", given, takes, rex_last_error());
    assert_true(out == 1000);
}

/*
 * In the order of EACH_SCALAR: the types that fit a parameter of each. An integer fits one at least as wide, of either signedness, and
 * keeps its value as C converts it; bool is an integer as a value, and no parameter for one.
 */
TEST(every_value_for_every_parameter)
{
#define ONE(type, name) {#type, REX_VALUE((type)-3), (double)(type)-3},
    const struct {
        const char *name;
        struct rex_row row;
        double value;
    } values[] = {EACH_SCALAR(ONE)};
    static const char fits[][12] = {"11000000001", "11000000001", "11110000001", "11110000001", "11111100001", "11111100001",
                                    "11111111001", "11111111001", "00000000100", "00000000010", "00000000001"};
    enum { KINDS = 11 };
    const struct {
        const char *name;
        void *key;
    } parameters[KINDS] = {EACH_SCALAR(KEY)};
    /* what C makes of -3, or of the value above, in the parameter's type */
#define CONVERTED(type, name) (double)(type)whole,
    for (size_t p = 0; p < KINDS; p++)
        for (size_t v = 0; v < KINDS; v++) {
            int64_t whole = v == 6 || v == 7 || v == 4 || v == 2 || v == 0 ? -3 : (int64_t)values[v].value;
            double converted[] = {EACH_SCALAR(CONVERTED)};
            try_one(parameters[p].key, parameters[p].name, values[v].row, values[v].name, fits[p][v] == '1', converted[p]);
        }
}

TEST(structs_pointers_and_memory)
{
    const struct few few = {2, 3};
    const struct {
        char bytes[8];
    } eight = {""};
    const struct {
        const char *name;
        void *key;
    } scalars[] = {EACH_SCALAR(KEY)};
    try_one(REX_KERNEL_ID(takes_few), "a struct of 4 bytes", REX_VALUE(few), "a value of 4 bytes", true, 5);
    try_one(REX_KERNEL_ID(takes_few), "a struct of 4 bytes", REX_VALUE(eight), "a value of 8 bytes", false, 0);
    try_one(REX_KERNEL_ID(takes_few), "a struct of 4 bytes", REX_VALUE(3), "int", false, 0);
    try_one(REX_KERNEL_ID(takes_few), "a struct of 4 bytes", REX_TO(x, N), "an address of mapped memory", false, 0);
    try_one(REX_KERNEL_ID(takes_pointer), "a pointer", REX_TO(x, N), "", true, 1);
    try_one(REX_KERNEL_ID(takes_pointer), "a pointer", REX_VALUE((void *)(uintptr_t)4096), "", true, 1);
    try_one(REX_KERNEL_ID(takes_pointer), "a pointer", REX_IS_DEVICE_PTR(NULL), "", true, 0);
    try_one(REX_KERNEL_ID(takes_pointer), "a pointer", REX_VALUE(INT64_C(100000)), "int64_t", false, 0);
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        try_one(scalars[i].key, scalars[i].name, REX_VALUE(eight), "a value of 8 bytes", false, 0);
        try_one(scalars[i].key, scalars[i].name, REX_VALUE(&few), "a pointer", false, 0);
    }
}

TEST(half_a_word)
{
    const uint16_t bits = 0xb400; /* -0.25 */
    half_number half;
    memcpy(&half, &bits, sizeof half);
    try_one(REX_KERNEL_ID(takes_half), "a struct of 2 bytes", REX_VALUE(half), "a value of 2 bytes", true, -0.25);
    try_one(REX_KERNEL_ID(takes_half), "a struct of 2 bytes", REX_VALUE((int16_t)1), "int16_t", false, 0);
#if HAS_HALF
    try_one(REX_KERNEL_ID(takes_half), "a struct of 2 bytes", REX_VALUE((half_number)1.5), "a value of 2 bytes", true, 1.5);
#endif
}

/* A plain kernel that a release cannot launch is REX_EUNSUPPORTED; every release launches an env one, or both. */
TEST(launch_bounds)
{
    void *const bounded[] = {REX_KERNEL_ID(bounded), REX_KERNEL_ID(bounded_env), REX_KERNEL_STEM_ID(OUT__1__bounded__70__),
                             REX_KERNEL_STEM_ID(OUT__2__bounded__71__)};
    bool ran = false;
    for (size_t i = 0; i < sizeof bounded / sizeof *bounded; i++) {
        double many[3] = {9, 9, 9};
        struct rex_launch_config launch = rex_launch_config_of(bounded[i], 1, 64);
        REX_MAP(args, REX_VALUE(3), REX_FROM(many, 3));
        int result = rex_launch(&launch, &args);
        assert_true(result == REX_OK || result == REX_EUNSUPPORTED);
        assert_true(result != REX_OK || (many[0] == 0 && many[1] == 1 && many[2] == 2));
        launch.threads[0] = 65;
        if (result == REX_OK)
            assert_int_equal(rex_launch(&launch, &args), gpu_is_real() ? REX_EINVAL : REX_OK);
        ran = ran || result == REX_OK;
    }
    assert_true(ran);
}

/* ---- kinds of values, and messages --------------------------------------------------------------------------------------------- */

#define KIND(value) ((REX_VALUE(value)).type >> 32)

/* What REX_VALUE tells of a value's type. */
TEST(kinds_of_values)
{
    struct {
        int a, b;
    } pair = {0, 0};
    const long constant = 1;
    char letter = 'l';
    assert_true(KIND(1LL) == REX_KIND_I64 && KIND(1ULL) == REX_KIND_U64 && KIND(constant) == REX_KIND_I64);
    assert_true(KIND(&pair) == REX_KIND_POINTER && KIND(&letter) == REX_KIND_POINTER);
    assert_true(KIND(pair) == REX_KIND_VALUE && KIND(letter) == REX_KIND_I8);
    assert_int_equal(REX_IS_DEVICE_PTR(NULL).type >> 32, REX_KIND_POINTER);
}

/* A value of another type: the message has both, and what to write. */
TEST(values_of_another_type)
{
    const int64_t n = N;
    const int k = 2;
    const float half = 0.5f;
    struct {
        int of[2];
    } numbers = {{2, 3}}, *more = &numbers;
    REX_MAP(good, REX_VALUE(n), REX_VALUE(2.0), REX_TO(x, N), REX_TOFROM(y, N));
    REX_MAP(integer, REX_VALUE(n), REX_VALUE(k), REX_TO(x, N), REX_TOFROM(y, N));
    REX_MAP(member, REX_VALUE(n), REX_VALUE(numbers.of[k - 1]), REX_TO(x, N), REX_TOFROM(y, N));
    REX_MAP(through, REX_VALUE(n), REX_IMPLICIT(REX_VALUE(more->of[(0)])), REX_TO(x, N), REX_TOFROM(y, N));
    REX_MAP(negative, REX_VALUE(n), REX_VALUE(-k), REX_TO(x, N), REX_TOFROM(y, N));
    REX_MAP(cut, REX_VALUE(n), REX_VALUE(k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k + k),
            REX_TO(x, N), REX_TOFROM(y, N));
    REX_MAP(floating, REX_VALUE((double)n), REX_VALUE(2.0), REX_TO(x, N), REX_TOFROM(y, N));
    REX_MAP(pointer, REX_VALUE(n), REX_VALUE(&half), REX_TO(x, N), REX_TOFROM(y, N));
    REX_MAP(low, REX_VALUE(n), REX_VALUE(2.0), REX_VALUE((double *)(uintptr_t)4095), REX_TOFROM(y, N));
    REX_MAP(mapped, REX_TO(x, N), REX_VALUE(2.0), REX_TO(x, N), REX_TOFROM(y, N));
    static const char number[] = "kernel \"axpy%s\": map row 1 is int, and parameter 1 is double: write REX_VALUE((double)%s); the kernel takes " LIST;
    const struct {
        struct rex_map *map;
        const char *words, *value;
    } wrong[] = {
        {&integer, number, "k"},
        {&member, number, "(numbers.of[k - 1])"},
        {&through, number, "(more->of[(0)])"},
        {&negative, number, "(-k)"},
        {&cut, number, "..."}, /* of which the message has a part only */
        {&floating, "kernel \"axpy%s\": map row 0 is double, and parameter 0 is int64_t: write REX_VALUE((int64_t)(double)n); the kernel takes " LIST, ""},
        {&pointer, "kernel \"axpy%s\": map row 1 is a pointer, and parameter 1 is double; row 1 is REX_VALUE(&half); the kernel takes " LIST, ""},
        {&low, "kernel \"axpy%s\": map row 2 is 0xfff, a number too small for an address, and parameter 2 is a pointer; row 2 is "
               "REX_VALUE((double *)(uintptr_t)4095); the kernel takes " LIST, ""},
        {&mapped, "kernel \"axpy%s\": map row 0 is an address of mapped memory, and parameter 0 is int64_t; row 0 is REX_TO(x, N); the kernel takes " LIST, ""},
    };
    for (size_t form = 0; form < 2; form++)
        for (int round = 0; round < 2 && runs(keys[form]); round++) {
            struct rex_launch_config launch = rex_launch_config_of(keys[form], 1, 1);
            assert_int_equal(rex_launch(&launch, &good), REX_OK);
            assert_int_equal(launch_in(queue, &launch, &good), REX_OK);
            for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                char words[300];
                snprintf(words, sizeof words, wrong[i].words, form == 0 ? "" : "_env", wrong[i].value);
                assert_int_equal(rex_launch(&launch, wrong[i].map), REX_EPARAMS);
                assert_string_equal(rex_last_error(), words);
                assert_int_equal(launch_in(queue, &launch, wrong[i].map), REX_EPARAMS);
                assert_string_equal(rex_last_error(), words);
            }
        }
}

/* Where the rows' text is not known the cast is, all the same. */
TEST(without_text)
{
    struct rows rows;
    right(&rows);
    const int k = 2;
    rows.value[1] = rex_pack_literal_arg_bytes(&k, sizeof k), rows.size[1] = sizeof k;
    rows.type[1] |= REX_MAP_KIND(REX_KIND_I32);
    assert_int_equal(launch_by(LAUNCH, keys[0], &rows), REX_EPARAMS);
    assert_string_equal(rex_last_error(), "kernel \"axpy\": map row 1 is int, and parameter 1 is double: write REX_VALUE((double)...); the kernel takes " LIST);
}

int main(void)
{
    for (int i = 0; i < N; i++)
        x[i] = i, y[i] = 100 + i;
    return start() == 0 ? run_all_tests() : 1;
}
