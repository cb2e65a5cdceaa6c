/*
 * nearest.c - the nearest records found so far. See nn.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "nn.h"

static void find_farthest(struct nearest *nearest)
{
    nearest->farthest = 0;
    for (int i = 1; i < nearest->count; i++)
        if (nearest->list[i].squared > nearest->list[nearest->farthest].squared)
            nearest->farthest = i;
}

void offer(struct nearest *nearest, int64_t number, const char *text, double squared)
{
    int place = nearest->farthest;
    if (nearest->count < nearest->room)
        place = nearest->count++;
    else if (!(squared < nearest->list[place].squared))
        return;
    struct neighbour *neighbour = &nearest->list[place];
    neighbour->squared = squared;
    neighbour->number = number;
    memcpy(neighbour->text, text, RECORD_LENGTH - 1);
    neighbour->text[RECORD_LENGTH - 1] = '\0';
    find_farthest(nearest);
}

static int compare(const void *left, const void *right)
{
    const struct neighbour *a = left, *b = right;
    if (a->squared != b->squared)
        return a->squared < b->squared ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

void sort_nearest(struct nearest *nearest)
{
    qsort(nearest->list, (size_t)nearest->count, sizeof *nearest->list, compare);
    nearest->farthest = nearest->count - 1;
}
