/*
 * picture.h - draws how busy tracks were, as SVG.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_PICTURE_H
#define REX_REPORT_PICTURE_H

#include <stdio.h>

#include "timeline.h"

/* The names of the kinds of work. */
extern const char *const busy_names[BUSY_KINDS];

/*
 * Draws TRACK over the whole span of the timeline. LABEL describes the picture for screen readers.
 */
void picture_track(FILE *out, const struct timeline *timeline, const struct track *track,
                   const char *label);

/* Draws the axis of times below the tracks. */
void picture_axis(FILE *out, const struct timeline *timeline);

#endif
