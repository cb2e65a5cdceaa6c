/*
 * overlap.h - rows that one call maps anew, against each other.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_OVERLAP_H
#define REX_INTERNAL_OVERLAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REX_NEW_ON_STACK 16

/*
 * Memory that is not mapped yet and that row ROW of a call will map: what it names, or before that
 * the pointer to it.
 */
struct rex_new_row {
    uintptr_t begin, end;
    int32_t row;
    bool pointer;
    bool may_exceed; /* what is mapped before it, and counts as mapped then */
};

/* All of a call's, between rex_new_rows_open() and rex_new_rows_free(). */
struct rex_new_rows {
    struct rex_new_row *rows; /* NULL: on_stack */
    size_t count, room;
    struct rex_new_row on_stack[REX_NEW_ON_STACK];
};

static inline void rex_new_rows_open(struct rex_new_rows *all)
{
    all->rows = NULL;
    all->count = all->room = 0;
}

static inline struct rex_new_row *rex_new_rows_all(struct rex_new_rows *all)
{
    return all->rows != NULL ? all->rows : all->on_stack;
}

/* 0 or REX_ENOMEM. */
int rex_new_rows_add(struct rex_new_rows *all, struct rex_new_row row);

/*
 * 0, or REX_EOVERLAP where libomptarget would abort; WHAT begins the message. Afterwards the rows
 * are those that get a mapping of their own, and not those that lie in it.
 */
int rex_new_rows_check(struct rex_new_rows *all, const char *what);

/* In the order of their addresses. */
void rex_new_rows_sort(struct rex_new_rows *all);

void rex_new_rows_free(struct rex_new_rows *all);

#endif
