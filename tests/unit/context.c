/*
 * context.c - the primary context of a GPU: who activated it, who releases it; pinned memory; children of fork, whatever other threads did.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <malloc.h>
#include <pthread.h>

#include "cuda/context.h"
#include "cuda/driver.h"
#include "inqueue.h"
#include "rex/device.h"
#include "rex/inspect.h"
#include "rex/queue.h"
#include "rex_kmp.h"

#define SM_90 "tests/data/sm_90.cubin"

static char key;
static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof module, .entries_begin = entry, .entries_end = entry + 1, .image_name = SM_90};

/* ---- the fake driver, as another user of it ------------------------------------------------------------------------ */

static int flags(void)
{
    int (*get)(int device, unsigned *flags, int *active), active = 0;
    unsigned value = 0;
    void *address = in_driver("cuDevicePrimaryCtxGetState");
    memcpy(&get, &address, sizeof get);
    CHECK_EQUAL(get(0, &value, &active), 0);
    return active ? (int)value : -1;
}

/* What the CUDA runtime does at its first call. */
static void activate(unsigned with)
{
    int (*set)(int device, unsigned flags), (*retain)(void **context, int device);
    void *context, *address = in_driver("cuDevicePrimaryCtxSetFlags_v2");
    memcpy(&set, &address, sizeof set);
    address = in_driver("cuDevicePrimaryCtxRetain");
    memcpy(&retain, &address, sizeof retain);
    CHECK(set(0, with) == 0 && retain(&context, 0) == 0);
}

static void begin(const char *wait)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, wait), 0);
}

/* ---- contexts --------------------------------------------------------------------------------------------------------- */

/* A context that nobody has activated gets the policy, and goes with the module; one that is active stays as it is. */
static void keeps(const void *context)
{
    bool theirs = *(const bool *)context;
    begin("spin");
    if (theirs)
        activate(4);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        CHECK_EQUAL(flags(), theirs ? 4 : 1);
        CHECK_EQUAL(context_users(), 1);
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK_EQUAL(flags(), theirs ? 4 : -1);
        CHECK_EQUAL(context_users(), theirs);
    }
}

TEST(test_contexts)
{
    static const bool ours = false, theirs = true;
    assert_int_equal(occurrences(in_child(keeps, &ours), "GPU 0: context activated with flags 0x1"), 3);
    assert_int_equal(occurrences(in_child(keeps, &theirs), "GPU 0: its context is active already, with flags 0x4: the wait policy stays"), 3);
}

/* ---- of several GPUs --------------------------------------------------------------------------------------------------- */

static void begin_with_four(int release, const char *architectures)
{
    begin("spin");
    setenv("FAKE_CUDA_DEVICES", "4", 1);
    setenv("FAKE_CUDA_SM", architectures, 1);
    use_release(release);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    the_record()->devices = 4;
}

static void check_starts(int first, int second, int third, int fourth)
{
    const int wanted[] = {first, second, third, fourth}, *starts = in_driver("fake_cuda_starts");
    for (int i = 0; i < 4; i++)
        if (starts[i] != wanted[i]) {
            fprintf(stderr, "GPU %d was started %d times instead of %d\n", i, starts[i], wanted[i]);
            _exit(99);
        }
}

/* LLVM 14 to 17 start a GPU when it is first used, and librex no other; each with the policy, and once. */
TEST_ON_FAKES(used_alone, 14, 15, 16, 17)
{
    static int64_t value;
    struct rex_launch_config launch = rex_launch_config_of(&key, 1, 1);
    int64_t a = 1, b = 2;
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    REX_MAP(row, REX_TO(&value, 1));
    begin_with_four(release, "90");
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    check_starts(0, 0, 0, 0);
    CHECK_EQUAL(rex_module_init(&module), 0);
    check_starts(1, 0, 0, 0);
    CHECK_EQUAL(flags(), 1);
    launch.device = 2;
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), 0);
        check_starts(1, 0, 1, 0);
    }
    CHECK_EQUAL(rex_module_data_enter(&module, 3, &row), 0);
    CHECK_EQUAL(rex_module_region_end(&module, 3, &row), 0);
    check_starts(1, 0, 1, 1);
    CHECK(!rex_target_is_present(&value, sizeof value, 1));
    check_starts(1, 1, 1, 1);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(context_users(), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    check_starts(1, 1, 1, 1);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* The others start all that an image suits at its registration: there the policy is late for none. */
TEST_ON_FAKES(all_at_once, 18, 19, 21, 22, 23, 24)
{
    begin_with_four(release, "90,90,80,90");
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    check_starts(1, 1, 0, 1);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* Pinned memory starts the process's own GPU and no other, and none where one is at work. */
TEST_IN_CHILD(pins_on_its_own)
{
    struct rex_launch_config launch = rex_launch_config_of(&key, 1, 1);
    int64_t a = 1, b = 2;
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    setenv("SLURM_LOCALID", "7", 1);
    begin_with_four(16, "90");
    for (int i = 0; i < 2; i++) {
        void *pinned = rex_host_alloc(100);
        CHECK(pinned != NULL);
        check_starts(0, 0, 0, i + 1);
        CHECK_EQUAL(rex_host_free(pinned), 0);
        CHECK_EQUAL(context_users(), 0);
    }
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    launch.device = 1;
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), 0);
    void *pinned = rex_host_alloc(100);
    CHECK(pinned != NULL);
    check_starts(0, 1, 0, 2);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(rex_host_free(pinned), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* Of a device that is none of the driver's it is the first GPU. */
TEST_OF_EACH(pins_on_first, const char *, device, "4", "400")
{
    begin_with_four(16, "90");
    setenv("OMP_DEFAULT_DEVICE", device, 1);
    CHECK(rex_host_alloc(100) != NULL);
    check_starts(1, 0, 0, 0);
    CHECK_EQUAL(context_users(), 1);
}

static const struct policy {
    const char *wait;
    int flags;
    bool is_active; /* with flags 8 */
} policies[] = {{"auto", 0, false}, {"spin", 1, false}, {"yield", 2, false}, {"block", 4, false}, {"runtime", 4, false},
                {"auto", 8, true},  {"spin", 8, true},  {"yield", 8, true},  {"block", 8, true},  {"runtime", 8, true}};

/* A context that is activated for pinned memory gets the policy; one that is active keeps its own flags. */
TEST_FOR_EACH(pins_with_policy, policy, policies)
{
    int theirs = policy->is_active;
    begin(policy->wait);
    CHECK_EQUAL(rex_gpu_count(), 1);
    if (theirs)
        activate(8);
    for (int round = 0; round < 2; round++) {
        void *pinned = rex_host_alloc(100);
        CHECK_EQUAL(flags(), policy->flags);
        CHECK_EQUAL(context_users(), 1 + theirs);
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        CHECK_EQUAL(context_users(), 1 + theirs);
        CHECK_EQUAL(rex_host_free(pinned), 0);
        CHECK_EQUAL(context_users(), 1 + theirs);
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK_EQUAL(context_users(), theirs);
        if (strcmp(policy->wait, "runtime") != 0)
            continue;
        CHECK_EQUAL(rex_module_register(&module, NULL), 0); /* with which libomptarget has its own way */
        CHECK_EQUAL(context_users(), theirs);
        CHECK_EQUAL(rex_module_fini(&module), 0);
    }
}

/* Whose context another has activated is told at its first use, and not at each. */
static void told_once(const void *context)
{
    struct rex_launch_config launch = rex_launch_config_of(&key, 1, 1);
    int64_t a = 1, b = 2;
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    (void)context;
    begin_with_four(16, "90");
    activate(4);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    launch.device = 0;
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), 0);
}

TEST(test_told_once)
{
    assert_int_equal(occurrences(in_child(told_once, NULL), "GPU 0: its context is active already"), 1);
}

/* What libomptarget refuses holds no context. */
TEST_IN_CHILD(refused)
{
    begin("yield");
    CHECK_EQUAL(rex_runtime_bind(), 0);
    the_record()->devices = 0;
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_ERUNTIME);
    CHECK_EQUAL(context_users(), 0);
}

/* The policy is not worth a registration: what the driver will not do is said, and nothing is held. */
static void without_policy(const void *broken)
{
    begin("block");
    CHECK_EQUAL(rex_gpu_count(), 1);
    setenv("FAKE_CUDA_BREAKS", broken, 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(context_users(), 0);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(context_users(), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(flags(), 4);
    CHECK_EQUAL(context_users(), 1);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(context_users(), 0);
}

TEST(test_without_policy)
{
    static const struct {
        const char *broken, *said;
    } cases[] = {
        {"cuDeviceGet:719:1", "librex: warning: GPU 0: cuDeviceGet: CUDA_ERROR_LAUNCH_FAILED"},
        {"cuDevicePrimaryCtxGetState:719:1", "librex: warning: GPU 0: cuDevicePrimaryCtxGetState: CUDA_ERROR_LAUNCH_FAILED"},
        {"cuDevicePrimaryCtxSetFlags:719:1",
         "librex: warning: GPU 0: the wait policy could not be set: cuDevicePrimaryCtxSetFlags: CUDA_ERROR_LAUNCH_FAILED"},
        {"cuDevicePrimaryCtxRetain:719:1",
         "librex: warning: GPU 0: the wait policy could not be set: cuDevicePrimaryCtxRetain: CUDA_ERROR_LAUNCH_FAILED"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(occurrences(in_child(without_policy, cases[i].broken), cases[i].said), 1);
}

/* Losses are kept once for each device, as many as there may be devices, and told of the first. */
TEST_IN_CHILD(losses)
{
    char said[128];
    CHECK_EQUAL(rex_any_device_lost("a call"), REX_OK);
    CHECK(!rex_any_device_is_lost());
    for (int i = 0; i < 2 * REX_CUDA_DEVICES_MAX; i++)
        for (int twice = 0; twice < 2; twice++)
            rex_device_lose(i + 5, twice ? "queue \"second\"" : "queue \"first\"", "an error");
    CHECK(rex_any_device_is_lost());
    CHECK_EQUAL(rex_device_losses, REX_CUDA_DEVICES_MAX);
    CHECK_EQUAL(rex_any_device_lost("a call"), REX_ECUDA);
    CHECK(strcmp(rex_last_error(), "a call: device 5 is lost, since queue \"first\" met with an error") == 0);
    for (int i = 0; i < 2 * REX_CUDA_DEVICES_MAX; i++) {
        snprintf(said, sizeof said, "another: device %d is lost, since queue \"first\" met with an error", i + 5);
        CHECK_EQUAL(rex_device_lost(i + 5, "another"), i < REX_CUDA_DEVICES_MAX ? REX_ECUDA : REX_OK);
        CHECK(i >= REX_CUDA_DEVICES_MAX || strcmp(rex_last_error(), said) == 0);
    }
    CHECK_EQUAL(rex_device_lost(4, "another"), REX_OK);
}

/* ---- pinned memory ------------------------------------------------------------------------------------------------- */

/* What the driver does not end stays pinned, with its context, and may be ended later. */
TEST_IN_CHILD(not_ended)
{
    static char bytes[8192];
    begin("auto");
    void *memory = rex_host_alloc(100);
    CHECK(memory != NULL);
    CHECK_EQUAL(rex_host_register(bytes, sizeof bytes), 0);
    setenv("FAKE_CUDA_BREAKS", "cuMemHostUnregister:719:0", 1);
    CHECK_EQUAL(rex_host_unregister(bytes), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "rex_host_unregister, 8192 bytes: cuMemHostUnregister: CUDA_ERROR_LAUNCH_FAILED");
    CHECK_EQUAL(rex_host_unregister(bytes), REX_ECUDA);
    CHECK_EQUAL(rex_host_register(bytes + 4096, 4096), REX_EINVAL);
    setenv("FAKE_CUDA_BREAKS", "cuMemFreeHost:719:0", 1);
    CHECK_EQUAL(rex_host_unregister(bytes), 0);
    CHECK_EQUAL(rex_host_unregister(bytes), REX_EINVAL);
    CHECK_EQUAL(rex_host_free(memory), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "rex_host_free, 100 bytes: cuMemFreeHost: CUDA_ERROR_LAUNCH_FAILED");
    CHECK_EQUAL(rex_host_register((char *)memory + 10, 10), REX_EINVAL);
    CHECK_EQUAL(context_users(), 1);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_host_free(memory), 0);
    CHECK_EQUAL(rex_host_free(memory), REX_EINVAL);
    CHECK_EQUAL(context_users(), 0);
}

/* What the driver does not pin is not listed. */
TEST_IN_CHILD(not_begun)
{
    static char bytes[8192];
    begin("auto");
    setenv("FAKE_CUDA_BREAKS", "cuMemHostRegister:719:0", 1);
    CHECK_EQUAL(rex_host_register(bytes, sizeof bytes), REX_ECUDA);
    CHECK_EQUAL(rex_host_unregister(bytes), REX_EINVAL);
    CHECK_EQUAL(context_users(), 0);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_host_register(bytes, sizeof bytes), 0);
    CHECK_EQUAL(rex_host_unregister(bytes), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* What the driver does not allocate is not listed, at no address: others may be pinned there, and nothing is freed. */
TEST_IN_CHILD(not_allocated)
{
    char *left, *at_zero = (char *)16;
    begin("auto");
    CHECK_EQUAL(rex_gpu_count(), 1);
    left = in_driver("fake_cuda_not_allocated");
    setenv("FAKE_CUDA_BREAKS", "cuMemHostAlloc:719:0", 1);
    CHECK(rex_host_alloc(200) == NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "rex_host_alloc, 200 bytes: cuMemHostAlloc: CUDA_ERROR_LAUNCH_FAILED");
    CHECK_EQUAL(context_users(), 0);
    CHECK_EQUAL(rex_host_free(left), REX_EINVAL);
    for (int i = 0; i < 2; i++) {
        char *range = i == 0 ? left : at_zero;
        CHECK_EQUAL(rex_host_register(range, 100), 0);
        CHECK_EQUAL(rex_host_unregister(range), 0);
    }
    CHECK_EQUAL(context_users(), 0);
}

static void expect_refused(int result, const char *said)
{
    CHECK_EQUAL(result, REX_EINVAL);
    if (strcmp(rex_last_error(), said) != 0) {
        fprintf(stderr, "%s\nand not\n%s\n", rex_last_error(), said);
        _exit(99);
    }
}

static char several[3 * 4096];

/* Ranges may touch, and not overlap by a byte. Only what begins at an address, and was made so, is ended there. */
TEST_OF_EACH(beside, int, gpu, 90, 0)
{
    char said[128], *middle = several + 4096, *end = middle + 4096;
    use_gpu(gpu);
    CHECK_EQUAL(rex_host_register(middle, 4096), 0);
    CHECK(rex_host_register(several, 4096) == 0 && rex_host_register(end, 10) == 0);
    CHECK(rex_host_unregister(several) == 0 && rex_host_unregister(end) == 0);
    snprintf(said, sizeof said, "rex_host_register: 2 bytes at %p overlap the 4096 pinned at %p", (void *)(middle - 1), (void *)middle);
    expect_refused(rex_host_register(middle - 1, 2), said);
    snprintf(said, sizeof said, "rex_host_register: 1 bytes at %p overlap the 4096 pinned at %p", (void *)(end - 1), (void *)middle);
    expect_refused(rex_host_register(end - 1, 1), said);
    CHECK_EQUAL(rex_host_register(several, sizeof several), REX_EINVAL);
    snprintf(said, sizeof said, "rex_host_unregister: nothing that rex_host_register pinned begins at %p", (void *)(middle + 1));
    expect_refused(rex_host_unregister(middle + 1), said);
    snprintf(said, sizeof said, "rex_host_free: %p was not made by rex_host_alloc, or is freed already", (void *)middle);
    expect_refused(rex_host_free(middle), said);
    char *memory = rex_host_alloc(100);
    CHECK(memory != NULL);
    snprintf(said, sizeof said, "rex_host_unregister: nothing that rex_host_register pinned begins at %p", (void *)memory);
    expect_refused(rex_host_unregister(memory), said);
    CHECK(rex_host_free(NULL) == 0 && rex_host_free(memory) == 0 && rex_host_unregister(middle) == 0);
    CHECK(rex_host_alloc(0) == NULL);
    expect_refused(rex_last_error_code(), "rex_host_alloc: a size of 0");
}

/* Without a GPU it is pages of the process. */
TEST_IN_CHILD(of_pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    use_gpu(0);
    for (size_t size = 1; size <= 3 * page; size += page - 1) {
        char *memory = rex_host_alloc(size);
        CHECK(memory != NULL && (uintptr_t)memory % page == 0);
        CHECK(malloc_usable_size(memory) / page == (size + page - 1) / page);
        memset(memory, 1, size);
        CHECK_EQUAL(rex_host_free(memory), 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(rex_host_alloc(SIZE_MAX - (i == 0 ? 0 : page - 1)) == NULL);
        CHECK_EQUAL(rex_last_error_code(), REX_ENOMEM);
    }
    CHECK_MENTIONS(rex_last_error(), " bytes for pinned memory");
}

struct barred {
    const char *function;
    int number[3]; /* of its call that fails, for each of the three steps; 0: each call */
};

static void bar(const struct barred *barred, int step)
{
    char setting[64];
    snprintf(setting, sizeof setting, "%s:719:%d", barred->function, barred->number[step]);
    setenv("FAKE_CUDA_BREAKS", setting, 1);
}

static const struct barred not_entered_cases[] = {{"cuDevicePrimaryCtxRetain", {2, 4, 5}}, {"cuCtxPushCurrent", {0, 0, 0}}};

/* The context that the memory would be in cannot be had: nothing is pinned, and nothing held. */
TEST_FOR_EACH(not_entered, barred, not_entered_cases)
{
    static const char *const callers[] = {"rex_host_alloc", "rex_host_register"};
    char said[128];
    begin("spin");
    CHECK_EQUAL(rex_gpu_count(), 1);
    for (int i = 0; i < 2; i++) {
        bar(barred, i);
        CHECK(i == 0 ? rex_host_alloc(100) == NULL : rex_host_register(several, 100) == REX_ECUDA);
        unsetenv("FAKE_CUDA_BREAKS");
        snprintf(said, sizeof said, "%s, 100 bytes: %s: CUDA_ERROR_LAUNCH_FAILED", callers[i], barred->function);
        CHECK(rex_last_error_code() == REX_ECUDA && strcmp(rex_last_error(), said) == 0);
        CHECK_EQUAL(context_users(), 0);
    }
    CHECK_EQUAL(rex_host_register(several, 100), 0);
    bar(barred, 2);
    CHECK_EQUAL(rex_host_unregister(several), REX_ECUDA);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK(context_users() == 1 && rex_host_unregister(several) == 0 && context_users() == 0);
}

/* What a thread is at work on is ended by nobody else. */
static void *own;

static void *pin_several(void *unused)
{
    CHECK_EQUAL(rex_host_register(several, 4096), 0);
    return unused;
}

static void *unpin_several(void *unused)
{
    CHECK_EQUAL(rex_host_unregister(several), 0);
    return unused;
}

static void *free_own(void *unused)
{
    CHECK_EQUAL(rex_host_free(own), 0);
    return unused;
}

/* While a thread is in the driver's FUNCTION, called by BODY. */
static void meanwhile(const char *function, void *(*body)(void *), void (*check)(void))
{
    int inside[2], until[2];
    char setting[64], byte;
    pthread_t thread;
    CHECK(pipe(inside) == 0 && pipe(until) == 0);
    snprintf(setting, sizeof setting, "%s:%d:%d", function, inside[1], until[0]);
    setenv("FAKE_CUDA_SLOW", setting, 1);
    CHECK_EQUAL(pthread_create(&thread, NULL, body, NULL), 0);
    CHECK_EQUAL(read(inside[0], &byte, 1), 1);
    unsetenv("FAKE_CUDA_SLOW");
    check();
    close(until[1]);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static void end_nothing(void)
{
    CHECK(rex_host_unregister(several) == REX_EINVAL && rex_host_register(several, 10) == REX_EINVAL);
}

/* Its memory may be another's by now. */
static void pin_in_its_place(void)
{
    CHECK_EQUAL(rex_host_free(own), REX_EINVAL);
    CHECK(rex_host_register((char *)own + 10, 10) == 0 && rex_host_unregister((char *)own + 10) == 0);
}

TEST_IN_CHILD(at_work)
{
    begin("spin");
    meanwhile("cuMemHostRegister", pin_several, end_nothing);
    CHECK_EQUAL(rex_host_register(several, 10), REX_EINVAL);
    meanwhile("cuMemHostUnregister", unpin_several, end_nothing);
    CHECK_EQUAL(rex_host_unregister(several), REX_EINVAL);
    own = rex_host_alloc(4096);
    CHECK(own != NULL && rex_host_register((char *)own + 10, 10) == REX_EINVAL);
    meanwhile("cuMemFreeHost", free_own, pin_in_its_place);
    CHECK_EQUAL(context_users(), 0);
}

/* ---- fork ------------------------------------------------------------------------------------------------------------- */

static int forked;

/* Of locks/held.c. */
extern int held_pipe, held_until, held_writer;
void held_let_go(void);

/* In a child of fork; its parent goes on when it has ended well. */
static void in_fork(void (*body)(void))
{
    int status = -1;
    pid_t child = fork();
    held_let_go();
    if (child == 0) {
        alarm(20);
        body();
        _exit(0);
    }
    __atomic_store_n(&forked, 1, __ATOMIC_RELEASE);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

#define NOT_HERE "a child of fork cannot use a driver that its parent has started"

static char bytes[8192];
static void *memory;

static void without_driver(void)
{
    struct rex_gpu gpu;
    CHECK_EQUAL(rex_gpu_count(), 0);
    CHECK(first_gpu() < 0);
    CHECK_EQUAL(rex_last_error_code(), REX_EFORK);
    CHECK_MENTIONS(rex_last_error(), "no NVIDIA GPU can be used: " NOT_HERE);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, 0), REX_EFORK);
    CHECK_MENTIONS(rex_last_error(), NOT_HERE);
    CHECK(rex_host_alloc(100) == NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_EFORK);
    CHECK_MENTIONS(rex_last_error(), "rex_host_alloc, 100 bytes: " NOT_HERE);
    CHECK_EQUAL(rex_host_register(bytes, sizeof bytes), REX_EFORK);
    CHECK_MENTIONS(rex_last_error(), "rex_host_register, 8192 bytes: " NOT_HERE);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EFORK);
    CHECK_MENTIONS(rex_last_error(), SM_90);
    CHECK_MENTIONS(rex_last_error(), NOT_HERE);
    module.image_name = "tests/data/sm_90.ptx";
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EFORK);
    CHECK_MENTIONS(rex_last_error(), NOT_HERE);
    CHECK_EQUAL(rex_host_unregister(bytes), memory != NULL ? 0 : REX_EINVAL);
    CHECK_EQUAL(rex_host_unregister(bytes), REX_EINVAL);
    CHECK_EQUAL(rex_host_free(memory), 0);
    if (memory != NULL)
        CHECK_EQUAL(rex_host_free(memory), REX_EINVAL);
}

TEST_OF_EACH(counted, bool, pins, false, true)
{
    begin("auto");
    CHECK_EQUAL(rex_gpu_count(), 1);
    if (pins) {
        CHECK((memory = rex_host_alloc(100)) != NULL);
        CHECK_EQUAL(rex_host_register(bytes, sizeof bytes), 0);
    }
    in_fork(without_driver);
    /* The parent goes on. */
    CHECK_EQUAL(rex_gpu_count(), 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    if (pins)
        CHECK_EQUAL(rex_host_unregister(bytes), 0);
    CHECK_EQUAL(rex_host_free(memory), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* Where the parent found no GPU the child has none for the same reason, and ordinary memory does. */
static void without_gpu(void)
{
    CHECK(first_gpu() < 0);
    CHECK_EQUAL(rex_last_error_code(), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "the CUDA driver reports no device");
    CHECK_EQUAL(rex_host_unregister(bytes), 0);
    CHECK_EQUAL(rex_host_free(memory), 0);
    CHECK((memory = rex_host_alloc(100)) != NULL);
    CHECK_EQUAL(rex_host_free(memory), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_ENODEVICE);
}

TEST_IN_CHILD(found_none)
{
    use_gpu(0);
    use_release(22);
    CHECK(first_gpu() < 0);
    CHECK((memory = rex_host_alloc(100)) != NULL);
    CHECK_EQUAL(rex_host_register(bytes, sizeof bytes), 0);
    in_fork(without_gpu);
    CHECK_EQUAL(rex_host_unregister(bytes), 0);
    CHECK_EQUAL(rex_host_free(memory), 0);
}

/* A host image takes the place of one for the GPU, with a warning. */
static void on_host(void)
{
    module.host_image_name = FAKE("host.so");
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_on_host(&module), 1);
}

static void turned(const void *context)
{
    (void)context;
    begin("auto");
    CHECK_EQUAL(rex_gpu_count(), 1);
    in_fork(on_host);
}

TEST(test_started)
{
    CHECK_MENTIONS(in_child(turned, NULL), "instead of " SM_90 ": " NOT_HERE);
}

/* ---- fork, while another thread is at work in librex ----------------------------------------------------------------- */

/* A thread that had ended before the fork would be one that the child never joins, which ThreadSanitizer takes for a leak. */
static void *stay_until_forked(void *body)
{
    (*(void *(**)(void *))body)(NULL);
    while (!__atomic_load_n(&forked, __ATOMIC_ACQUIRE))
        usleep(1000);
    return NULL;
}

/*
 * Fork while a thread is in BODY, in a function of the driver or of libomptarget, and has librex's lock there if any; without a VARIABLE
 * while it has the first lock that it takes. It stays there until the process has forked, or the fork has to wait for a lock.
 */
static void fork_amidst(const char *variable, const char *function, void *(*body)(void *), void (*child)(void))
{
    int ends[2], until[2];
    char value[64], byte;
    pthread_t thread;
    CHECK(pipe(ends) == 0 && pipe(until) == 0);
    snprintf(value, sizeof value, "%s%d:%d", function, ends[1], until[0]);
    held_until = until[0];
    held_writer = until[1];
    if (variable != NULL)
        setenv(variable, value, 1);
    else
        held_pipe = ends[1];
    __atomic_store_n(&forked, 0, __ATOMIC_RELEASE);
    CHECK_EQUAL(pthread_create(&thread, NULL, stay_until_forked, &body), 0);
    CHECK_EQUAL(read(ends[0], &byte, 1), 1);
    in_fork(child);
    pthread_join(thread, NULL);
    if (variable != NULL)
        unsetenv(variable);
}

static void *pin_thread(void *unused)
{
    CHECK_EQUAL(rex_host_register(bytes, sizeof bytes), 0);
    return unused;
}
static void beside_pin(void)
{
    CHECK_EQUAL(rex_host_free(memory), 0);
    CHECK(rex_host_alloc(100) == NULL);
    CHECK_EQUAL(rex_host_register(bytes, 100), REX_EFORK);
    CHECK_EQUAL(rex_host_unregister(bytes), 0);
}

static void *register_thread(void *unused)
{
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    return unused;
}
static void beside_register(void)
{
    CHECK(rex_host_alloc(100) == NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_EFORK);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EFORK);
    CHECK_EQUAL(rex_module_fini(&module), 0);
}

static void *count_thread(void *unused)
{
    CHECK_EQUAL(rex_gpu_count(), 1);
    return unused;
}
static void beside_start(void)
{
    CHECK(first_gpu() < 0);
    CHECK_EQUAL(rex_last_error_code(), REX_EFORK);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EFORK);
}

static void *bind_thread(void *unused)
{
    CHECK_EQUAL(rex_runtime_bind(), 0);
    return unused;
}
static void beside_bind(void)
{
    CHECK_EQUAL(rex_runtime_bind(), REX_EFORK);
    CHECK(strcmp(rex_last_error(), "this process was forked while another thread of its parent loaded libomptarget: start the child with exec, "
                                   "or fork before or after that") == 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EFORK);
    CHECK_EQUAL(rex_runtime_release(), 0);
}

static void *configure_thread(void *unused)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "off"), 0);
    return unused;
}
static void beside_configure(void)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "on"), 0);
}

static const struct amidst {
    const char *variable, *function; /* of fork_amidst() */
    void *(*thread)(void *);
    void (*beside)(void);
    bool pins, registers; /* before, in the parent */
} amidst[] = {
    {"FAKE_CUDA_SLOW", "cuMemHostRegister:", pin_thread, beside_pin, true, false},
    {"FAKE_CUDA_SLOW", "cuDevicePrimaryCtxRetain:", register_thread, beside_register, false, true},
    {"FAKE_CUDA_SLOW", "cuInit:", count_thread, beside_start, false, false},
    {"FAKE_LOAD_SLOW", "", bind_thread, beside_bind, false, false},
    {NULL, "", configure_thread, beside_configure, false, false},
};

/* The parent goes on. */
TEST_FOR_EACH(forks_amidst, given, amidst)
{
    begin("spin");
    if (given->pins)
        CHECK((memory = rex_host_alloc(100)) != NULL);
    else if (given->registers)
        CHECK_EQUAL(rex_gpu_count(), 1);
    fork_amidst(given->variable, given->function, given->thread, given->beside);
    if (given->pins)
        CHECK(rex_host_unregister(bytes) == 0 && rex_host_free(memory) == 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(context_users(), 0);
}

static struct rex_queue *queue;

static void *end_thread(void *unused)
{
    CHECK_EQUAL(rex_module_fini(&module), 0);
    return unused;
}

static void beside_end(void)
{
    CHECK_EQUAL(rex_queue_sync(queue), REX_EFORK);
    CHECK_EQUAL(rex_queue_destroy(queue), 0);
}

/* The end of a module waits for work that uses it. */
TEST_IN_CHILD(amidst_wait)
{
    struct rex_launch_config description = rex_launch_config_of(&key, 1, 1);
    int64_t a = 1, b = 2;
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    begin("auto");
    CHECK_EQUAL(rex_configure(REX_OPTION_UNFINISHED, "wait"), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, -1, NULL, 0, NULL), 0);
    CHECK_EQUAL(launch_module_in(queue, &module, &description, &args), 0);
    *(int *)in_driver("fake_cuda_busy") = 1;
    fork_amidst("FAKE_CUDA_SLOW", "cuStreamSynchronize:", end_thread, beside_end);
    CHECK_EQUAL(rex_queue_destroy(queue), 0);
}

static int stop;

/* Whatever takes librex's locks: settings, the log, the list of modules. */
static void *busy(void *unused)
{
    static char other_key;
    static struct __tgt_offload_entry others[] = {{&other_key, (char *)(uintptr_t)"missing__kernel__", 0, 0, 0}};
    static struct rex_module other = {.struct_size = sizeof other, .entries_begin = others, .entries_end = others + 1, .image_name = SM_90};
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        for (int i = 0; i < 50; i++) { /* a file is opened under the log's lock, which is held most of the time so */
            rex_configure(REX_OPTION_LOG, "error:/dev/null");
            rex_configure(REX_OPTION_LOG, "off:/dev/zero");
        }
        rex_module_register(&other, NULL);
        rex_host_free(rex_host_alloc(100));
    }
    return unused;
}

enum { CHILDREN = 60 };

TEST_OF_EACH(forks, const char *, trace, NULL, "-")
{
    pthread_t threads[2];
    if (trace != NULL)
        setenv("REX_TRACE", trace, 1);
    begin("auto");
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "error:/dev/null"), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK((memory = rex_host_alloc(100)) != NULL);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, busy, NULL), 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            struct __tgt_kernel_arguments packet = {.Version = 3};
            alarm(20);
            CHECK_EQUAL(rex_module_register(&module, NULL), REX_EFORK);
            CHECK_MENTIONS(rex_last_error(), SM_90);
            CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &key, &packet), REX_EFORK);
            CHECK_EQUAL(rex_last_error_code(), REX_EFORK);
            CHECK_EQUAL(rex_module_fini(&module), 0);
            CHECK_EQUAL(rex_host_free(memory), 0);
            CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), 0);
            _exit(0);
        }
        CHECK_EQUAL(waitpid(child, &status, 0), child);
        CHECK_EQUAL(status, 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    /* The parent goes on. */
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(rex_module_fini(&module), 0);
}
