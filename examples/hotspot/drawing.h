/*
 * drawing.h - a picture in memory: rectangles and text.
 *
 * Pixels outside the picture are not drawn.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef DRAWING_H
#define DRAWING_H

#include <stdint.h>

/* A pixel in the layout of PNG and PPM. */
struct colour {
    uint8_t red, green, blue;
};
_Static_assert(sizeof(struct colour) == 3, "pixels lie side by side");

struct picture {
    int width, height;
    struct colour *pixels;
};

/* Measures of text, in pixels. */
enum {
    GLYPH_WIDTH = 5, /* before scaling */
    GLYPH_HEIGHT = 7,
    TEXT_SCALE = 2,
    TEXT_ADVANCE = (GLYPH_WIDTH + 1) * TEXT_SCALE, /* from one character to the next */
    TEXT_HEIGHT = GLYPH_HEIGHT * TEXT_SCALE
};

void draw_rectangle(struct picture *picture, int left, int top, int width, int height,
                    struct colour colour);

/* Draws TEXT of letters, digits and .,:-+; other characters are blank. */
void draw_text(struct picture *picture, int left, int top, const char *text);

/* Draws a horizontal line in the text's colour. */
void draw_tick(struct picture *picture, int left, int top, int width);

#endif
