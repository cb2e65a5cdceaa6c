/*
 * names.h - a list of names: which are there, where first, and which is nearest.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_NAMES_H
#define CHECK_NAMES_H

#include "report.h"

struct names {
    const char **list; /* in the order in which they were added */
    size_t *order;     /* of the names, made by names_sort() */
    size_t count;
};

/* Add NAME, which outlives the list; NULL is no name, and takes a number all the same. */
void names_add(struct names *names, const char *name);

/* After the last name and before the first question. */
void names_sort(struct names *names);

/* The number of the first NAME that was added, counted from 0; SIZE_MAX if there is none. */
size_t names_find(const struct names *names, const char *name);

/*
 * The name that is spelt most like NAME, NULL if none is near, or REPORT has so many findings that
 * one more is not worth the search.
 */
const char *names_nearest(const struct names *names, const char *name, const struct report *report);

void names_free(struct names *names);

#endif
