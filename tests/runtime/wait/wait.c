/*
 * The wait policy, and children of fork.
 *
 * On a GPU the flags of the primary context tell what was set. On the host device a policy is
 * accepted and changes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

REX_KERNEL(square);

static int launch(void)
{
    int64_t value = 12, result = -1;
    struct rows rows = rows_of(&value, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    int launched = rex___tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(square), &packet);
    assert_int_equal(result, launched == 0 ? 144 : -1);
    return launched;
}

/* ---- the driver, apart from librex ----------------------------------------------------------- */

static void *driver(void)
{
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

/* How the primary context of GPU 0 waits; it has to be active. */
static int context_policy(void)
{
    int (*get_state)(int device, unsigned *flags, int *active), active = 0;
    unsigned flags = 0;
    find(driver(), "cuDevicePrimaryCtxGetState", &get_state);
    assert_int_equal(get_state(0, &flags, &active), 0);
    assert_true(active);
    return (int)flags & 0x7;
}

static void activate_elsewhere(void)
{
    int (*init)(unsigned flags), (*retain)(void **context, int device);
    void *context;
    find(driver(), "cuInit", &init);
    find(driver(), "cuDevicePrimaryCtxRetain", &retain);
    assert_int_equal(init(0), 0);
    assert_int_equal(retain(&context, 0), 0);
}

/* ---- policies -------------------------------------------------------------------------------- */

static void check_policy(const char *policy, int flags)
{
    if (policy != NULL)
        assert_int_equal(rex_configure(REX_OPTION_WAIT, policy), 0);
    assert_int_equal(rex_offload_init(), 0);
    assert_int_equal(launch(), 0);
    if (gpu_present())
        assert_int_equal(context_policy(), flags);
    assert_int_equal(rex_offload_fini(), 0);
    assert_int_equal(launch(), 0);
}

#define POLICY(name, policy, flags)  \
    TEST(name)                       \
    {                                \
        check_policy(policy, flags); \
    }
POLICY(automatic, NULL, 0)
POLICY(spin, "spin", 1)
POLICY(yield, "Yield", 2)
POLICY(block, "block", 4)
/* libomptarget makes an inactive context block, in every release. */
POLICY(left_to_the_runtime, "runtime", 4)

TEST(active_context_stays)
{
    if (gpu_present())
        activate_elsewhere();
    check_policy("spin", 0);
}

/* ---- fork ------------------------------------------------------------------------------------ */

TEST(child_of_a_process_with_a_gpu)
{
    int status = -1;
    assert_int_equal(rex_offload_init(), 0);
    assert_int_equal(launch(), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int launched = launch();
        int expected = rex_module_on_host(&rex_this_module)
                           ? launched == 0
                           : launched == REX_EFORK && rex_last_error_code() == REX_EFORK;
        _exit(expected ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(launch(), 0);
}
