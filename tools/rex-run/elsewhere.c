/*
 * elsewhere.c - runs a program on another libomptarget than the linked one. If the loader does not
 * find the linked libomptarget, finds it.
 *
 * The process must have only one libomptarget. If a second libomptarget were preloaded or got the
 * calls forwarded, the process would crash, because libomp and the linked libomptarget call each
 * other directly. So rex-run makes a private folder with a link, which has the linked name and
 * leads to the other library. The private folder comes first on the loader's path. The folder of
 * the other library comes next, because it has libomp and libLLVM. The run path of the other
 * library cannot replace this second folder: its $ORIGIN is the private folder.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "elsewhere.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "die.h"
#include "environment.h"
#include "folder.h"
#include "images.h"
#include "loader.h"
#include "rex/inspect.h"
#include "tell.h"

#define NAME "libomptarget.so"

/*
 * Makes links to the plugins. A link's name has no version, because LLVM 14 to 18 open the plugins
 * by names without a version. Debian's packages of LLVM 15 and 16 lack files with such names.
 */
static void link_plugins(const char *beside)
{
    char pattern[PATH_MAX];
    glob_t found;
    path_of(pattern, "%s/libomptarget.rtl.*.so*", beside);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1, *end = strstr(name, ".so");
        make_link(name, (size_t)(end + strlen(".so") - name), found.gl_pathv[i]);
    }
    globfree(&found);
}

/* ---- releases that run each other's programs ------------------------------------------------- */

/*
 * Returns the LLVM release in a name such as libomptarget.so.19.1; 14 for a name without a release,
 * such as the name in LLVM 14 to 17.
 */
static int number_in(const char *name)
{
    int number = strncmp(name, NAME ".", strlen(NAME ".")) == 0 ? atoi(name + strlen(NAME ".")) : 0;
    return number >= 14 ? number : 14;
}

/*
 * A question to rex_info(), and the answer: does a release of libomptarget run programs that
 * `compiler`, such as "clang 19", has compiled?
 */
struct asked {
    char compiler[32], answer[32];
};

static void see_answer(const char *group, const char *name, const char *value, void *context)
{
    struct asked *asked = context;
    if (strcmp(group, "programs") == 0 && strcmp(name, asked->compiler) == 0)
        snprintf(asked->answer, sizeof asked->answer, "%s", value);
}

/*
 * Asks if libomptarget of RELEASE runs programs of clang COMPILER. The answer is "yes", "no" or "on
 * GPUs alone"; "" if librex does not know one of the two releases.
 */
static struct asked ask_release(int release, int compiler)
{
    struct asked asked = {.answer = ""};
    snprintf(asked.compiler, sizeof asked.compiler, "clang %d", compiler);
    if (release > 0)
        rex_info(release, see_answer, &asked);
    return asked;
}

struct linked {
    const struct program *program;
    const char *library;
    int release; /* release of the library */
    /*
     * the release that the program was linked with, if `library` runs the kernels of the program on
     * GPUs, but not on the CPU; otherwise 0
     */
    int gpu_only;
    const char *folder; /* folder with the links; NULL: the program links no libomptarget */
};

static void check_releases(struct linked *linked, const char *name)
{
    int built = number_in(name);
    struct asked asked = ask_release(linked->release, built);
    if (*asked.answer == '\0')
        die(REFUSED, "%s was linked with %s: librex does not know LLVM %d", linked->program->path,
            name, built);
    if (strcmp(asked.answer, "no") == 0)
        die(REFUSED,
            "%s was linked with %s: LLVM %d (%s) passes other parameters to kernels, or maps rows "
            "differently: run the program on LLVM %d",
            linked->program->path, name, linked->release, linked->library, built);
    if (strcmp(asked.answer, "on GPUs alone") == 0)
        linked->gpu_only = built;
}

static void check_images(const char *name, const char *path, void *context)
{
    const struct linked *linked = context;
    (void)name;
    if (path != NULL && is_for_cpu_alone(path))
        die(REFUSED,
            "%s has device images only for the CPU, and LLVM %d (%s) runs kernels of clang %d only "
            "on GPUs: run the program on LLVM %d",
            path, linked->release, linked->library, linked->gpu_only, linked->gpu_only);
}

/* ---- the libraries that the program is linked with ------------------------------------------- */

static void link_name(const char *name, const char *path, void *context)
{
    struct linked *linked = context;
    const char *slash = strrchr(name, '/');
    if (strncmp(slash != NULL ? slash + 1 : name, NAME, strlen(NAME)) != 0)
        return;
    if (slash != NULL)
        die(REFUSED,
            "%s: --omptarget cannot replace %s, because the program or LD_PRELOAD names this "
            "library by a path",
            linked->program->path, name);
    (void)path;
    check_releases(linked, name);
    if (linked->folder == NULL) {
        hold_signals();
        linked->folder = make_folder();
    }
    make_link(name, strlen(name), linked->library);
}

/*
 * libomptarget 16 and later also open "libomp.so". Makes a link with this name to the program's
 * libomp. If the name led to another file, the process would have two libomps, and the second would
 * abort ("OMP: Error #15").
 */
static void link_openmp(const char *name, const char *path, void *context)
{
    (void)context;
    if (path != NULL && strncmp(name, "libomp.so", strlen("libomp.so")) == 0)
        make_link("libomp.so", strlen("libomp.so"), path);
}

/*
 * Checks that the loader finds library NAME. If NAME is a libomptarget, also checks that the loader
 * takes NAME from the folder with the links.
 */
static void check_name(const char *name, const char *path, void *context)
{
    const struct linked *linked = context;
    char expected[PATH_MAX];
    if (path == NULL)
        die(REFUSED, "%s with %s needs %s, which the loader does not find", linked->program->path,
            linked->library, name);
    path_of(expected, "%s/%s", linked->folder, name);
    if (strncmp(name, NAME, strlen(NAME)) == 0 && strcmp(path, expected) != 0)
        die(REFUSED,
            "%s: --omptarget cannot replace %s: a library of the program has a DT_RPATH, which the "
            "loader searches before every other folder",
            linked->program->path, path);
}

static void refuse_early(const struct program *program)
{
    if (program->script)
        die(REFUSED,
            "%s is a script: --omptarget needs the program itself, to read which libomptarget it "
            "is linked with",
            program->path);
    if (*program->rpath != '\0')
        die(REFUSED,
            "%s has a DT_RPATH (%s), which the loader searches before every other folder: "
            "--omptarget cannot replace its libomptarget; link the program with "
            "-Wl,--enable-new-dtags, or remove the DT_RPATH with chrpath -d",
            program->path, program->rpath);
}

bool lead_to(const struct program *program, const char *library)
{
    char path[PATH_MAX], beside[PATH_MAX];
    int release = rex_runtime_tell(library);
    if (release < 0)
        die(NOT_RUN, "--omptarget=%s", rex_last_error());
    refuse_early(program);
    if (realpath(library, path) == NULL)
        die(NOT_RUN, "--omptarget=%s: %s", library, strerror(errno));
    struct linked linked = {program, path, release, 0, NULL};
    ask_loader(program, link_name, &linked);
    if (linked.gpu_only != 0) {
        check_images(NULL, program->path, &linked);
        ask_loader(program, check_images, &linked);
    }
    /* A program that uses librex finds libomptarget by this variable, not by the loader. */
    setenv("REX_OMPTARGET", path, 1);
    if (linked.folder == NULL) {
        tell("%s is not linked with libomptarget: --omptarget (LLVM %d, %s) has an effect only on "
             "its libraries and on the programs that it starts",
             program->path, release, path);
        return false;
    }
    tell(
        "%s runs on LLVM %d's libomptarget, %s, which --omptarget names, instead of the linked one",
        program->path, release, path);
    path_of(beside, "%.*s", (int)(strrchr(path, '/') - path), path);
    link_plugins(beside);
    put_in_front("LD_LIBRARY_PATH", beside, SEPARATORS);
    put_in_front("LD_LIBRARY_PATH", linked.folder, SEPARATORS);
    ask_loader(program, link_openmp, NULL);
    ask_loader(program, check_name, &linked);
    return true;
}

/* ---- the linked libomptarget, if the loader does not find it --------------------------------- */

struct missing {
    const struct program *program;
    /* linked file that the loader does not find, such as libomptarget.so.19.1 */
    const char *name;
    char folder[PATH_MAX]; /* folder that has a file of this name, or "" */
};

/*
 * ERROR is an error of libomptarget. If REX_OMPTARGET is set, ERROR is about the file that
 * REX_OMPTARGET names, and the function ends rex-run with ERROR.
 */
static void see_error(const char *error)
{
    const char *named = getenv("REX_OMPTARGET");
    if (named != NULL && *named != '\0')
        die(NOT_RUN, "%s", error);
}

/*
 * Receives a fact of rex_info(). CONTEXT is a struct missing. If the fact is an error of
 * libomptarget, calls see_error(). Two facts name a file of libomptarget:
 * - Group "libomptarget", name "path": VALUE is the file that librex has bound.
 * - Group "found": NAME is a file that librex has found. If VALUE begins with "LLVM ", the file is
 *   usable. Otherwise VALUE is the reason why the file is not usable.
 *
 * If the file is bound or usable, looks in its folder for a file with the name missing->name. If
 * that second file runs programs of the LLVM release in its name, stores the folder in
 * missing->folder, unless a folder is stored already.
 */
static void see_found(const char *group, const char *name, const char *value, void *context)
{
    struct missing *missing = context;
    bool is_of_bound = strcmp(group, "libomptarget") == 0;
    bool is_bound = is_of_bound && strcmp(name, "path") == 0;
    bool is_usable = strcmp(group, "found") == 0 && strncmp(value, "LLVM ", strlen("LLVM ")) == 0;
    const char *file = is_bound ? value : name, *slash = strrchr(file, '/');
    char path[PATH_MAX];
    if (is_of_bound && strcmp(name, "error") == 0)
        see_error(value);
    if (*missing->folder != '\0' || slash == NULL || (!is_bound && !is_usable))
        return;
    path_of(path, "%.*s/%s", (int)(slash - file), file, missing->name);
    if (access(path, F_OK) != 0)
        return;
    struct asked asked = ask_release(rex_runtime_tell(path), number_in(missing->name));
    if (strcmp(asked.answer, "yes") == 0)
        path_of(missing->folder, "%.*s", (int)(slash - file), file);
}

static void see_linked(const char *name, const char *path, void *context)
{
    struct missing *missing = context;
    const char *program = missing->program->path, *slash = strrchr(name, '/');
    if (strncmp(slash != NULL ? slash + 1 : name, NAME, strlen(NAME)) != 0 ||
        *missing->folder != '\0')
        return;
    if (path != NULL) {
        int release = is_told() ? rex_runtime_tell(path) : 0;
        if (release > 0)
            tell("%s runs on LLVM %d's libomptarget, %s, which it is linked with", program, release,
                 path);
        else
            tell("%s is linked with a libomptarget whose release librex cannot tell: %s", program,
                 rex_last_error());
        return;
    }
    missing->name = name;
    rex_info(0, see_found, missing);
    missing->name = NULL;
    tell("%s is linked with %s, which the loader does not find: %s%s", program, name,
         *missing->folder != '\0' ? "the program runs on the one in " : "no folder has it",
         missing->folder);
}

void find_linked(const struct program *program)
{
    struct missing missing = {.program = program};
    if (program->script) {
        tell("%s is a script: librex is also preloaded into the programs that it starts",
             program->path);
        return;
    }
    tell("%s is not linked with libomptarget: there is nothing to adapt, except in its libraries "
         "and the programs that it starts",
         program->path);
    ask_loader(program, see_linked, &missing);
    if (*missing.folder != '\0')
        put_in_front("LD_LIBRARY_PATH", missing.folder, SEPARATORS);
}
