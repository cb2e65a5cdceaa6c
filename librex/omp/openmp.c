/*
 * openmp.c - makes sure of one libomp in the process.
 *
 * libomptarget 14 to 18 refer to `__kmpc_*` weakly and call NULL if libomp is absent; 19 and later
 * need libomp.so.5. A second OpenMP runtime in a process aborts it ("OMP: Error #15"), so none is
 * opened by path while another is loaded.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/openmp.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/process.h"

#define OPENMP_SONAME "libomp.so.5"

static const char *const openmp_names[] = {"libomp.so", "libomp-", "libomp5.so", "libiomp5.so",
                                           NULL};

/* omp_get_default_device() of the libomp that is in the process when libomptarget is bound. */
static int (*default_device)(void);

struct wanted {
    const char *const *prefixes;
    char *path;
};

static int match(struct dl_phdr_info *object, size_t size, void *context)
{
    const struct wanted *wanted = context;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : object->dlpi_name;
    (void)size;
    for (const char *const *prefix = wanted->prefixes; *prefix != NULL; prefix++)
        if (strncmp(name, *prefix, strlen(*prefix)) == 0) {
            snprintf(wanted->path, PATH_MAX, "%s", object->dlpi_name);
            return 1; /* stop here */
        }
    return 0;
}

bool rex_loaded(const char *const *prefixes, char path[PATH_MAX])
{
    struct wanted wanted = {prefixes, path};
    return dl_iterate_phdr(match, &wanted) != 0;
}

bool rex_openmp_folder(char folder[PATH_MAX])
{
    char path[PATH_MAX];
    if (!rex_loaded(openmp_names, path))
        return false;
    rex_folder_of(path, folder);
    return true;
}

/* Opens a library that was loaded RTLD_LOCAL once more, which makes it visible. */
static void make_visible(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
}

static int loaded_suits(const char *loaded, const struct rex_candidate *candidate, char *why,
                        size_t why_size)
{
    void *handle = dlopen(OPENMP_SONAME, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
    else if (!candidate->release->openmp_first) {
        snprintf(why, why_size,
                 "it needs " OPENMP_SONAME
                 ", and this process already runs %s: two OpenMP runtimes abort",
                 loaded);
        return -1;
    }
    make_visible(loaded);
    return 0;
}

static __attribute__((noinline)) bool open_beside(const char *path)
{
    static const char *const names[] = {OPENMP_SONAME, "libomp.so"};
    char file[PATH_MAX + 16];
    rex_folder_of(path, file);
    size_t length = strlen(file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(file + length, sizeof file - length, "/%s", names[i]);
        if (dlopen(file, RTLD_NOW | RTLD_GLOBAL) != NULL) {
            rex_log(REX_LOG_DEBUG, "opened %s", file);
            return true;
        }
    }
    return false;
}

/* Whether a libomp is in the process; *RESULT says whether it suits CANDIDATE. */
static __attribute__((noinline)) bool is_there(const struct rex_candidate *candidate, char *why,
                                               size_t why_size, int *result)
{
    char loaded[PATH_MAX];
    if (!rex_loaded(openmp_names, loaded))
        return false;
    *result = loaded_suits(loaded, candidate, why, why_size);
    return true;
}

int rex_openmp_ready(const struct rex_candidate *candidate, const struct rex_candidate *others,
                     size_t count, char *why, size_t why_size)
{
    int result;
    if (is_there(candidate, why, why_size, &result))
        return result;
    if (open_beside(candidate->path) || dlopen(OPENMP_SONAME, RTLD_NOW | RTLD_GLOBAL) != NULL)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (open_beside(others[i].path))
            return 0;
    snprintf(why, why_size, "there is no " OPENMP_SONAME " beside it or on the loader's path");
    return -1;
}

void rex_openmp_bind(void)
{
    void *address = dlsym(RTLD_DEFAULT, "omp_get_default_device");
    memcpy(&default_device, &address, sizeof address);
}

int rex_openmp_default_device(void)
{
    static bool has_answered;
    if (default_device == NULL)
        return 0;
    /* Relaxed: a thread that misses it takes shelter once more. */
    if (__atomic_load_n(&has_answered, __ATOMIC_RELAXED))
        return default_device();
    rex_shelter_begin(); /* the first call may start libomp, which holds a lock */
    int number = default_device();
    rex_shelter_end();
    /* Relaxed: as above. */
    __atomic_store_n(&has_answered, true, __ATOMIC_RELAXED);
    return number;
}
