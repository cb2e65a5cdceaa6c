/*
 * What a kernel receives: every argument, the grid and the block, for plain and env kernels, on every release. Which grid is asked for where
 * the packet, the call or neither has one: unit/packets and unit/bydriver.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include "report.h"

REX_KERNEL(plain);
REX_KERNEL(env);
static char collector_key;
REX_ENTRY(collector__, &collector_key, "collector", 0, 0);
REX_KERNEL(shared_memory);

#define NO_ENVIRONMENT UINT64_MAX /* what the runtime passes an env kernel that asked for nothing */

static const struct form {
    bool env;
    void *key;
} forms[] = {{false, &plain__id__}, {true, &env__id__}};
enum { FORMS = 2 };

typedef int launch_function(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);
static launch_function *const launchers[] = {rex_direct___tgt_target_kernel, rex___tgt_target_kernel};

/* What is stated here is libomptarget's rules. The CUDA driver takes more. */
static void start(void)
{
    assert_int_equal(setenv("REX_LAUNCH_BY", "runtime", 1), 0);
    assert_int_equal(rex_offload_init(), 0);
}

/* LLVM 18 runs no plain kernels on a GPU. */
static int runs(const struct form *form)
{
    return form->env || rex_runtime_release() != 18 || rex_module_on_host(&rex_this_module);
}

static uint64_t words[4]; /* the second is behind a pointer */

static struct __tgt_kernel_arguments packet_for(struct report *report, struct rows *rows,
                                                int32_t teams, int32_t threads)
{
    memset(report, 0, sizeof *report);
    rows->count = 0;
    for (uint64_t i = 1; i < 4; i++)
        words[i] = UINT64_C(0x0123456789abcdef) * ++words[0];
    add_row(rows, report, sizeof *report, PARAMETER | TOFROM);
    add_literal(rows, &words[1], sizeof words[1]);
    add_row(rows, &words[2], sizeof words[2], PARAMETER | TO);
    add_literal(rows, &words[3], sizeof words[3]);
    return packet_of(rows, teams, threads);
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

static void check_launch(const struct form *form, launch_function *launch_by)
{
    struct report report;
    struct rows rows, rows_before;
    struct __tgt_kernel_arguments packet = packet_for(&report, &rows, 3, 64), before = packet;
    rows_before = rows;
    assert_int_equal(launch_by(-1, 3, 64, form->key, &packet), 0);
    assert_memory_equal(&packet, &before, sizeof packet);
    assert_memory_equal(&rows, &rows_before, sizeof rows);
    assert_int_equal(report.calls, 1);
    assert_true(report.environment == (form->env ? NO_ENVIRONMENT : 0));
    check_grid(&report, (const uint32_t[]){3, 1, 1}, (const uint32_t[]){64, 1, 1});
    assert_memory_equal(&report.arguments[1], &words[1], 3 * sizeof *words);
}

TEST(every_argument_arrives)
{
    start();
    for (int again = 0; again < 2; again++)
        for (size_t f = 0; f < FORMS; f++)
            for (size_t l = 0; l < sizeof launchers / sizeof *launchers && runs(&forms[f]); l++)
                check_launch(&forms[f], launchers[l]);
}

TEST(a_name_in_tor)
{
    struct report report;
    struct rows rows;
    start();
    struct __tgt_kernel_arguments packet = packet_for(&report, &rows, 1, 1);
    packet.NumArgs = 1;
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
    for (size_t f = 0; f < FORMS; f++) {
        if (!runs(&forms[f]))
            continue;
        struct __tgt_kernel_arguments packet = packet_for(&report, &rows, 4, 16);
        packet.Teams[1] = packet.Teams[2] = packet.Threads[1] = packet.Threads[2] = 0;
        assert_int_equal(__tgt_target_kernel(-1, 0, 0, forms[f].key, &packet), 0);
        check_grid(&report, (const uint32_t[]){4, 1, 1}, (const uint32_t[]){16, 1, 1});
        packet = packet_for(&report, &rows, 4, 16);
        memcpy(packet.Teams, teams, sizeof teams);
        memcpy(packet.Threads, threads, sizeof threads);
        int result = __tgt_target_kernel(-1, 0, 0, forms[f].key, &packet);
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
        packet.NumArgs = 1;
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
