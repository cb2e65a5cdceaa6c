/*
 * nearest.c - which of some names was probably meant.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#include "rex/inspect.h"

#define LONGEST_NAME 255
#define MOST_STEPS ((size_t)1 << 21) /* more would take longer than a message is worth */

/* How many edits make B of A; SIZE_MAX where it is more than MOST. Adds to STEPS what it took. */
static size_t distance(const char *a, size_t length_a, const char *b, size_t length_b, size_t most,
                       size_t *steps)
{
    size_t row[LONGEST_NAME + 1];
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0], least = i;
        row[0] = i;
        *steps += length_b;
        for (size_t j = 1; j <= length_b; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t either = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < either ? change : either;
            least = row[j] < least ? row[j] : least;
        }
        if (least > most)
            return SIZE_MAX;
    }
    return row[length_b];
}

/* How many letters both names end with. Names of kernels all end alike, which tells nothing. */
static size_t common_ending(const char *a, size_t length_a, const char *b, size_t length_b)
{
    size_t length = 0;
    while (length < length_a && length < length_b &&
           a[length_a - 1 - length] == b[length_b - 1 - length])
        length++;
    return length;
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
    size_t ending = common_ending(nearest->wanted, wanted, name, length);
    wanted -= ending;
    length -= ending;
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

const char *rex_nearest_name(const char *name, const char *const *names, size_t count)
{
    struct rex_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < count; i++)
        rex_nearest_try(&nearest, names[i]);
    return nearest.name;
}
