/*
 * facts.h - stores facts and prints them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_FACTS_H
#define REX_INFO_FACTS_H

#include <stdbool.h>
#include <stddef.h>

/* Facts, in the order in which they were added; a name is unique in its group. */
struct fact {
    char *group, *name, *value;
};
struct facts {
    struct fact *fact;
    size_t count;
};

/*
 * Adds a fact. Does nothing if GROUP already has a fact called NAME. FACTS points to a struct
 * facts. The function has the type rex_info_row, so that rex_info() can call it.
 */
void facts_add(const char *group, const char *name, const char *value, void *facts);

/* Returns the value of NAME in GROUP, or NULL. */
const char *facts_find(const struct facts *facts, const char *group, const char *name);

/*
 * Adds the environment variables that are set for librex, libomptarget, libomp, the CUDA driver and
 * the loader, as the group "environment".
 */
void facts_of_environment(struct facts *facts);

/*
 * Prints all groups. As text, a group is a heading and a line for each name. In JSON, each group is
 * a member of an object, with a comma after it.
 */
void facts_print(const struct facts *facts, bool json);

#endif
