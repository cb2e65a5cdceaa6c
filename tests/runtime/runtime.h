/*
 * runtime.h - what the runtime programs share: cmocka, one process for each test, rows of a launch.
 *
 * A program defines REX_CUBIN_NAME and the like before including this. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_RUNTIME_H
#define REX_TESTS_RUNTIME_H

#include <dlfcn.h>
#include <limits.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rex.h>
#include <rex_kmp.h>

#include "inqueue.h"
#include "support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define UNUSED __attribute__((unused))

extern char **environ;

/* *WRAPPER: the function rex___tgt_NAME that librex exports. This binary has a function of the same name. */
static inline void find_wrapper(const char *name, void *wrapper)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "rex___tgt_%s", name);
    void *address = dlsym(RTLD_DEFAULT, symbol);
    memcpy(wrapper, &address, sizeof address);
}

enum {
    TO = 0x1,
    FROM = 0x2,
    TOFROM = 0x3,
    PARAMETER = 0x20,
    LITERAL = 0x100,
    MOST_ROWS = 257
};

/* ---- rows of a launch ------------------------------------------------------------------------------------------------------- */

/* The columns of a launch: base and begin are the same here. */
struct rows {
    int count;
    void *value[MOST_ROWS];
    int64_t size[MOST_ROWS];
    int64_t type[MOST_ROWS];
};

UNUSED static void add_row(struct rows *rows, void *value, size_t size, int64_t type)
{
    assert_true(rows->count < MOST_ROWS);
    rows->value[rows->count] = value;
    rows->size[rows->count] = (int64_t)size;
    rows->type[rows->count++] = type;
}

UNUSED static void add_literal(struct rows *rows, const void *value, size_t size)
{
    add_row(rows, rex_pack_literal_arg_bytes(value, size), size, PARAMETER | LITERAL);
}

/* Those of a kernel that makes a result of a value. */
UNUSED static struct rows rows_of(const int64_t *value, int64_t *result)
{
    struct rows rows = {0};
    add_literal(&rows, value, sizeof *value);
    add_row(&rows, result, sizeof *result, PARAMETER | FROM);
    return rows;
}

UNUSED static struct __tgt_kernel_arguments packet_of(struct rows *rows, int32_t teams, int32_t threads)
{
    return (struct __tgt_kernel_arguments){3,          rows->count, rows->value,     rows->value, rows->size,
                                           rows->type, NULL,        NULL,            0,           0,
                                           {teams, 1, 1},           {threads, 1, 1}, 0};
}

/* ---- how much to do --------------------------------------------------------------------------------------------------------- */

/* ROUNDS, or REX_TEST_ROUNDS where that is less; a twentieth with a sanitizer. */
UNUSED static int rounds_of(int rounds)
{
    const char *limit = getenv("REX_TEST_ROUNDS");
    if (SANITIZED)
        rounds = rounds / 20 > 0 ? rounds / 20 : 1;
    return limit != NULL && atoi(limit) > 0 && atoi(limit) < rounds ? atoi(limit) : rounds;
}

static int gpu_present(void);

/* ROUNDS of registering; on a GPU a fortieth, because 19 and later make and destroy the context each time, which takes 0.2 s. */
UNUSED static int registrations_of(int rounds)
{
    return rounds_of(gpu_present() && rounds >= 40 ? rounds / 40 : rounds);
}

/*
 * LLVM 16 and later copy each image to /tmp/tmpfile_*, or tmpfile-*, and leave it there. What this process has opened needs no name any more; files
 * of other processes are not touched.
 */
UNUSED static void remove_temporary_images(void)
{
    char line[PATH_MAX + 128];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *path = strstr(line, "/tmp/tmpfile");
        if (path != NULL && strstr(path, " (deleted)") == NULL) {
            path[strcspn(path, "\n")] = '\0';
            unlink(path);
        }
    }
    if (maps != NULL)
        fclose(maps);
}

__attribute__((__constructor__)) static void remove_them_at_exit(void)
{
    atexit(remove_temporary_images);
}

/* ---- the release ------------------------------------------------------------------------------------------------------------ */

/* Which one tests/llvm has put into the environment; 0: none. */
UNUSED static int release_of_test(void)
{
    const char *release = getenv("REX_TEST_RELEASE");
    return release != NULL ? atoi(release) : 0;
}

/* LLVM 18 loads no image that is registered after the first use of a device, and so librex cannot end a registration there. */
UNUSED static bool loads_late(void)
{
    return release_of_test() != 18;
}

/* Whether kernels of the host device are called by other functions, with a row more: rex/kernel.h. */
UNUSED static bool calls_with_array(void)
{
    return release_of_test() >= 23 && !gpu_present();
}

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

UNUSED static const char *own_path(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

/* The folder of this program, where its images lie. */
UNUSED static const char *own_folder(void)
{
    static char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", own_path());
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    return folder;
}

/* Whether the CUDA driver has a device: then images are CUBINs, else host shared objects. */
UNUSED static int gpu_present(void)
{
    int (*init)(unsigned flags), (*count)(int *devices), devices = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *init_address = driver != NULL ? dlsym(driver, "cuInit") : NULL;
    void *count_address = driver != NULL ? dlsym(driver, "cuDeviceGetCount") : NULL;
    if (init_address == NULL || count_address == NULL)
        return 0;
    memcpy(&init, &init_address, sizeof init);
    memcpy(&count, &count_address, sizeof count);
    return init(0) == 0 && count(&devices) == 0 && devices > 0;
}

/* Whether that is NVIDIA's, and no fake. */
UNUSED static bool gpu_is_real(void)
{
    return gpu_present() && getenv("FAKE_CUDA_MEMORY") == NULL;
}

__attribute__((__weak__)) const char *why_not_here(const struct test *test)
{
    const char *release = getenv("REX_TEST_RELEASE");
    if (test->on != NULL && release != NULL && strstr(test->on, release) == NULL)
        return "not on this release";
    switch (test->gpu) {
    case ON_GPU: return gpu_present() ? NULL : "it needs a GPU";
    case ON_REAL_GPU: return gpu_is_real() ? NULL : "it needs a real GPU";
    case ON_HOST_DEVICE: return gpu_present() ? "for the host device alone" : NULL;
    default: return NULL;
    }
}

/* Stores the address of NAME of LIBRARY in SLOT, a pointer of any type. */
UNUSED static void find(void *library, const char *name, void *slot)
{
    void *address = library != NULL ? dlsym(library, name) : NULL;
    assert_non_null(address);
    memcpy(slot, &address, sizeof address);
}

/* How often the fake driver's function was called; NULL: all of them. */
UNUSED static int fake_calls(const char *name)
{
    int (*count)(const char *);
    find(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "fake_cuda_calls", &count);
    return count(name);
}

struct path {
    char text[PATH_MAX + 64];
};

/* The file in this program's folder that is for the device here: CUBIN or HOST. */
UNUSED static struct path image_file(const char *cubin, const char *host)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s/%s", own_folder(), gpu_present() ? cubin : host);
    return path;
}

UNUSED static struct path default_image(void)
{
    return image_file("rex_lib_nvidia.cubin", "rex_lib_host.so");
}

/* NAME in the folder for temporary files, which is this run's own. */
UNUSED static struct path temporary_file(const char *name)
{
    struct path path;
    const char *folder = getenv("TMPDIR");
    snprintf(path.text, sizeof path.text, "%s/%ld-%s", folder != NULL ? folder : "/tmp", (long)getpid(), name);
    return path;
}

struct bytes {
    unsigned char *bytes;
    size_t size;
};

/* A whole file; the caller frees the bytes. */
UNUSED static struct bytes read_bytes(const char *path)
{
    FILE *file = fopen(path, "rbe");
    struct bytes bytes = {NULL, 0};
    if (file == NULL)
        fail_msg("%s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    bytes.size = (size_t)ftell(file);
    rewind(file);
    bytes.bytes = malloc(bytes.size);
    assert_non_null(bytes.bytes);
    assert_int_equal(fread(bytes.bytes, 1, bytes.size, file), bytes.size);
    fclose(file);
    return bytes;
}

UNUSED static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wbe");
    if (file == NULL)
        fail_msg("%s cannot be written", path);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

UNUSED static void copy_file(const char *from, const char *to)
{
    struct bytes bytes = read_bytes(from);
    write_bytes(to, bytes.bytes, bytes.size);
    free(bytes.bytes);
}

/* Ends a test whose rest cannot be done here, and says why; tests/run counts these. */
#define leave_out(...)                    \
    do {                                  \
        printf("left out: " __VA_ARGS__); \
        puts("");                         \
        skip();                           \
    } while (0)

/* ---- one process for each test ---------------------------------------------------------------------------------------------- */

/* Runs this program again with ARGUMENT; its wait status. */
UNUSED static int run_self(const char *argument)
{
    char *arguments[] = {(char *)(uintptr_t)own_path(), (char *)(uintptr_t)argument, NULL};
    pid_t child;
    int status = -1;
    fflush(NULL);
    if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) != 0 || waitpid(child, &status, 0) != child)
        return -1;
    return status;
}

/* libomptarget keeps much for the life of a process (the offload policy, images, tables), so each test runs in one of its own. */
__attribute__((__weak__)) int run_test_apart(const char *name)
{
    return run_self(name);
}

#endif
