/*
 * device.c - the GPUs as the driver describes them, which of libomptarget's devices they are, and why there is none.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/error.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/gpu.h"
#include "omp/device.h"
#include "cuda/nogpu.h"
#include "omp/sender.h"
#include "rex/device.h"
#include "rex/entry.h"
#include "rex/inspect.h"

TEST_IN_CHILD(one_gpu)
{
    struct rex_gpu gpu, untouched;
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, 0), 0);
    CHECK(strcmp(gpu.name, "Fake GPU 0") == 0);
    CHECK_EQUAL(gpu.capability_major, 9);
    CHECK_EQUAL(gpu.capability_minor, 0);
    CHECK_EQUAL(gpu.multiprocessors, 132);
    CHECK_EQUAL(gpu.threads_per_block, 1024);
    CHECK_EQUAL(gpu.shared_memory, 232448);
    CHECK_EQUAL(gpu.memory, (uint64_t)80 << 30);
    CHECK_EQUAL(gpu.driver, 13000);
    CHECK_EQUAL(gpu.reserved, 0);
    CHECK_EQUAL(gpu.reserved_2, 0);
    CHECK(strcmp(gpu.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") == 0);
    CHECK(strcmp(gpu.pci, "0001:3b:00.0") == 0);
    CHECK_EQUAL(gpu.numa_node, -1);
    CHECK(gpu.free_memory == 0 && gpu.peers == 0 && gpu.atomic_peers == 0);

    memset(&gpu, 0x5a, sizeof gpu);
    untouched = gpu;
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, 1), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "GPU 1: there are 1 GPUs");
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, -1), REX_EDEVICE);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu + 1, 0), REX_EINVAL);
    CHECK_EQUAL(rex_gpu_get(&gpu, 0, 0), REX_EINVAL);
    CHECK_EQUAL(rex_gpu_get(NULL, sizeof gpu, 0), REX_EINVAL);
    CHECK(memcmp(&gpu, &untouched, sizeof gpu) == 0);

    /* A program that was compiled with a smaller struct gets that much. */
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu.name, 0), 0);
    CHECK_EQUAL(gpu.capability_major, 0x5a5a5a5a);
    CHECK_EQUAL(rex_gpu_get(&gpu, offsetof(struct rex_gpu, free_memory), 0), 0);
    CHECK_EQUAL(gpu.shared_memory, 232448);
    CHECK_EQUAL(gpu.numa_node, 0x5a5a5a5a);
}

/* Each call of the driver fails: an error that names it, and nothing is changed. */
TEST_OF_EACH(not_described, const char *, broken, "cuDeviceGet:719:0", "cuDeviceGet:719:1", "cuDeviceGet:719:2", "cuDeviceGetName:719:1",
             "cuDeviceTotalMem:719:1", "cuDeviceGetAttribute:719:1", "cuDeviceGetAttribute:719:2", "cuDeviceGetAttribute:719:3",
             "cuDeviceGetAttribute:719:4", "cuDeviceGetAttribute:719:5")
{
    char setting[80], said[128];
    struct rex_gpu gpu = {.driver = 42};
    snprintf(setting, sizeof setting, "%s", broken);
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    setenv("FAKE_CUDA_BREAKS", setting, 1);
    snprintf(said, sizeof said, "GPU 0: %.*s: CUDA_ERROR_LAUNCH_FAILED", (int)strcspn(setting, ":"), setting);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, 0), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), said);
    CHECK_EQUAL(gpu.driver, 42);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, 0), 0);
    CHECK_EQUAL(gpu.driver, 13000);
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
    struct rex_gpu gpu;
    void *held;
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "4", 1);
    make_folder(root);
    make_file("/sys/bus/pci/devices/0001:3c:00.0/numa_node", "1\n", 0644);
    make_file("/sys/bus/pci/devices/0001:3d:00.0/numa_node", "none\n", 0644);
    rex_nogpu_root = root;
    CHECK_EQUAL(rex_gpu_count(), 4);
    CHECK_EQUAL(rex_context_retain(1, &held), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, i), 0);
        CHECK_EQUAL(gpu.peers, 0xf & ~(1 << i));
        CHECK_EQUAL(gpu.atomic_peers, 1 << (i ^ 1));
        CHECK_EQUAL(gpu.numa_node, i == 1 ? 1 : -1);
        CHECK_EQUAL(gpu.free_memory, i == 1 ? 64 << 20 : 0);
        CHECK_EQUAL(gpu.uuid[4], '0' + i);
        CHECK_EQUAL(((int *)in_driver("fake_cuda_starts"))[i], i == 1);
        setenv("FAKE_CUDA_PEERS", "later", 1);
        CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, i), 0);
        CHECK_EQUAL(gpu.peers, 0xf & (0xe << i));
        unsetenv("FAKE_CUDA_PEERS");
    }
    rex_context_drop(1);
    remove_folder(root);
}

/* What nobody has to know is left out where the driver does not say it. */
TEST_OF_EACH(in_part, const char *, broken, "cuDeviceGetUuid:719:0", "cuDeviceGetAttribute:719:6", "cuDeviceGetAttribute:719:7",
             "cuDeviceGetAttribute:719:8")
{
    struct rex_gpu gpu;
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    setenv("FAKE_CUDA_BREAKS", broken, 1);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, 0), 0);
    CHECK_EQUAL(gpu.driver, 13000);
    CHECK_EQUAL(gpu.uuid[0] == '\0', strncmp(broken, "cuDeviceGetUuid", 15) == 0);
    CHECK_EQUAL(gpu.pci[0] == '\0', strncmp(broken, "cuDeviceGetAttribute", 20) == 0);
    CHECK_EQUAL(gpu.numa_node, -1);
}

/* It is asked for once, however often a launch wants to know it. */
TEST_IN_CHILD(most_shared_memory)
{
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_most_shared_memory(), 232448);
    setenv("FAKE_CUDA_BREAKS", "cuDeviceGetAttribute:719:0", 1);
    CHECK_EQUAL(rex_gpu_most_shared_memory(), 232448);
}

/* What the driver does not say is asked for again; and free memory is none where nobody can look. */
TEST_IN_CHILD(not_said)
{
    struct rex_gpu gpu;
    void *held;
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    use_gpu(90);
    CHECK(rex_gpu_count() == 1 && rex_context_retain(0, &held) == 0);
    setenv("FAKE_CUDA_BREAKS", "cuDeviceGetAttribute:719:0", 1);
    CHECK_EQUAL(rex_gpu_most_shared_memory(), 0);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_gpu_most_shared_memory(), 232448);
    setenv("FAKE_CUDA_BREAKS", "cuCtxPushCurrent:719:0", 1);
    CHECK(rex_gpu_get(&gpu, sizeof gpu, 0) == 0 && gpu.free_memory == 0);
    setenv("FAKE_CUDA_BREAKS", "cuMemGetInfo:719:0", 1);
    CHECK(rex_gpu_get(&gpu, sizeof gpu, 0) == 0 && gpu.free_memory == 0);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK(rex_gpu_get(&gpu, sizeof gpu, 0) == 0 && gpu.free_memory == 64 << 20);
    CHECK_EQUAL(context_users(), 1);
}

TEST_IN_CHILD(no_gpu)
{
    struct rex_gpu gpu;
    setenv("CUDA_VISIBLE_DEVICES", "one\ntwo", 1);
    use_gpu(0);
    CHECK_EQUAL(rex_gpu_count(), 0);
    CHECK(first_gpu() < 0);
    CHECK_MENTIONS(rex_last_error(), "no NVIDIA GPU can be used: the CUDA driver reports no device");
    CHECK_MENTIONS(rex_last_error(), "two");
    CHECK(strchr(rex_last_error(), '\n') == NULL);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, 0), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "reports no device");
    char why[256] = "as it was";
    CHECK_EQUAL(rex_device_trouble(rex_release_row(22), why, sizeof why), 0);
    CHECK(strcmp(why, "as it was") == 0);
}

/* What another call has left in errno is no answer. */
TEST_IN_CHILD(opens_files)
{
    int before = dup(STDOUT_FILENO);
    CHECK(before >= 0 && close(before) == 0);
    errno = EMFILE;
    CHECK_EQUAL(rex_nogpu_open_error(), 0);
    CHECK_EQUAL(dup(STDOUT_FILENO), before); /* and none stays open */
}

TEST_IN_CHILD(no_permission)
{
    setenv("FAKE_CUDA_FAILS", "800", 1);
    use_gpu(90);
    CHECK(first_gpu() < 0);
    CHECK_MENTIONS(rex_last_error(), "cuInit: CUDA_ERROR_NOT_PERMITTED");
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
    const char *fails, *visible; /* cuInit's result; CUDA_VISIBLE_DEVICES */
    const char *closed, *missing; /* a device file that is 0000, that is not there */
    bool no_gpus;                 /* nor are those of the GPUs */
    const char *version;
    const char *says[3];
    mode_t mode; /* of the file that is closed */
    gid_t group;
};

static void in_state(const void *context)
{
    const struct state *given = context;
    char path[2 * PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    make_folder(root);
    if (given->version != NULL)
        make_machine(given->version);
    snprintf(path, sizeof path, "%s%s", root, given->missing != NULL ? given->missing : "/none");
    remove(path);
    for (int i = 0; i < 2 && given->no_gpus; i++) {
        snprintf(path, sizeof path, "%s/dev/nvidia%d", root, i);
        CHECK_EQUAL(remove(path), 0);
    }
    if (given->closed != NULL)
        make_file(given->closed, "", given->mode);
    snprintf(path, sizeof path, "%s%s", root, given->closed != NULL ? given->closed : "/none");
    CHECK(given->group == 0 || chown(path, 0, given->group) == 0);
    rex_nogpu_root = root;
    setenv("FAKE_CUDA_FAILS", given->fails, 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (given->visible != NULL)
        setenv("CUDA_VISIBLE_DEVICES", given->visible, 1);
    CHECK_EQUAL(chmod(root, 0755), 0);
    CHECK(temporary == NULL || chmod(temporary, 0711) == 0 || getuid() != 0);
    use_gpu(strcmp(given->fails, "0") == 0 ? 0 : 90);
    /* Nothing is closed to root. */
    CHECK(getuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    CHECK(first_gpu() < 0);
    for (int i = 0; i < 3 && given->says[i] != NULL; i++) {
        if (given->says[i][0] == '!')
            CHECK(strstr(rex_last_error(), given->says[i] + 1) == NULL);
        else
            CHECK_MENTIONS(rex_last_error(), given->says[i]);
    }
}

/* What stands behind the first colon of the first line, or all of it. */
static void kernel_module(const void *context)
{
    static const char *const given[][2] = {
        {NVRM_OPEN "GCC version: 12\n", "NVIDIA UNIX Open Kernel Module for x86_64  570.86.10  Release Build"},
        {"one: two: three", "two: three"},
        {"one:two\n", "one:two"},
        {"\n", ""}};
    char text[256] = "before", little[4] = "";
    (void)context;
    make_folder(root);
    rex_nogpu_root = root;
    CHECK(!rex_kernel_module(text, sizeof text) && strcmp(text, "before") == 0);
    make_file("/proc/driver/nvidia/version", "", 0644);
    CHECK(!rex_kernel_module(text, sizeof text) && strcmp(text, "before") == 0);
    for (size_t i = 0; i < COUNT(given); i++) {
        make_file("/proc/driver/nvidia/version", given[i][0], 0644);
        CHECK(rex_kernel_module(text, sizeof text) && strcmp(text, given[i][1]) == 0);
    }
    make_file("/proc/driver/nvidia/version", "one: two", 0644);
    CHECK(rex_kernel_module(little, sizeof little) && strcmp(little, "two") == 0);
    CHECK(rex_kernel_module(little, 3) && strcmp(little, "tw") == 0);
    remove_folder(root);
}

/* Two GPUs whose device files can all be opened, one, and none; no more is said than there is room for. */
static void look_at_files(const void *context)
{
    char path[2 * PATH_MAX];
    (void)context;
    unsetenv("CUDA_VISIBLE_DEVICES");
    make_folder(root);
    rex_nogpu_root = root;
    make_machine(NVRM);
    for (int gpus = 2; gpus >= 0; gpus--) {
        char text[8] = "", wanted[8];
        snprintf(wanted, sizeof wanted, "; %.5s", root);
        rex_nogpu_explain(REX_NOGPU_RESULT, 100, text, sizeof text);
        CHECK(strcmp(text, gpus > 0 ? "" : wanted) == 0);
        snprintf(path, sizeof path, "%s/dev/nvidia%d", root, gpus - 1);
        CHECK(gpus == 0 || remove(path) == 0);
    }
    char text[2 * PATH_MAX] = "", wanted[3 * PATH_MAX];
    snprintf(path, sizeof path, "%s/dev/nvidia5", root);
    CHECK_EQUAL(mkdir(path, 0700), 0);
    rex_nogpu_explain(REX_NOGPU_RESULT, 100, text, sizeof text);
    snprintf(wanted, sizeof wanted, "; %s cannot be opened: %s", path, strerror(EISDIR));
    CHECK(strcmp(text, wanted) == 0);
    remove_folder(root);
}

TEST(test_states)
{
    static const struct state states[] = {
        {.fails = "100", .says = {"cuInit: CUDA_ERROR_NO_DEVICE", "!;"}},
        {.fails = "100", .visible = "-1", .says = {"CUDA_ERROR_NO_DEVICE; CUDA_VISIBLE_DEVICES=\"-1\" is set, which may hide some"}},
        {.fails = "100", .visible = "", .version = NVRM, .says = {"CUDA_VISIBLE_DEVICES=\"\" hides the 2 GPUs of this machine"}},
        {.fails = "0", .visible = "7", .version = NVRM, .says = {"reports no device; CUDA_VISIBLE_DEVICES=\"7\" hides the 2 GPUs"}},
        {.fails = "101", .visible = "GPU-x", .version = NVRM, .says = {"CUDA_ERROR_INVALID_DEVICE; CUDA_VISIBLE_DEVICES=\"GPU-x\""}},
        {.fails = "100",
         .version = NVRM,
         .closed = "/dev/nvidia-uvm",
         .says = {"/dev/nvidia-uvm cannot be opened: Permission denied: its mode is 0000", "chmod"}},
        {.fails = "100",
         .version = NVRM,
         .closed = "/dev/nvidia1",
         .says = {"/dev/nvidia1 cannot be opened: Permission denied"}},
        {.fails = "100", .visible = "0", .version = NVRM, .closed = "/dev/nvidiactl", .says = {"/dev/nvidiactl", "!hides"}},
        {.fails = "999",
         .version = NVRM,
         .missing = "/dev/nvidia-uvm",
         .says = {"CUDA_ERROR_UNKNOWN", "/dev/nvidia-uvm is missing: nvidia-modprobe"}},
        {.fails = "100",
         .version = NVRM,
         .no_gpus = true,
         .says = {"/dev/nvidia0 is missing: nvidia-modprobe -u -c 0, as root, makes it; a container must be given it"}},
        {.fails = "803",
         .version = NVRM,
         .says = {"cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "the kernel module is 580.95.05", "restart"}},
        {.fails = "803", .version = NVRM_OPEN, .says = {"the kernel module is 570.86.10"}},
        {.fails = "803", .version = NVRM_WORDS, .says = {"; the kernel module is 555.1, and libcuda.so.1 of another version"}},
        {.fails = "803", .version = "NVRM version: 580\n", .says = {"; the kernel module and libcuda.so.1 are of two"}},
        {.fails = "803", .says = {"are of two versions"}},
        {.fails = "100",
         .version = NVRM,
         .closed = "/dev/nvidia1",
         .mode = 0444,
         .says = {"/dev/nvidia1 cannot be opened: Permission denied: its mode is 0444; its owner can change that (chmod 666, or"}},
        {.fails = "100",
         .version = NVRM,
         .closed = "/dev/nvidia1",
         .mode = 04621,
         .says = {"/dev/nvidia1 cannot be opened: Permission denied: its mode is 4621; its owner can change that"}},
        {.fails = "804", .says = {"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "compatibility package"}},
        {.fails = "802", .says = {"CUDA_ERROR_SYSTEM_NOT_READY", "nvidia-fabricmanager"}},
        {.fails = "34", .says = {"CUDA_ERROR_STUB_LIBRARY", "stub: take its folder out of LD_LIBRARY_PATH"}},
        {.fails = "805", .says = {"MPS daemon"}},
        {.fails = "3", .says = {"CUDA_ERROR_NOT_INITIALIZED", "child of fork"}},
    };
    /* Who is not in the file's group is told of it, where that helps. Group 1 has a name on every Linux, 54321 on none. */
    static const struct state groups[] = {
        {.fails = "100",
         .version = NVRM,
         .closed = "/dev/nvidia0",
         .mode = 01661,
         .group = 1,
         .says = {": its mode is 1661; become a member of its group, ", "!chmod"}},
        {.fails = "100",
         .version = NVRM,
         .closed = "/dev/nvidia0",
         .mode = 0640,
         .group = 1,
         .says = {": its mode is 0640; its owner can change that (chmod 666, or NVreg_DeviceFileMode of the kernel module)"}},
        {.fails = "100",
         .version = NVRM,
         .closed = "/dev/nvidia0",
         .mode = 0660,
         .group = 0,
         .says = {": its mode is 0660; its owner can change that"}},
        {.fails = "100",
         .version = NVRM,
         .closed = "/dev/nvidia0",
         .mode = 0660,
         .group = 54321,
         .says = {": its mode is 0660; its owner can change that"}},
    };
    in_child(kernel_module, NULL);
    in_child(look_at_files, NULL);
    for (size_t i = 0; i < COUNT(states); i++)
        in_child(in_state, &states[i]);
    for (size_t i = 0; i < COUNT(groups) && getuid() == 0; i++) /* another user cannot give files away */
        in_child(in_state, &groups[i]);
}

/* ---- a program that cannot open libraries -------------------------------------------------------------------------- */

static bool is_static;
bool __real_rex_can_open_libraries(void);
bool __wrap_rex_can_open_libraries(void);
bool __wrap_rex_can_open_libraries(void)
{
    return !is_static && __real_rex_can_open_libraries();
}

TEST_IN_CHILD(linked_statically)
{
    is_static = true;
    CHECK(first_gpu() < 0);
    CHECK_MENTIONS(rex_last_error(), "no NVIDIA GPU can be used: the CUDA driver cannot be opened by a program that was linked "
                                     "with -static or -static-pie");
    CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
    CHECK_MENTIONS(rex_last_error(), "the program was linked with -static or -static-pie, and libomptarget cannot be loaded into it");
}

TEST_OF_EACH(no_library, const char *, version, NULL, NVRM)
{
    make_folder(root);
    rex_nogpu_root = root;
    if (version != NULL)
        make_machine(version);
    if (rex_gpu_count() > 0)
        return; /* a machine with a driver */
    CHECK(strstr(rex_last_error(), "there is no CUDA driver (libcuda.so.1)") == NULL ||
          (strstr(rex_last_error(), "580.95.05 is loaded") != NULL) == (version != NULL));
}

TEST_IN_CHILD(too_old)
{
    setenv("FAKE_CUDA_VERSION", "12020", 1);
    CHECK(dlopen(FAKE("cuda-old/libcuda.so.1"), RTLD_NOW) != NULL);
    use_release(22);
    CHECK_EQUAL(rex_gpu_count(), 1);
    char why[512];
    CHECK_EQUAL(rex_device_trouble(rex_release_row(22), why, sizeof why), 1);
    CHECK(strcmp(strrchr(why, ' '), " 12.2") == 0);
    CHECK_MENTIONS(why, "LLVM 22 cannot use the GPU: the CUDA driver is too old: it has no cuFuncGetParamInfo, which came with CUDA 12.4, "
                        "and is one of CUDA 12.2");
}

/* It has all that the release asks for, and both of its names. */
TEST_IN_CHILD(no_trouble)
{
    static const char both[] = "libcuda.so.1", development[sizeof both] = "libcuda.so";
    char why[256] = "as it was", path[PATH_MAX + 32];
    size_t size;
    make_folder(root);
    snprintf(path, sizeof path, "%s/link", root);
    unsigned char *bytes = read_bytes(FAKE("cuda/libcuda.so.1"), &size);
    for (size_t i = 0; i + sizeof both <= size; i++)
        if (memcmp(bytes + i, both, sizeof both) == 0)
            memcpy(bytes + i, development, sizeof both);
    write_bytes(path, bytes, size);
    free(bytes);
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    void *link = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    CHECK(link != NULL && dlopen("libcuda.so", RTLD_LAZY | RTLD_NOLOAD) == link && dlclose(link) == 0);
    CHECK_EQUAL(rex_device_trouble(rex_release_row(14), why, sizeof why), 0);
    CHECK_EQUAL(rex_device_trouble(rex_release_row(22), why, sizeof why), 0);
    CHECK(strcmp(why, "as it was") == 0);
    CHECK_EQUAL(dlclose(link), 0);
    CHECK(dlopen(path, RTLD_LAZY | RTLD_NOLOAD) == NULL); /* and is not left open */
    remove_folder(root);
}

/* A driver that does not say how old it is. */
TEST_OF_EACH(of_no_version, const char *, version, "0")
{
    const char *end = "which came with CUDA 11.0";
    setenv("FAKE_CUDA_VERSION", version, 1);
    CHECK(dlopen(FAKE("cuda-ancient/libcuda.so.1"), RTLD_NOW) != NULL);
    CHECK(first_gpu() < 0);
    CHECK_MENTIONS(rex_last_error(), end);
    CHECK(strstr(rex_last_error(), "and is one of") == NULL);
}

/* What librex itself cannot do without. */
TEST_IN_CHILD(much_too_old)
{
    setenv("FAKE_CUDA_VERSION", "10020", 1);
    CHECK(dlopen(FAKE("cuda-ancient/libcuda.so.1"), RTLD_NOW) != NULL);
    CHECK(first_gpu() < 0);
    CHECK(strcmp(strrchr(rex_last_error(), ' '), " 10.2") == 0);
    CHECK_MENTIONS(rex_last_error(), "it has no cuDevicePrimaryCtxSetFlags_v2, which came with CUDA 11.0, and is one of CUDA 10.2");
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

#define THERE_IS_NONE "there is no CUDA driver (libcuda.so.1)"
#define NO_FILE ": cannot open shared object file: No such file or directory"

/* The loader's reason, but where there is no such library. */
static void not_opened(const void *context)
{
    const char *const *given = context; /* the reason, and what is said */
    char text[128], said[256];
    snprintf(text, sizeof text, "%s", given[0] != NULL ? given[0] : "");
    is_closed = true;
    reason = given[0] != NULL ? text : NULL;
    make_folder(root);
    rex_nogpu_root = root;
    CHECK(first_gpu() < 0);
    snprintf(said, sizeof said, "no NVIDIA GPU can be used: %s", given[1]);
    CHECK(strcmp(rex_last_error(), said) == 0);
    is_closed = false;
    remove_folder(root);
}

/* Each reason takes the place of the one before, which stays where it is for who still reads it; the first has no name. */
TEST_IN_CHILD(several_reasons)
{
    const char *reasons[8];
    char number[16], said[64] = "cuInit: unknown error";
    make_folder(root);
    rex_nogpu_root = root;
    use_gpu(90);
    for (int i = 0; i < 8; i++) {
        snprintf(number, sizeof number, "%d", i);
        setenv("FAKE_CUDA_FAILS", i == 0 ? "12345" : "100", 1);
        setenv("CUDA_VISIBLE_DEVICES", number, 1);
        CHECK(first_gpu() < 0);
        reasons[i] = rex_cuda_why();
        CHECK_MENTIONS(reasons[i], said);
        for (int j = 0; j < i; j++)
            CHECK(reasons[j] != reasons[i] && strcmp(reasons[j], reasons[i]) != 0);
        snprintf(said, sizeof said, "CUDA_VISIBLE_DEVICES=\"%d\" is set", i + 1);
    }
    setenv("FAKE_CUDA_FAILS", "12345", 1);
    CHECK(first_gpu() < 0);
    CHECK(rex_cuda_why() == reasons[0] && strcmp(reasons[0], "cuInit: unknown error") == 0);
    remove_folder(root);
}

/* No more than librex has room for; what is not there has no architecture, and a driver without devices no functions. */
TEST_IN_CHILD(too_many)
{
    struct rex_gpu gpu;
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "65", 1);
    CHECK_EQUAL(rex_gpu_count(), REX_CUDA_DEVICES_MAX);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, REX_CUDA_DEVICES_MAX - 1), 0);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, REX_CUDA_DEVICES_MAX), REX_EDEVICE);
    CHECK(rex_cuda_architecture(REX_CUDA_DEVICES_MAX - 1) == 90 && rex_cuda_architecture(REX_CUDA_DEVICES_MAX) == 0);
    CHECK_EQUAL(rex_cuda_architecture(-1), 0);
    CHECK(rex_cuda_exports("cuInit", "1.0") && !rex_cuda_exports("cuNothing", "99.5"));
    CHECK_MENTIONS(rex_cuda_why(), "is too old: it has no cuNothing, which came with CUDA 99.5, and is one of CUDA 13.0");
}

TEST_IN_CHILD(no_exports)
{
    use_gpu(0);
    CHECK(!rex_cuda_exports("cuInit", "1.0") && rex_cuda_need(REX_CUDA_START) == -1);
    CHECK_MENTIONS(rex_cuda_why(), "reports no device");
}

TEST(test_drivers)
{
    static const char *const given[][2] = {{NULL, THERE_IS_NONE},
                                           {"libcuda.so.1" NO_FILE, THERE_IS_NONE},
                                           {"libother.so.9" NO_FILE, "the CUDA driver cannot be opened: libother.so.9" NO_FILE},
                                           {"libcuda.so.1: too short", "the CUDA driver cannot be opened: libcuda.so.1: too short"}};
    for (size_t i = 0; i < COUNT(given); i++)
        in_child(not_opened, given[i]);
}

/* ---- a start that fails once --------------------------------------------------------------------------------------- */

/* No GPU, until somebody asks who may take the time to look again. */
TEST_OF_EACH(fails_once, const char *, function, "cuInit", "cuDeviceGetCount")
{
    char setting[64];
    snprintf(setting, sizeof setting, "%s:999:1", function);
    setenv("FAKE_CUDA_BREAKS", setting, 1);
    use_gpu(90);
    CHECK(first_gpu() < 0);
    CHECK_MENTIONS(rex_last_error(), "no NVIDIA GPU can be used: ");
    CHECK_MENTIONS(rex_last_error(), function);
    for (int i = 0; i < 100; i++) {
        CHECK_EQUAL(rex_cuda_devices(), 0); /* though it would start now: a launch may ask */
        CHECK_MENTIONS(rex_cuda_why(), function);
    }
    CHECK_EQUAL(rex_cuda_architecture(0), 0);
    CHECK_EQUAL(rex_gpu_count(), 1);
    CHECK_EQUAL(rex_cuda_architecture(0), 90);
}

/* A call that tells no more than the architecture. */
TEST_OF_EACH(architecture_fails_once, const char *, function, "cuDeviceGet", "cuDeviceGetAttribute")
{
    char setting[64];
    snprintf(setting, sizeof setting, "%s:999:1", function);
    setenv("FAKE_CUDA_BREAKS", setting, 1);
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
    CHECK_EQUAL(rex_cuda_architecture(0), 90);
    CHECK_EQUAL(rex_cuda_architecture(1), 0);
}

REX_KERNEL(plain);
static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof(struct rex_module), .entries_begin = entry, .entries_end = entry + 1, .image_name = "tests/data/sm_90.cubin"};

/* A registration looks again; what it has decided stays. */
TEST_IN_CHILD(register_again)
{
    setenv("FAKE_CUDA_FAILS", "999", 1);
    use_gpu(90);
    use_release(22);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(rex_module_register(&module, NULL), REX_ENODEVICE);
        CHECK_MENTIONS(rex_last_error(), "cuInit: CUDA_ERROR_UNKNOWN");
    }
    rex_cuda_keep(1);
    setenv("FAKE_CUDA_FAILS", "0", 1);
    CHECK(first_gpu() < 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_ENODEVICE);
    rex_cuda_keep(-1);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_gpu_count(), 1);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

/* The kernel's table of descriptors is full: the driver is not there, as far as the loader can tell. */
TEST_IN_CHILD(too_many_files)
{
    struct rlimit before, none;
    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK(first_gpu() < 0);
    CHECK_MENTIONS(rex_last_error(), "the CUDA driver (libcuda.so.1) cannot be opened; no file can be opened: Too many open files");
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
    use_gpu(90);
    CHECK_EQUAL(rex_gpu_count(), 1);
}

/* A driver that can open no device file says that there is none. */
TEST_IN_CHILD(driver_without_files)
{
    struct rlimit limit, none;
    setenv("FAKE_CUDA_FAILS", "100", 1);
    use_gpu(90);
    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){0, limit.rlim_max};
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK(first_gpu() < 0);
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0); /* which the look for leaks needs */
    CHECK_MENTIONS(rex_last_error(), "cuInit: CUDA_ERROR_NO_DEVICE; no file can be opened: Too many open files");
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

TEST_IN_CHILD(before_a_registration)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_device_gpu(0), REX_EDEVICE);
    CHECK_EQUAL(rex_device_gpu(-1), REX_EDEVICE);
    CHECK_EQUAL(rex_info(0, NULL, NULL), REX_EINVAL);
    CHECK(strcmp(rex_last_error(), "rex_info: the function that is to be called is NULL") == 0);
    CHECK_EQUAL(rex_runtime_release(), 0);
}

/* Three GPUs; the host is number 3. Each is asked for by each number, and by -1, which is 2. */
TEST_IN_CHILD(each_number)
{
    static const struct {
        int64_t device;
        int number; /* -1: there is none */
    } cases[] = {{-2, -1}, {-1, 2}, {0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, -1}, {INT64_MAX, -1}, {INT64_MIN, -1}};
    char said[80];
    int number;
    setenv("FAKE_DEVICES", "3", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    use_release(22);
    setenv("OMP_DEFAULT_DEVICE", "2", 1);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_device_count(), 0);
    CHECK_EQUAL(rex_device_resolve(0, &number), 0);
    CHECK_EQUAL(number, 0);
    CHECK_EQUAL(rex_device_resolve(1, &number), REX_EDEVICE);
    CHECK(strcmp(rex_last_error(), "device number 1: there are 0 devices; 0 is the host") == 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(rex_device_count(), 3);
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(said, sizeof said, "device number %lld: there are 3 devices, 0 to 2; 3 is the host", (long long)cases[i].device);
        int expected = cases[i].number < 0 ? REX_EDEVICE : REX_OK;
        number = -5;
        CHECK_EQUAL(rex_device_resolve(cases[i].device, &number), expected);
        CHECK(expected == REX_OK ? number == cases[i].number : number == -5 && strcmp(rex_last_error(), said) == 0);
        rex_fail(REX_EKEY, "another");
        CHECK_EQUAL(rex_device_check(cases[i].device), expected);
        CHECK(strcmp(rex_last_error(), expected == REX_OK ? "another" : said) == 0);
        rex_fail(REX_EKEY, "another");
        CHECK_EQUAL(rex_device_offload(cases[i].device, &number), cases[i].number == 3 ? REX_EHOST : expected);
        CHECK(expected == REX_OK ? number == cases[i].number : strcmp(rex_last_error(), said) == 0);
    }
    CHECK_EQUAL(rex_configure(REX_OPTION_REQUIRE_GPU, "on"), 0);
    CHECK_EQUAL(rex_device_offload(3, &number), REX_ENODEVICE);
    CHECK(strcmp(rex_last_error(), "device number 3 is the host, and REX_REQUIRE_GPU is on") == 0);
    CHECK_EQUAL(rex_device_offload(2, &number), REX_OK);
    CHECK_EQUAL(rex_device_offload(4, &number), REX_EDEVICE);
    CHECK_EQUAL(rex_configure(REX_OPTION_REQUIRE_GPU, "off"), 0);
    /* More have come since somebody asked. */
    the_record()->devices = 5;
    CHECK_EQUAL(rex_devices_known(), 3);
    CHECK_EQUAL(rex_device_offload(4, &number), REX_OK);
    CHECK_EQUAL(number, 4);
    CHECK_EQUAL(rex_devices_known(), 3);
    CHECK_EQUAL(rex_device_check(6), REX_EDEVICE);
    CHECK_EQUAL(rex_devices_known(), 5);
    the_record()->devices = 7;
    CHECK_EQUAL(rex_device_check(7), REX_OK);
    CHECK_EQUAL(rex_devices_known(), 7);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(rex_device_count(), 0);
}

TEST_IN_CHILD(default_numbers)
{
    static const struct {
        const char *device, *said; /* NULL: it is there */
    } cases[] = {{"0", NULL},
                 {"2", NULL},
                 {"3", NULL},
                 {"4", "the default device is 4 (OMP_DEFAULT_DEVICE), and there are 3 devices, 0 to 2; 3 is the host"},
                 {"-1", "the default device is -1 (OMP_DEFAULT_DEVICE), and there are 3 devices, 0 to 2; 3 is the host"}};
    int number;
    setenv("FAKE_DEVICES", "3", 1);
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        setenv("OMP_DEFAULT_DEVICE", cases[i].device, 1);
        CHECK_EQUAL(rex_device_check_default(), cases[i].said == NULL ? REX_OK : REX_EDEVICE);
        CHECK(cases[i].said == NULL || strcmp(rex_last_error(), cases[i].said) == 0);
    }
    setenv("OMP_DEFAULT_DEVICE", "0", 1);
    setenv("OMP_TARGET_OFFLOAD", "Disabled", 1);
    CHECK_EQUAL(rex_device_count(), 0);
    CHECK_EQUAL(rex_devices_ask(), REX_DEVICES_DISABLED);
    CHECK_EQUAL(rex_device_offload(0, &number), REX_EHOST);
    CHECK_EQUAL(rex_device_check(12345), REX_OK); /* whatever it is: nothing is offloaded */
    setenv("OMP_TARGET_OFFLOAD", "default", 1);
    CHECK_EQUAL(rex_devices_ask(), 3);
    CHECK_EQUAL(rex_module_fini(&module), 0);
}

/* Where libomptarget starts a GPU at its first use, its context is activated before; which number is asked for decides. */
TEST_IN_CHILD(starts_at_first_use)
{
    const int *starts;
    int number;
    setenv("FAKE_DEVICES", "5", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "5", 1);
    use_release(17);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    starts = in_driver("fake_cuda_starts");
    CHECK(starts[0] == 0 && starts[1] == 0 && starts[2] == 0 && starts[3] == 0 && starts[4] == 0);
    CHECK_EQUAL(rex_device_check(1), 0);
    CHECK(starts[0] == 0 && starts[1] == 1 && starts[2] == 0 && starts[3] == 0 && starts[4] == 0);
    CHECK_EQUAL(rex_device_resolve(2, &number), 0);
    CHECK(starts[0] == 0 && starts[1] == 1 && starts[2] == 1 && starts[3] == 0 && starts[4] == 0);
    CHECK_EQUAL(rex_device_offload(3, &number), 0);
    CHECK(starts[0] == 0 && starts[1] == 1 && starts[2] == 1 && starts[3] == 1 && starts[4] == 0);
    setenv("OMP_DEFAULT_DEVICE", "4", 1);
    CHECK_EQUAL(rex_device_check_default(), 0);
    CHECK(starts[0] == 0 && starts[4] == 1);
    CHECK_EQUAL(rex_module_fini(&module), 0);
}

/* Which GPU a device is. */
TEST_IN_CHILD(which_gpu)
{
    setenv("FAKE_DEVICES", "3", 1);
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    use_release(22);
    setenv("OMP_DEFAULT_DEVICE", "1", 1);
    CHECK_EQUAL(rex_device_gpu(0), REX_EDEVICE);
    CHECK(strcmp(rex_last_error(), "rex_device_gpu: libomptarget has no device before a module is registered") == 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK(!rex_devices_used() && !rex_devices_in_use());
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(rex_device_gpu(i), i);
    CHECK(rex_devices_used() && rex_devices_in_use());
    CHECK_EQUAL(rex_device_gpu(-1), 1);
    CHECK_EQUAL(rex_device_gpu(4), REX_EDEVICE);
    CHECK(strcmp(rex_last_error(), "device number 4: there are 3 devices, 0 to 2; 3 is the host") == 0);
    CHECK_EQUAL(rex_device_gpu(3), REX_ENODEVICE);
    CHECK(strcmp(rex_last_error(), "rex_device_gpu: the device is no NVIDIA GPU") == 0);
    setenv("FAKE_CUDA_BREAKS", "cuMemAlloc:2:0", 1);
    CHECK_EQUAL(rex_device_gpu(2), REX_ENOMEM);
    CHECK(strcmp(rex_last_error(), "rex_device_gpu: device 2 has no memory") == 0);
    setenv("FAKE_CUDA_BREAKS", "cuPointerGetAttribute:719:0", 1);
    CHECK_EQUAL(rex_device_gpu(2), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "rex_device_gpu: cuPointerGetAttribute: CUDA_ERROR_LAUNCH_FAILED");
    setenv("FAKE_CUDA_BREAKS", "cuPointerGetAttribute:1:0", 1);
    CHECK_EQUAL(rex_device_gpu(2), REX_ENODEVICE);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK(rex_devices_used() && !rex_devices_in_use());
}

/* ---- rex_info() ---------------------------------------------------------------------------------------------------- */

struct rows {
    char text[65536]; /* "group|name|value" in each line */
    size_t length;
};

static void add_row(const char *group, const char *name, const char *value, void *context)
{
    struct rows *rows = context;
    rows->length += (size_t)snprintf(rows->text + rows->length, sizeof rows->text - rows->length, "\n%s|%s|%s", group, name, value);
    CHECK(rows->length < sizeof rows->text);
}

/* Each fact, but for what is adapted, which is of the release alone, and what else the machine has. */
static void add_own_row(const char *group, const char *name, const char *value, void *context)
{
    if (strcmp(group, "adapted") != 0 && strcmp(group, "found") != 0)
        add_row(group, name, value, context);
}

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef __x86_64__
#define PROCESSOR "x86-64"
#elif defined __aarch64__
#define PROCESSOR "aarch64"
#else
#define PROCESSOR "ppc64le"
#endif

struct told {
    int release, sm;
    const char *driver_version, *launch_by;
    bool sees_all;
    const char *marker, *plugin, *driver, *launch; /* what is said */
};

static void says_of_settings(struct rows *said, const char *path, const char *launch_by)
{
    static const struct {
        const char *variable, *text;
    } settings[] = {{"REX_OMPTARGET", NULL},
                    {"REX_CUBIN", "not set"},
                    {"REX_CUBIN_PATH", "not set"},
                    {"REX_LOG", "warn (default)"},
                    {"REX_WAIT", "spin (the environment)"},
                    {"REX_ADOPT", "off (default)"},
                    {"REX_UNFINISHED", "error (default)"},
                    {"REX_TRACE", "off (default)"},
                    {"REX_CHECK", "on (default)"},
                    {"REX_CACHE", "on (default)"},
                    {"REX_LAUNCH_BY", NULL},
                    {"REX_COPY_THREADS", "auto (default)"},
                    {"REX_REQUIRE_GPU", "off (default)"}};
    char text[2 * PATH_MAX];
    for (size_t i = 0; i < COUNT(settings); i++) {
        snprintf(text, sizeof text, "%s (the program)", i == 0 ? path : launch_by);
        add_row("setting", settings[i].variable, settings[i].text != NULL ? settings[i].text : text, said);
    }
}

static void says(struct rows *said, const struct told *told, const char *path)
{
    static const char *const folders[] = {"/usr/lib/llvm-*/lib", "/usr/lib64/llvm*/lib*", "/usr/lib/llvm/*/lib*", "/usr/local/llvm*/lib",
                                          "/usr/local/lib",      "/opt/*/lib"};
    char own[PATH_MAX], file[PATH_MAX], driver[PATH_MAX], text[128];
    CHECK(realpath("/proc/self/exe", own) != NULL && realpath(FAKE("cuda/libcuda.so.1"), driver) != NULL);
    add_row("librex", "version", rex_version(), said);
    add_row("librex", "file", own, said);
    add_row("librex", "compiler", COMPILER, said);
    add_row("librex", "architecture", PROCESSOR, said);
    add_row("libomptarget", "path", path, said);
    snprintf(text, sizeof text, "%d", told->release);
    add_row("libomptarget", "release", text, said);
    add_row("libomptarget", "chosen by", "REX_OMPTARGET", said);
    snprintf(text, sizeof text, "it exports %s, and nothing later that librex knows", told->marker);
    add_row("libomptarget", "told by", text, said);
    snprintf(file, sizeof file, FAKE("%d/libomptarget.rtl.x86_64.so"), told->release);
    add_row("plugin", told->plugin, strcmp(told->plugin, "all") == 0 ? "in libomptarget itself" : file, said);
    for (size_t i = 0; i < COUNT(folders); i++)
        add_row("searched", folders[i], "", said);
    add_row("searched", "the loader's folders", "LD_LIBRARY_PATH, run paths, the system's", said);
    add_row("driver", "kernel module", "NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025", said);
    add_row("driver", "file", driver, said);
    add_row("driver", told->sm > 0 ? "CUDA version" : "error", told->driver, said);
    if (told->sm > 0 && dlopen("libcuda.so", RTLD_LAZY) == NULL) /* else this machine has a driver */
        add_row("driver", "trouble",
                "libomptarget opens the CUDA driver as libcuda.so, and there is libcuda.so.1 alone: a link is missing", said);
    add_row("launch", "by", told->launch, said);
    says_of_settings(said, path, told->launch_by);
}

static void tells(const void *context)
{
    static struct rows rows, said;
    char path[PATH_MAX];
    const struct told *told = context;
    make_folder(root);
    make_machine(NVRM);
    rex_nogpu_root = root;
    setenv("FAKE_CUDA_VERSION", told->driver_version, 1);
    setenv("REX_WAIT", "spin", 1);
    use_gpu(told->sm);
    use_release(told->release);
    CHECK_EQUAL(rex_configure(REX_OPTION_LAUNCH_BY, told->launch_by), 0);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    if (told->sees_all)
        rex_sender_bind(true, false);
    CHECK_EQUAL(rex_info(0, add_own_row, &rows), 0);
    fake_path(told->release, path);
    says(&said, told, path);
    remove_folder(root);
    if (strcmp(rows.text, said.text) != 0)
        fprintf(stderr, "%s\n\nand not\n%s\n", rows.text, said.text);
    CHECK(strcmp(rows.text, said.text) == 0);
}

static void tells_of_no_runtime(const void *context)
{
    static struct rows rows;
    (void)context;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, "/nowhere"), 0);
    CHECK_EQUAL(rex_info(0, add_own_row, &rows), 0);
    CHECK_MENTIONS(rows.text, "\nlibrex|architecture|" PROCESSOR "\nlibomptarget|error|libomptarget /nowhere (REX_OMPTARGET) cannot be used: open: "
                              "No such file or directory\nsearched|/usr/lib/llvm-*/lib|\n");
    CHECK_MENTIONS(rows.text, "\ndriver|CUDA version|13.0\nsetting|REX_OMPTARGET|/nowhere (the program)\n");
}

/* Every plugin that lies beside libomptarget. */
static void lists_plugins(const void *folder)
{
    static struct rows rows;
    static const char *const plugins[] = {"amdgpu", "cuda", "x86_64"};
    char path[PATH_MAX + 64], line[PATH_MAX + 64];
    use_gpu(90);
    CHECK(dlopen(FAKE("17/libomp.so.5"), RTLD_NOW | RTLD_GLOBAL) != NULL);
    for (size_t i = 0; i < COUNT(plugins); i++) {
        snprintf(path, sizeof path, "%s/libomptarget.rtl.%s.so", (const char *)folder, plugins[i]);
        write_bytes(path, "", 0);
    }
    snprintf(path, sizeof path, "%s/libomptarget.so.17", (const char *)folder);
    copy_file(FAKE("17/libomptarget.so.17"), path);
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, path), 0);
    CHECK_EQUAL(rex_info(0, add_row, &rows), 0);
    for (size_t i = 0; i < COUNT(plugins); i++) {
        snprintf(line, sizeof line, "\nplugin|%s|%s/libomptarget.rtl.%s.so\n", plugins[i], (const char *)folder, plugins[i]);
        CHECK_MENTIONS(rows.text, line);
    }
    CHECK_EQUAL(occurrences(rows.text, "\nplugin|"), COUNT(plugins));
}

TEST(test_info)
{
#define UNSEEN "the program is linked with libomptarget itself, so that librex does not see all calls"
    static const struct told all[] = {
        {14, 90, "12990", "auto", false, "__tgt_target_teams_mapper", "x86_64", "12.99", "libomptarget: " UNSEEN},
        {18, 90, "11020", "driver", false, "__tgt_activate_record_replay", "x86_64", "11.2", "nobody (REX_LAUNCH_BY=driver): " UNSEEN},
        {19, 90, "12000", "runtime", true, "__tgt_rtl_init", "all", "12.0", "libomptarget: REX_LAUNCH_BY=runtime"},
        {22, 90, "13010", "auto", true, "__tgt_interop_get", "all", "13.1", "the CUDA driver"},
        {23, 0, "13000", "driver", true, "__tgt_register_rpc_callback", "all", "the CUDA driver reports no device",
         "libomptarget: there is no NVIDIA GPU, or its driver is too old"},
    };
    char folder[PATH_MAX];
    for (size_t i = 0; i < COUNT(all); i++)
        in_child(tells, &all[i]);
    in_child(tells_of_no_runtime, NULL);
    make_folder(folder);
    in_child(lists_plugins, folder);
    remove_folder(folder);
}
