/*
 * device.c - the GPUs as the driver describes them, and why there is none
 * (tests/golden/messages/inspect.txt); memory of librex's own on one, and which memory the driver
 * knows.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include <errno.h>
#include <sys/resource.h>

#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/pinned.h"
#include "rex/device.h"
#include "rex/inspect.h"
#include "support/messages.h"

MESSAGES("inspect");

static void tell_gpu(int number)
{
    struct rex_gpu gpu;
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, number), 0);
    CHECK_EQUAL(gpu.reserved + gpu.reserved_2, 0);
    says("%d: %s, %d.%d, %d multiprocessors, %d threads, %lld of %lld bytes, %lld shared, driver "
         "%d, %s, %s, node %d, peers %llx, atomic %llx",
         number, gpu.name, gpu.capability_major, gpu.capability_minor, gpu.multiprocessors,
         gpu.threads_per_block, (long long)gpu.free_memory, (long long)gpu.memory,
         (long long)gpu.shared_memory, gpu.driver, gpu.uuid, gpu.pci, gpu.numa_node,
         (unsigned long long)gpu.peers, (unsigned long long)gpu.atomic_peers);
}

TEST_IN_CHILD(one_gpu)
{
    struct rex_gpu gpu, untouched;
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    tell_gpu(0);
    memset(&gpu, 0x5a, sizeof gpu);
    untouched = gpu;
    REFUSED(rex_gpu_get(&gpu, sizeof gpu, 1));
    REFUSED(rex_gpu_get(&gpu, sizeof gpu, -1));
    REFUSED(rex_gpu_get(&gpu, sizeof gpu + 1, 0));
    REFUSED(rex_gpu_get(&gpu, 0, 0));
    setenv("FAKE_CUDA_BREAKS", "cuDeviceGetAttribute:719:0", 1);
    REFUSED(rex_gpu_get(&gpu, sizeof gpu, 0));
    CHECK_EQUAL(rex_gpu_most(REX_GPU_SHARED_MEMORY), 0);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK(rex_gpu_most(REX_GPU_SHARED_MEMORY) == 232448 && rex_gpu_most(REX_GPU_SHARED_MEMORY) == 232448);
    CHECK(memcmp(&gpu, &untouched, sizeof gpu) == 0);
    /* A program that was compiled with a smaller struct gets that much. */
    CHECK_EQUAL(rex_gpu_get(&gpu, offsetof(struct rex_gpu, free_memory), 0), 0);
    CHECK(gpu.shared_memory == 232448 && gpu.numa_node == 0x5a5a5a5a);
}

static int lie(int *value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *value = INT_MAX;
    return 0;
}

/* UBSan sees what overflows. */
TEST_IN_CHILD(lying_driver)
{
    struct rex_gpu gpu;
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    rex_driver.cuDeviceGetAttribute = lie;
    CHECK(rex_cuda_architecture(0) != 90);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, 0), 0);
}

static char root[PATH_MAX];

static void make_file(const char *name, const char *text, mode_t mode)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK_EQUAL(chmod(path, mode), 0);
}

/* Four GPUs, of which the second is started: memory is asked for where there is a context, and none is made. */
TEST_IN_CHILD(several)
{
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "4", 1);
    make_folder(root);
    make_file("/sys/bus/pci/devices/0001:3c:00.0/numa_node", "1\n", 0644);
    make_file("/sys/bus/pci/devices/0001:3d:00.0/numa_node", "none\n", 0644);
    make_file("/sys/bus/pci/devices/0001:3e:00.0/numa_node", "0\n", 0644);
    rex_nogpu_root = root;
    CHECK_EQUAL(rex_gpu_count(), 4);
    use_release(16);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    setenv("OMP_DEFAULT_DEVICE", "1", 1);
    void *held = rex_host_alloc(8); /* which keeps the context of its GPU */
    CHECK(held != NULL);
    void *context;
    for (int i = 0; i < 8; i++) {
        if (i == 4) {
            setenv("FAKE_CUDA_PEERS", "later", 1);
            /* Where the context is current already. */
            CHECK_EQUAL(rex_context_retain(1, &context), 0);
            CHECK_EQUAL(rex_context_enter(context), 1);
        }
        tell_gpu(i % 4);
        CHECK_EQUAL(((int *)in_driver("fake_cuda_starts"))[i % 4], i % 4 == 1);
    }
    CHECK_EQUAL(rex_host_free(rex_host_alloc(8)), 0);
    CHECK_EQUAL(rex_host_free(held), 0);
    rex_context_leave(1);
    rex_context_drop(1);
    CHECK_EQUAL(context_users(), 0);
    remove_folder(root);
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static bool lacks_memory;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return lacks_memory ? NULL : __real_malloc(size);
}

/*
 * A block is longer than asked for, by 511 bytes or nearly an eighth, unless it is to be exact. It is kept for what takes half of it or more,
 * up to 256 MiB of them, and until the device has no more memory. "give" has the number of the row that took the block. "full": the driver
 * has memory at the second call; "lack": at none; "none": the host has none.
 */
static const char *const steps[] = {
    "take 1", "take 513", "exact 32", "take 8207", "take 8208", "give 2", "give 3", "give 4", "take 9217", "take 4351", "on the other 8704",
    "take 8705", "take 4352", "take 8704", "give 3", "full 16384", "lack 1", "none 1", "give 4", "free", "take 134217728", "take 134217728",
    "take 512", "give 20", "give 21", "give 22", "take 134217728"};

TEST_IN_CHILD(own_blocks)
{
    uint64_t blocks[COUNT(steps)] = {0};
    setenv("FAKE_CUDA_MEMORY", "300", 1);
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    for (size_t i = 0; i < COUNT(steps); i++) {
        const char kind = *steps[i], *blank = strrchr(steps[i], ' ');
        size_t number = blank != NULL ? strtoul(blank, NULL, 10) : 0, first = 0;
        setenv("FAKE_CUDA_BREAKS", kind == 'l' ? "cuMemAlloc:2:0" : kind == 'f' ? "cuMemAlloc:2:1" : "", 1);
        lacks_memory = kind == 'n';
        if (kind == 'g')
            rex_block_give(&rex_devices[0], blocks[number]);
        else if (blank == NULL)
            CHECK(rex_blocks_free(&rex_devices[0]) && !rex_blocks_free(&rex_devices[0]));
        else
            blocks[i] = rex_block_take(&rex_devices[kind == 'o'], number, kind == 'e' || kind == 'l');
        lacks_memory = false;
        while (blocks[first] != blocks[i])
            first++;
        says("%zu: %s: %zu bytes%s", i, steps[i], device_bytes(), blocks[i] == 0 ? "" : first < i ? ", a block again" : ", a block");
    }
    /* No GPU is started for it. */
    CHECK(!rex_blocks_free_all() && *(int *)in_driver("fake_cuda_starts") == 0);
    void *held = rex_host_alloc(8);
    CHECK(rex_blocks_free_all() && !rex_blocks_free_all());
    CHECK(context_users() == 1 && *(int *)in_driver("fake_cuda_current") == 0);
    CHECK_EQUAL(rex_host_free(held), 0);
}

/* The driver is asked once for each stretch of 2 MiB, of which a thread knows 64. A range that cannot be pinned is not listed. */
TEST_IN_CHILD(asks_of_memory)
{
    const uintptr_t stretch = 2 << 20, first = stretch << 20;
    const uintptr_t asked[] = {first, first + stretch - 1, first + stretch, first, first - 1, first + 64 * stretch, first};
    const int calls[] = {1, 1, 2, 2, 3, 4, 5};
    setenv("FAKE_CUDA_MEMORY", "4", 1);
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    for (size_t i = 0; i < COUNT(asked); i++) {
        CHECK(rex_is_pageable((void *)asked[i]));
        CHECK_EQUAL(driver_calls("cuPointerGetAttribute"), calls[i]);
    }
    void *pinned = rex_host_alloc(8);
    CHECK(!rex_is_pageable(pinned));
    CHECK_EQUAL(rex_host_register(pinned, 8), REX_EINVAL);
    CHECK_EQUAL(rex_host_free(pinned), 0);
    setenv("FAKE_CUDA_BREAKS", "cuMemHostAlloc:2:0", 1);
    CHECK(rex_host_alloc(8) == NULL);
}

/* ---- a GPU that cannot be used ------------------------------------------------------------------------------------- */

#define NVRM "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025\n"
#define NVRM_OPEN "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.10  Release Build\n"

static void make_machine(const char *version)
{
    make_file("/proc/driver/nvidia/version", version, 0444);
    make_file("/proc/driver/nvidia/gpus/0000:01:00.0/information", "", 0444);
    make_file("/proc/driver/nvidia/gpus/0000:02:00.0/information", "", 0444);
    make_file("/dev/nvidiactl", "", 0666);
    make_file("/dev/nvidia-uvm", "", 0666);
    make_file("/dev/nvidia0", "", 0666);
    make_file("/dev/nvidia1", "", 0666);
}

/* A number and a point are not enough, each alone. */
#define NVRM_WORDS "NVRM version: NVIDIA 64 UNIX a.b Module  555.1  444.2\n"

struct state {
    const char *fails, *visible;  /* cuInit's result; CUDA_VISIBLE_DEVICES */
    const char *closed, *missing; /* a device file that has MODE and GROUP; one that is not there */
    mode_t mode;
    gid_t group;
    bool no_gpus;        /* nor are those of the GPUs */
    const char *version; /* NULL: no kernel module is loaded */
};

static const char *under_root(const char *name)
{
    static char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    return path;
}

static void in_state(const void *context)
{
    const struct state *given = context;
    const char *temporary = getenv("TMPDIR");
    make_folder(root);
    rex_nogpu_root = root;
    if (given->version != NULL)
        make_machine(given->version);
    if (given->missing != NULL)
        CHECK_EQUAL(remove(under_root(given->missing)), 0);
    if (given->no_gpus)
        CHECK(remove(under_root("/dev/nvidia0")) == 0 && remove(under_root("/dev/nvidia1")) == 0);
    if (given->closed != NULL) {
        make_file(given->closed, "", given->mode);
        CHECK(given->group == 0 || chown(under_root(given->closed), 0, given->group) == 0);
    }
    setenv("FAKE_CUDA_FAILS", given->fails, 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (given->visible != NULL)
        setenv("CUDA_VISIBLE_DEVICES", given->visible, 1);
    CHECK_EQUAL(chmod(root, 0755), 0);
    CHECK(temporary == NULL || chmod(temporary, 0711) == 0 || getuid() != 0);
    use_gpu(strcmp(given->fails, "0") == 0 ? 0 : 90);
    /* Nothing is closed to root. */
    CHECK(getuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    int lowest = lowest_descriptor();
    if (given->group == 0)
        REFUSED(first_gpu());
    else
        CHECK(first_gpu() < 0);
    CHECK_EQUAL(lowest_descriptor(), lowest);
}

#define CLOSED(...) .fails = "100", .version = NVRM, .closed = __VA_ARGS__
static const struct state states[] = {
    {.fails = "0", .visible = "one\ntwo"},
    {.fails = "800"},
    {.fails = "12345", .visible = "0"},
    {.fails = "100", .visible = "-1"},
    {.fails = "100", .visible = "", .version = NVRM},
    {.fails = "101", .visible = "GPU-x", .version = NVRM},
    {CLOSED("/dev/nvidia-uvm")},
    {CLOSED("/dev/nvidiactl"), .visible = "0"},
    {CLOSED("/dev/nvidia1"), .mode = 04021},
    {.fails = "999", .version = NVRM, .missing = "/dev/nvidia-uvm"},
    {.fails = "100", .version = NVRM, .missing = "/dev/nvidia0"},
    {.fails = "100", .version = NVRM, .no_gpus = true},
    {.fails = "803", .version = NVRM},
    {.fails = "803", .version = NVRM_OPEN},
    {.fails = "803", .version = NVRM_WORDS},
    {.fails = "803", .version = "NVRM version: 580\n"},
    {.fails = "803"},
    {.fails = "804"},
    {.fails = "802"},
    {.fails = "34"},
    {.fails = "805"},
    {.fails = "3"},
};

TEST_FOR_EACH(in_each_state, state, states)
{
    in_state(state);
}

/* A user who is not in the file's group is told its number, where the group may open the file. */
static const struct state groups[] = {
    {CLOSED("/dev/nvidia0"), .mode = 01661, .group = 1},
    {CLOSED("/dev/nvidia0"), .mode = 0640, .group = 1},
    {CLOSED("/dev/nvidia0"), .mode = 0660, .group = 54321},
};

TEST_FOR_EACH(in_each_group, state, groups)
{
    if (getuid() != 0) /* another user cannot give files away */
        return;
    in_state(state);
    CHECK_EQUAL(strstr(rex_last_error(), ", for group ") != NULL, (state->mode & 060) == 060);
}

/* A reason stays for the thread that reads it, whatever the reasons are since. */
TEST_IN_CHILD(reasons_stay)
{
    static const char *const fails[] = {"34", "100", "101", "802", "803", "804", "805", "999", "800", "100"};
    const char *why[COUNT(fails)], *said[COUNT(fails)];
    use_gpu(90);
    for (size_t i = 0; i < COUNT(fails); i++) {
        setenv("FAKE_CUDA_FAILS", fails[i], 1);
        CHECK_EQUAL(rex_gpu_count(), 0);
        why[i] = rex_cuda_why();
        said[i] = lasting(strdup(why[i]));
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(why[j], said[j]) == 0);
        CHECK(i == 0 || strcmp(why[i], why[i - 1]) != 0);
    }
    CHECK(why[0] != why[1] && why[COUNT(fails) - 1] == why[1]);
}

/* ---- drivers that lack something ----------------------------------------------------------------------------------------------------- */

/* What librex itself cannot do without; a driver may not say how old it is. */
TEST_OF_EACH(much_too_old, const char *, version, "0", "10020")
{
    setenv("FAKE_CUDA_VERSION", version, 1);
    use_gpu_of("cuda-ancient", 90);
    CHECK(first_gpu() < 0);
    CHECK_MENTIONS(rex_last_error(), "cuDevicePrimaryCtxSetFlags_v2, which came with CUDA 11.0");
    CHECK(strcmp(strstr(rex_last_error(), "11.0"), strcmp(version, "0") == 0 ? "11.0" : "11.0; the driver is of CUDA 10.2") == 0);
}

/* Where a test says so, the driver cannot be opened, and for what reason. */
static bool is_closed;
static char *reason;
void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    return is_closed && name != NULL && strcmp(name, "libcuda.so.1") == 0 ? NULL : __real_dlopen(name, flags);
}
char *__real_dlerror(void);
char *__wrap_dlerror(void);
char *__wrap_dlerror(void)
{
    return is_closed ? reason : __real_dlerror();
}

#define NO_FILE ": cannot open shared object file: No such file or directory"

/* The loader's reason, but where there is no such library. */
static const struct unopened {
    char *reason;
    const char *version;
} unopened[] = {
    {NULL, NULL},
    {(char[]){"libcuda.so.1" NO_FILE}, NULL},
    {(char[]){"libcuda.so.1" NO_FILE}, NVRM},
    {(char[]){"libother.so.9" NO_FILE}, NULL},
};

TEST_FOR_EACH(not_opened, given, unopened)
{
    is_closed = true;
    reason = given->reason;
    make_folder(root);
    rex_nogpu_root = root;
    if (given->version != NULL)
        make_machine(given->version);
    REFUSED(first_gpu());
    is_closed = false;
    remove_folder(root);
}

/* Where no file can be opened, neither can the driver; one that can open no device file says that there is none. */
TEST_IN_CHILD(driver_without_files)
{
    struct rlimit limit;
    setenv("FAKE_CUDA_FAILS", "100", 1);
    use_gpu(90);
    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, limit.rlim_max}), 0);
    is_closed = true;
    REFUSED(first_gpu());
    is_closed = false;
    REFUSED(first_gpu());
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0); /* which the look for leaks needs */
}

/* ---- rex_info() ---------------------------------------------------------------------------------------------------- */

/* What is of the driver and of its use, but for its other name, which it has on some machines. Settings that nothing has changed are told once. */
static void add_row(const char *group, const char *name, const char *value, void *context)
{
    const bool *is_first = context;
    if (strstr(value, "a link is missing") != NULL)
        return;
    if (!*is_first && strcmp(group, "setting") == 0 && strstr(value, "(the ") == NULL)
        return;
    if ((strcmp(group, "driver") == 0 && strcmp(name, "file") != 0) ||
        strcmp(group, "launch") == 0 || strcmp(group, "plugin") == 0 ||
        strcmp(group, "setting") == 0)
        says("    %s, %s: %s", group, name, value);
}

static const struct told {
    int release, sm;
    const char *folder, *driver_version, *launch_by; /* of the fake driver; REX_LAUNCH_BY */
} all[] = {
    {14, 90, "cuda", "12990", "auto"},
    {22, 90, "cuda-old", "12020", "runtime"},
    {23, 0, "cuda", "13000", "driver"},
};

TEST_FOR_EACH(info, told, all)
{
    make_folder(root);
    make_machine(NVRM);
    rex_nogpu_root = root;
    setenv("REX_WAIT", "spin", 1);
    use_gpu_of(told->folder, told->sm);
    setenv("FAKE_CUDA_VERSION", told->driver_version, 1);
    use_release(told->release);
    CHECK_EQUAL(rex_configure(REX_OPTION_LAUNCH_BY, told->launch_by), 0);
    says("LLVM %d:", told->release);
    bool is_first = told == all;
    CHECK_EQUAL(rex_info(0, add_row, &is_first), 0);
    remove_folder(root);
}
