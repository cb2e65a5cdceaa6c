/*
 * device.c - the GPUs as the driver describes them, which of libomptarget's devices they are, and why there is none.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <sys/resource.h>

#include "cuda/nogpu.h"
#include "rex/device.h"
#include "rex/entry.h"
#include "rex/inspect.h"
#include "rex/launch.h"
#include "rex_kmp.h"

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
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "4", 1);
    make_folder(root);
    make_file("/sys/bus/pci/devices/0001:3c:00.0/numa_node", "1\n", 0644);
    make_file("/sys/bus/pci/devices/0001:3d:00.0/numa_node", "none\n", 0644);
    rex_nogpu_root = root;
    CHECK_EQUAL(rex_gpu_count(), 4);
    use_release(16);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    setenv("OMP_DEFAULT_DEVICE", "1", 1);
    void *held = rex_host_alloc(8); /* which keeps the context of its GPU */
    CHECK(held != NULL);
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
    CHECK_EQUAL(rex_host_free(held), 0);
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

/* Free memory is none where the context cannot be entered, or does not say it. */
TEST_OF_EACH(not_said, const char *, broken, "cuCtxPushCurrent:719:0", "cuMemGetInfo:719:0")
{
    struct rex_gpu gpu;
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    use_gpu(90);
    CHECK(rex_host_alloc(8) != NULL); /* which keeps a context */
    setenv("FAKE_CUDA_BREAKS", broken, 1);
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
    const char *said;
};

static const char *under_root(const char *name)
{
    static char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    return path;
}

/* What the last error says behind its beginning, as if ROOT were "/". An EXPECTED text that ends in a space goes on with a name. */
static void expect_why(const char *expected)
{
    static const char begin[] = "no NVIDIA GPU can be used: ";
    char said[4096] = "", *end = said;
    const char *text = rex_last_error();
    CHECK(strncmp(text, begin, strlen(begin)) == 0);
    for (text += strlen(begin); *text != '\0'; text += strncmp(text, root, strlen(root)) == 0 ? strlen(root) : 1)
        if (strncmp(text, root, strlen(root)) != 0)
            *end++ = *text;
    if (expected[strlen(expected) - 1] == ' ')
        said[strlen(expected)] = '\0';
    if (strcmp(said, expected) == 0)
        return;
    fprintf(stderr, "%s\nand not\n%s\n", said, expected);
    _exit(99);
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
    CHECK(first_gpu() < 0);
    expect_why(given->said);
}

#define NO_DEVICE "cuInit: CUDA_ERROR_NO_DEVICE"
#define OWNERS "its owner can change that (chmod 666, or NVreg_DeviceFileMode of the kernel module)"
#define MAKE_IT "nvidia-modprobe -u -c 0, as root, makes it; a container must be given it"
#define RELOAD "load the module anew, or restart the machine"
#define CLOSED(...) .fails = "100", .version = NVRM, .closed = __VA_ARGS__
static const struct state states[] = {
    {.fails = "800", .said = "cuInit: CUDA_ERROR_NOT_PERMITTED"},
    {.fails = "12345", .said = "cuInit: unknown error"},
    {.fails = "100", .said = NO_DEVICE},
    {.fails = "100", .visible = "-1", .said = NO_DEVICE "; CUDA_VISIBLE_DEVICES=\"-1\" is set, which may hide some"},
    {.fails = "100", .visible = "", .version = NVRM,
     .said = NO_DEVICE "; CUDA_VISIBLE_DEVICES=\"\" hides the 2 GPUs of this machine"},
    {.fails = "0", .visible = "7", .version = NVRM,
     .said = "the CUDA driver reports no device; CUDA_VISIBLE_DEVICES=\"7\" hides the 2 GPUs of this machine"},
    {.fails = "101", .visible = "GPU-x", .version = NVRM,
     .said = "cuInit: CUDA_ERROR_INVALID_DEVICE; CUDA_VISIBLE_DEVICES=\"GPU-x\" hides the 2 GPUs of this machine"},
    {CLOSED("/dev/nvidia-uvm"),
     .said = NO_DEVICE "; /dev/nvidia-uvm cannot be opened: Permission denied: its mode is 0000; " OWNERS},
    {CLOSED("/dev/nvidia1"),
     .said = NO_DEVICE "; /dev/nvidia1 cannot be opened: Permission denied: its mode is 0000; " OWNERS},
    {CLOSED("/dev/nvidiactl"), .visible = "0",
     .said = NO_DEVICE "; /dev/nvidiactl cannot be opened: Permission denied: its mode is 0000; " OWNERS},
    {.fails = "999", .version = NVRM, .missing = "/dev/nvidia-uvm",
     .said = "cuInit: CUDA_ERROR_UNKNOWN; /dev/nvidia-uvm is missing: " MAKE_IT},
    {.fails = "100", .version = NVRM, .missing = "/dev/nvidia0", .said = NO_DEVICE},
    {.fails = "100", .version = NVRM, .no_gpus = true, .said = NO_DEVICE "; /dev/nvidia0 is missing: " MAKE_IT},
    {.fails = "803", .version = NVRM,
     .said = "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH; the kernel module is 580.95.05, and libcuda.so.1 of another version: " RELOAD " (in a container: start it anew)"},
    {.fails = "803", .version = NVRM_OPEN,
     .said = "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH; the kernel module is 570.86.10, and libcuda.so.1 of another version: " RELOAD " (in a container: start it anew)"},
    {.fails = "803", .version = NVRM_WORDS,
     .said = "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH; the kernel module is 555.1, and libcuda.so.1 of another version: " RELOAD " (in a container: start it anew)"},
    {.fails = "803", .version = "NVRM version: 580\n",
     .said = "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH; the kernel module and libcuda.so.1 are of two versions: " RELOAD},
    {.fails = "803",
     .said = "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH; the kernel module and libcuda.so.1 are of two versions: " RELOAD},
    {CLOSED("/dev/nvidia1"), .mode = 0444,
     .said = NO_DEVICE "; /dev/nvidia1 cannot be opened: Permission denied: its mode is 0444; " OWNERS},
    {CLOSED("/dev/nvidia1"), .mode = 04621,
     .said = NO_DEVICE "; /dev/nvidia1 cannot be opened: Permission denied: its mode is 4621; " OWNERS},
    {.fails = "804",
     .said = "cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE; the libcuda.so.1 that was found is a compatibility package's, which this GPU does not take: "
             "take it out of LD_LIBRARY_PATH"},
    {.fails = "802",
     .said = "cuInit: CUDA_ERROR_SYSTEM_NOT_READY; a service of the machine is not running, as nvidia-fabricmanager where there are NVSwitches"},
    {.fails = "34",
     .said = "cuInit: CUDA_ERROR_STUB_LIBRARY; the libcuda.so.1 that was found is the toolkit's stub: take its folder out of LD_LIBRARY_PATH"},
    {.fails = "805",
     .said = "cuInit: CUDA_ERROR_MPS_CONNECTION_FAILED; the MPS daemon does not answer: start it, or unset CUDA_MPS_PIPE_DIRECTORY"},
    {.fails = "3",
     .said = "cuInit: CUDA_ERROR_NOT_INITIALIZED; a child of fork cannot use a driver that its parent has started"},
};

TEST_FOR_EACH(in_each_state, state, states)
{
    in_state(state);
}

/* A user who is not in the file's group is told of it, where that helps. Group 1 has a name on every Linux, 54321 on none. */
static const struct state groups[] = {
    {CLOSED("/dev/nvidia0"), .mode = 01661, .group = 1,
     .said = NO_DEVICE "; /dev/nvidia0 cannot be opened: Permission denied: its mode is 1661; become a member of its group, "},
    {CLOSED("/dev/nvidia0"), .mode = 0640, .group = 1,
     .said = NO_DEVICE "; /dev/nvidia0 cannot be opened: Permission denied: its mode is 0640; " OWNERS},
    {CLOSED("/dev/nvidia0"), .mode = 0660, .group = 0,
     .said = NO_DEVICE "; /dev/nvidia0 cannot be opened: Permission denied: its mode is 0660; " OWNERS},
    {CLOSED("/dev/nvidia0"), .mode = 0660, .group = 54321,
     .said = NO_DEVICE "; /dev/nvidia0 cannot be opened: Permission denied: its mode is 0660; " OWNERS},
};

TEST_FOR_EACH(in_each_group, state, groups)
{
    if (getuid() == 0) /* another user cannot give files away */
        in_state(state);
}

/* ---- drivers that lack something ----------------------------------------------------------------------------------------------------- */

/* What librex itself cannot do without; a driver may not say how old it is. */
TEST_OF_EACH(much_too_old, const char *, version, "0", "10020")
{
    setenv("FAKE_CUDA_VERSION", version, 1);
    use_gpu_of("cuda-ancient", 90);
    CHECK(first_gpu() < 0);
    CHECK_MENTIONS(rex_last_error(), "it has no cuDevicePrimaryCtxSetFlags_v2, which came with CUDA 11.0");
    CHECK(strcmp(strstr(rex_last_error(), "11.0"), strcmp(version, "0") == 0 ? "11.0" : "11.0, and is one of CUDA 10.2") == 0);
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
static const struct unopened {
    char *reason;
    const char *version, *said;
} unopened[] = {
    {NULL, NULL, THERE_IS_NONE},
    {(char[]){"libcuda.so.1" NO_FILE}, NULL, THERE_IS_NONE},
    {(char[]){"libcuda.so.1" NO_FILE}, NVRM, THERE_IS_NONE "; its kernel module 580.95.05 is loaded: install the library of that version, or let the container have it (--gpus all)"},
    {(char[]){"libother.so.9" NO_FILE}, NULL, "the CUDA driver cannot be opened: libother.so.9" NO_FILE},
    {(char[]){"libcuda.so.1: too short"}, NULL, "the CUDA driver cannot be opened: libcuda.so.1: too short"},
};

TEST_FOR_EACH(not_opened, given, unopened)
{
    is_closed = true;
    reason = given->reason;
    make_folder(root);
    rex_nogpu_root = root;
    if (given->version != NULL)
        make_machine(given->version);
    CHECK(first_gpu() < 0);
    expect_why(given->said);
    is_closed = false;
    remove_folder(root);
}

/* No more than librex has room for. */
TEST_IN_CHILD(too_many)
{
    enum { MOST = 64 };
    struct rex_gpu gpu;
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "65", 1);
    CHECK_EQUAL(rex_gpu_count(), MOST);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, MOST - 1), 0);
    CHECK_EQUAL(rex_gpu_get(&gpu, sizeof gpu, MOST), REX_EDEVICE);
}

/* ---- a start that fails once --------------------------------------------------------------------------------------- */

REX_KERNEL(plain);
static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof(struct rex_module), .entries_begin = entry, .entries_end = entry + 1, .image_name = "tests/data/sm_90.cubin"};

/* No GPU, until rex_gpu_count() or a registration looks again; cuDeviceGet tells no more than the architecture. */
TEST_OF_EACH(fails_once, const char *, function, "cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetAttribute")
{
    char setting[64];
    snprintf(setting, sizeof setting, "%s:999:1", function);
    setenv("FAKE_CUDA_BREAKS", setting, 1);
    use_gpu(90);
    use_release(22);
    if (strncmp(function, "cuDeviceGet", 11) != 0 || function[11] == 'C') {
        CHECK(first_gpu() < 0);
        CHECK_MENTIONS(rex_last_error(), "no NVIDIA GPU can be used: ");
        CHECK_MENTIONS(rex_last_error(), function);
    }
    CHECK_EQUAL(rex_gpu_count(), 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

/* While a module is registered, for the host here, it stays what was found. */
TEST_IN_CHILD(register_again)
{
    static struct rex_module on_host;
    setenv("FAKE_CUDA_FAILS", "999", 1);
    use_gpu(90);
    use_release(22);
    on_host = module;
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(rex_module_register(&module, NULL), REX_ENODEVICE);
        CHECK_MENTIONS(rex_last_error(), "cuInit: CUDA_ERROR_UNKNOWN");
    }
    CHECK_EQUAL(rex_module_register(&on_host, FAKE("host.so")), REX_OK);
    setenv("FAKE_CUDA_FAILS", "0", 1);
    CHECK(first_gpu() < 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_ENODEVICE);
    CHECK_EQUAL(rex_module_fini(&on_host), REX_OK);
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
        int gpu, launched;
    } cases[] = {{-2, REX_EDEVICE, REX_EDEVICE},       {-1, 2, REX_OK}, {0, 0, REX_OK}, {1, 1, REX_OK}, {2, 2, REX_OK},
                 {3, REX_ENODEVICE, REX_EHOST},        {4, REX_EDEVICE, REX_EDEVICE},
                 {INT64_MAX, REX_EDEVICE, REX_EDEVICE}, {INT64_MIN, REX_EDEVICE, REX_EDEVICE}};
    struct rex_launch_config launch = rex_launch_config_of(&plain__id__, 1, 1);
    int64_t a = 1, b = 2;
    char said[80];
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    setenv("FAKE_DEVICES", "3", 1);
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    use_release(22);
    setenv("OMP_DEFAULT_DEVICE", "2", 1);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_device_count(), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK_EQUAL(rex_device_count(), 3);
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t device = cases[i].device;
        bool is_known = cases[i].gpu != REX_EDEVICE;
        snprintf(said, sizeof said, "device number %lld: there are 3 devices, 0 to 2; 3 is the host", (long long)device);
        CHECK_EQUAL(rex_device_gpu((int)device == device ? (int)device : 4), cases[i].gpu);
        CHECK_EQUAL(rex_configure((enum rex_option)99, ""), REX_EINVAL);
        CHECK_EQUAL(rex_module_check_map(&module, device, 0, NULL, NULL, NULL, NULL), is_known ? REX_OK : REX_EDEVICE);
        CHECK_MENTIONS(rex_last_error(), is_known ? "no option 99" : said);
        launch.device = device;
        CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), cases[i].launched);
        CHECK(is_known || strcmp(rex_last_error(), said) == 0);
    }
    CHECK_EQUAL(rex_configure(REX_OPTION_REQUIRE_GPU, "on"), 0);
    launch.device = 3;
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_ENODEVICE);
    CHECK(strcmp(rex_last_error(), "device number 3 is the host, and REX_REQUIRE_GPU is on") == 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_REQUIRE_GPU, "off"), 0);
    /* More have come since the last question. */
    the_record()->devices = 5;
    launch.device = 4;
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_OK);
    launch.device = 6;
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_EDEVICE);
    setenv("OMP_TARGET_OFFLOAD", "Disabled", 1);
    CHECK_EQUAL(rex_device_count(), 0);
    CHECK_EQUAL(rex_module_check_map(&module, 12345, 0, NULL, NULL, NULL, NULL), REX_OK); /* nothing is offloaded, whatever it is */
    setenv("OMP_TARGET_OFFLOAD", "default", 1);
    CHECK_EQUAL(rex_device_count(), 5);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(rex_device_count(), 0);
    setenv("OMP_TARGET_OFFLOAD", "Disabled", 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    launch.device = 0;
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_EHOST);
    CHECK_EQUAL(rex_module_fini(&module), 0);
}

static const struct default_number {
    const char *device, *said; /* NULL: it is there */
} default_numbers[] = {
    {"0", NULL},
    {"2", NULL},
    {"3", NULL},
    {"4", "the default device is 4 (OMP_DEFAULT_DEVICE), and there are 3 devices, 0 to 2; 3 is the host"},
    {"-1", "the default device is -1 (OMP_DEFAULT_DEVICE), and there are 3 devices, 0 to 2; 3 is the host"},
};

TEST_FOR_EACH(default_number, given, default_numbers)
{
    setenv("FAKE_DEVICES", "3", 1);
    use_gpu(90);
    use_release(22);
    setenv("OMP_DEFAULT_DEVICE", given->device, 1);
    CHECK_EQUAL(rex_module_init(&module), given->said == NULL ? REX_OK : REX_EDEVICE);
    CHECK(given->said == NULL || strcmp(rex_last_error(), given->said) == 0);
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
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(rex_device_gpu(i), i);
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

#define UNSEEN "the program is linked with libomptarget itself, so that librex does not see all calls"
#define TOO_OLD \
    "LLVM 22 cannot use the GPU: the CUDA driver is too old: it has no cuFuncGetParamInfo, which came with CUDA 12.4, and is one of CUDA 12.2"
static const struct told {
    int release, sm;
    const char *folder, *driver_version, *launch_by; /* of the fake driver; REX_LAUNCH_BY */
    const char *marker, *plugin, *driver, *trouble, *launch; /* what is said; NULL: nothing, where the driver has both of its names */
} all[] = {
    {14, 90, "cuda", "12990", "auto", "__tgt_target_teams_mapper", "x86_64", "CUDA version|12.99", NULL, "libomptarget: " UNSEEN},
    {18, 90, "cuda", "11020", "driver", "__tgt_activate_record_replay", "x86_64", "CUDA version|11.2", NULL,
     "nobody (REX_LAUNCH_BY=driver): " UNSEEN},
    {22, 90, "cuda-old", "12020", "runtime", "__tgt_interop_get", "all", "CUDA version|12.2", TOO_OLD, "libomptarget: REX_LAUNCH_BY=runtime"},
    {23, 0, "cuda", "13000", "driver", "__tgt_register_rpc_callback", "all", "error|the CUDA driver reports no device", NULL,
     "libomptarget: there is no NVIDIA GPU, or its driver is too old"},
};

static const char *const folders_searched = "searched|/usr/lib/llvm-*/lib|\nsearched|/usr/lib64/llvm*/lib*|\nsearched|/usr/lib/llvm/*/lib*|\n"
                                            "searched|/usr/local/llvm*/lib|\nsearched|/usr/local/lib|\nsearched|/opt/*/lib|\n"
                                            "searched|the loader's folders|LD_LIBRARY_PATH, run paths, the system's";
static const char *const other_settings = "setting|REX_CUBIN|not set\nsetting|REX_CUBIN_PATH|not set\nsetting|REX_LOG|warn (default)\n"
                                          "setting|REX_WAIT|spin (the environment)\nsetting|REX_ADOPT|off (default)\n"
                                          "setting|REX_UNFINISHED|error (default)\nsetting|REX_TRACE|off (default)\n"
                                          "setting|REX_CHECK|on (default)\nsetting|REX_CACHE|on (default)";

/* The driver by its other name, which programs are linked with; the development package has it. */
static void *open_link(void)
{
    static const char both[] = "libcuda.so.1", development[sizeof both] = "libcuda.so";
    char path[PATH_MAX + 32];
    size_t size;
    snprintf(path, sizeof path, "%s/link", root);
    unsigned char *bytes = read_bytes(FAKE("cuda/libcuda.so.1"), &size);
    for (size_t i = 0; i + sizeof both <= size; i++)
        if (memcmp(bytes + i, both, sizeof both) == 0)
            memcpy(bytes + i, development, sizeof both);
    write_bytes(path, bytes, size);
    free(bytes);
    void *link = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    CHECK(link != NULL && dlopen("libcuda.so", RTLD_LAZY | RTLD_NOLOAD) == link && dlclose(link) == 0);
    return link;
}

TEST_FOR_EACH(info, told, all)
{
    static struct rows rows;
    static char said[65536];
    char path[PATH_MAX], own[PATH_MAX], cuda[PATH_MAX], driver[PATH_MAX], plugin[PATH_MAX] = "in libomptarget itself";
    make_folder(root);
    make_machine(NVRM);
    rex_nogpu_root = root;
    setenv("REX_WAIT", "spin", 1);
    use_gpu_of(told->folder, told->sm);
    setenv("FAKE_CUDA_VERSION", told->driver_version, 1);
    use_release(told->release);
    fake_path(told->release, path);
    snprintf(cuda, sizeof cuda, FAKE("%s/libcuda.so.1"), told->folder);
    CHECK(realpath("/proc/self/exe", own) != NULL && realpath(cuda, driver) != NULL);
    if (strcmp(told->plugin, "all") != 0)
        snprintf(plugin, sizeof plugin, FAKE("%d/libomptarget.rtl.x86_64.so"), told->release);
    CHECK_EQUAL(rex_configure(REX_OPTION_LAUNCH_BY, told->launch_by), 0);
    void *link = open_link();
    CHECK_EQUAL(rex_info(0, add_own_row, &rows), 0);
    snprintf(said, sizeof said,
             "\nlibrex|version|%s\nlibrex|file|%s\nlibrex|compiler|" COMPILER "\nlibrex|architecture|" PROCESSOR
             "\nlibomptarget|path|%s\nlibomptarget|release|%d\nlibomptarget|chosen by|REX_OMPTARGET"
             "\nlibomptarget|told by|it exports %s, and nothing later that librex knows\nplugin|%s|%s\n%s"
             "\ndriver|kernel module|NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025\ndriver|file|%s\ndriver|%s%s%s"
             "\nlaunch|by|%s\nsetting|REX_OMPTARGET|%s (the program)\n%s\nsetting|REX_LAUNCH_BY|%s (the program)"
             "\nsetting|REX_COPY_THREADS|auto (default)\nsetting|REX_REQUIRE_GPU|off (default)",
             rex_version(), own, path, told->release, told->marker, told->plugin, plugin, folders_searched, driver, told->driver,
             told->trouble != NULL ? "\ndriver|trouble|" : "", told->trouble != NULL ? told->trouble : "", told->launch, path, other_settings,
             told->launch_by);
    if (strcmp(rows.text, said) != 0)
        fprintf(stderr, "%s\n\nand not\n%s\n", rows.text, said);
    CHECK(strcmp(rows.text, said) == 0);
    CHECK_EQUAL(dlclose(link), 0);
    CHECK(dlopen("libcuda.so", RTLD_LAZY | RTLD_NOLOAD) != link); /* and is not left open */
    remove_folder(root);
}

static const struct kernel_module {
    const char *file, *said; /* NULL: nothing */
} kernel_modules[] = {
    {NVRM_OPEN "GCC version: 12\n", "NVIDIA UNIX Open Kernel Module for x86_64  570.86.10  Release Build"},
    {"one: two: three", "two: three"},
    {"one:two\n", "one:two"},
    {"\n", ""},
    {"", NULL},
};

/* What stands behind the first colon of the first line, or all of it. */
TEST_FOR_EACH(kernel_module, given, kernel_modules)
{
    static struct rows rows;
    char line[256];
    make_folder(root);
    rex_nogpu_root = root;
    make_file("/proc/driver/nvidia/version", given->file, 0644);
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_info(0, add_own_row, &rows), 0);
    snprintf(line, sizeof line, "\ndriver|kernel module|%s\n", given->said != NULL ? given->said : "");
    CHECK_EQUAL(occurrences(rows.text, line), given->said != NULL);
    CHECK_EQUAL(occurrences(rows.text, "kernel module|"), given->said != NULL);
    remove_folder(root);
}

TEST_IN_CHILD(info_without_runtime)
{
    static struct rows rows;
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, "/nowhere"), 0);
    CHECK_EQUAL(rex_info(0, add_own_row, &rows), 0);
    CHECK_MENTIONS(rows.text, "\nlibrex|architecture|" PROCESSOR "\nlibomptarget|error|libomptarget /nowhere (REX_OMPTARGET) cannot be used: open: "
                              "No such file or directory\nsearched|/usr/lib/llvm-*/lib|\n");
    CHECK_MENTIONS(rows.text, "\ndriver|CUDA version|13.0\nsetting|REX_OMPTARGET|/nowhere (the program)\n");
}

/* Every plugin that lies beside libomptarget. */
TEST_IN_CHILD(plugins)
{
    char folder[PATH_MAX];
    static struct rows rows;
    static const char *const plugins[] = {"amdgpu", "cuda", "x86_64"};
    char path[PATH_MAX + 64], line[PATH_MAX + 64];
    make_folder(folder);
    use_gpu(90);
    CHECK(dlopen(FAKE("17/libomp.so.5"), RTLD_NOW | RTLD_GLOBAL) != NULL);
    for (size_t i = 0; i < COUNT(plugins); i++) {
        snprintf(path, sizeof path, "%s/libomptarget.rtl.%s.so", folder, plugins[i]);
        write_bytes(path, "", 0);
    }
    snprintf(path, sizeof path, "%s/libomptarget.so.17", folder);
    copy_file(FAKE("17/libomptarget.so.17"), path);
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, path), 0);
    CHECK_EQUAL(rex_info(0, add_row, &rows), 0);
    for (size_t i = 0; i < COUNT(plugins); i++) {
        snprintf(line, sizeof line, "\nplugin|%s|%s/libomptarget.rtl.%s.so\n", plugins[i], folder, plugins[i]);
        CHECK_MENTIONS(rows.text, line);
    }
    CHECK_EQUAL(occurrences(rows.text, "\nplugin|"), COUNT(plugins));
    remove_folder(folder);
}
