/*
 * info.c - rex_info() of rex/inspect.h: what librex would do on this machine, fact by fact.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/settings.h"
#include "cuda/driver.h"
#include "cuda/gpu.h"
#include "omp/device.h"
#include "omp/runtime.h"
#include "omp/search.h"
#include "omp/sender.h"
#include "rex/device.h"
#include "rex/inspect.h"
#include "top/adaptations.h"

struct to {
    rex_info_row *row;
    void *context;
};

static void say(const struct to *to, const char *group, const char *name, const char *value)
{
    to->row(group, name, value, to->context);
}

/* ---- librex, and the settings ---------------------------------------------------------------- */

#if defined __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#if defined __x86_64__
#define ARCHITECTURE "x86-64"
#elif defined __aarch64__
#define ARCHITECTURE "aarch64"
#else
#define ARCHITECTURE "ppc64le"
#endif

static void library(const struct to *to)
{
    Dl_info here;
    char path[PATH_MAX] = "";
    say(to, "librex", "version", rex_version());
    if (dladdr((void *)(uintptr_t)rex_info, &here) != 0 && realpath(here.dli_fname, path) == NULL)
        snprintf(path, sizeof path, "%s", here.dli_fname);
    say(to, "librex", "file", path);
    say(to, "librex", "compiler", COMPILER);
    say(to, "librex", "architecture", ARCHITECTURE);
}

static void settings(const struct to *to)
{
    char text[REX_SETTING_MAX + 32];
    for (int i = 0; i < rex_setting_count(); i++) {
        enum rex_option option = (enum rex_option)i;
        const char *otherwise = rex_setting_default(option);
        if (rex_setting_text(option, text))
            strcat(text, rex_setting_by_program(option) ? " (the program)" : " (the environment)");
        else
            snprintf(text, sizeof text, "%s%s", *otherwise != '\0' ? otherwise : "not set",
                     *otherwise != '\0' ? " (default)" : "");
        say(to, "setting", rex_setting_variable(option), text);
    }
}

/* ---- libomptarget ---------------------------------------------------------------------------- */

static void plugins(const struct to *to)
{
    char pattern[PATH_MAX + 32];
    glob_t found;
    rex_folder_of(rex_runtime_path(), pattern);
    strcat(pattern, "/libomptarget.rtl.*.so");
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1 + strlen("libomptarget.rtl.");
        char shortened[NAME_MAX + 1];
        snprintf(shortened, sizeof shortened, "%.*s", (int)(strlen(name) - strlen(".so")), name);
        say(to, "plugin", shortened, found.gl_pathv[i]);
    }
    globfree(&found);
}

static void bound(const struct to *to)
{
    const struct rex_release *release = rex_runtime();
    char text[256];
    say(to, "libomptarget", "path", rex_runtime_path());
    snprintf(text, sizeof text, "%d", release->number);
    say(to, "libomptarget", "release", text);
    say(to, "libomptarget", "chosen by", rex_runtime_chosen());
    snprintf(text, sizeof text, "it exports %s, and nothing later that librex knows",
             release->marker);
    say(to, "libomptarget", "told by", text);
    if (*rex_runtime_doubt() != '\0')
        say(to, "libomptarget", "trouble", rex_runtime_doubt());
    rex_adaptations(release, to->row, to->context);
    if (release->plugins_apart)
        plugins(to);
    else
        say(to, "plugin", "all", "in libomptarget itself");
}

/* A line of TEXT for each rejected candidate: "\n path: reason". */
static void rejected(const struct to *to, char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *reason = strstr(line, ": ");
        if (reason == NULL)
            continue;
        *reason = '\0';
        say(to, "found", line + strspn(line, " "), reason + 2);
    }
}

static void searched(const struct to *to)
{
    char folder[PATH_MAX], text[320];
    struct rex_report report = {0};
    struct rex_candidate *all = NULL;
    for (const char *const *folders = rex_search_folders; *folders != NULL; folders++)
        say(to, "searched", *folders, "");
    say(to, "searched", "the loader's folders", "LD_LIBRARY_PATH, run paths, the system's");
    size_t count = rex_search(rex_openmp_folder(folder) ? folder : NULL, &all, &report);
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "LLVM %d%s%s", all[i].release->number,
                 *all[i].doubt != '\0' ? ": " : "", all[i].doubt);
        say(to, "found", all[i].path, text);
    }
    free(all);
    rejected(to, report.text);
}

/* ---- the driver ------------------------------------------------------------------------------ */

static __attribute__((noinline)) void driver_file(const struct to *to)
{
    char path[PATH_MAX];
    if (rex_cuda_library(path) != NULL)
        say(to, "driver", "file", path);
}

static void driver(const struct to *to)
{
    struct rex_gpu gpu;
    char text[REX_MESSAGE_MAX];
    rex_cuda_retry();
    if (rex_kernel_module(text, sizeof text))
        say(to, "driver", "kernel module", text);
    driver_file(to);
    if (rex_cuda_devices() == 0) {
        say(to, "driver", "error", rex_cuda_why());
        return;
    }
    if (rex_gpu_get(&gpu, sizeof gpu, 0) == REX_OK) {
        snprintf(text, sizeof text, "%d.%d", gpu.driver / 1000, gpu.driver % 1000 / 10);
        say(to, "driver", "CUDA version", text);
    }
    if (rex_runtime() != NULL && rex_device_trouble(rex_runtime(), text, sizeof text))
        say(to, "driver", "trouble", text);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* The sender of launches, as far as the fallback reasons of the process decide it. */
static void launches(const struct to *to)
{
    char why[REX_REASON_MAX], text[REX_REASON_MAX + 64];
    unsigned against = rex_against_all();
    bool refused = rex_driver_is_demanded() && (against & REX_AGAINST_NO_GPU) == 0;
    if (rex_sender_for(against) == REX_SENDER_DRIVER) {
        say(to, "launch", "by", "the CUDA driver");
        return;
    }
    rex_reason_text((struct rex_reason){against, NULL}, why);
    snprintf(text, sizeof text, "%s: %s",
             refused ? "nobody (REX_LAUNCH_BY=driver)" : "libomptarget", why);
    say(to, "launch", "by", text);
}

int rex_info(int release, rex_info_row *row, void *context)
{
    const struct to to = {row, context};
    if (row == NULL)
        return rex_fail(REX_EINVAL, "rex_info: the function that is to be called is NULL");
    if (release != 0)
        return rex_info_of_release(release, row, context);
    library(&to);
    if (rex_runtime_bind() == REX_OK)
        bound(&to);
    else
        say(&to, "libomptarget", "error", rex_last_error());
    searched(&to);
    driver(&to);
    if (rex_runtime() != NULL)
        launches(&to);
    settings(&to);
    return REX_OK;
}
