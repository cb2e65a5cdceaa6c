/*
 * names.h - a list of names, with search and the nearest name.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_NAMES_H
#define CHECK_NAMES_H

#include "report.h"

struct names {
    const char **list; /* in the order in which they were added */
    size_t *order;     /* indices of the sorted names, by names_sort() */
    size_t count;
};

/* Adds NAME, which must outlive the list. NULL also gets a number, but is never found. */
void names_add(struct names *names, const char *name);

/* Call it after the last names_add(), and before names_find() or names_nearest(). */
void names_sort(struct names *names);

/*
 * Returns the number, from 0, of the first added name that equals NAME; SIZE_MAX if there is none.
 */
size_t names_find(const struct names *names, const char *name);

/*
 * Returns the name with the most similar spelling. Returns NULL if no name is near, or if REPORT
 * has so many findings that a search would take too long.
 */
const char *names_nearest(const struct names *names, const char *name, const struct report *report);

void names_free(struct names *names);

#endif
