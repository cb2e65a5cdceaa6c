/*
 * rex-run.h - the parts of rex-run.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_H
#define REX_RUN_H

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit statuses of rex-run itself, as env(1) and nohup(1) have them. */
enum { NOT_RUN = 125, REFUSED = 126, NOT_FOUND = 127 };

/* "rex-run: MESSAGE" to standard error; exits with STATUS. */
void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Room for a formatted path of any length that the system takes; exits where it is longer. */
void path_of(char path[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- program.c: the file --------------------------------------------------------------------- */

struct program {
    char path[PATH_MAX];
    bool script; /* begins with #!; nothing below is known */
    /*
     * DT_RPATH, which the loader searches before LD_LIBRARY_PATH; "" where there is none that
     * counts
     */
    char rpath[PATH_MAX];
};

/*
 * Find NAME as execvp(3) would, and look at it. Exits, with the reason, if librex cannot be put in
 * front of it.
 */
void find_program(struct program *program, const char *name);

/* ---- environment.c: what the program starts with --------------------------------------------- */

/*
 * Put VALUE in front of the list in VARIABLE, whose parts a ':' separates; it must not contain one
 * of SEPARATORS.
 */
void put_in_front(const char *variable, const char *value, const char *separators);

/* Preload the librex that rex-run itself uses, and have it adopt what it finds. */
void preload_librex(void);

/* ---- elsewhere.c: another libomptarget than the linked one ----------------------------------- */

/*
 * Make the program find LIBRARY under the names that it is linked to. Whether there is a folder
 * that has to be removed in the end.
 */
bool lead_to(const struct program *program, const char *library);
void remove_folder(void);

/* ---- loader.c -------------------------------------------------------------------------------- */

/*
 * Call SEE for each library that the loader would load for PROGRAM: the name asked for and where it
 * is, NULL: nowhere.
 */
void ask_loader(const struct program *program,
                void (*see)(const char *name, const char *path, void *context), void *context);

/* ---- child.c --------------------------------------------------------------------------------- */

/* From here on signals wait for run_and_tidy(): none may end rex-run while there is a folder. */
void hold_signals(void);

/* Run PROGRAM as a child, hand on signals, and remove the folder. Ends as the program ended. */
void run_and_tidy(const struct program *program, char **arguments) __attribute__((noreturn));

#endif
