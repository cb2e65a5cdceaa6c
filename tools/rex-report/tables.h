/*
 * tables.h - the words and figures of a report, for a terminal and for a page.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_TABLES_H
#define REX_REPORT_TABLES_H

#include "study.h"

#define COLUMNS 7 /* maximum columns of a table */

struct table {
    const char *title;
    const char *columns[COLUMNS]; /* titles; NULL ends a list of fewer than COLUMNS */
    char *(*cells)[COLUMNS];
    /* number of rows in the table; number of rows left out because the table was full */
    size_t rows, left_out;
    char *note; /* text below the table, or NULL */
};

enum tables_of { TABLE_KERNELS, TABLE_COPIES, TABLE_WAITING, TABLE_START, TABLES };

/* Makes all tables of STUDY; a table may have no rows. */
void tables_make(struct table tables[TABLES], const struct study *study);
void tables_free(struct table tables[TABLES]);

/* Returns a line about the program and its device. The caller frees the line. */
char *facts_line(const struct study *study);

/*
 * Returns a line about missing events of the trace, or NULL if no event is missing. The caller
 * frees the line.
 */
char *doubts_line(const struct study *study);

/* Returns a readable name of TRACK; the caller frees it. */
char *track_name(const struct track *track);

#endif
