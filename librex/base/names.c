/*
 * names.c - names that others gave: how one is printed, and which of some was meant.
 *
 * Names of kernels, files and devices come from images, arguments and the environment: a line feed
 * in one could forge a line of the log, and an escape sequence command the terminal that shows it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* ---- printing -------------------------------------------------------------------------------- */

/* RFC 3629, which has no longer form than need be, no surrogates and nothing above U+10FFFF. */
size_t rex_utf8_length(const char *text)
{
    static const uint32_t least[] = {0, 1, 0x80, 0x800, 0x10000}; /* by the length */
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80   ? 1
                    : at[0] < 0xc0 ? 0
                    : at[0] < 0xe0 ? 2
                    : at[0] < 0xf0 ? 3
                    : at[0] < 0xf8 ? 4
                                   : 0;
    uint32_t character = length < 2 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (at[i] & 0x3f);
    }
    bool is_one = character >= least[length] && character <= 0x10ffff;
    return is_one && (character < 0xd800 || character > 0xdfff) ? length : 0;
}

/* Bytes of the character at TEXT, if it can stay; else 0. */
static size_t stays(const char *text, bool lines)
{
    const unsigned char *at = (const unsigned char *)text;
    if (lines && *at == '\n')
        return 1;
    bool is_above = at[0] == 0xc2 && at[1] < 0xa0; /* U+0080 to U+009F */
    return at[0] < 0x20 || at[0] == 0x7f || is_above ? 0 : rex_utf8_length(text);
}

static void escape(char *text, size_t size, bool lines)
{
    char given[REX_MESSAGE_MAX], code[8];
    char *to = text;
    snprintf(given, sizeof given, "%s", text);
    for (const char *from = given; *from != '\0';) {
        size_t length = stays(from, lines), written = length;
        const char *piece = from;
        if (length == 0) {
            written = (size_t)snprintf(code, sizeof code, "\\x%02x", (unsigned char)*from);
            piece = code;
            length = 1;
        }
        if (written >= size - (size_t)(to - text))
            break;
        memcpy(to, piece, written);
        to += written;
        from += length;
    }
    *to = '\0';
}

void rex_escape(char *text, size_t size)
{
    escape(text, size, false);
}

void rex_escape_lines(char *text, size_t size)
{
    escape(text, size, true);
}

/* ---- the nearest ----------------------------------------------------------------------------- */

#define LONGEST_NAME 255
#define MOST_STEPS ((size_t)1 << 21) /* more would take longer than a message is worth */

/*
 * How many edits make B of A; SIZE_MAX where it is more than MOST. Two swapped neighbours are one.
 * Adds to STEPS what it took.
 */
static size_t distance(const char *a, size_t length_a, const char *b, size_t length_b, size_t most,
                       size_t *steps)
{
    size_t rows[3][LONGEST_NAME + 1];
    for (size_t j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *row = rows[i % 3], *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        size_t least = row[0] = i;
        *steps += length_b;
        for (size_t j = 1; j <= length_b; j++) {
            size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
            size_t either = (last[j] < row[j - 1] ? last[j] : row[j - 1]) + 1;
            row[j] = change < either ? change : either;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
            least = row[j] < least ? row[j] : least;
        }
        if (least > most)
            return SIZE_MAX;
    }
    return rows[length_a % 3][length_b];
}

/* A name is near if a third of the letters before the common ending differ, and one more. */
void rex_nearest_try(struct rex_nearest *nearest, const char *name)
{
    if (nearest->steps >= MOST_STEPS)
        return;
    size_t wanted = strlen(nearest->wanted), longest = 2 * (wanted + 1);
    size_t length = strnlen(name, longest);
    nearest->steps += wanted + length;
    if (length == longest)
        return;
    /* Names of kernels all end alike, which tells nothing. */
    while (wanted > 0 && length > 0 && nearest->wanted[wanted - 1] == name[length - 1]) {
        wanted--;
        length--;
    }
    if (wanted > LONGEST_NAME || length > LONGEST_NAME)
        return;
    size_t most = wanted / 3 + 1;
    if (nearest->name != NULL && nearest->edits <= most) {
        if (nearest->edits == 0)
            return;
        most = nearest->edits - 1;
    }
    size_t apart = wanted > length ? wanted - length : length - wanted;
    if (apart > most)
        return;
    size_t edits = distance(nearest->wanted, wanted, name, length, most, &nearest->steps);
    if (edits <= most) {
        nearest->name = name;
        nearest->edits = edits;
    }
}
