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
    size_t *order;     /* indices in `list`, sorted by name; set by names_sort() */
    size_t count;
};

/*
 * Adds NAME, which must outlive the list. A NULL also takes the next number, but no search finds
 * the NULL.
 */
void names_add(struct names *names, const char *name);

/* Call names_sort() after the last names_add(), and before names_find() or names_nearest(). */
void names_sort(struct names *names);

/*
 * Returns the number, from 0, of the first added name that equals NAME; SIZE_MAX if there is none.
 */
size_t names_find(const struct names *names, const char *name);

/*
 * Returns the name whose spelling is most similar to NAME. Returns NULL if no name is near, or if
 * REPORT has so many findings that a search would take too long.
 */
const char *names_nearest(const struct names *names, const char *name, const struct report *report);

void names_free(struct names *names);

#endif
