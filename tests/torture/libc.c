/*
 * libc.c - the C library's functions as librex calls them here: each counts, fails where the plan says so, and keeps books of what librex
 * holds. rules.mk has librex's objects call torture_NAME for NAME.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "torture.h"

/* Places in torture_calls, in which these come first. */
enum {
#define INDEX(name, ...) CALL_##name,
    TORTURE_LIBC(INDEX)
#undef INDEX
};

#define SITE __builtin_return_address(0)
#define NEXT(name) torture_next(CALL_##name, SITE)

/* With errno, where it is one. */
static int failing(int code)
{
    if (code > 0)
        errno = code;
    return code;
}

#define FUNCTION(type, name, ...)     \
    type torture_##name(__VA_ARGS__); \
    type torture_##name(__VA_ARGS__)
/* A function that returns BAD where it fails. */
#define PLAIN(type, name, bad, parameters, arguments)             \
    type torture_##name parameters;                               \
    type torture_##name parameters                                \
    {                                                             \
        return failing(NEXT(name)) != 0 ? (bad) : name arguments; \
    }
/* One that returns what it fails with, and leaves errno alone. */
#define DIRECT(name, parameters, arguments)         \
    int torture_##name parameters;                  \
    int torture_##name parameters                   \
    {                                               \
        int code_ = NEXT(name);                     \
        return code_ != 0 ? code_ : name arguments; \
    }

/* ---- memory ------------------------------------------------------------------------------------------------------------------------- */

static size_t lacked[64]; /* bytes */
static size_t lacks_count;

/* Whether an allocation of SIZE bytes fails with CODE. */
static bool lacks(int code, size_t size)
{
    size_t place = code != 0 ? __atomic_fetch_add(&lacks_count, 1, __ATOMIC_RELAXED) : 0;
    if (code != 0 && place < sizeof lacked / sizeof *lacked)
        lacked[place] = size;
    return failing(code) != 0;
}

bool torture_lacked(size_t told, bool roughly)
{
    for (size_t i = 0; i < sizeof lacked / sizeof *lacked && i < lacks_count; i++)
        if (roughly ? lacked[i] <= 2 * told && told <= 16 * lacked[i] + 65536 : lacked[i] == told)
            return true;
    return lacks_count > sizeof lacked / sizeof *lacked;
}

#define ALLOCATING(name, wanted, parameters, arguments)                                            \
    void *torture_##name parameters;                                                               \
    void *torture_##name parameters                                                                \
    {                                                                                              \
        return torture_hold(lacks(NEXT(name), wanted) ? NULL : name arguments, CALL_##name, SITE); \
    }
ALLOCATING(malloc, size, (size_t size), (size))
ALLOCATING(calloc, count *size, (size_t count, size_t size), (count, size))
ALLOCATING(aligned_alloc, size, (size_t alignment, size_t size), (alignment, size))
ALLOCATING(strdup, strlen(text) + 1, (const char *text), (text))

/* A real failure would leave the old block unbooked, and be reported when that is freed. */
FUNCTION(void *, realloc, void *memory, size_t size)
{
    if (lacks(NEXT(realloc), size))
        return NULL;
    torture_let_go(memory);
    return torture_hold(realloc(memory, size), CALL_realloc, SITE);
}

FUNCTION(void *, reallocarray, void *memory, size_t count, size_t size)
{
    if (lacks(NEXT(reallocarray), count * size))
        return NULL;
    torture_let_go(memory);
    return torture_hold(reallocarray(memory, count, size), CALL_reallocarray, SITE);
}

FUNCTION(void, free, void *memory)
{
    torture_let_go(memory);
    free(memory);
}

/* ---- files -------------------------------------------------------------------------------------------------------------------------- */

PLAIN(int, open, -1, (const char *path, int flags, mode_t mode), (path, flags, mode))
PLAIN(int, mkostemp, -1, (char *path, int flags), (path, flags))
PLAIN(void *, mmap, MAP_FAILED, (void *at, size_t size, int allowed, int flags, int fd, off_t offset), (at, size, allowed, flags, fd, offset))
PLAIN(int, fstat, -1, (int fd, struct stat *status), (fd, status))
PLAIN(int, stat, -1, (const char *path, struct stat *status), (path, status))
PLAIN(int, fcntl, -1, (int fd, int command, long argument), (fd, command, argument))
PLAIN(int, ftruncate, -1, (int fd, off_t size), (fd, size))
PLAIN(int, flock, -1, (int fd, int how), (fd, how))
PLAIN(ssize_t, readlink, -1, (const char *path, char *target, size_t size), (path, target, size))
PLAIN(char *, realpath, NULL, (const char *path, char *result), (path, result))
PLAIN(char *, getcwd, NULL, (char *path, size_t size), (path, size))
PLAIN(FILE *, fopen, NULL, (const char *path, const char *mode), (path, mode))
PLAIN(char *, fgets, NULL, (char *line, int size, FILE *file), (line, size, file))

/* The descriptor is gone all the same. */
FUNCTION(int, close, int fd)
{
    int code = NEXT(close), result = close(fd);
    return failing(code) != 0 ? -1 : result;
}

/* How many of SIZE bytes are read or written, or -1 where none are. */
static ssize_t allowed(int code, size_t size)
{
    if (failing(code) > 0)
        return -1;
    return code == CODE_END ? 0 : code == CODE_SHORT ? (ssize_t)(size + 1) / 2 : (ssize_t)size;
}

#define MOVING(name, bytes_type)                                             \
    ssize_t torture_##name(int fd, bytes_type bytes, size_t size);           \
    ssize_t torture_##name(int fd, bytes_type bytes, size_t size)            \
    {                                                                        \
        ssize_t most = allowed(NEXT(name), size);                            \
        return most <= 0 && size > 0 ? most : name(fd, bytes, (size_t)most); \
    }
MOVING(read, void *)
MOVING(write, const void *)

FUNCTION(int, glob, const char *pattern, int flags, int (*error)(const char *, int), glob_t *found)
{
    if (NEXT(glob) != 0) {
        memset(found, 0, sizeof *found);
        return GLOB_NOSPACE;
    }
    return glob(pattern, flags, error, found);
}

/* ---- the loader --------------------------------------------------------------------------------------------------------------------- */

static __thread char loader_error[256];

static const char *base_of(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path != NULL ? path : "the program";
}

static struct {
    void *handle;
    const char *name;
} handles[256];

/* The books of handles: a library may be opened any number of times. */
static void *opened(void *handle, const char *path)
{
    if (handle == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i].handle == handle || handles[i].handle == NULL) {
            if (handles[i].handle == NULL)
                handles[i].name = strdup(base_of(path));
            handles[i].handle = handle;
            torture_balance(handles[i].name, 1);
            break;
        }
    return handle;
}

FUNCTION(void *, dlopen, const char *path, int flags)
{
    static char missing[PATH_MAX]; /* a library that is not there will not be there the next time either */
    int code = path != NULL ? NEXT(dlopen) : 0; /* the program itself is open */
    if (code == ENOENT)
        snprintf(missing, sizeof missing, "%s", path);
    else if (code == 0 && path != NULL && strcmp(path, missing) == 0)
        code = ENOENT;
    if (code == 0) {
        loader_error[0] = '\0';
        torture_inside++;
        void *handle = dlopen(path, flags);
        torture_inside--;
        return opened(handle, path);
    }
    snprintf(loader_error, sizeof loader_error, "%s: cannot open shared object file: %s", path, strerror(code));
    return NULL;
}

FUNCTION(int, dlclose, void *handle)
{
    int code = NEXT(dlclose);
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i].handle == handle)
            torture_balance(handles[i].name, -1);
    int result = dlclose(handle);
    return code != 0 ? -1 : result;
}

FUNCTION(char *, dlerror, void)
{
    static __thread char given[sizeof loader_error];
    if (loader_error[0] == '\0')
        return dlerror();
    memcpy(given, loader_error, sizeof given);
    loader_error[0] = '\0';
    return given;
}

/* The name as it stands among those that were found, or room for it. */
static char *found_name(const char *name)
{
    static char names[256][48];
    size_t i = 0;
    while (i < 255 && names[i][0] != '\0' && strcmp(names[i], name) != 0)
        i++;
    return names[i];
}

/* What a library lacks it lacks whenever it is asked, and what it has it has. */
FUNCTION(void *, dlsym, void *handle, const char *name)
{
    static char lacking[64];
    char *found = found_name(name);
    if (strcmp(found, name) != 0 && NEXT(dlsym) != 0)
        snprintf(lacking, sizeof lacking, "%s", name);
    if (strcmp(lacking, name) == 0)
        return NULL;
    void *address = dlsym(handle, name);
    if (address != NULL)
        snprintf(found, 48, "%s", name);
    return handle == RTLD_DEFAULT ? address : torture_before(name, address);
}

PLAIN(int, dlinfo, -1, (void *handle, int request, void *answer), (handle, request, answer))
PLAIN(int, dladdr, 0, (const void *address, Dl_info *info), (torture_behind(address), info))
PLAIN(int, dladdr1, 0, (const void *address, Dl_info *info, void **extra, int flags), (torture_behind(address), info, extra, flags))

/* ---- threads, and the rest ---------------------------------------------------------------------------------------------------------- */

DIRECT(pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes), (mutex, attributes))
DIRECT(pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end))
DIRECT(pthread_setspecific, (pthread_key_t key, const void *value), (key, value))
DIRECT(pthread_atfork, (void (*before)(void), void (*after)(void), void (*in_child)(void)), (before, after, in_child))
DIRECT(pthread_getname_np, (pthread_t thread, char *name, size_t size), (thread, name, size))
DIRECT(pthread_create, (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
       (thread, attributes, run, argument))
DIRECT(atexit, (void (*function)(void)), (function))
PLAIN(long, sysconf, -1, (int name), (name))
PLAIN(int, sched_getaffinity, -1, (pid_t thread, size_t size, cpu_set_t *set), (thread, size, set))
PLAIN(int, sched_setaffinity, -1, (pid_t thread, size_t size, const cpu_set_t *set), (thread, size, set))
PLAIN(int, getrlimit, -1, (int what, struct rlimit *limit), ((__rlimit_resource_t)what, limit))
