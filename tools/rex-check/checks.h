/*
 * checks.h - compare what was read.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_CHECKS_H
#define CHECK_CHECKS_H

#include "images.h"
#include "program.h"
#include "report.h"

/* The tables and entries of PROGRAM by themselves; its host keys; its names against IMAGES. */
void check_entries(const struct program *program, struct report *report);
void check_keys(const struct program *program, struct report *report);
void check_images(const struct program *program, const struct images *images,
                  struct report *report);

/* What a program is, in words: "x86-64 shared object". */
const char *program_kind(const struct program *program, char buffer[96]);

/* The table, the rows and what was found out about them, for people and for programs. */
void show_text(const struct program *program, const struct images *images,
               const struct report *report, bool quiet, bool colour);
void show_json(const struct program *program, const struct images *images,
               const struct report *report);

/* A source in memory. */
struct source_text {
    char *bytes;
    size_t size;
};

/*
 * Check generated sources, host and device, before they are compiled: texts, or the files at PATHS.
 * 0, or -1 with the reason in WHY.
 */
void check_texts(const char *const *paths, const struct source_text *texts, size_t count,
                 struct report *report);
int check_source(const char *const *paths, size_t count, struct report *report, char why[256]);

#endif
