/*
 * all.c - all records of a list in memory, for runs that map all records at once. See nn.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>

#include "nn.h"

static int grow(void **array, size_t size, int64_t room)
{
    void *more = realloc(*array, (size_t)room * size);
    if (more == NULL)
        return -1;
    *array = more;
    return 0;
}

/* Makes room for another window. Returns 0, or -1: out of memory. */
static int make_room(struct all *all)
{
    if (all->count + WINDOW > all->room) {
        int64_t room = 2 * all->room + 1000 * WINDOW;
        if (grow((void **)&all->text, sizeof *all->text, room) != 0 ||
            grow((void **)&all->places, sizeof *all->places, room) != 0 ||
            grow((void **)&all->squared, sizeof *all->squared, room) != 0)
            return -1;
        all->room = room;
    }
    if (all->windows == all->window_room) {
        int64_t room = 2 * all->window_room + 1000;
        if (grow((void **)&all->window, sizeof *all->window, room) != 0)
            return -1;
        all->window_room = room;
    }
    return 0;
}

static int read_windows(struct all *all, struct records *records)
{
    int count;
    do {
        if (make_room(all) != 0) {
            fputs("nn: out of memory for the records\n", stderr);
            return -1;
        }
        count = read_window(records, all->text + all->count, all->places + all->count);
        if (count > 0) {
            all->window[all->windows++] = count;
            all->count += count;
        }
    } while (count > 0);
    return count;
}

int read_all(struct all *all, const char *list)
{
    struct records records;
    if (open_records(&records, list) != 0)
        return -1;
    int result = read_windows(all, &records);
    close_records(&records);
    return result;
}

void free_all(struct all *all)
{
    free(all->text);
    free(all->places);
    free(all->squared);
    free(all->window);
}

void offer_all(const struct all *all, struct nearest *nearest)
{
    for (int64_t i = 0; i < all->count; i++)
        offer(nearest, i, all->text[i], all->squared[i]);
}
