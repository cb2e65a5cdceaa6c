/*
 * Lesson 11, without the two ways that have no name of version 0.1: lists, each a struct with a pointer to its values, go to the
 * device. A function says what one element is made of. Types of rows, the bits of rex/map.h: 1 to, 2 from, 32 a kernel's parameter,
 * 256 a literal.
 *
 * Run it:  make && $(make -s print-O)/examples/11_maps/11_maps
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include "rex_kmp.h"

#include <stdio.h>
#include <stdlib.h>

#include "list.h"

REX_KERNEL(sum_lists);

enum { LISTS = 100, LONGEST = 7 };

/* The launch in the region: the lists and their values are on the device already, the sums come back. */
static int launch(int64_t n, struct list *lists, double *sums)
{
    void *packed_n = rex_pack_literal_arg_bytes(&n, sizeof(int64_t));
    void *base[] = {packed_n, lists, sums};
    void *begin[] = {packed_n, lists, sums};
    int64_t sizes[] = {sizeof(int64_t), (int64_t)sizeof *lists * n, (int64_t)sizeof(double) * n};
    int64_t types[] = {32 | 256, 32, 32 | 2};
    struct __tgt_kernel_arguments args = {3, 3, base, begin, sizes, types, 0, 0, n, 0, {4, 1, 1}, {64, 1, 1}, 0};
    return __tgt_target_kernel(-1, 4, 64, REX_KERNEL_ID(sum_lists), &args);
}

/* ---- with a mapper ---------------------------------------------------------------------------------------- */

struct some_lists {
    int64_t count;
    struct list *lists;
};

/* What one list is made of: itself, and what its pointer points to. */
static int map_list(struct rex_cursor *cursor, void *element)
{
    struct list *list = element;
    int result = rex_push(cursor, REX_OBJECT(REX_TYPE_TO, *list));
    return result == 0 ? rex_push(cursor, REX_POINTEE(REX_TYPE_TO, list->values, 0, list->count)) : result;
}

/* Called twice: once to count, once to fill in. */
static int push_lists(struct rex_cursor *cursor, void *context)
{
    struct some_lists *some = context;
    return rex_map_elements(cursor, map_list, rex_row_in_region(REX_TO(some->lists, some->count)), sizeof *some->lists);
}

static int by_mapper(int64_t n, struct list *lists, double *sums)
{
    struct some_lists some = {n, lists};
    struct rex_map map;
    int result = rex_map_build(&map, NULL, push_lists, &some, NULL);
    if (result != 0)
        return result;
    printf("a mapper makes %d rows of %lld lists\n", (int)map.count, (long long)n);
    REX_DATA_REGION_OWNING(-1, map, &result) /* ends it, and frees the map */
    result = launch(n, lists, sums);
    return result;
}

/* ---- the rest ------------------------------------------------------------------------------------------------------ */

/* List i has i % LONGEST + 1 values, all of them i. */
static int check(const char *way, int result, int64_t n, const double *sums)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; i++)
        wrong += sums[i] != (double)(i * (i % LONGEST + 1));
    if (result != 0)
        printf("%s: %s\n", way, rex_last_error());
    else
        printf("%s: %lld of %lld sums wrong\n", way, (long long)wrong, (long long)n);
    return result != 0 || wrong != 0;
}

int main(void)
{
    static double values[LISTS][LONGEST], sums[LISTS];
    struct list lists[LISTS];
    for (int64_t i = 0; i < LISTS; i++) {
        lists[i] = (struct list){i % LONGEST + 1, values[i]};
        for (int64_t k = 0; k < LONGEST; k++)
            values[i][k] = (double)i;
    }
    if (rex_offload_init() != 0)
        return 1;
    return check("a mapper", by_mapper(LISTS, lists, sums), LISTS, sums);
}
