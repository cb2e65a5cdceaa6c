/*
 * tables.h - what a study says in words and figures, for a terminal and for a page.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_TABLES_H
#define REX_REPORT_TABLES_H

#include "study.h"

#define COLUMNS 7 /* most of a table */

struct table {
    const char *title;
    const char *columns[COLUMNS]; /* the first is a name, the others are figures; NULL ends them */
    char *(*cells)[COLUMNS];
    size_t rows;
    char *note; /* below it; NULL: nothing */
};

enum tables_of { TABLE_KERNELS, TABLE_COPIES, TABLE_WAITING, TABLE_START, TABLES };

/* All tables of STUDY; one may have no rows. */
void tables_make(struct table tables[TABLES], const struct study *study);
void tables_free(struct table tables[TABLES]);

/* The program and its device, in a line that the caller frees. */
char *facts_line(const struct study *study);

/* The doubts about the trace, in a line that the caller frees; NULL: none. */
char *doubts_line(const struct study *study);

/* The name of TRACK that a reader is shown; the caller frees it. */
char *track_name(const struct track *track);

#endif
