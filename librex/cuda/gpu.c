/*
 * gpu.c - describes the NVIDIA GPUs, or explains why there is no GPU.
 *
 * Implements rex_gpu_count() and rex_gpu_get() of rex/device.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cuda/context.h"
#include "rex/device.h"

/* Values of CUdevice_attribute in cuda.h. */
#define NONE 0
#define MOST_THREADS_PER_BLOCK 1
#define PCI_BUS 33
#define PCI_SLOT 34
#define MOST_THREADS_PER_MULTIPROCESSOR 39
#define PCI_DOMAIN 50
#define MOST_SHARED_MEMORY 97 /* CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
/* Values of CUdevice_P2PAttribute in cuda.h. */
#define PEER_ACCESS 2
#define PEER_ATOMICS 3

/* ---- facts that a driver may lack ------------------------------------------------------------ */

/*
 * Returns the free memory of GPU NUMBER. Returns 0 if the GPU's context is not active, because
 * asking the driver would activate the context.
 */
static uint64_t free_memory_of(int number)
{
    void *context;
    size_t left = 0, all = 0;
    if (rex_driver.cuMemGetInfo == NULL || rex_context_is_active(number, NULL) <= 0 ||
        rex_context_retain(number, &context) != 0)
        return 0;
    int entered = rex_context_enter(context);
    if (entered < 0 || rex_driver.cuMemGetInfo(&left, &all) != 0)
        left = 0;
    rex_context_leave(entered);
    rex_context_drop(number);
    return left;
}

static void describe_place(struct rex_gpu *gpu, int number)
{
    int domain, bus, slot, node;
    char path[PATH_MAX];
    gpu->numa_node = -1;
    if (rex_cuda_attribute(number, PCI_DOMAIN, &domain) != 0 ||
        rex_cuda_attribute(number, PCI_BUS, &bus) != 0 ||
        rex_cuda_attribute(number, PCI_SLOT, &slot) != 0)
        return;
    snprintf(gpu->pci, sizeof gpu->pci, "%04x:%02x:%02x.0", (unsigned)domain & 0xfffffff,
             (unsigned)bus & 0xff, (unsigned)slot & 0x1f);
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/numa_node", rex_nogpu_root, gpu->pci);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fscanf(file, "%d", &node) == 1 && node >= 0)
        gpu->numa_node = node;
    fclose(file);
}

/* ---- the public functions -------------------------------------------------------------------- */

int rex_gpu_count(void)
{
    rex_cuda_retry();
    return rex_cuda_devices();
}

int rex_gpu_get(struct rex_gpu *gpu, size_t size, int number)
{
    struct rex_gpu made = {.driver = 0};
    unsigned char uuid[16];
    int device, shared;
    size_t memory;
    const struct {
        int attribute;
        int32_t *value;
    } asked[] = {
        {REX_CUDA_CAPABILITY_MAJOR, &made.capability_major},
        {REX_CUDA_CAPABILITY_MINOR, &made.capability_minor},
        {REX_CUDA_MULTIPROCESSORS, &made.multiprocessors},
        {MOST_THREADS_PER_BLOCK, &made.threads_per_block},
        {MOST_SHARED_MEMORY, &shared},
    };
    if (gpu == NULL)
        return rex_fail_null("rex_gpu_get", "pointer to the GPU");
    if (size == 0 || size > sizeof made)
        return rex_fail(
            REX_EINVAL,
            "rex_gpu_get: the size is %zu bytes, but struct rex_gpu of this librex has %zu: pass "
            "sizeof(struct rex_gpu), and build with this librex's header or an older one",
            size, sizeof made);
    rex_cuda_retry();
    if (rex_cuda_devices() == 0) /* the program only asked, so nothing is logged */
        return rex_fail_quietly(rex_cuda_forked() ? REX_EFORK : REX_EDEVICE,
                                "no NVIDIA GPU can be used: %s", rex_cuda_why());
    if (number < 0 || number >= rex_cuda_devices())
        return rex_fail(REX_EDEVICE, "GPU %d does not exist: valid numbers are 0 to %d", number,
                        rex_cuda_devices() - 1);
    if (rex_cuda_handle(number, &device) != 0 ||
        REX_CUDA(cuDeviceGetName, made.name, (int)sizeof made.name - 1, device) != 0 ||
        REX_CUDA(cuDeviceTotalMem, &memory, device) != 0 ||
        REX_CUDA(cuDriverGetVersion, &made.driver) != 0)
        goto failed;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (rex_cuda_attribute(number, asked[i].attribute, asked[i].value) != 0)
            goto failed;
    made.memory = memory;
    made.free_memory = free_memory_of(number);
    made.shared_memory = (uint64_t)shared;
    describe_place(&made, number);
    if (rex_driver.cuDeviceGetUuid != NULL && rex_driver.cuDeviceGetUuid(uuid, device) == 0) {
        /* A MIG instance, a part of a divided GPU, has a UUID of its own. */
        size_t length = (size_t)snprintf(made.uuid, sizeof made.uuid, "%s",
                                         strstr(made.name, " MIG ") != NULL ? "MIG" : "GPU");
        for (size_t i = 0; i < sizeof uuid; i++) {
            bool is_dashed = i == 0 || (i >= 4 && i <= 10 && i % 2 == 0);
            length += (size_t)snprintf(made.uuid + length, sizeof made.uuid - length, "%s%02x",
                                       is_dashed ? "-" : "", uuid[i]);
        }
    }
    int count = rex_driver.cuDeviceGetP2PAttribute != NULL ? rex_cuda_devices() : 0;
    for (int i = 0, peer; i < count; i++) {
        int access = 0, atomics = 0;
        if (i == number || rex_cuda_handle(i, &peer) != 0)
            continue;
        if (rex_driver.cuDeviceGetP2PAttribute(&access, PEER_ACCESS, device, peer) == 0)
            made.peers |= (uint64_t)(access != 0) << i;
        if (rex_driver.cuDeviceGetP2PAttribute(&atomics, PEER_ATOMICS, device, peer) == 0)
            made.atomic_peers |= (uint64_t)(atomics != 0) << i;
    }
    memcpy(gpu, &made, size);
    return REX_OK;
failed:
    return rex_fail(REX_ECUDA, "GPU %d: %s", number, rex_cuda_why());
}

/*
 * Returns the maximum of LIMIT over all GPUs. The limit of one GPU is the product of two
 * attributes. Once a call has found the maximum, later calls do not ask the driver.
 */
uint64_t rex_gpu_most(enum rex_gpu_limit limit)
{
    static const int factors[][2] = {
        [REX_GPU_SHARED_MEMORY] = {MOST_SHARED_MEMORY, NONE},
        [REX_GPU_RESIDENT_THREADS] = {REX_CUDA_MULTIPROCESSORS, MOST_THREADS_PER_MULTIPROCESSOR}};
    static uint64_t known[2];
    /* Relaxed: no other data depend on the number. A thread that reads 0 asks the driver again. */
    uint64_t most = __atomic_load_n(&known[limit], __ATOMIC_RELAXED);
    if (most > 0)
        return most;
    for (int i = 0; i < rex_cuda_devices(); i++) {
        int first = 0, second = 1;
        if (rex_cuda_attribute(i, factors[limit][0], &first) != 0 ||
            (factors[limit][1] != NONE && rex_cuda_attribute(i, factors[limit][1], &second) != 0))
            return 0;
        uint64_t product = (uint64_t)first * (uint64_t)second;
        most = product > most ? product : most;
    }
    /* Relaxed: all threads compute and store an equal number. */
    __atomic_store_n(&known[limit], most, __ATOMIC_RELAXED);
    return most;
}

/* ---- why there is no GPU --------------------------------------------------------------------- */

/*
 * The driver's error is vague. CUDA_ERROR_NO_DEVICE may mean a machine without a GPU, a value of
 * CUDA_VISIBLE_DEVICES that hides all GPUs, or device files that cannot be opened. So librex adds
 * facts about the machine, and rex-info adds the cure if it knows one.
 */

const char *rex_nogpu_root = "";

/* Values of CUresult in cuda.h. */
#define INVALID_DEVICE 101
#define SYSTEM_DRIVER_MISMATCH 803

static const struct {
    int result;
    const char *cause;
} causes[] = {
    {3, "; " REX_NOGPU_FORKED}, /* CUDA_ERROR_NOT_INITIALIZED */
    {34, "; the libcuda.so.1 that was found is the toolkit's stub"},
    {802, "; a service of the machine is not running, for example nvidia-fabricmanager, which "
          "NVSwitches need"},
    {804, "; the libcuda.so.1 that was found is of a CUDA compatibility package, which does not "
          "support this GPU"},
    {805, "; the MPS daemon does not answer"},
};

int rex_nogpu_open_error(void)
{
    int file = open("/", O_RDONLY | O_CLOEXEC), error = errno;
    if (file >= 0)
        close(file);
    return file < 0 && (error == EMFILE || error == ENFILE) ? error : 0;
}

/* ---- facts about the machine ----------------------------------------------------------------- */

/* The file begins with "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...". */
bool rex_kernel_module(char *text, size_t size)
{
    char path[PATH_MAX], line[256] = "";
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/version", rex_nogpu_root);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool found = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (!found)
        return false;
    const char *after = strstr(line, ": ");
    line[strcspn(line, "\n")] = '\0';
    snprintf(text, size, "%s", after != NULL ? after + 2 : line);
    return true;
}

/*
 * Returns the number of files under rex_nogpu_root that match PATTERN. If KEPT is not NULL, writes
 * their names to KEPT; the caller frees the names with globfree().
 */
static size_t find_files(const char *pattern, int flags, glob_t *kept)
{
    char path[PATH_MAX];
    glob_t found = {.gl_pathc = 0};
    snprintf(path, sizeof path, "%s%s", rex_nogpu_root, pattern);
    glob(path, flags, NULL, &found);
    size_t count = found.gl_pathc;
    if (kept != NULL)
        *kept = found;
    else
        globfree(&found);
    return count;
}

/*
 * Returns true if this process cannot open a device file, and describes the first such file in
 * TEXT. If no file matches a pattern, the pattern counts as a missing file. If the kernel module is
 * not loaded and there is no device file at all, returns false.
 */
static bool find_closed_file(bool has_module, char *text, size_t size)
{
    static const char *const patterns[] = {"/dev/nvidiactl", "/dev/nvidia-uvm",
                                           "/dev/nvidia[0-9]*"};
    bool closed = false;
    if (!has_module && find_files("/dev/nvidia*", 0, NULL) == 0)
        return false;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !closed; i++) {
        glob_t found;
        find_files(patterns[i], GLOB_NOCHECK, &found);
        for (size_t j = 0; j < found.gl_pathc && !closed; j++) {
            const char *path = found.gl_pathv[j];
            struct stat status;
            char mode[64] = "";
            /* The driver opens device files with these flags. */
            int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK), error = errno;
            closed = file < 0;
            if (file >= 0)
                close(file);
            else if (error == EACCES && stat(path, &status) == 0) {
                int length = snprintf(mode, sizeof mode, " (mode %04o", status.st_mode & 07777u);
                if ((status.st_mode & 060) == 060)
                    length += snprintf(mode + length, sizeof mode - (size_t)length,
                                       ", for group %u", (unsigned)status.st_gid);
                strcpy(mode + length, ")");
            }
            if (closed)
                snprintf(text, size, "; %s cannot be opened: %s%s", path, strerror(error), mode);
        }
        globfree(&found);
    }
    return closed;
}

void rex_nogpu_explain(int result, char *text, size_t size)
{
    char module[256] = "unknown";
    const char *cause = NULL, *visible = getenv("CUDA_VISIBLE_DEVICES");
    bool has_module = rex_kernel_module(module, sizeof module);
    int error = rex_nogpu_open_error();
    for (size_t i = 0; i < sizeof causes / sizeof *causes && cause == NULL; i++)
        cause = causes[i].result == result ? causes[i].cause : NULL;
    text[0] = '\0';
    if (error != 0)
        snprintf(text, size, "; no file can be opened: %s", strerror(error));
    else if (cause != NULL)
        snprintf(text, size, "%s", cause);
    else if (result == SYSTEM_DRIVER_MISMATCH)
        snprintf(text, size, "; libcuda.so.1 is of another version than the kernel module: %s",
                 module);
    else if (result == REX_NOGPU_LIBRARY && has_module)
        snprintf(text, size, "; its kernel module is loaded: %s", module);
    else if (!find_closed_file(has_module, text, size) && visible != NULL &&
             (result == REX_NOGPU_DEVICE || result == INVALID_DEVICE))
        snprintf(
            text, size,
            "; CUDA_VISIBLE_DEVICES is \"%s\", and the number of GPUs in /proc/driver/nvidia is "
            "%zu",
            visible, find_files("/proc/driver/nvidia/gpus/*", 0, NULL));
}
