/*
 * nogpu.c - why there is no GPU.
 *
 * The driver tells little: CUDA_ERROR_NO_DEVICE stands for an empty machine, for
 * CUDA_VISIBLE_DEVICES and for device files that cannot be opened. So what else the machine shows
 * is put beside it. rex-info adds what helps.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/nogpu.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *rex_nogpu_root = "";

/* CUresult of cuda.h. */
#define INVALID_DEVICE 101
#define SYSTEM_DRIVER_MISMATCH 803

static const struct {
    int result;
    const char *cause;
} causes[] = {
    {3, "; " REX_NOGPU_FORKED}, /* CUDA_ERROR_NOT_INITIALIZED */
    {34, "; the libcuda.so.1 that was found is the toolkit's stub"},
    {802, "; a service of the machine is not running, as nvidia-fabricmanager where there are "
          "NVSwitches"},
    {804, "; the libcuda.so.1 that was found is a compatibility package's, which this GPU does not "
          "take"},
    {805, "; the MPS daemon does not answer"},
};

int rex_nogpu_open_error(void)
{
    int file = open("/", O_RDONLY | O_CLOEXEC), error = errno;
    if (file >= 0)
        close(file);
    return file < 0 && (error == EMFILE || error == ENFILE) ? error : 0;
}

/* ---- what the machine shows ------------------------------------------------------------------ */

/* The file begins with "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...". */
bool rex_kernel_module(char *text, size_t size)
{
    char path[PATH_MAX], line[256] = "";
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/version", rex_nogpu_root);
    FILE *file = fopen(path, "re");
    bool found = file != NULL && fgets(line, sizeof line, file) != NULL;
    if (file != NULL)
        fclose(file);
    const char *after = strstr(line, ": ");
    line[strcspn(line, "\n")] = '\0';
    if (found)
        snprintf(text, size, "%s", after != NULL ? after + 2 : line);
    return found;
}

static void find_files(const char *pattern, int flags, glob_t *found)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", rex_nogpu_root, pattern);
    *found = (glob_t){.gl_pathc = 0};
    glob(path, flags, NULL, found);
}

static size_t count_files(const char *pattern)
{
    glob_t found;
    find_files(pattern, 0, &found);
    size_t count = found.gl_pathc;
    globfree(&found);
    return count;
}

/* Whether PATH cannot be opened as the driver opens it: then TEXT says why. */
static bool is_closed(const char *path, char *text, size_t size)
{
    struct stat status;
    char group[32] = "";
    int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK), error = errno;
    if (file >= 0) {
        close(file);
        return false;
    }
    if (error != EACCES || stat(path, &status) != 0) {
        snprintf(text, size, "; %s cannot be opened: %s", path, strerror(error));
        return true;
    }
    if ((status.st_mode & 060) == 060)
        snprintf(group, sizeof group, ", for group %u", (unsigned)status.st_gid);
    snprintf(text, size, "; %s cannot be opened: %s (mode %04o%s)", path, strerror(error),
             (unsigned)status.st_mode & 07777, group);
    return true;
}

/*
 * Whether a device file is missing or closed to us: TEXT is of the first. Without the kernel module
 * there need not be any. A pattern that no file has stands for a file that is missing.
 */
static bool find_closed_file(bool has_module, char *text, size_t size)
{
    static const char *const patterns[] = {"/dev/nvidiactl", "/dev/nvidia-uvm",
                                           "/dev/nvidia[0-9]*"};
    bool closed = false;
    if (!has_module && count_files("/dev/nvidia*") == 0)
        return false;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !closed; i++) {
        glob_t found;
        find_files(patterns[i], GLOB_NOCHECK, &found);
        for (size_t j = 0; j < found.gl_pathc && !closed; j++)
            closed = is_closed(found.gl_pathv[j], text, size);
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
        snprintf(text, size,
                 "; CUDA_VISIBLE_DEVICES=\"%s\" may hide GPUs: /proc/driver/nvidia has %zu",
                 visible, count_files("/proc/driver/nvidia/gpus/*"));
}
