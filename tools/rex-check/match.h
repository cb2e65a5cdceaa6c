/*
 * match.h - compares the names of a program with those of its images.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_MATCH_H
#define CHECK_MATCH_H

#include "images.h"
#include "program.h"
#include "report.h"

void check_images(const struct program *program, const struct images *images,
                  struct report *report);

#endif
