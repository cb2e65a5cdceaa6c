/*
 * search.h - candidates for libomptarget, and the release of each; the libomp that it runs with.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SEARCH_H
#define REX_INTERNAL_SEARCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "omp/release.h"

/*
 * The origin of a candidate: a folder that librex guesses, a setting or search path, or a library
 * that the process has loaded.
 */
enum rex_origin { REX_GUESSED, REX_NAMED, REX_LOADED };

struct rex_candidate {
    char path[PATH_MAX];
    enum rex_origin origin;
    const struct rex_release *release;
    bool is_beside_openmp; /* in the folder of the libomp that the process has loaded */
    char doubt[256];       /* the reason why its release seems newer than librex knows, or "" */
};

/*
 * Finds the candidates and returns their number. The caller frees the array, which has the best
 * first: candidates beside the process's libomp, then the newest. LLVM 18 comes after them, and
 * unknown releases come last.
 */
size_t rex_search(struct rex_candidate **candidates, struct rex_report *report);

/* Patterns of the folders that are searched besides the loader's folders, NULL-terminated. */
extern const char *const rex_search_folders[];

/*
 * Returns true if no other user can have changed the library PATH, else writes the reason to WHY.
 * Neither the file nor its folder may be writable for every user. If its folder is guessed, the
 * file and all folders above it must belong to root or this user. In a set-user-ID program they
 * must always belong to root.
 */
bool rex_search_trusts(const char *path, enum rex_origin origin, char *why, size_t why_size);

/*
 * Finds the release of the file PATH without loading it. Returns 0, and writes to WHY "" or the
 * reason why the file seems newer than all releases that librex knows. Or returns REX_ENORUNTIME or
 * REX_ENOMEM with the reason in WHY; errno is set if the file could not be read, else 0.
 */
int rex_search_tell(const char *path, const struct rex_release **release, char *why,
                    size_t why_size);

/* ---- one libomp ------------------------------------------------------------------------------ */

/*
 * Writes the path of the first loaded object whose file name begins with one of PREFIXES
 * (NULL-terminated). Returns false if there is no such object.
 */
bool rex_loaded(const char *const *prefixes, char path[PATH_MAX]);

/* Writes the folder of this process's OpenMP runtime. Returns false if there is no such runtime. */
bool rex_openmp_folder(char folder[PATH_MAX]);

/*
 * Opens an OpenMP runtime, and makes it visible to libomptarget, before CANDIDATE is opened. Uses a
 * loaded one first, then the one beside CANDIDATE, on the loader's path, or beside OTHERS. Returns
 * 0, or -1 with the reason in WHY.
 */
int rex_openmp_ready(const struct rex_candidate *candidate, const struct rex_candidate *others,
                     size_t count, char *why, size_t why_size);

#endif
