/*
 * rex-info.h - the parts of rex-info.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_REX_INFO_H
#define TOOLS_REX_INFO_H

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

/* The CUDA toolkit that rex-cc would use: group "toolkit". */
void facts_of_toolkit(struct facts *facts);

/*
 * All groups: a heading and a line for each name; or members of a JSON object, each followed by a
 * comma.
 */
void facts_print(const struct facts *facts, bool json);

/*
 * The GPUs, and the devices that libomptarget gives a host image: found in a child, so that a
 * library that crashes takes nothing along.
 */
void devices_print(bool json, bool have_runtime);

/* The sizes of the structs that libomptarget and librex share with a program. */
void abi_print_sizes(bool json);

/*
 * Every struct, constant and exported function; LIBRARY is librex.so. 0, or -1 where its symbols
 * cannot be read.
 */
int abi_print(bool json, const char *library);

#endif
