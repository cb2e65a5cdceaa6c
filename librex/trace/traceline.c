/*
 * traceline.c - a line of JSON, and the words for what stands in it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "trace/traceline.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/names.h"
#include "rex/map.h"

#define STRING_MAX 1024 /* bytes of a string; C++ makes long names */

void rex_line_add(struct rex_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(line->text + line->length, REX_LINE_MAX - line->length, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= REX_LINE_MAX - line->length)
        line->full = true;
    else
        line->length += (size_t)length;
}

static void add_bytes(struct rex_line *line, const void *bytes, size_t size)
{
    if (size >= REX_LINE_MAX - line->length) {
        line->full = true;
        return;
    }
    memcpy(line->text + line->length, bytes, size);
    line->length += size;
    line->text[line->length] = '\0';
}

void rex_line_text(struct rex_line *line, const char *text)
{
    add_bytes(line, text, strlen(text));
}

/* With zeroes in front where NUMBER has fewer digits than LEAST. */
static void add_number(struct rex_line *line, uint64_t number, unsigned base, size_t least)
{
    char digits[20], *end = digits + sizeof digits, *at = end;
    do {
        *--at = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0 || (size_t)(end - at) < least);
    add_bytes(line, at, (size_t)(end - at));
}

void rex_line_number(struct rex_line *line, int64_t number)
{
    if (number < 0)
        add_bytes(line, "-", 1);
    add_number(line, number < 0 ? -(uint64_t)number : (uint64_t)number, 10, 1);
}

void rex_line_hexadecimal(struct rex_line *line, uint64_t number)
{
    add_bytes(line, "0x", 2);
    add_number(line, number, 16, 1);
}

void rex_line_three(struct rex_line *line, const uint32_t numbers[3])
{
    for (int i = 0; i < 3; i++) {
        add_bytes(line, i == 0 ? "[" : ",", 1);
        add_number(line, numbers[i], 10, 1);
    }
    add_bytes(line, "]", 1);
}

void rex_line_time(struct rex_line *line, uint64_t nanoseconds)
{
    add_number(line, nanoseconds / 1000, 10, 1);
    add_bytes(line, ".", 1);
    add_number(line, nanoseconds % 1000, 10, 3);
}

/* How many characters at AT stand in JSON as they are. Most names have no others. */
static size_t plain(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *from = at;
    while (at < end && *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
        at++;
    return (size_t)(at - from);
}

/* One character at AT that may have to be written another way; the number of its bytes. */
static size_t add_escaped(struct rex_line *line, const unsigned char *at)
{
    size_t length = rex_utf8_length((const char *)at);
    if (*at < 0x80)
        rex_line_add(line, *at == '"' || *at == '\\' ? "\\%c" : "\\u%04x", *at);
    else if (length > 0)
        add_bytes(line, at, length);
    else
        add_bytes(line, "\\ufffd", 6);
    return length > 0 ? length : 1;
}

void rex_line_string(struct rex_line *line, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strnlen(text, STRING_MAX);
    add_bytes(line, "\"", 1);
    while (at < end) {
        size_t length = plain(at, end);
        if (length > 0)
            add_bytes(line, at, length);
        at += length > 0 ? length : add_escaped(line, at);
    }
    if (*at != '\0')
        add_bytes(line, "...", 3);
    add_bytes(line, "\"", 1);
}

/* ---- types of rows --------------------------------------------------------------------------- */

/* The bits, in the order in which they are said; 0x4000 and 0x8000 are new in LLVM 22 and 23. */
static const struct {
    int64_t bit;
    const char *name;
} type_names[] = {
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
#define KIND ((uint64_t)REX_MAP_KIND_MASK) /* of a literal: librex's own, and no bit of LLVM's */

static size_t add_word(char *text, size_t size, size_t at, const char *word)
{
    int length = at < size ? snprintf(text + at, size - at, "%s%s", at > 0 ? "|" : "", word) : 0;
    return at + (length > 0 ? (size_t)length : 0);
}

void rex_type_text(int64_t type, char *text, size_t size)
{
    uint64_t rest = (uint64_t)type & ~(MEMBER_OF | (type & REX_MAP_LITERAL ? KIND : 0));
    size_t at = 0;
    char word[32];
    if (size > 0)
        text[0] = '\0';
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (type & type_names[i].bit) {
            at = add_word(text, size, at, type_names[i].name);
            rest &= ~(uint64_t)type_names[i].bit;
        }
    if (((uint64_t)type & MEMBER_OF) != 0) {
        snprintf(word, sizeof word, "member_of(%u)", (unsigned)((uint64_t)type >> 48));
        at = add_word(text, size, at, word);
    }
    if (rest != 0) {
        snprintf(word, sizeof word, "0x%" PRIx64, rest);
        at = add_word(text, size, at, word);
    }
    if (at == 0)
        add_word(text, size, 0, "alloc");
}

/* ---- launches and rows of a map -------------------------------------------------------------- */

#define MOST_ROWS 32
/* OMP_MAP_NON_CONTIG: begin points to dimensions, size is their number */
#define NON_CONTIGUOUS INT64_C(0x100000000000)

/* As libomptarget has it (LLVM 14 to 22): outermost first. */
struct dimension {
    uint64_t offset, count, stride;
};

static uint64_t bytes_of_dimensions(const struct dimension *dimension, int64_t dimensions)
{
    uint64_t bytes = dimensions > 0 ? dimension[dimensions - 1].stride : 0;
    for (int64_t i = 0; i < dimensions; i++)
        if (__builtin_mul_overflow(bytes, dimension[i].count, &bytes))
            return INT64_MAX;
    return bytes < INT64_MAX ? bytes : INT64_MAX;
}

static uint64_t bytes_of(const void *begin, int64_t size, int64_t type)
{
    if (type & (REX_MAP_LITERAL | REX_MAP_PRIVATE) || size < 0)
        return 0;
    return type & NON_CONTIGUOUS ? bytes_of_dimensions(begin, size) : (uint64_t)size;
}

uint64_t rex_rows_bytes(int64_t count, void **begin, const int64_t *sizes, const int64_t *types,
                        int64_t direction)
{
    uint64_t all = 0;
    for (int64_t i = 0; begin != NULL && sizes != NULL && types != NULL && i < count; i++)
        if ((types[i] & direction) &&
            __builtin_add_overflow(all, bytes_of(begin[i], sizes[i], types[i]), &all))
            return INT64_MAX;
    return all < INT64_MAX ? all : INT64_MAX;
}

/*
 * The words for TYPE. Those of the last few types are kept, since a program has few. Only one
 * thread at a time is here, by the lock of trace.c.
 */
static const char *words_of(int64_t type)
{
    static struct {
        int64_t type;
        char words[128];
    } known[32];
    size_t at = rex_hash_bytes(&type, sizeof type) % (sizeof known / sizeof *known);
    if (known[at].words[0] == '\0' || known[at].type != type) {
        rex_type_text(type, known[at].words, sizeof known[at].words);
        known[at].type = type;
    }
    return known[at].words;
}

static void add_row(struct rex_line *line, const void *begin, int64_t size, int64_t type,
                    bool (*is_pinned)(const void *address))
{
    bool literal = (type & REX_MAP_LITERAL) != 0;
    rex_line_text(line, "\"");
    rex_line_text(line, words_of(type));
    rex_line_text(line, " ");
    if (literal) {
        rex_line_hexadecimal(line, (uintptr_t)begin);
        rex_line_text(line, ", ");
    }
    rex_line_number(line, type & NON_CONTIGUOUS ? (int64_t)bytes_of(begin, size, type) : size);
    rex_line_text(line, literal ? " bytes\"" : " bytes at ");
    if (!literal) {
        rex_line_hexadecimal(line, (uintptr_t)begin);
        rex_line_text(line, is_pinned(begin) ? ", pinned\"" : "\"");
    }
}

void rex_line_rows(struct rex_line *line, int64_t count, void **begin, const int64_t *sizes,
                   const int64_t *types, bool (*is_pinned)(const void *address))
{
    if (count <= 0 || begin == NULL || sizes == NULL || types == NULL)
        return;
    rex_line_text(line, ",\"rows\":[");
    for (int64_t i = 0; i < count && i < MOST_ROWS; i++) {
        if (i > 0)
            rex_line_text(line, ",");
        add_row(line, begin[i], sizes[i], types[i], is_pinned);
    }
    if (count > MOST_ROWS)
        rex_line_add(line, ",\"and %lld more\"", (long long)(count - MOST_ROWS));
    rex_line_text(line, "]");
}

void rex_line_launch(struct rex_line *line, const void *key, const uint32_t teams[3],
                     const uint32_t threads[3], int64_t arguments)
{
    rex_line_text(line, ",\"key\":\"");
    rex_line_hexadecimal(line, (uintptr_t)key);
    rex_line_text(line, "\",\"teams\":");
    rex_line_three(line, teams);
    rex_line_text(line, ",\"threads\":");
    rex_line_three(line, threads);
    rex_line_text(line, ",\"arguments\":");
    rex_line_number(line, arguments);
}
