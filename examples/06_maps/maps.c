/*
 * Lesson 6: structs with pointers, and mappers.
 *
 * Each list is a struct with a pointer to its values. The program maps the lists in three ways:
 *
 *     one_list()  the rows are known when the program is written;
 *     add_rows()  the number of rows is known only at run time;
 *     map_list()  a mapper adds the rows of one list.
 *
 * The device's copy of a struct must point to the device's copy of the values. A row that sets this
 * pointer is an attached pointer: REX_MEMBER_POINTER or REX_ATTACH. A row may be a member of
 * another row, its parent: then it is mapped and unmapped with the parent. A member names its
 * parent by the number of the parent's row. In a mapper librex fills in this number.
 *
 * Run it:  make && $(make -s print-O)/examples/06_maps/06_maps
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#include "list.h"

REX_KERNEL(sum_lists);

enum { LISTS = 100, LONGEST = 7 };

/* Launches the kernel in a region that has mapped lists and values, and copies the sums back. */
static int launch(int64_t n, struct list *lists, double *sums)
{
    return REX_LAUNCH_FOR(sum_lists, n, REX_VALUE(n), REX_PRESENT(REX_ALLOC(lists, n)),
                          REX_FROM(sums, n));
}

/* Row 0 is the struct. Row 1 is its member: it maps the values and attaches the pointer to them. */
static int one_list(struct list *list, double *sum)
{
    int error;
    REX_DATA_REGION(&error, -1, REX_OBJECT(REX_MAP_TO, *list),
                    REX_MEMBER_POINTER(0, REX_MAP_TO, *list, values, 0, list->count))
        error = launch(1, list, sum);
    return error;
}

/*
 * librex calls this function twice: to count the rows, and to fill them in. Row 0 is the whole
 * array and copies nothing. Each list and its values are members of row 0.
 */
static int add_rows(struct rex_map_builder *builder, void *context)
{
    struct list *lists = context;
    int error = rex_map_add(builder, REX_ALLOC(lists, LISTS));
    for (struct list *list = lists; list < lists + LISTS && error == 0; list++) {
        error = rex_map_add(builder, rex_row_member(REX_OBJECT(REX_MAP_TO, *list), 0));
        if (error == 0)
            error = rex_map_add(
                builder, REX_MEMBER_POINTER(0, REX_MAP_TO, *list, values, 0, list->count));
    }
    return error;
}

/* A mapper: adds the rows of one list, the struct and its values. */
static int map_list(struct rex_map_builder *builder, void *element)
{
    struct list *list = element;
    int error = rex_map_add(builder, REX_OBJECT(REX_MAP_TO, *list));
    return error != 0 ? error
                      : rex_map_add(builder, REX_ATTACH(REX_MAP_TO, list->values, 0, list->count));
}

static int add_mapped(struct rex_map_builder *builder, void *context)
{
    struct list *lists = context;
    return rex_map_add_mapped(builder, map_list, REX_TO(lists, LISTS), sizeof *lists);
}

/* Builds a map from the rows that @rows adds, and launches the kernel in a region of this map. */
static int many_lists(rex_rows *rows, struct list *lists, double *sums)
{
    struct rex_map map;
    int error = rex_map_build(&map, NULL, rows, lists, NULL);
    if (error != 0)
        return error;
    printf("%d rows of %d lists\n", (int)map.count, LISTS);
    REX_DATA_REGION_MAP(&error, -1, map)
        error = launch(LISTS, lists, sums);
    rex_map_free(&map);
    return error;
}

/* Checks the sums: list i has i % LONGEST + 1 values, and each value is i + 1. */
static int is_right(const char *way, int error, int n, const double *sums)
{
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += sums[i] != (i + 1) * (i % LONGEST + 1);
    if (error == 0)
        printf("%s: %d of %d sums wrong\n", way, wrong, n);
    else if (error == REX_EHOST) /* librex prints all other errors */
        fprintf(stderr, "06_maps: %s\n", rex_last_error());
    return error == 0 && wrong == 0;
}

int main(void)
{
    static double values[LISTS][LONGEST], sums[3][LISTS];
    static struct list lists[LISTS];
    for (int i = 0; i < LISTS; i++) {
        lists[i] = (struct list){i % LONGEST + 1, values[i]};
        for (int k = 0; k < LONGEST; k++)
            values[i][k] = i + 1;
    }
    int right = is_right("rows", one_list(lists, sums[0]), 1, sums[0]) &&
                is_right("counted rows", many_lists(add_rows, lists, sums[1]), LISTS, sums[1]) &&
                is_right("a mapper", many_lists(add_mapped, lists, sums[2]), LISTS, sums[2]);
    return !right;
}
