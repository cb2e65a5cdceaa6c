/*
 * find.h - finds the images that librex would load for a program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_FIND_H
#define CHECK_FIND_H

#include "images.h"
#include "program.h"
#include "report.h"

/*
 * Adds the images that librex would load, with notes about these images. Returns 0, even if no
 * image was found. If an image was found but cannot be used, returns -1, with the reason in WHY.
 */
int images_find(struct images *images, const struct program *program, struct report *report,
                char why[WHY_MAX]);

#endif
