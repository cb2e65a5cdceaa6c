/*
 * info.c - reports what librex would do on this machine, fact by fact. Also describes a release of
 * LLVM: librex's adaptations to the release, their reasons, and the programs that the release runs.
 *
 * Implements rex_info() and rex_runtime_tell() of rex/inspect.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/settings.h"
#include "cuda/driver.h"
#include "omp/backend.h"
#include "omp/device.h"
#include "omp/runtime.h"
#include "omp/search.h"
#include "rex/device.h"
#include "rex/inspect.h"

struct to {
    rex_info_row *row;
    void *context;
};

static void say_fact(const struct to *to, const char *group, const char *name, const char *value)
{
    to->row(group, name, value, to->context);
}

static __attribute__((format(printf, 4, 5))) void
tell_fact(const struct to *to, const char *group, const char *name, const char *format, ...)
{
    char text[REX_SETTING_MAX + 32];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    say_fact(to, group, name, text);
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

static void say_library(const struct to *to)
{
    Dl_info here;
    char path[PATH_MAX] = "";
    say_fact(to, "librex", "version", rex_version());
    if (dladdr((void *)(uintptr_t)rex_info, &here) != 0 && realpath(here.dli_fname, path) == NULL)
        snprintf(path, sizeof path, "%s", here.dli_fname);
    say_fact(to, "librex", "file", path);
    say_fact(to, "librex", "compiler", COMPILER);
    say_fact(to, "librex", "architecture", ARCHITECTURE);
}

static void say_settings(const struct to *to)
{
    char text[REX_SETTING_MAX];
    for (int i = 0; i < REX_SETTINGS; i++) {
        enum rex_option option = (enum rex_option)i;
        const char *name = rex_settings[option].variable,
                   *otherwise = rex_settings[option].otherwise;
        if (rex_setting_text(option, text))
            tell_fact(to, "setting", name, "%s (the %s)", text,
                      rex_setting_by_program(option) ? "program" : "environment");
        else if (*otherwise != '\0')
            tell_fact(to, "setting", name, "%s (default)", otherwise);
        else
            say_fact(to, "setting", name, "not set");
    }
}

/* ---- the release and its programs ------------------------------------------------------------ */

int rex_runtime_tell(const char *path)
{
    const struct rex_release *release;
    char why[256];
    if (path == NULL)
        return rex_fail(REX_EINVAL, "rex_runtime_tell: the path is NULL");
    if (!rex_search_trusts(path, REX_NAMED, why, sizeof why) ||
        rex_search_tell(path, &release, why, sizeof why) != 0)
        return rex_fail(REX_ENORUNTIME, "%s: %s", path, why);
    return release->number;
}

/* ---- adaptations ----------------------------------------------------------------------------- */

static void say_packets(const struct to *to, const char *name, const struct rex_packet_rule *rule)
{
    if (rule->refused)
        say_fact(to, "adapted", name,
                 "launched on a GPU only by the CUDA driver: libomptarget passes every kernel an "
                 "extra parameter, which plain kernels do not have");
    else
        tell_fact(
            to, "adapted", name, "packets of version %u%s; a GPU's grid has %d dimension%s%s",
            (unsigned)rule->version,
            rule->leading_row
                ? "; librex adds the row of the first parameter, which libomptarget does not add"
                : "",
            rule->dimensions, rule->dimensions == 1 ? "" : "s",
            rule->dynamic_memory ? "" : ", no dynamic shared memory");
}

struct adaptation {
    bool holds;
    const char *name, *text;
};

static void say_facts_that_hold(const struct to *to, const struct adaptation *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].holds)
            say_fact(to, "adapted", all[i].name, all[i].text);
}

static void say_adaptations_of_calls(const struct to *to, const struct rex_release *release)
{
    const struct adaptation all[] = {
        {release->no_packet, "launches",
         "made by __tgt_target_teams_mapper: libomptarget has no __tgt_target_kernel"},
        {release->entries_by_position, "host entries",
         "put in the image's order: the host device matches entries by position"},
        {release->parents_rounded, "rows with members",
         "looked up from their begin, rounded down to a multiple of 8 bytes: libomptarget maps the "
         "rows from that address"},
        {release->one_end_a_call, "ends of mappings",
         "if rows share a mapping, librex makes a separate call for each of these rows, and "
         "refuses a launch that would need several calls: libomptarget aborts if one call ends a "
         "mapping twice"},
        {release->one_delete_a_call, "ends of mappings",
         "if rows share a mapping and one of these rows deletes the mapping, librex makes a "
         "separate call for each row: libomptarget crashes if it deletes a mapping that has ended"},
        {release->excess_copied, "implicit rows",
         "a copied row with REX_MAP_IMPLICIT is refused if another row maps only a part of the "
         "same memory: libomptarget copies past the end of that part"},
        {release->presence_at_entry, "presence",
         "checked before the call: libomptarget aborts if a row marked present is not mapped, "
         "even if an earlier row of the call would map the memory"},
    };
    say_facts_that_hold(to, all, sizeof all / sizeof *all);
}

static void say_adaptations_of_images(const struct to *to, const struct rex_release *release)
{
    const struct adaptation all[] = {
        {release->exec_mode_obeyed, "exec modes",
         "symbols KERNEL_exec_mode are renamed in a copy of the CUBIN: libomptarget obeys them, "
         "and would launch the kernel in another mode, or refuse it"},
        {release->shared_memory_fixed, "shared memory",
         "more than 48 KiB for a block is an error, unless the CUDA driver launches: libomptarget "
         "does not raise the kernel's limit"},
        {release->static_memory_uncounted, "shared memory",
         "if static and dynamic memory together exceed 48 KiB, librex asks for at least 48 KiB of "
         "dynamic memory: libomptarget does not raise the kernel's limit if a launch asks for "
         "less"},
        {release->late_image_ignored, "late images",
         "refused: libomptarget never loads an image registered after a device's first use; known "
         "modules are registered together, and a registration stays when its module ends"},
        {!release->entries_copied, "copies of entries",
         "kept after a registration has ended, so that no later table gets the same address: "
         "libomptarget remembers addresses of tables, and would find no entries in the later "
         "table"},
        {release->image_read_later, "images",
         "kept after a registration has ended: libomptarget reads them later"},
        {true, "files of host images",
         release->obeys_tmpdir
             ? "librex first tests that such a file can be written in TMPDIR, because libomptarget "
               "aborts if not; librex also removes the files that libomptarget leaves"
             : "librex first tests that such a file can be written in /tmp, because libomptarget "
               "aborts if not; librex also removes the files that libomptarget leaves"},
        {release->empty_is_null, "rows of no elements",
         "passed as NULL if they are not mapped, also if the driver launches: libomptarget passes "
         "NULL"},
        {release->names_in_tor_crash, "kernel names",
         "refused if they end in \"tor\", unless the CUDA driver launches: libomptarget passes "
         "such a kernel no arguments"},
    };
    say_facts_that_hold(to, all, sizeof all / sizeof *all);
}

static void say_adaptations_of_start(const struct to *to, const struct rex_release *release)
{
    const struct adaptation all[] = {
        {release->devices_at_first_use, "contexts",
         "activated at the first use of each GPU: libomptarget starts a GPU then"},
        {release->plugins_apart, "plugins",
         "looked for beside libomptarget: they are files of their own, with unversioned names"},
        {release->openmp_first, "libomp",
         "opened before libomptarget, which calls libomp without a check that libomp is loaded"},
        {release->runtime_object, "calls",
         "librex's functions and wrappers call libomptarget only while a module is registered, "
         "because libomptarget crashes otherwise; librex does not check this for other __tgt_* "
         "calls"},
        {true, "registrations",
         "wait, like ends of modules, until no other thread is inside a launch or data call: "
         "libomptarget crashes if a registration overlaps such a call"},
        {!release->late_image_ignored, "late registrations",
         "load their image at once if a device is already in use"},
        {release->any_call_loads, "loading of images",
         "tested before the first call with a device: libomptarget loads images in any call with a "
         "device, and ends the process if a load fails"},
    };
    say_facts_that_hold(to, all, sizeof all / sizeof *all);
}

static void say_adaptations_of_programs(const struct to *to, const struct rex_release *release)
{
    const struct adaptation all[] = {
        {!release->no_packet && !release->no_flags, "programs of clang 15",
         "refused by rex-run: their packets end before Flags, which libomptarget reads"},
        {release->host_argument_array, "programs of clang 22 and earlier",
         "refused by rex-run if their images are for the CPU: libomptarget passes one array of "
         "arguments"},
        {!release->attach_rows, "programs of clang 22 and later",
         "refused by rex-run: libomptarget would map their rows that attach pointers"},
        {release->packed_slots, "parameters",
         "refused if they are not 8 bytes wide, unless the CUDA driver launches: libomptarget "
         "packs arguments in 8-byte slots"},
        {release->host_argument_array, "host kernels without rex/kernel.h",
         "refused: libomptarget would pass them one array of arguments"},
        {release->old_entries_only, "adopted entries",
         "rewritten if they are in clang 20's form: libomptarget misreads them"},
        {release->newest_container == 0, "adopted OffloadBinaries",
         "opened by librex: libomptarget does not open them at registration"},
        {release->strict_flags != 0, "grid",
         "marked as strict: otherwise libomptarget may change the grid"},
    };
    say_facts_that_hold(to, all, sizeof all / sizeof *all);
}

static void say_adaptations(const struct to *to, const struct rex_release *release)
{
    say_packets(to, "plain kernels", &release->plain);
    say_packets(to, "env kernels", &release->env);
    const struct rex_packet_rule *rule = &release->host;
    if (rule->version != 0)
        tell_fact(
            to, "adapted", "host kernels",
            "called on the CPU through functions that rex/kernel.h makes, by packets of version "
            "%u%s",
            (unsigned)rule->version,
            rule->trailing_row ? " with an extra last row, which libomptarget overwrites" : "");
    say_adaptations_of_calls(to, release);
    say_adaptations_of_images(to, release);
    say_adaptations_of_start(to, release);
    say_adaptations_of_programs(to, release);
    tell_fact(
        to, "adapted", "flags of a packet",
        "bits outside 0x%llx are an error: libomptarget does not know these bits, or would misread "
        "the rows",
        (unsigned long long)release->packet_flags);
    if (release->newest_old_header > 0)
        tell_fact(to, "adapted", "CUBINs",
                  "the older header is written into copies of CUDA 13's CUBINs up to sm_%d%s",
                  release->newest_old_header,
                  release->new_header_refused
                      ? "; CUBINs of later SMs are refused"
                      : "; LLVM 21.1.0 and 21.1.1 refuse CUBINs of later SMs");
    if (release->environment_size > 0)
        tell_fact(to, "adapted", "kernels of clang",
                  "symbols KERNEL_kernel_environment of other than %u bytes are an error: "
                  "libomptarget would abort",
                  (unsigned)release->environment_size);
    if (release->most_teams > 0)
        tell_fact(
            to, "adapted", "teams",
            "more than %u are an error, unless the CUDA driver launches: libomptarget would launch "
            "fewer",
            (unsigned)release->most_teams);
    if (release->most_dynamic_memory > 0)
        tell_fact(
            to, "adapted", "dynamic shared memory",
            "more than %u bytes are an error, unless the CUDA driver launches: libomptarget would "
            "not run the kernel",
            (unsigned)release->most_dynamic_memory);
    if (release->driver_function != NULL)
        tell_fact(to, "adapted", "CUDA driver", "must be of CUDA %s or later: the plugin calls %s",
                  release->driver_since, release->driver_function);
}

/* ---- libomptarget ---------------------------------------------------------------------------- */

/*
 * Binds libomptarget and returns true. If libomptarget cannot be bound, reports the reason and
 * returns false. rex_info() succeeds even in this case, so the function restores the last error.
 */
static __attribute__((noinline)) bool bind_or_say_why(const struct to *to)
{
    struct rex_kept_error last;
    rex_error_keep(&last);
    if (rex_runtime_bind() == REX_OK)
        return true;
    say_fact(to, "libomptarget", "error", rex_last_error());
    rex_error_restore(&last);
    return false;
}

static void say_bound(const struct to *to)
{
    const struct rex_release *release = rex_runtime();
    char pattern[PATH_MAX + 32];
    glob_t found;
    say_fact(to, "libomptarget", "path", rex_runtime_path());
    tell_fact(to, "libomptarget", "release", "%d", release->number);
    say_fact(to, "libomptarget", "chosen by", rex_runtime_chosen());
    tell_fact(to, "libomptarget", "recognized by",
              "it exports %s, and no symbol of a later release that librex knows", release->marker);
    if (*rex_runtime_doubt() != '\0')
        say_fact(to, "libomptarget", "trouble", rex_runtime_doubt());
    say_adaptations(to, release);
    if (!release->plugins_apart) {
        say_fact(to, "plugin", "all", "in libomptarget itself");
        return;
    }
    rex_folder_of(rex_runtime_path(), pattern);
    strcat(pattern, "/libomptarget.rtl.*.so");
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1 + strlen("libomptarget.rtl.");
        char shortened[NAME_MAX + 1];
        snprintf(shortened, sizeof shortened, "%.*s", (int)(strlen(name) - strlen(".so")), name);
        say_fact(to, "plugin", shortened, found.gl_pathv[i]);
    }
    globfree(&found);
}

static void say_searched(const struct to *to)
{
    char *rest = NULL;
    struct rex_report report = {0};
    struct rex_candidate *all = NULL;
    for (const char *const *folders = rex_search_folders; *folders != NULL; folders++)
        say_fact(to, "searched", *folders, "");
    say_fact(to, "searched", "the loader's folders", "LD_LIBRARY_PATH, run paths, the system's");
    size_t count = rex_search(&all, &report);
    for (size_t i = 0; i < count; i++)
        tell_fact(to, "found", all[i].path, "LLVM %d%s%s", all[i].release->number,
                  *all[i].doubt != '\0' ? ": " : "", all[i].doubt);
    free(all);
    /* The report has a line for each rejected candidate: "\n  path: reason". */
    for (char *line = strtok_r(report.text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *reason = strstr(line, ": ");
        if (reason == NULL)
            continue;
        *reason = '\0';
        say_fact(to, "found", line + strspn(line, " "), reason + 2);
    }
}

/* ---- the driver ------------------------------------------------------------------------------ */

static void say_driver(const struct to *to)
{
    struct rex_gpu gpu;
    char text[REX_MESSAGE_MAX];
    _Static_assert(PATH_MAX <= sizeof text, "a path fits, too");
    rex_cuda_retry();
    if (rex_kernel_module(text, sizeof text))
        say_fact(to, "driver", "kernel module", text);
    if (rex_cuda_library(text) != NULL)
        say_fact(to, "driver", "file", text);
    if (rex_cuda_devices() == 0) {
        say_fact(to, "driver", "error", rex_cuda_why());
        return;
    }
    if (rex_gpu_get(&gpu, sizeof gpu, 0) == REX_OK)
        tell_fact(to, "driver", "CUDA version", "%d.%d", gpu.driver / 1000, gpu.driver % 1000 / 10);
    if (rex_runtime() != NULL && rex_device_trouble(rex_runtime(), text, sizeof text))
        say_fact(to, "driver", "trouble", text);
}

int rex_info(int release, rex_info_row *row, void *context)
{
    const struct to to = {row, context};
    if (row == NULL)
        return rex_fail(REX_EINVAL, "rex_info: the function that gets the facts is NULL");
    if (release != 0) {
        const struct rex_release *known = rex_release_row(release), *built;
        char message[64];
        snprintf(message, sizeof message, "rex_info: librex does not know LLVM %d", release);
        if (known == NULL)
            return rex_fail_again(REX_EINVAL, message);
        say_adaptations(&to, known);
        /*
         * These facts decide which LLVM releases can run the programs of a release of clang:
         * - clang up to 17: kernels have no parameter for the runtime.
         * - clang 18: kernels have this parameter. LLVM 18 passes the parameter to every kernel; no
         *   other LLVM release does.
         * - clang 19 to 22: kernels get the parameter if the packet's version is 3. LLVM 14 and 15
         *   ignore the version.
         * - clang from 23: the parameter is the last.
         * - clang 15: packets have no Flags. LLVM 16 and later would read random flags.
         * - clang from 22: a separate row attaches each pointer. LLVM releases before 22 map this
         *   row, so the kernels use the wrong memory.
         */
        for (built = rex_release_after(0); built != NULL;
             built = rex_release_after(built->number)) {
            bool are_taken = !known->plain.refused && !built->plain.refused &&
                             built->newest_packet <= known->newest_packet &&
                             (known->no_packet || !built->no_flags) &&
                             (known->attach_rows || !built->attach_rows);
            const char *how = are_taken ? "yes" : "no";
            if (are_taken && known->host_argument_array && !built->host_argument_array)
                how = "on GPUs alone";
            if (known == built)
                how = "yes";
            snprintf(message, sizeof message, "clang %d", built->number);
            say_fact(&to, "programs", message, how);
        }
        return REX_OK;
    }
    say_library(&to);
    if (bind_or_say_why(&to))
        say_bound(&to);
    say_searched(&to);
    say_driver(&to);
    /* Report the backend of launches, and the fallback reasons of the process if it has any. */
    unsigned reasons = rex_process_reasons();
    if (rex_runtime() != NULL && reasons == 0)
        say_fact(&to, "launch", "by", "the CUDA driver");
    if (rex_runtime() != NULL && reasons != 0) {
        char why[REX_REASON_MAX];
        bool is_refused = rex_driver_is_demanded() && (reasons & REX_REASON_NO_GPU) == 0;
        rex_reason_text((struct rex_reason){reasons, NULL}, why);
        tell_fact(&to, "launch", "by", "%s: %s",
                  is_refused
                      ? "nothing, because REX_LAUNCH_BY=driver, and only libomptarget can launch"
                      : "libomptarget",
                  why);
    }
    say_settings(&to);
    return REX_OK;
}
