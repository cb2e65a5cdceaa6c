/*
 * facts.h - facts, kept and printed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_FACTS_H
#define REX_INFO_FACTS_H

#include <stdbool.h>
#include <stddef.h>

/* Facts, in the order in which they came; a name comes once in each group. */
struct fact {
    char *group, *name, *value;
};
struct facts {
    struct fact *fact;
    size_t count;
};

/* A rex_info_row for a struct facts. */
void facts_add(const char *group, const char *name, const char *value, void *facts);

/* The value of NAME in GROUP, NULL if there is none. */
const char *facts_find(const struct facts *facts, const char *group, const char *name);

/*
 * The variables that libomptarget, libomp, the CUDA driver and the loader read, as far as they are
 * set: group "environment".
 */
void facts_of_environment(struct facts *facts);

/*
 * All groups: a heading and a line for each name; or members of a JSON object, each followed by a
 * comma.
 */
void facts_print(const struct facts *facts, bool json);

#endif
