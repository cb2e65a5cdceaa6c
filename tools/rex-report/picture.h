/*
 * picture.h - how busy tracks were, drawn as SVG.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_PICTURE_H
#define REX_REPORT_PICTURE_H

#include <stdio.h>

#include "timeline.h"

/* The names of the kinds of work. */
extern const char *const busy_names[BUSY_KINDS];

/* TRACK over all of the timeline's span, with LABEL for who cannot see it. */
void picture_track(FILE *out, const struct timeline *timeline, const struct track *track,
                   const char *label);

/* The axis of times below such pictures. */
void picture_axis(FILE *out, const struct timeline *timeline);

#endif
