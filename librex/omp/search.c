/*
 * search.c - the search for libomptarget: the candidates, their releases, and the libomp that each
 * needs.
 *
 * librex reads the dynamic symbols of a file to find the release, and only then opens the file by
 * dlopen(). A wrong libomptarget could not be closed again, because all releases are linked
 * NODELETE. LLVM 14 to 18 crash when they are opened without libomp.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/search.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "image/elf.h"
#include "omp/entrypoints.h"
#include "rex/error.h"

/* ---- trust in a file ------------------------------------------------------------------------- */

/*
 * Checks the library and its folder, and all folders above if the check is strict. A folder above
 * may be writable for every user if it is sticky. In a sticky folder, only root, the owner of the
 * folder and the owner of a file can replace the file.
 */
static __attribute__((noinline)) bool is_trusted_library(const char *path, enum rex_origin origin,
                                                         char *why, size_t why_size)
{
    struct stat status, system;
    char place[PATH_MAX];
    bool is_secure = getauxval(AT_SECURE) != 0, is_strict = origin == REX_GUESSED || is_secure;
    /*
     * In a user namespace the files of root may have another user ID. So use the owner of /usr as
     * root.
     */
    uid_t root = stat("/usr", &system) == 0 ? system.st_uid : 0;
    snprintf(place, sizeof place, "%s", path);
    for (int above = 0; above < 2 || is_strict; above++) {
        if (stat(place, &status) != 0)
            return true; /* rex_search_tell() reports a missing file */
        bool is_kept = above > 1 && (status.st_mode & S_ISVTX);
        if ((status.st_mode & S_IWOTH) && !is_kept) {
            snprintf(why, why_size, "not safe to load: every user may write %s (chmod o-w)", place);
            return false;
        }
        bool is_ours = status.st_uid == root || (status.st_uid == getuid() && !is_secure);
        if (is_strict && !is_ours) {
            snprintf(why, why_size, "not safe to load: %s belongs to another user (%u)", place,
                     (unsigned)status.st_uid);
            return false;
        }
        char *slash = strrchr(place, '/');
        if (strcmp(place, "/") == 0 || strcmp(place, ".") == 0)
            return true;
        if (slash == NULL)
            strcpy(place, ".");
        else
            slash[slash == place] = '\0';
    }
    return true;
}

bool rex_search_trusts(const char *path, enum rex_origin origin, char *why, size_t why_size)
{
    char file[PATH_MAX];
    return origin == REX_LOADED ||
           (is_trusted_library(path, origin, why, why_size) &&
            (realpath(path, file) == NULL || is_trusted_library(file, origin, why, why_size)));
}

/* ---- the release of a file ------------------------------------------------------------------- */

struct exported {
    const struct rex_elf *elf;
    Elf64_Shdr symbols;
};

/* Returns the name of symbol INDEX, or NULL if the symbol is not exported. */
static const char *export_name(const struct exported *table, size_t index)
{
    Elf64_Sym symbol;
    const char *name;
    if (!rex_elf_symbol(table->elf, &table->symbols, index, &symbol, &name) ||
        symbol.st_shndx == SHN_UNDEF)
        return NULL;
    return name;
}

static bool exports(const char *wanted, void *context)
{
    const struct exported *table = context;
    for (size_t i = 1; i < rex_elf_symbols(&table->symbols); i++) {
        const char *name = export_name(table, i);
        if (name != NULL && strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

/*
 * Returns the number of an LLVM release, from the name of the library or from the name of the
 * libLLVM that the library needs. Returns 0 if neither name has a number.
 */
static int named_release(const struct rex_elf *elf)
{
    static const char *const before_number[] = {"libomptarget.so.", "libLLVM.so.", "libLLVM-"};
    Elf64_Shdr dynamic, strings;
    Elf64_Dyn entry;
    int number = 0;
    if (!rex_elf_find_type(elf, SHT_DYNAMIC, &dynamic) ||
        !rex_elf_section(elf, dynamic.sh_link, &strings))
        return 0;
    for (size_t i = 0;
         number == 0 && rex_elf_row(elf, &dynamic, SHT_DYNAMIC, i, &entry, sizeof entry); i++) {
        if (entry.d_tag != DT_SONAME && entry.d_tag != DT_NEEDED)
            continue;
        const char *name = rex_elf_string(elf, &strings, entry.d_un.d_val), *found = NULL;
        for (size_t j = 0; name != NULL && found == NULL && j < 3; j++)
            if ((found = strstr(name, before_number[j])) != NULL)
                number = atoi(found + strlen(before_number[j]));
    }
    return number;
}

/*
 * Writes a reason to WHY if the file seems newer than all known releases: its name has a larger
 * number, or it exports an unknown function. Otherwise writes "" to WHY. TOLD is the nearest known
 * release.
 */
static void tell_newer(const struct exported *table, const struct rex_release *told, int named,
                       char *why, size_t why_size)
{
#define NAME(type, name, parameters, arguments, missing) "__tgt_" #name,
    static const char *const known[] = {REX_ENTRY_POINTS(NAME)};
#undef NAME
    const char *export = NULL;
    bool is_newest = named == 0 && rex_release_after(told->number) == NULL;
    for (size_t i = 1; is_newest && export == NULL && i < rex_elf_symbols(&table->symbols); i++) {
        const char *name = export_name(table, i);
        size_t row = 0;
        if (name == NULL || strncmp(name, "__tgt_", strlen("__tgt_")) != 0 ||
            strcmp(name, told->marker) == 0)
            continue;
        while (row < sizeof known / sizeof *known && strcmp(name, known[row]) != 0)
            row++;
        if (row == sizeof known / sizeof *known)
            export = name;
    }
    *why = '\0';
    if (named > 0 && rex_release_after(named - 1) == NULL)
        snprintf(why, why_size,
                 "the library is LLVM %d's, which this librex does not know: librex treats it as "
                 "LLVM %d's",
                 named, told->number);
    else if (export != NULL)
        snprintf(why, why_size,
                 "the library exports %.64s, which no LLVM known to this librex exports: librex "
                 "treats it as LLVM %d's",
                 export, told->number);
}

int rex_search_tell(const char *path, const struct rex_release **release, char *why,
                    size_t why_size)
{
    struct rex_bytes file;
    struct rex_elf elf;
    struct exported table = {.elf = &elf};
    const struct rex_release *told = NULL;
    int named = 0;
    if (rex_file_read(path, &file, why, why_size) != 0)
        return errno == ENOMEM ? REX_ENOMEM : REX_ENORUNTIME;
    if (rex_elf_open(&elf, file.bytes, file.size) != 0)
        snprintf(why, why_size, "%s", elf.why);
    else if (elf.header.e_machine != REX_HOST_MACHINE)
        snprintf(why, why_size, "it is for another processor");
    else if (!rex_elf_find_type(&elf, SHT_DYNSYM, &table.symbols))
        snprintf(why, why_size, "it exports nothing");
    else if (exports("rex_version", &table))
        snprintf(why, why_size, "it is librex, which forwards to a libomptarget");
    else if ((told = rex_release_tell(exports, &table, named = named_release(&elf))) == NULL)
        snprintf(why, why_size,
                 "it exports no __tgt_target_teams_mapper: not libomptarget of LLVM 14 or later");
    else if (!exports("__tgt_register_lib", &table) ||
             !exports("__tgt_target_data_begin", &table)) {
        snprintf(why, why_size, "it lacks the entry point %s",
                 exports("__tgt_register_lib", &table) ? "__tgt_target_data_begin"
                                                       : "__tgt_register_lib");
        told = NULL;
    } else
        tell_newer(&table, told, named, why, why_size);
    free(file.bytes);
    errno = 0;
    if (told == NULL)
        return REX_ENORUNTIME;
    *release = told;
    return 0;
}

/* ---- the folders ----------------------------------------------------------------------------- */

struct list {
    struct rex_candidate *candidates;
    size_t count;
    /* add_folders() is searching the folder of the libomp of this process */
    bool is_beside;
    struct rex_report *report;
};

/*
 * Stores ERROR in REPORT if it is the first temporary error. A lack of memory or of file
 * descriptors is temporary, and may have hidden the best candidate. A missing or unreadable file is
 * not temporary.
 */
static void note(struct rex_report *report, int error)
{
    bool may_pass =
        error == ENOMEM || error == EMFILE || error == ENFILE || error == EIO || error == EINTR;
    if (may_pass && report->error == 0)
        report->error = error;
}

/*
 * Adds every libomptarget.so* in the folders that match PATTERN. Plugins have other names:
 * libomptarget.rtl.*.
 */
static void add_folders(struct list *list, const char *pattern, enum rex_origin origin)
{
    char files[PATH_MAX + 32], why[512];
    const struct rex_release *release;
    glob_t found;
    snprintf(files, sizeof files, "%s/libomptarget.so*", pattern);
    int result = glob(files, 0, NULL, &found);
    if (result == GLOB_NOSPACE)
        note(list->report, ENOMEM);
    if (result != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        size_t known = 0;
        while (known < list->count && !rex_same_file(list->candidates[known].path, path))
            known++;
        if (known < list->count)
            continue;
        bool is_trusted = rex_search_trusts(path, origin, why, sizeof why);
        if (!is_trusted || rex_search_tell(path, &release, why, sizeof why) != REX_OK) {
            if (is_trusted)
                note(list->report, errno);
            rex_report_add(list->report, REX_REPORT_LINE, "%s: %s", path, why);
            continue;
        }
        struct rex_candidate *grown = realloc(list->candidates, (known + 1) * sizeof *grown);
        if (grown == NULL) {
            note(list->report, ENOMEM);
            continue;
        }
        list->candidates = grown;
        snprintf(grown[known].path, PATH_MAX, "%s", path);
        snprintf(grown[known].doubt, sizeof grown->doubt, "%.255s", why);
        grown[known].origin = origin;
        grown[known].is_beside_openmp = list->is_beside;
        grown[known].release = release;
        list->count++;
    }
    globfree(&found);
}

/* Compares candidates for qsort(), which puts the best candidate first. */
static int compare_candidates(const void *a, const void *b)
{
    const struct rex_candidate *one = a, *other = b;
    int doubt = (*one->doubt != '\0') - (*other->doubt != '\0');
    int late = one->release->late_image_ignored - other->release->late_image_ignored;
    if (doubt != 0)
        return doubt;
    if (one->is_beside_openmp != other->is_beside_openmp)
        return other->is_beside_openmp - one->is_beside_openmp;
    /*
     * LLVM 18 comes after the others. It launches no plain kernel (rex-launches(7)), and loads no
     * image that is registered after the first use of a device.
     */
    if (late != 0)
        return late;
    if (one->release->number != other->release->number)
        return other->release->number - one->release->number;
    return strcmp(one->path, other->path);
}

const char *const rex_search_folders[] = {"/usr/lib/llvm-*/lib",
                                          "/usr/lib64/llvm*/lib*",
                                          "/usr/lib/llvm/*/lib*",
                                          "/usr/local/llvm*/lib",
                                          "/usr/local/lib",
                                          "/opt/*/lib",
                                          NULL};

size_t rex_search(struct rex_candidate **candidates, struct rex_report *report)
{
    struct list list = {.is_beside = true, .report = report};
    char folder[PATH_MAX];
    if (rex_openmp_folder(folder))
        add_folders(&list, folder, REX_NAMED);
    list.is_beside = false;
    for (size_t i = 0; rex_search_folders[i] != NULL; i++)
        add_folders(&list, rex_search_folders[i], REX_GUESSED);
    /*
     * Search the folders of the loader for this program: LD_LIBRARY_PATH, run paths, and the
     * folders of the system.
     */
    Dl_serinfo size, *places = NULL;
    void *program = dlopen(NULL, RTLD_LAZY);
    if (program != NULL && dlinfo(program, RTLD_DI_SERINFOSIZE, &size) == 0)
        places = malloc(size.dls_size);
    bool is_told = places != NULL && dlinfo(program, RTLD_DI_SERINFOSIZE, places) == 0 &&
                   dlinfo(program, RTLD_DI_SERINFO, places) == 0;
    for (unsigned i = 0; is_told && i < places->dls_cnt; i++)
        add_folders(&list, places->dls_serpath[i].dls_name, REX_NAMED);
    if (!is_told)
        note(report, ENOMEM); /* dlinfo() fails here only if memory is short */
    free(places);
    if (program != NULL)
        dlclose(program);
    if (list.count > 0)
        qsort(list.candidates, list.count, sizeof *list.candidates, compare_candidates);
    *candidates = list.candidates;
    return list.count;
}

/* ---- one libomp ------------------------------------------------------------------------------ */

/*
 * libomptarget 14 to 18 refer to `__kmpc_*` functions weakly, and call NULL if libomp is absent.
 * LLVM 19 and later need libomp.so.5. Two OpenMP runtimes in a process abort the process ("OMP:
 * Error #15"). So librex opens no libomp if an OpenMP runtime is loaded.
 */

#define OPENMP_SONAME "libomp.so.5"

static const char *const openmp_names[] = {"libomp.so", "libomp-", "libomp5.so", "libiomp5.so",
                                           NULL};

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
            return 1; /* ends the iteration */
        }
    return 0;
}

bool rex_loaded(const char *const *prefixes, char path[PATH_MAX])
{
    struct wanted wanted = {prefixes, path};
    return dl_iterate_phdr(match, &wanted) != 0;
}

__attribute__((noinline)) bool rex_openmp_folder(char folder[PATH_MAX])
{
    char path[PATH_MAX];
    if (!rex_loaded(openmp_names, path))
        return false;
    rex_folder_of(path, folder);
    return true;
}

/*
 * Returns true if an OpenMP runtime is loaded. Sets *RESULT to 0, or to -1 if CANDIDATE cannot use
 * that runtime.
 */
static __attribute__((noinline)) bool suits_loaded_openmp(const struct rex_candidate *candidate,
                                                          char *why, size_t why_size, int *result)
{
    char loaded[PATH_MAX];
    *result = 0;
    if (!rex_loaded(openmp_names, loaded))
        return false;
    void *handle = dlopen(OPENMP_SONAME, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
    else if (!candidate->release->openmp_first) {
        snprintf(why, why_size,
                 "it needs " OPENMP_SONAME
                 ", and this process already runs %s: a process with two OpenMP runtimes aborts",
                 loaded);
        *result = -1;
        return true;
    }
    /* If the runtime was loaded with RTLD_LOCAL, make its symbols visible. */
    handle = dlopen(loaded, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
    return true;
}

static __attribute__((noinline)) bool open_beside(const struct rex_candidate *candidate)
{
    static const char *const names[] = {OPENMP_SONAME, "libomp.so"};
    char file[PATH_MAX + 16], why[512];
    rex_folder_of(candidate->path, file);
    size_t length = strlen(file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(file + length, sizeof file - length, "/%s", names[i]);
        if (!rex_search_trusts(file, candidate->origin, why, sizeof why))
            rex_log(REX_LOG_INFO, "passed over: %s: %s", file, why);
        else if (dlopen(file, RTLD_NOW | RTLD_GLOBAL) != NULL) {
            rex_log(REX_LOG_DEBUG, "opened %s", file);
            return true;
        }
    }
    return false;
}

int rex_openmp_ready(const struct rex_candidate *candidate, const struct rex_candidate *others,
                     size_t count, char *why, size_t why_size)
{
    int result;
    if (suits_loaded_openmp(candidate, why, why_size, &result))
        return result;
    if (open_beside(candidate) || dlopen(OPENMP_SONAME, RTLD_NOW | RTLD_GLOBAL) != NULL)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (open_beside(&others[i]))
            return 0;
    snprintf(why, why_size, "there is no " OPENMP_SONAME " beside it or on the loader's path");
    return -1;
}
