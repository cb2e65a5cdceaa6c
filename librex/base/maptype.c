/*
 * maptype.c - the type of a map's row in words.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/maptype.h"

#include <inttypes.h>
#include <stdio.h>

/* The bits, in the order in which they are said; 0x4000 and 0x8000 are new in LLVM 22 and 23. */
static const struct {
    int64_t bit;
    const char *name;
} types[] = {
    {0x1, "to"},
    {0x2, "from"},
    {0x4, "always"},
    {0x8, "delete"},
    {0x10, "ptr_and_obj"},
    {0x20, "target_param"},
    {0x40, "return_param"},
    {0x80, "private"},
    {0x100, "literal"},
    {0x200, "implicit"},
    {0x400, "close"},
    {0x1000, "present"},
    {0x2000, "ompx_hold"},
    {0x4000, "attach"},
    {0x8000, "fb_nullify"},
    {0x100000000000, "non_contig"},
};

#define MEMBER_OF ((uint64_t)0xffff << 48)

static size_t add(char *text, size_t size, size_t at, const char *word)
{
    int length = at < size ? snprintf(text + at, size - at, "%s%s", at > 0 ? "|" : "", word) : 0;
    return at + (length > 0 ? (size_t)length : 0);
}

void rex_type_text(int64_t type, char *text, size_t size)
{
    uint64_t rest = (uint64_t)type & ~MEMBER_OF;
    size_t at = 0;
    char word[32];
    if (size > 0)
        text[0] = '\0';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type & types[i].bit) {
            at = add(text, size, at, types[i].name);
            rest &= ~(uint64_t)types[i].bit;
        }
    if (((uint64_t)type & MEMBER_OF) != 0) {
        snprintf(word, sizeof word, "member_of(%u)", (unsigned)((uint64_t)type >> 48));
        at = add(text, size, at, word);
    }
    if (rest != 0) {
        snprintf(word, sizeof word, "0x%" PRIx64, rest);
        at = add(text, size, at, word);
    }
    if (at == 0)
        add(text, size, 0, "alloc");
}
