/*
 * search.h - the search for libomptarget: the candidates, their releases, and the libomp that each
 * needs.
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
 * The origin of a candidate.
 * - REX_GUESSED: a folder of rex_search_folders.
 * - REX_NAMED: a setting or a search path.
 * - REX_LOADED: a library that the process has loaded.
 */
enum rex_origin { REX_GUESSED, REX_NAMED, REX_LOADED };

struct rex_candidate {
    char path[PATH_MAX];
    enum rex_origin origin;
    const struct rex_release *release;
    bool is_beside_openmp; /* in the folder of the libomp of this process */
    char doubt[256];       /* why the release seems newer than all known releases, or "" */
};

/*
 * Finds the candidates and returns their number. The caller frees the array. The order is:
 * - candidates in the folder of the libomp of this process;
 * - other candidates, from the newest to the oldest;
 * - LLVM 18, which launches no plain kernel (rex-launches(7));
 * - candidates of unknown releases.
 */
size_t rex_search(struct rex_candidate **candidates, struct rex_report *report);

/*
 * Patterns of folder names. librex searches these folders in addition to the loader's folders. The
 * last element is NULL.
 */
extern const char *const rex_search_folders[];

/*
 * Returns true if no other user can have changed the library at PATH. If the result is false, WHY
 * has the reason. The file and its folder must not be writable for every user. If ORIGIN is
 * REX_GUESSED, the file and all folders above must belong to root or this user. In a set-user-ID
 * program, the file and all folders above must belong to root, with any origin. A loaded library is
 * always trusted.
 */
bool rex_search_trusts(const char *path, enum rex_origin origin, char *why, size_t why_size);

/*
 * Finds the LLVM release of the libomptarget in the file PATH, without loading the file. Returns 0,
 * REX_ENORUNTIME or REX_ENOMEM. After 0, WHY is "", or the reason why the file seems newer than all
 * known releases. After an error, WHY has the reason. If the file could not be read, errno has the
 * error of the read. If librex has read the file, errno is 0.
 */
int rex_search_tell(const char *path, const struct rex_release **release, char *why,
                    size_t why_size);

/* ---- one libomp ------------------------------------------------------------------------------ */

/*
 * Finds the first loaded library whose file name begins with one of PREFIXES, and writes the path
 * of this library to PATH. PREFIXES ends in NULL. Returns false if there is no such library.
 */
bool rex_loaded(const char *const *prefixes, char path[PATH_MAX]);

/*
 * Writes the folder of the OpenMP runtime of this process to FOLDER. Returns false if no OpenMP
 * runtime is loaded.
 */
bool rex_openmp_folder(char folder[PATH_MAX]);

/*
 * Makes an OpenMP runtime visible to libomptarget, before CANDIDATE is opened. Uses a loaded OpenMP
 * runtime if there is one. If no OpenMP runtime is loaded, opens the first libomp in the folder of
 * CANDIDATE, the folders of the loader, or the folders of OTHERS. Returns 0, or -1 with the reason
 * in WHY.
 */
int rex_openmp_ready(const struct rex_candidate *candidate, const struct rex_candidate *others,
                     size_t count, char *why, size_t why_size);

#endif
