/*
 * nogpu.c - why there is no GPU, and what helps.
 *
 * The driver tells little: CUDA_ERROR_NO_DEVICE stands for an empty machine, for
 * CUDA_VISIBLE_DEVICES and for device files that cannot be opened. What else the machine shows is
 * put beside it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/nogpu.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *rex_nogpu_root = "";

/* CUresult of cuda.h. */
enum {
    NOT_INITIALIZED = 3,
    STUB_LIBRARY = 34,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    OPERATING_SYSTEM = 304,
    SYSTEM_NOT_READY = 802,
    SYSTEM_DRIVER_MISMATCH = 803,
    COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    MPS_CONNECTION_FAILED = 805,
    UNKNOWN = 999
};

struct text {
    char *begin;
    size_t size;
};

static __attribute__((format(printf, 2, 3))) void add(const struct text *text, const char *format,
                                                      ...)
{
    size_t at = strlen(text->begin);
    va_list arguments;
    va_start(arguments, format);
    if (at < text->size)
        vsnprintf(text->begin + at, text->size - at, format, arguments);
    va_end(arguments);
}

/* ---- what the machine shows ------------------------------------------------------------------ */

static void in_root(const char *path, char full[PATH_MAX])
{
    snprintf(full, PATH_MAX, "%s%s", rex_nogpu_root, path);
}

/* The file begins with "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  ...". */
bool rex_kernel_module(char *text, size_t size)
{
    char path[PATH_MAX], line[256];
    in_root("/proc/driver/nvidia/version", path);
    FILE *file = fopen(path, "re");
    bool found = file != NULL && fgets(line, sizeof line, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (!found)
        return false;
    const char *after = strstr(line, ": ");
    line[strcspn(line, "\n")] = '\0';
    snprintf(text, size, "%s", after != NULL ? after + 2 : line);
    return true;
}

/*
 * The version of the kernel module, "580.95.05", in TEXT: the first number with a point of what it
 * says, "" where there is none. Whether there is a kernel module.
 */
static __attribute__((noinline)) bool module_version(char *text, size_t size)
{
    char said[256], *rest = NULL;
    bool found = rex_kernel_module(said, sizeof said);
    text[0] = '\0';
    for (char *word = found ? strtok_r(said, " \t", &rest) : NULL; word != NULL;
         word = strtok_r(NULL, " \t", &rest))
        if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.') != NULL) {
            snprintf(text, size, "%s", word);
            break;
        }
    return found;
}

/* GPUs that the kernel module drives, whoever may use them. */
static __attribute__((noinline)) size_t gpus_in_machine(void)
{
    char pattern[PATH_MAX];
    glob_t found;
    in_root("/proc/driver/nvidia/gpus/*", pattern);
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    size_t count = found.gl_pathc;
    globfree(&found);
    return count;
}

/* ---- device files ---------------------------------------------------------------------------- */

static void explain_permission(const struct text *text, const char *path, int error)
{
    struct stat status;
    add(text, "; %s cannot be opened: %s", path, strerror(error));
    if (error == EPERM)
        add(text, ": the container or the job must be given the GPU");
    else if (stat(path, &status) == 0) {
        const struct group *group = getgrgid(status.st_gid);
        if ((status.st_mode & 060) == 060 && group != NULL && status.st_gid != 0)
            add(text, ": its mode is %04o; become a member of its group, %s",
                (unsigned)status.st_mode & 07777, group->gr_name);
        else
            add(text,
                ": its mode is %04o; its owner can change that (chmod 666, or NVreg_DeviceFileMode "
                "of the kernel module)",
                (unsigned)status.st_mode & 07777);
    }
}

/* Whether PATH can be opened as the driver does; else the reason is in TEXT. */
static bool check_file(const struct text *text, const char *path)
{
    int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0) {
        close(file);
        return true;
    }
    if (errno == EACCES || errno == EPERM)
        explain_permission(text, path, errno);
    else if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
        add(text,
            "; %s is missing: nvidia-modprobe -u -c 0, as root, makes it; a container must be "
            "given it",
            path);
    else
        add(text, "; %s cannot be opened: %s", path, strerror(errno));
    return false;
}

/*
 * The first device file that is missing or closed to us. Without the kernel module there are none.
 * Returns whether there was one.
 */
static bool explain_files(const struct text *text)
{
    static const char *const always[] = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
    char path[PATH_MAX], version[64];
    glob_t found;
    in_root("/dev/nvidia[0-9]*", path);
    size_t count = glob(path, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    bool in_order = true;
    if (count > 0 || module_version(version, sizeof version))
        for (size_t i = 0; in_order && i < sizeof always / sizeof *always; i++) {
            in_root(always[i], path);
            in_order = check_file(text, path);
        }
    for (size_t i = 0; in_order && i < count; i++)
        in_order = check_file(text, found.gl_pathv[i]);
    if (in_order && count == 0 && gpus_in_machine() > 0) {
        in_root("/dev/nvidia0", path);
        in_order = check_file(text, path);
    }
    if (count > 0)
        globfree(&found);
    return !in_order;
}

/* ---- results --------------------------------------------------------------------------------- */

static void explain_none(const struct text *text)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    size_t count = gpus_in_machine();
    if (explain_files(text) || visible == NULL)
        return;
    if (count > 0)
        add(text, "; CUDA_VISIBLE_DEVICES=\"%s\" hides the %zu GPU%s of this machine", visible,
            count, count > 1 ? "s" : "");
    else
        add(text, "; CUDA_VISIBLE_DEVICES=\"%s\" is set, which may hide some", visible);
}

static void explain_mismatch(const struct text *text)
{
    char version[64];
    if (module_version(version, sizeof version) && *version != '\0')
        add(text,
            "; the kernel module is %s, and libcuda.so.1 of another version: load the module anew, "
            "or restart the machine (in a "
            "container: start it anew)",
            version);
    else
        add(text, "; the kernel module and libcuda.so.1 are of two versions: load the module anew, "
                  "or restart the machine");
}

static void explain_result(const struct text *text, int result)
{
    switch (result) {
    case NO_DEVICE:
    case INVALID_DEVICE: explain_none(text); break;
    case NOT_INITIALIZED: add(text, "; " REX_NOGPU_FORKED); break;
    case STUB_LIBRARY:
        add(text, "; the libcuda.so.1 that was found is the toolkit's stub: take its folder out of "
                  "LD_LIBRARY_PATH");
        break;
    case SYSTEM_NOT_READY:
        add(text, "; a service of the machine is not running, as nvidia-fabricmanager where there "
                  "are NVSwitches");
        break;
    case SYSTEM_DRIVER_MISMATCH: explain_mismatch(text); break;
    case COMPAT_NOT_SUPPORTED_ON_DEVICE:
        add(text, "; the libcuda.so.1 that was found is a compatibility package's, which this GPU "
                  "does not take: take it out of LD_LIBRARY_PATH");
        break;
    case MPS_CONNECTION_FAILED:
        add(text, "; the MPS daemon does not answer: start it, or unset CUDA_MPS_PIPE_DIRECTORY");
        break;
    default: explain_files(text);
    }
}

int rex_nogpu_open_error(void)
{
    int file = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = errno;
    if (file >= 0)
        close(file);
    return file < 0 && (error == EMFILE || error == ENFILE) ? error : 0;
}

void rex_nogpu_explain(enum rex_nogpu cause, int result, char *begin, size_t size)
{
    const struct text text = {begin, size};
    char version[64];
    int error = rex_nogpu_open_error();
    if (error != 0) {
        add(&text, "; no file can be opened: %s", strerror(error));
        return;
    }
    bool module = module_version(version, sizeof version);
    switch (cause) {
    case REX_NOGPU_LIBRARY:
        if (module)
            add(&text,
                "; its kernel module %s is loaded: install the library of that version, or let the "
                "container have it (--gpus all)",
                version);
        break;
    case REX_NOGPU_FUNCTION: break;
    case REX_NOGPU_RESULT: explain_result(&text, result); break;
    default: explain_none(&text);
    }
}
