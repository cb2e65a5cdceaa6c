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

/* Why a file is considered: its folder is a guess, the user named it, or the process has it. */
enum rex_origin { REX_GUESSED, REX_NAMED, REX_LOADED };

struct rex_candidate {
    char path[PATH_MAX];
    enum rex_origin origin;
    const struct rex_release *release;
    bool is_beside_openmp; /* in the folder of the libomp that the process has */
    char doubt[256];       /* why it is newer than all releases that librex knows; "": it is not */
};

/*
 * Finds the candidates, the best first; the caller frees them. Those beside the libomp that the
 * process has come first, then the newest. LLVM 18 comes behind these, and unknown releases come
 * last.
 */
size_t rex_search(struct rex_candidate **candidates, struct rex_report *report);

/* The patterns of the folders that are searched besides the loader's, NULL after the last. */
extern const char *const rex_search_folders[];

/*
 * Whether no other user can have changed the file PATH, which is code; if not, WHY says who can.
 * Neither it nor its folder may be writable for every user. If it is guessed, it belongs to root or
 * to this user, and so do the folders above it. In a set-user-ID program all belongs to root.
 */
bool rex_search_trusts(const char *path, enum rex_origin origin, char *why, size_t why_size);

/*
 * Tell the release of the file PATH without loading it. Returns 0; then WHY says if the file is
 * newer than all releases that librex knows, else it is "". Or returns REX_ENORUNTIME or REX_ENOMEM
 * with the reason in WHY; errno is set if the file could not be read, else 0.
 */
int rex_search_tell(const char *path, const struct rex_release **release, char *why,
                    size_t why_size);

/* ---- one libomp ------------------------------------------------------------------------------ */

/*
 * Writes the path of the loaded object whose file name begins with one of PREFIXES
 * (NULL-terminated). False if there is none.
 */
bool rex_loaded(const char *const *prefixes, char path[PATH_MAX]);

/* The folder of the OpenMP runtime that this process has; false if it has none. */
bool rex_openmp_folder(char folder[PATH_MAX]);

/*
 * Make sure of one OpenMP runtime, visible to libomptarget, before CANDIDATE is opened. It is the
 * one in the process, else the one beside CANDIDATE, else another. Returns 0, or -1 with the reason
 * in WHY.
 */
int rex_openmp_ready(const struct rex_candidate *candidate, const struct rex_candidate *others,
                     size_t count, char *why, size_t why_size);

#endif
