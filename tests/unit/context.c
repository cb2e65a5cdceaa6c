/*
 * context.c - the primary context of a GPU: who activated it, who releases it; pinned memory; children of fork, whatever other threads did.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>

#include "cuda/driver.h"
#include "plain.h"
#include "rex/device.h"
#include "rex/launch.h"
#include "rex_kmp.h"

#define SM_90 "tests/data/sm_90.cubin"

/* ---- the fake driver, as another user of it ------------------------------------------------------------------------ */

/* What the CUDA runtime does at its first call. */
static void activate(unsigned with)
{
    void *context;
    CHECK_EQUAL(DRIVERS(int (*)(int, unsigned), "cuDevicePrimaryCtxSetFlags_v2")(0, with), 0);
    CHECK_EQUAL(DRIVERS(int (*)(void **, int), "cuDevicePrimaryCtxRetain")(&context, 0), 0);
}

static void begin(const char *wait)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, wait), 0);
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

static void launch_on(int64_t device)
{
    struct rex_launch_config launch = rex_launch_config_of(&plain_id, 1, 1);
    int64_t a = 1, b = 2;
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    launch.device = device;
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), 0);
}

/* LLVM 14 to 17 start a GPU when it is first used, and librex no other; each with the policy, and
 * once. */
TEST_ON_FAKES(used_alone, 14, 17)
{
    static int64_t value;
    REX_MAP(row, REX_TO(&value, 1));
    begin_with_four(release, "90");
    CHECK_EQUAL(rex_module_init(&module), 0);
    check_starts(1, 0, 0, 0);
    CHECK_EQUAL(context_flags(), 1);
    launch_on(2);
    launch_on(2);
    check_starts(1, 0, 1, 0);
    CHECK_EQUAL(rex_module_data_enter(&module, 3, &row), 0);
    CHECK_EQUAL(rex_module_region_end(&module, 3, &row), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_fini(&module), 0);
        /* The host's image starts no GPU. */
        CHECK(rex_module_register(&module, FAKE("host.so")) == 0 && !rex_target_is_present(&value, sizeof value, i));
        CHECK_EQUAL(context_users(), 0);
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    }
    check_starts(1, 0, 1, 1);
}

/* The others start all that an image suits at its registration: there the policy is late for none. */
TEST_ON_FAKES(all_at_once, 18, 24)
{
    begin_with_four(release, "90,90,80,90");
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    check_starts(1, 1, 0, 1);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(context_users(), 0);
}

static int (*release)(int device);

static void *take_the_drivers_lock(void *unused)
{
    rex_load_lock();
    rex_load_unlock();
    return unused;
}

/* As if the context had work that waits for another thread, which needs the lock. */
static int release_late(int device)
{
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, take_the_drivers_lock, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    return release(device);
}

TEST_IN_CHILD(released_without_a_lock)
{
    begin("spin");
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    void *pinned = rex_host_alloc(100);
    release = rex_driver.cuDevicePrimaryCtxRelease;
    rex_driver.cuDevicePrimaryCtxRelease = release_late;
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(rex_host_free(pinned), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* Pinned memory starts the process's own GPU and no other, and none where one is at work. */
TEST_IN_CHILD(pins_on_its_own)
{
    setenv("SLURM_LOCALID", "7", 1);
    begin_with_four(16, "90");
    void *pinned = rex_host_alloc(100);
    CHECK(pinned != NULL);
    check_starts(0, 0, 0, 1);
    CHECK_EQUAL(rex_host_free(pinned), 0);
    CHECK_EQUAL(context_users(), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    launch_on(0);
    CHECK((pinned = rex_host_alloc(100)) != NULL);
    check_starts(1, 0, 0, 1);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(rex_host_free(pinned), 0);
    CHECK_EQUAL(context_users(), 0);
    setenv("OMP_DEFAULT_DEVICE", "4", 1); /* which there is not: the first */
    CHECK(rex_host_alloc(100) != NULL);
    check_starts(2, 0, 0, 1);
}

static const struct policy {
    const char *wait;
    int flags;
    bool is_active; /* with flags 8 */
} policies[] = {{"spin", 1, false}, {"runtime", 4, false}, {"block", 8, true}};

/* A context that is activated for a module, or for pinned memory, gets the policy, and goes with
 * the last of them; one that is active keeps its own flags. */
TEST_FOR_EACH(with_policy, policy, policies)
{
    /* With "runtime" libomptarget has its own way. */
    int theirs = policy->is_active, held = strcmp(policy->wait, "runtime") != 0;
    begin(policy->wait);
    CHECK_EQUAL(rex_gpu_count(), 1);
    if (theirs)
        activate(8);
    for (int round = 0; round < 2; round++) {
        void *pinned = rex_host_alloc(100);
        CHECK_EQUAL(context_flags(), policy->flags);
        CHECK_EQUAL(context_users(), 1 + theirs);
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        CHECK_EQUAL(context_users(), 1 + theirs);
        CHECK_EQUAL(rex_host_free(pinned), 0);
        CHECK_EQUAL(context_users(), 1 + theirs);
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK_EQUAL(context_users(), theirs);
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        CHECK_EQUAL(context_flags(), held || theirs ? policy->flags : -1);
        CHECK_EQUAL(context_users(), theirs || held);
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK_EQUAL(context_flags(), theirs ? 8 : -1);
    }
}

/* A policy that cannot be set is a warning; what is in the way, and a context that is active, are told. */
static void register_with(const void *breaks)
{
    begin("yield");
    CHECK_EQUAL(rex_gpu_count(), 1);
    if (breaks == NULL)
        activate(8);
    else
        setenv("FAKE_CUDA_BREAKS", breaks, 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
}

TEST(test_policy_told)
{
    static const char *const told[][2] = {
        {NULL, "librex: info: GPU 0: its context is active already, with flags 0x8: REX_WAIT has no effect on it\n"},
        {"cuDevicePrimaryCtxGetState:1:0", "librex: warning: GPU 0: its context cannot be examined: cuDevicePrimaryCtxGetState: "},
        {"cuDevicePrimaryCtxSetFlags:1:0", "librex: warning: GPU 0: REX_WAIT could not take effect: cuDevicePrimaryCtxSetFlags: "},
        {"cuDevicePrimaryCtxRetain:1:0", "librex: warning: GPU 0: REX_WAIT could not take effect: cuDevicePrimaryCtxRetain: "},
    };
    for (size_t i = 0; i < COUNT(told); i++)
        CHECK_MENTIONS(in_child(register_with, told[i][0]), told[i][1]);
}

/* ---- pinned memory ------------------------------------------------------------------------------------------------- */

/* What is freed may be another's by now, before the call returns that frees it: its range is free
 * for others. */
static void *own;

static void *free_own(void *unused)
{
    CHECK_EQUAL(rex_host_free(own), 0);
    return unused;
}

TEST_IN_CHILD(freed_meanwhile)
{
    int inside[2], until[2];
    char setting[64], byte;
    pthread_t thread;
    begin("spin");
    own = rex_host_alloc(4096);
    CHECK(own != NULL && rex_host_register((char *)own + 10, 10) == REX_EINVAL);
    CHECK(pipe(inside) == 0 && pipe(until) == 0);
    snprintf(setting, sizeof setting, "cuMemFreeHost:%d:%d", inside[1], until[0]);
    setenv("FAKE_CUDA_SLOW", setting, 1);
    CHECK_EQUAL(pthread_create(&thread, NULL, free_own, NULL), 0);
    CHECK_EQUAL(read(inside[0], &byte, 1), 1);
    CHECK_EQUAL(rex_host_free(own), REX_EINVAL);
    CHECK(rex_host_register((char *)own + 10, 10) == 0 && rex_host_unregister((char *)own + 10) == 0);
    close(until[1]);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* ---- fork ------------------------------------------------------------------------------------------------------------- */

static int forked;

void held_let_go(void); /* of locks/held.c */

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

static void says_not_here(int result)
{
    CHECK_EQUAL(result, REX_EFORK);
    CHECK_MENTIONS(rex_last_error(), NOT_HERE);
}

static void without_driver(void)
{
    struct rex_gpu gpu;
    CHECK_EQUAL(rex_gpu_count(), 0);
    says_not_here(first_gpu());
    says_not_here(rex_gpu_get(&gpu, sizeof gpu, 0));
    CHECK(rex_host_alloc(100) == NULL);
    says_not_here(rex_last_error_code());
    says_not_here(rex_host_register(bytes + 4096, 100));
    says_not_here(rex_module_register(&module, NULL));
    CHECK_MENTIONS(rex_last_error(), SM_90);
    module.image_name = "tests/data/sm_90.ptx";
    says_not_here(rex_module_register(&module, NULL));
    struct __tgt_kernel_arguments packet = {.Version = 3};
    says_not_here(rex_module_launch(&module, 0, 1, 1, &plain_id, &packet));
    CHECK_EQUAL(rex_host_unregister(bytes), memory != NULL ? 0 : REX_EINVAL);
    CHECK_EQUAL(rex_host_free(memory), 0);
    /* A host image takes the place of one for the GPU, with a warning. */
    module.image_name = SM_90;
    module.host_image_name = FAKE("host.so");
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_on_host(&module), 1);
}

static void counted(const void *pins)
{
    begin("auto");
    CHECK_EQUAL(rex_gpu_count(), 1);
    if (*(const bool *)pins) {
        CHECK((memory = rex_host_alloc(100)) != NULL);
        CHECK_EQUAL(rex_host_register(bytes, 4096), 0);
    }
    in_fork(without_driver);
    /* The parent goes on. */
    CHECK_EQUAL(rex_gpu_count(), 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK(memory == NULL || rex_host_unregister(bytes) == 0);
    CHECK_EQUAL(rex_host_free(memory), 0);
    CHECK_EQUAL(context_users(), 0);
}

TEST(test_counted)
{
    static const bool pins[] = {false, true};
    for (int i = 0; i < 2; i++)
        CHECK_MENTIONS(in_child(counted, &pins[i]), "used instead of " SM_90 ": " NOT_HERE);
}

/* Nor can a child use a driver that its parent has asked in vain. */
static void without_answer(void)
{
    unsetenv("FAKE_CUDA_FAILS");
    CHECK_EQUAL(first_gpu(), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "CUDA_ERROR_NO_DEVICE");
}

TEST_IN_CHILD(asked_in_vain)
{
    begin("auto");
    setenv("FAKE_CUDA_FAILS", "100", 1);
    CHECK_EQUAL(rex_gpu_count(), 0);
    in_fork(without_answer);
}

/* ---- fork, while another thread is at work in librex ----------------------------------------------------------------- */

/* A function of the driver in which the thread is, and has librex's lock there; NULL: it has a
 * lock of librex's, the one that it takes after so many others. */
struct amidst {
    const char *function;
    int (*work)(void);
    bool is_lost; /* for the child */
    int after;
};

/* Of locks/held.c. */
extern int held_pipe, held_until, held_writer, held_after;

/* A thread that had ended before the fork would be one that the child never joins, which ThreadSanitizer takes for a leak. */
static void *stay_until_forked(void *given)
{
    CHECK_EQUAL(((const struct amidst *)given)->work(), 0);
    int pipe = __atomic_exchange_n(&held_pipe, -1, __ATOMIC_SEQ_CST);
    if (pipe >= 0) /* there are no more locks */
        CHECK_EQUAL(write(pipe, "e", 1), 1);
    while (!__atomic_load_n(&forked, __ATOMIC_ACQUIRE))
        usleep(1000);
    return NULL;
}

static int register_work(void)
{
    return rex_module_register(&module, NULL);
}

static int count_work(void)
{
    return rex_gpu_count() == 1 ? 0 : -1;
}

/* All that takes librex's locks. */
static int work_of_all(void)
{
    rex_configure(REX_OPTION_LOG, "info:/dev/null");
    void *pinned = rex_host_alloc(100);
    int result = rex_module_register(&module, NULL) + rex_host_free(pinned);
    return result + rex_module_fini(&module);
}

static bool is_lost, may_be_lost;

/* Nothing waits for what no thread gives back. */
static void beside_work(void)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "on"), 0);
    if (rex_host_register(bytes, 100) == 0)
        CHECK_EQUAL(rex_host_unregister(bytes), 0);
    int registered = rex_module_register(&module, NULL);
    CHECK(registered == (is_lost ? REX_EFORK : REX_OK) || (may_be_lost && registered == REX_EFORK));
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK(may_be_lost || first_gpu() == (is_lost ? REX_EFORK : REX_OK) || rex_runtime_release() == 0);
}

static const struct amidst amidst[] = {
    {"cuDevicePrimaryCtxRetain", register_work, true, 0},
    {"cuInit", count_work, true, 0},
};

/* The work stays where it is until the process has forked, or the fork has to wait for a lock. */
static void fork_amidst(const struct amidst *given)
{
    int ends[2], until[2];
    char value[64], byte;
    pthread_t thread;
    begin("spin");
    is_lost = given->is_lost;
    may_be_lost = given->function == NULL;
    held_after = given->after;
    CHECK(pipe(ends) == 0 && pipe(until) == 0);
    held_until = until[0];
    held_writer = until[1];
    if (given->function != NULL) {
        snprintf(value, sizeof value, "%s:%d:%d", given->function, ends[1], until[0]);
        setenv("FAKE_CUDA_SLOW", value, 1);
    } else
        held_pipe = ends[1];
    CHECK_EQUAL(pthread_create(&thread, NULL, stay_until_forked, (void *)(uintptr_t)given), 0);
    CHECK_EQUAL(read(ends[0], &byte, 1), 1);
    in_fork(beside_work);
    pthread_join(thread, NULL);
    if (byte == 'e')
        puts("no more locks");
    unsetenv("FAKE_CUDA_SLOW");
    /* The parent goes on. */
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(rex_module_fini(&module), 0);
}

TEST_FOR_EACH(forks_amidst, given, amidst)
{
    fork_amidst(given);
}

static void forks_under_a_lock(const void *given)
{
    setenv("REX_TRACE", "-", 1);
    fork_amidst(given);
}

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define SANITIZER_HAS_LOCKS true
#else
#define SANITIZER_HAS_LOCKS false
#endif

/* Under each lock that the work takes. */
TEST(test_forks_under_locks)
{
    struct amidst given = {.work = work_of_all};
    if (SANITIZER_HAS_LOCKS) {
        puts("left out: locks of the sanitizer's own, around dlopen() and in malloc(), stay taken in a child");
        return;
    }
    while (strstr(in_child(forks_under_a_lock, &given), "no more locks") == NULL)
        given.after++;
    assert_in_range(given.after, 30, 1000);
}
