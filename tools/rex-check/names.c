/*
 * names.c - a list of names, with search and the nearest name.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "rex/inspect.h"

/* maximum number of findings for which the nearest name is searched, because each search is slow */
#define MOST_COMPARED 200

void names_add(struct names *names, const char *name)
{
    names->list = tool_grow(names->list, names->count, sizeof *names->list);
    names->list[names->count++] = name != NULL ? name : "";
}

/* Compares in alphabetical order. Equal names keep the order in which they were added. */
static int compare(const void *a, const void *b, void *context)
{
    const struct names *names = context;
    size_t one = *(const size_t *)a, other = *(const size_t *)b;
    int order = strcmp(names->list[one], names->list[other]);
    return order != 0 ? order : one < other ? -1 : one > other;
}

void names_sort(struct names *names)
{
    names->order = tool_alloc(names->count, sizeof *names->order);
    for (size_t i = 0; i < names->count; i++)
        names->order[i] = i;
    qsort_r(names->order, names->count, sizeof *names->order, compare, names);
}

size_t names_find(const struct names *names, const char *name)
{
    size_t low = 0, high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(names->list[names->order[middle]], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->count && strcmp(names->list[names->order[low]], name) == 0
               ? names->order[low]
               : SIZE_MAX;
}

const char *names_nearest(const struct names *names, const char *name, const struct report *report)
{
    const char *nearest =
        report->findings < MOST_COMPARED ? rex_nearest_name(name, names->list, names->count) : NULL;
    return nearest != NULL && *nearest != '\0' ? nearest : NULL;
}

void names_free(struct names *names)
{
    free(names->list);
    free(names->order);
}
