/*
 * What a kernel receives: every argument, the grid and the block, for plain and env kernels, on every release.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include "report.h"

#define BOTH(count)           \
    REX_KERNEL(plain##count); \
    REX_KERNEL(env##count)
BOTH(0);
BOTH(1);
BOTH(4);
BOTH(16);
BOTH(64);
static char collector_key;
REX_ENTRY(collector__, &collector_key, "collector", 0, 0);
REX_KERNEL(shared_memory);

struct report kept;
REX_GLOBAL(kept);

#define NO_ENVIRONMENT UINT64_MAX /* what the runtime passes an env kernel that asked for nothing */

static const int counts[] = {0, 1, 4, 16, 64};
enum { WHICH_1 = 1, COUNTS = 5 };

#define KEYS(form) \
    {&form##0__id__, &form##1__id__, &form##4__id__, &form##16__id__, &form##64__id__}
static const struct form {
    const char *name;
    int env;
    void *key_of[COUNTS];
} forms[] = {{"plain", 0, KEYS(plain)}, {"env", 1, KEYS(env)}};

typedef int launch_function(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);
static launch_function *const launchers[] = {rex_direct___tgt_target_kernel, rex___tgt_target_kernel};

static void start(void)
{
    assert_int_equal(rex_offload_init(), 0);
}

/* LLVM 18 runs no plain kernels on a GPU. */
static int runs(const struct form *form)
{
    return form->env || rex_runtime_release() != 18 || rex_module_on_host(&rex_this_module);
}

static uint64_t value_of(int argument, int launch)
{
    return UINT64_C(0x0123456789abcdef) * (uint64_t)(argument + 1) ^ ((uint64_t)launch << 56);
}

/* Rows for a kernel with COUNT arguments; the words that even arguments point to are in WORDS. */
static void fill(struct rows *rows, int count, int launch, struct report *report, uint64_t words[64])
{
    rows->count = 0;
    if (count > 0)
        add_row(rows, report, sizeof *report, PARAMETER | TOFROM);
    for (int i = 1; i < count; i++) {
        words[i] = value_of(i, launch);
        if (i % 2 == 1)
            add_literal(rows, &words[i], sizeof words[i]);
        else
            add_row(rows, &words[i], sizeof words[i], PARAMETER | TO);
    }
}

/* A grid is compared on a GPU; the host device runs a kernel once, whatever was asked for. */
static void check_grid(const struct report *report, const uint32_t teams[3], const uint32_t threads[3])
{
    uint64_t all = 1;
    int host = rex_module_on_host(&rex_this_module);
    for (int d = 0; d < 3; d++) {
        assert_int_equal(report->teams[d], host ? 1 : teams[d]);
        assert_int_equal(report->threads[d], host ? 1 : threads[d]);
        all *= host ? 1u : teams[d] * threads[d];
    }
    assert_int_equal(report->ran, all);
}

static void fetch_kept(void)
{
    void *address[] = {&kept};
    int64_t size[] = {sizeof kept}, type[] = {FROM};
    __tgt_target_data_update(-1, 1, address, address, size, type);
}

static void clear_kept(void)
{
    void *address[] = {&kept};
    int64_t size[] = {sizeof kept}, type[] = {TO};
    memset(&kept, 0, sizeof kept);
    __tgt_target_data_update(-1, 1, address, address, size, type);
}

static void check_launch(const struct form *form, int which, launch_function *launch_by, int launch)
{
    static struct report mapped;
    static const uint32_t teams[] = {3, 1, 1}, threads[] = {64, 1, 1};
    uint64_t words[64];
    struct rows rows;
    struct report *report = counts[which] == 0 ? &kept : &mapped;
    memset(&mapped, 0, sizeof mapped);
    clear_kept();
    fill(&rows, counts[which], launch, &mapped, words);
    struct __tgt_kernel_arguments packet = packet_of(&rows, (int32_t)teams[0], (int32_t)threads[0]), before = packet;
    struct rows rows_before = rows;

    assert_int_equal(launch_by(-1, 3, 64, form->key_of[which], &packet), 0);

    assert_memory_equal(&packet, &before, sizeof packet);
    assert_memory_equal(&rows, &rows_before, sizeof rows);
    if (counts[which] == 0)
        fetch_kept();
    assert_int_equal(report->calls, 1);
    assert_true(report->environment == (form->env ? NO_ENVIRONMENT : 0));
    check_grid(report, teams, threads);
    for (int i = 1; i < counts[which]; i++)
        if (report->arguments[i] != value_of(i, launch))
            fail_msg("%s%d: argument %d is %#llx, not %#llx", form->name, counts[which], i, (unsigned long long)report->arguments[i],
                     (unsigned long long)value_of(i, launch));
}

TEST(every_argument_arrives)
{
    int launch = 0;
    start();
    for (int again = 0; again < 2; again++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
            for (int which = 0; which < COUNTS && runs(&forms[f]); which++)
                for (size_t l = 0; l < sizeof launchers / sizeof *launchers; l++)
                    check_launch(&forms[f], which, launchers[l], launch++);
}

TEST(a_name_in_tor)
{
    struct report report = {0};
    struct rows rows = {0};
    start();
    add_row(&rows, &report, sizeof report, PARAMETER | TOFROM);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    int result = __tgt_target_kernel(-1, 1, 1, &collector_key, &packet);
    if (rex_runtime_release() != 18) {
        assert_int_equal(result, 0);
        assert_int_equal(report.calls, 1);
        return;
    }
    assert_int_equal(result, REX_EUNSUPPORTED);
    assert_int_equal(rex_last_error_code(), REX_EUNSUPPORTED);
    assert_non_null(strstr(rex_last_error(), "\"collector\": LLVM 18 takes a kernel whose name ends in \"tor\""));
    assert_int_equal(report.calls, 0);
}

static struct __tgt_kernel_arguments packet_for(struct report *report, struct rows *rows, int32_t teams, int32_t threads)
{
    memset(report, 0, sizeof *report);
    rows->count = 0;
    add_row(rows, report, sizeof *report, PARAMETER | TOFROM);
    return packet_of(rows, teams, threads);
}

/* x from the packet, from the call where the packet has none, and from neither. More: unit/packets. */
TEST(grid_of_packet_or_call)
{
    static const struct {
        int32_t teams, threads, call_teams, call_threads;
        int64_t trip_count;
        uint32_t expected_teams, expected_threads;
    } cases[] = {
        {0, 0, 5, 96, 0, 5, 96},    {0, 32, 5, 96, 0, 5, 32},    {7, 32, -1, -1, 0, 7, 32},
        {0, 0, 0, 0, 1000, 8, 128}, {0, 0, -1, -1, 0, 128, 128}, {300, 1024, 1, 1, 0, 300, 1024},
    };
    struct report report;
    struct rows rows;
    start();
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases && runs(&forms[f]); i++) {
            struct __tgt_kernel_arguments packet = packet_for(&report, &rows, cases[i].teams, cases[i].threads);
            packet.Tripcount = cases[i].trip_count;
            assert_int_equal(__tgt_target_kernel(-1, cases[i].call_teams, cases[i].call_threads, forms[f].key_of[WHICH_1], &packet), 0);
            check_grid(&report, (const uint32_t[]){cases[i].expected_teams, 1, 1}, (const uint32_t[]){cases[i].expected_threads, 1, 1});
        }
}

/* LLVM 23 and 24 launch plain kernels by packets of version 1, which have one dimension. */
static bool has_dimensions(const struct form *form)
{
    int release = rex_runtime_release();
    return rex_module_on_host(&rex_this_module) || (release >= 20 && (release < 23 || form->env));
}

/* y and z: 0 is 1; more than 1 arrives on LLVM 20 and later and is refused by name before. */
TEST(grid_of_three_dimensions)
{
    static const uint32_t teams[] = {4, 2, 3}, threads[] = {16, 2, 4};
    struct report report;
    struct rows rows;
    start();
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (!runs(&forms[f]))
            continue;
        struct __tgt_kernel_arguments packet = packet_for(&report, &rows, 4, 16);
        packet.Teams[1] = packet.Teams[2] = packet.Threads[1] = packet.Threads[2] = 0;
        assert_int_equal(__tgt_target_kernel(-1, 0, 0, forms[f].key_of[WHICH_1], &packet), 0);
        check_grid(&report, (const uint32_t[]){4, 1, 1}, (const uint32_t[]){16, 1, 1});
        packet = packet_for(&report, &rows, 4, 16);
        memcpy(packet.Teams, teams, sizeof teams);
        memcpy(packet.Threads, threads, sizeof threads);
        int result = __tgt_target_kernel(-1, 0, 0, forms[f].key_of[WHICH_1], &packet);
        assert_int_equal(result, has_dimensions(&forms[f]) ? 0 : REX_EUNSUPPORTED);
        if (result == 0)
            check_grid(&report, teams, threads);
        else
            assert_int_equal(report.ran, 0);
    }
}

/* The most bytes that a launch may ask for, on this release and GPU, beside the 20000 of the kernel's own. */
static uint64_t most_shared_memory(void)
{
    struct rex_gpu gpu;
    if (rex_runtime_release() != 22)
        return rex_runtime_release() <= 15 ? 0 : 49152 - 20000;
    assert_int_equal(rex_gpu_get(&gpu, sizeof gpu, 0), 0);
    return gpu.shared_memory - 20000;
}

/*
 * As much as there is arrives, which LLVM 22 raises to 48 KiB where that and the kernel's own are more than 48 KiB; a byte more is refused,
 * and the process goes on.
 */
TEST(dynamic_shared_memory)
{
    start();
    bool host = rex_module_on_host(&rex_this_module);
    uint64_t most = host ? 0 : most_shared_memory(), sizes[] = {1024, 29152, 29153, most, most + 1, most / 2, UINT32_MAX, most};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct report report;
        struct rows rows;
        struct __tgt_kernel_arguments packet = packet_for(&report, &rows, 1, 1);
        packet.DynCGroupMem = (int32_t)sizes[i];
        int result = __tgt_target_kernel(-1, 0, 0, REX_KERNEL_ID(shared_memory), &packet);
        if (host || sizes[i] <= most) {
            assert_int_equal(result, 0);
            assert_int_equal(report.calls, 1);
            if (!host && sizes[i] > 0) {
                uint64_t seen = sizes[i] > 29152 && sizes[i] < 49152 ? 49152 : sizes[i];
                assert_int_equal(report.arguments[1], seen);
                assert_int_equal(report.arguments[2], seen / 2);
            }
        } else {
            assert_int_equal(result, REX_EUNSUPPORTED);
            assert_non_null(strstr(rex_last_error(), "shared memory"));
            assert_int_equal(report.calls, 0);
        }
    }
}
