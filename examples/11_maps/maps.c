/*
 * Lesson 11: three ways to say what is mapped.
 *
 * The same lists, each a struct with a pointer to its values, go to the device three times:
 *
 *     one_list()     a static map: what the rows are is known when the code is written
 *     by_columns()   a dynamic map: how many rows there are is known at run time alone; they are counted, then filled in
 *     by_mapper()    the same in librex's words: a function says what one element is made of
 *
 * The first two are what a code generator emits, the third what a person writes. Types of rows, the bits of rex/map.h:
 * 1 to, 16 attached pointer; from bit 48 on, 1 + the row that a row is a member of.
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

#define MEMBER_OF(row) ((int64_t)((row) + 1) << 48)

/* The launch in each region: the lists and their values are on the device already, the sums come back. */
static int launch(int64_t n, struct list *lists, double *sums)
{
    return REX_LAUNCH_FOR(sum_lists, n, REX_VALUE(n), REX_ALLOC(lists, n), REX_FROM(sums, n));
}

/*
 * Static: a struct, and what its pointer points to. Row 1 is an attached pointer: its base is the address of the pointer, its begin
 * what that points to; libomptarget writes the device's address of the values into the device's copy of the struct. It is a
 * member of row 0: if it were not, the struct would be counted once more at the begin and stay mapped behind the end.
 */
static int one_list(struct list *list, double *sum)
{
    void *base[] = {list, &list->values};
    void *begin[] = {list, list->values};
    int64_t sizes[] = {sizeof *list, (int64_t)sizeof(double) * list->count};
    int64_t types[] = {1, 1 | 16 | MEMBER_OF(0)};
    __tgt_target_data_begin(-1, 2, base, begin, sizes, types);
    int result = launch(1, list, sum);
    __tgt_target_data_end(-1, 2, base, begin, sizes, types);
    return result;
}

/*
 * Dynamic: row 0 is the array of lists as a whole, which copies nothing; each list and its values are members of it, so that
 * they go and come together with it. One pass counts, one allocation for each column, one pass fills in.
 */
static int by_columns(int64_t n, struct list *lists, double *sums)
{
    int64_t rows = 1;
    for (int64_t i = 0; i < n; i++)
        rows += 2;
    void **base = (void **)malloc(sizeof(void *) * (size_t)rows);
    void **begin = (void **)malloc(sizeof(void *) * (size_t)rows);
    int64_t *sizes = (int64_t *)malloc(sizeof(int64_t) * (size_t)rows);
    int64_t *types = (int64_t *)malloc(sizeof(int64_t) * (size_t)rows);
    int result = -1;
    if (base != NULL && begin != NULL && sizes != NULL && types != NULL) {
        int64_t row = 0;
        base[row] = lists;
        begin[row] = lists;
        sizes[row] = (int64_t)sizeof *lists * n;
        types[row] = 0;
        row++;
        for (int64_t i = 0; i < n; i++) {
            base[row] = &lists[i];
            begin[row] = &lists[i];
            sizes[row] = sizeof *lists;
            types[row] = 1 | MEMBER_OF(0);
            row++;
            base[row] = &lists[i].values;
            begin[row] = lists[i].values;
            sizes[row] = (int64_t)sizeof(double) * lists[i].count;
            types[row] = 1 | 16 | MEMBER_OF(0);
            row++;
        }
        __tgt_target_data_begin(-1, (int32_t)rows, base, begin, sizes, types);
        result = launch(n, lists, sums);
        __tgt_target_data_end(-1, (int32_t)rows, base, begin, sizes, types);
    }
    free(base);
    free(begin);
    free(sizes);
    free(types);
    return result;
}

/* ---- the same with a mapper ---------------------------------------------------------------------------------------- */

struct some_lists {
    int64_t count;
    struct list *lists;
};

/* The parts of one list: the struct, and the values that its pointer points to. */
static int map_list(struct rex_map_builder *builder, void *element)
{
    struct list *list = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TO, *list));
    return result == 0 ? rex_map_add(builder, REX_ATTACH(REX_MAP_TO, list->values, 0, list->count)) : result;
}

/* Called twice: once to count, once to fill in. */
static int push_lists(struct rex_map_builder *builder, void *context)
{
    struct some_lists *some = context;
    return rex_map_add_mapped(builder, map_list, REX_TO(some->lists, some->count), sizeof *some->lists);
}

static int by_mapper(int64_t n, struct list *lists, double *sums)
{
    struct some_lists some = {n, lists};
    struct rex_map map;
    int result = rex_map_build(&map, NULL, push_lists, &some, NULL);
    if (result != 0)
        return result;
    printf("a mapper makes %d rows of %lld lists\n", (int)map.count, (long long)n);
    REX_DATA_REGION_MAP(&result, -1, map)
        result = launch(n, lists, sums);
    rex_map_free(&map);
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
    static double values[LISTS][LONGEST], sums[3][LISTS];
    struct list lists[LISTS];
    for (int64_t i = 0; i < LISTS; i++) {
        lists[i] = (struct list){i % LONGEST + 1, values[i]};
        for (int64_t k = 0; k < LONGEST; k++)
            values[i][k] = (double)i;
    }
    if (rex_offload_init() != 0)
        return 1;
    int failed = check("a static map", one_list(&lists[0], sums[0]), 1, sums[0]);
    failed |= check("a dynamic map", by_columns(LISTS, lists, sums[1]), LISTS, sums[1]);
    failed |= check("a mapper", by_mapper(LISTS, lists, sums[2]), LISTS, sums[2]);
    return failed;
}
