/*
 * drawing.c - a picture in memory: rectangles and text.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "drawing.h"

#include <stddef.h>

static const struct colour ink = {40, 40, 40};

void draw_rectangle(struct picture *picture, int left, int top, int width, int height,
                    struct colour colour)
{
    int right = left + width < picture->width ? left + width : picture->width;
    int bottom = top + height < picture->height ? top + height : picture->height;
    for (int y = top < 0 ? 0 : top; y < bottom; y++)
        for (int x = left < 0 ? 0 : left; x < right; x++)
            picture->pixels[(size_t)y * (size_t)picture->width + (size_t)x] = colour;
}

/* Rows of a glyph from the top, its leftmost pixel in bit 4. */
static const struct {
    char character;
    uint8_t rows[GLYPH_HEIGHT];
} glyphs[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}},  {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},      {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},      {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},    {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}},  {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'A', {14, 17, 17, 31, 17, 17, 17}},  {'B', {30, 17, 17, 30, 17, 17, 30}},
    {'C', {14, 17, 16, 16, 16, 17, 14}},  {'D', {28, 18, 17, 17, 17, 18, 28}},
    {'E', {31, 16, 16, 30, 16, 16, 31}},  {'F', {31, 16, 16, 30, 16, 16, 16}},
    {'G', {14, 17, 16, 23, 17, 17, 15}},  {'H', {17, 17, 17, 31, 17, 17, 17}},
    {'I', {14, 4, 4, 4, 4, 4, 14}},       {'J', {7, 2, 2, 2, 2, 18, 12}},
    {'K', {17, 18, 20, 24, 20, 18, 17}},  {'L', {16, 16, 16, 16, 16, 16, 31}},
    {'M', {17, 27, 21, 21, 17, 17, 17}},  {'N', {17, 17, 25, 21, 19, 17, 17}},
    {'O', {14, 17, 17, 17, 17, 17, 14}},  {'P', {30, 17, 17, 30, 16, 16, 16}},
    {'Q', {14, 17, 17, 17, 21, 18, 13}},  {'R', {30, 17, 17, 30, 20, 18, 17}},
    {'S', {15, 16, 16, 14, 1, 1, 30}},    {'T', {31, 4, 4, 4, 4, 4, 4}},
    {'U', {17, 17, 17, 17, 17, 17, 14}},  {'V', {17, 17, 17, 17, 17, 10, 4}},
    {'W', {17, 17, 17, 21, 21, 21, 10}},  {'X', {17, 17, 10, 4, 10, 17, 17}},
    {'Y', {17, 17, 17, 10, 4, 4, 4}},     {'Z', {31, 1, 2, 4, 8, 16, 31}},
    {'a', {0, 0, 14, 1, 15, 17, 15}},     {'b', {16, 16, 22, 25, 17, 17, 30}},
    {'c', {0, 0, 14, 16, 16, 17, 14}},    {'d', {1, 1, 13, 19, 17, 17, 15}},
    {'e', {0, 0, 14, 17, 31, 16, 14}},    {'f', {6, 9, 8, 28, 8, 8, 8}},
    {'g', {0, 15, 17, 17, 15, 1, 14}},    {'h', {16, 16, 22, 25, 17, 17, 17}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},       {'j', {2, 0, 6, 2, 2, 18, 12}},
    {'k', {16, 16, 18, 20, 24, 20, 18}},  {'l', {12, 4, 4, 4, 4, 4, 14}},
    {'m', {0, 0, 26, 21, 21, 17, 17}},    {'n', {0, 0, 22, 25, 17, 17, 17}},
    {'o', {0, 0, 14, 17, 17, 17, 14}},    {'p', {0, 0, 30, 17, 30, 16, 16}},
    {'q', {0, 0, 13, 19, 15, 1, 1}},      {'r', {0, 0, 22, 25, 16, 16, 16}},
    {'s', {0, 0, 14, 16, 14, 1, 30}},     {'t', {8, 8, 28, 8, 8, 9, 6}},
    {'u', {0, 0, 17, 17, 17, 19, 13}},    {'v', {0, 0, 17, 17, 17, 10, 4}},
    {'w', {0, 0, 17, 17, 21, 21, 10}},    {'x', {0, 0, 17, 10, 4, 10, 17}},
    {'y', {0, 0, 17, 17, 15, 1, 14}},     {'z', {0, 0, 31, 2, 4, 8, 31}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},       {',', {0, 0, 0, 0, 12, 4, 8}},
    {':', {0, 12, 12, 0, 12, 12, 0}},     {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},
};

static const uint8_t *rows_of(char character)
{
    for (size_t i = 0; i < sizeof glyphs / sizeof glyphs[0]; i++)
        if (glyphs[i].character == character)
            return glyphs[i].rows;
    return NULL;
}

void draw_text(struct picture *picture, int left, int top, const char *text)
{
    for (; *text != '\0'; text++, left += TEXT_ADVANCE) {
        const uint8_t *rows = rows_of(*text);
        for (int y = 0; rows != NULL && y < GLYPH_HEIGHT; y++)
            for (int x = 0; x < GLYPH_WIDTH; x++)
                if (rows[y] >> (GLYPH_WIDTH - 1 - x) & 1)
                    draw_rectangle(picture, left + x * TEXT_SCALE, top + y * TEXT_SCALE, TEXT_SCALE,
                                   TEXT_SCALE, ink);
    }
}

void draw_tick(struct picture *picture, int left, int top, int width)
{
    draw_rectangle(picture, left, top, width, 1, ink);
}
