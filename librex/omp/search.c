/*
 * search.c - candidates for libomptarget, and the release of each; the libomp that it runs with.
 *
 * The release is read from the file's dynamic symbols before the file is opened. libomptarget is
 * never unloaded (all releases are linked NODELETE), and opening 14 to 18 without libomp crashes.
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

/* ---- whose work a file is -------------------------------------------------------------------- */

/* In a user namespace root's files may have another number: that of /usr. */
static bool is_ours(uid_t owner)
{
    struct stat system;
    return owner == (stat("/usr", &system) == 0 ? system.st_uid : 0) ||
           (owner == getuid() && getauxval(AT_SECURE) == 0);
}

/* The path of the folder in which PATH lies takes its place; false: there is none. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (strcmp(path, "/") == 0 || strcmp(path, ".") == 0)
        return false;
    if (slash == NULL)
        strcpy(path, ".");
    else
        slash[slash == path] = '\0';
    return true;
}

/*
 * Folders above the library's own are looked at where nobody has named it. In a sticky one only its
 * owner and root exchange what lies there.
 */
static __attribute__((noinline)) bool is_trusted_library(const char *path, enum rex_origin origin,
                                                         char *why, size_t why_size)
{
    struct stat status;
    char place[PATH_MAX];
    bool is_strict = origin == REX_GUESSED || getauxval(AT_SECURE) != 0;
    snprintf(place, sizeof place, "%s", path);
    for (int above = 0; above < 2 || is_strict; above++) {
        if (stat(place, &status) != 0)
            return true; /* what reads the file says why */
        bool is_kept = above > 1 && (status.st_mode & S_ISVTX);
        if ((status.st_mode & S_IWOTH) && !is_kept) {
            snprintf(why, why_size, "every user may write %s", place);
            return false;
        }
        if (is_strict && !is_ours(status.st_uid)) {
            snprintf(why, why_size, "%s belongs to another user (%u)", place,
                     (unsigned)status.st_uid);
            return false;
        }
        if (!go_up(place))
            return true;
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

/* The name of export INDEX; NULL if that symbol is no export. */
static const char *export_name(const struct exported *table, size_t index)
{
    Elf64_Sym symbol;
    const char *name;
    return rex_elf_symbol(table->elf, &table->symbols, index, &symbol, &name) &&
                   symbol.st_shndx != SHN_UNDEF
               ? name
               : NULL;
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

/* A `__tgt_` function that no release up to NEWEST exports; NULL if there is none. */
static const char *unknown_export(const struct exported *table, const struct rex_release *newest)
{
#define NAME(type, name, parameters, arguments, missing) "__tgt_" #name,
    static const char *const known[] = {REX_ENTRY_POINTS(NAME)};
#undef NAME
    for (size_t i = 1; i < rex_elf_symbols(&table->symbols); i++) {
        const char *name = export_name(table, i);
        size_t row = 0;
        if (name == NULL || strncmp(name, "__tgt_", strlen("__tgt_")) != 0 ||
            strcmp(name, newest->marker) == 0)
            continue;
        while (row < sizeof known / sizeof *known && strcmp(name, known[row]) != 0)
            row++;
        if (row == sizeof known / sizeof *known)
            return name;
    }
    return NULL;
}

/* The number behind "libomptarget.so.", "libLLVM-" or "libLLVM.so." in NAME; 0 if there is none. */
static int number_in(const char *name)
{
    const char *own = strstr(name, "libomptarget.so.");
    if (own != NULL)
        return atoi(own + strlen("libomptarget.so."));
    if ((own = strstr(name, "libLLVM.so.")) != NULL)
        return atoi(own + strlen("libLLVM.so."));
    return (own = strstr(name, "libLLVM-")) != NULL ? atoi(own + strlen("libLLVM-")) : 0;
}

static int named_release(const struct rex_elf *elf)
{
    Elf64_Shdr dynamic, strings;
    Elf64_Dyn entry;
    int number = 0;
    bool has_names = rex_elf_find_type(elf, SHT_DYNAMIC, &dynamic) &&
                     rex_elf_section(elf, dynamic.sh_link, &strings);
    for (size_t i = 0; has_names && number == 0 &&
                       rex_elf_row(elf, &dynamic, SHT_DYNAMIC, i, &entry, sizeof entry);
         i++) {
        const char *name = entry.d_tag == DT_SONAME || entry.d_tag == DT_NEEDED
                               ? rex_elf_string(elf, &strings, entry.d_un.d_val)
                               : NULL;
        number = name != NULL ? number_in(name) : 0;
    }
    return number;
}

/*
 * WHY says that TOLD is only the nearest release that librex knows. The number in a name is larger
 * than that of all releases, or an export is in none of them. Otherwise WHY is empty.
 */
static void tell_newer(const struct exported *table, const struct rex_release *told, int named,
                       char *why, size_t why_size)
{
    const char *export =
        named == 0 && rex_release_after(told->number) == NULL ? unknown_export(table, told) : NULL;
    *why = '\0';
    if (named > 0 && rex_release_after(named - 1) == NULL)
        snprintf(why, why_size,
                 "it is LLVM %d's, which this librex does not know, and is treated as LLVM %d's",
                 named, told->number);
    else if (export != NULL)
        snprintf(why, why_size,
                 "it exports %.64s, which no LLVM does that this librex knows, and is treated as "
                 "LLVM %d's",
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
    const char *openmp_folder;
    struct rex_report *report;
};

/*
 * Notes an error that may pass: a candidate not seen for lack of descriptors or memory may be the
 * best one. A missing or unreadable file is no such error, because it will be missing next time,
 * too.
 */
static void note(struct rex_report *report, int error)
{
    bool may_pass =
        error == ENOMEM || error == EMFILE || error == ENFILE || error == EIO || error == EINTR;
    if (may_pass && report->error == 0)
        report->error = error;
}

static void add_candidate(struct list *list, const char *path, enum rex_origin origin)
{
    const struct rex_release *release;
    char why[512];
    for (size_t i = 0; i < list->count; i++)
        if (rex_same_file(list->candidates[i].path, path))
            return;
    if (!rex_search_trusts(path, origin, why, sizeof why)) {
        rex_report_add(list->report, REX_REPORT_LINE, "%s: %s", path, why);
        return;
    }
    if (rex_search_tell(path, &release, why, sizeof why) != REX_OK) {
        note(list->report, errno);
        rex_report_add(list->report, REX_REPORT_LINE, "%s: %s", path, why);
        return;
    }
    struct rex_candidate *grown = realloc(list->candidates, (list->count + 1) * sizeof *grown);
    if (grown == NULL) {
        note(list->report, ENOMEM);
        return;
    }
    list->candidates = grown;
    snprintf(grown[list->count].path, PATH_MAX, "%s", path);
    snprintf(grown[list->count].doubt, sizeof grown->doubt, "%.255s", why);
    grown[list->count].origin = origin;
    grown[list->count++].release = release;
}

/*
 * Adds every libomptarget.so* in the folders that PATTERN matches. Plugins are called
 * libomptarget.rtl.*.
 */
static void add_folders(struct list *list, const char *pattern, enum rex_origin origin)
{
    char files[PATH_MAX + 32];
    glob_t found;
    snprintf(files, sizeof files, "%s/libomptarget.so*", pattern);
    int result = glob(files, 0, NULL, &found);
    if (result == GLOB_NOSPACE)
        note(list->report, ENOMEM);
    if (result != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_candidate(list, found.gl_pathv[i], origin);
    globfree(&found);
}

/*
 * Adds the folders that the loader searches for this program: LD_LIBRARY_PATH, run paths, the
 * system's.
 */
static void add_loader_folders(struct list *list)
{
    Dl_serinfo size;
    void *program = dlopen(NULL, RTLD_LAZY);
    if (program == NULL) {
        note(list->report, ENOMEM); /* dlopen(NULL) has no other reason to fail */
        return;
    }
    Dl_serinfo *folders =
        dlinfo(program, RTLD_DI_SERINFOSIZE, &size) == 0 ? malloc(size.dls_size) : NULL;
    bool is_told = folders != NULL && dlinfo(program, RTLD_DI_SERINFOSIZE, folders) == 0 &&
                   dlinfo(program, RTLD_DI_SERINFO, folders) == 0;
    for (unsigned i = 0; is_told && i < folders->dls_cnt; i++)
        add_folders(list, folders->dls_serpath[i].dls_name, REX_NAMED);
    if (!is_told)
        note(list->report, ENOMEM);
    free(folders);
    dlclose(program);
}

static __attribute__((noinline)) bool lies_in_folder(const char *path, const char *wanted)
{
    char folder[PATH_MAX];
    rex_folder_of(path, folder);
    return rex_same_file(folder, wanted);
}

/* Sorts the best candidate first. */
static int compare_candidates(const void *a, const void *b, void *openmp_folder)
{
    const struct rex_candidate *one = a, *other = b;
    int doubt = (*one->doubt != '\0') - (*other->doubt != '\0'), beside = 0,
        late = one->release->late_image_ignored - other->release->late_image_ignored;
    if (doubt != 0)
        return doubt;
    if (openmp_folder != NULL)
        beside =
            lies_in_folder(other->path, openmp_folder) - lies_in_folder(one->path, openmp_folder);
    if (beside != 0)
        return beside;
    /* 18 runs no plain kernel and loads no image after a device's first use, so it comes last. */
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

size_t rex_search(const char *openmp_folder, struct rex_candidate **candidates,
                  struct rex_report *report)
{
    struct list list = {.openmp_folder = openmp_folder, .report = report};
    if (openmp_folder != NULL)
        add_folders(&list, openmp_folder, REX_NAMED);
    for (size_t i = 0; rex_search_folders[i] != NULL; i++)
        add_folders(&list, rex_search_folders[i], REX_GUESSED);
    add_loader_folders(&list);
    if (list.count > 0)
        qsort_r(list.candidates, list.count, sizeof *list.candidates, compare_candidates,
                (void *)(uintptr_t)openmp_folder);
    *candidates = list.candidates;
    return list.count;
}

/* ---- one libomp ------------------------------------------------------------------------------ */

/*
 * libomptarget 14 to 18 refer to `__kmpc_*` weakly and call NULL if libomp is absent; 19 and later
 * need libomp.so.5. A second OpenMP runtime in a process aborts it ("OMP: Error #15"), so none is
 * opened by path while another is loaded.
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
    /* One that was loaded RTLD_LOCAL becomes visible. */
    handle = dlopen(loaded, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
    return 0;
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

/* Whether a libomp is in the process; *RESULT says whether it suits CANDIDATE. */
static __attribute__((noinline)) bool suits_loaded_openmp(const struct rex_candidate *candidate,
                                                          char *why, size_t why_size, int *result)
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
