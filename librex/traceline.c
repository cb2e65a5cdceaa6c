/*
 * traceline.c - a line of JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "traceline.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STRING_MAX 1024 /* bytes of a string; C++ makes long names */

void rex_line_add(struct rex_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->length, REX_LINE_MAX - line->length, format, arguments);
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

/* At least LEAST digits. */
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

/* Bytes of the UTF-8 character at TEXT, 0 if there is none: RFC 3629, which has no surrogates and nothing above 0x10ffff. */
static size_t character(const unsigned char *text)
{
    static const struct {
        unsigned char first, last, second_first, second_last, length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        if (forms[i].length > 1 && (text[1] < forms[i].second_first || text[1] > forms[i].second_last))
            return 0;
        for (size_t j = 2; j < forms[i].length; j++)
            if (text[j] < 0x80 || text[j] > 0xbf)
                return 0;
        return forms[i].length;
    }
    return 0;
}

/* Characters at AT that need no thought: most names are made of nothing else. */
static size_t plain(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *from = at;
    while (at < end && *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
        at++;
    return (size_t)(at - from);
}

void rex_line_string(struct rex_line *line, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strnlen(text, STRING_MAX);
    add_bytes(line, "\"", 1);
    while (at < end) {
        size_t length = plain(at, end);
        if (length == 0 && *at < 0x80) {
            rex_line_add(line, *at == '"' || *at == '\\' ? "\\%c" : "\\u%04x", *at);
            length = 1;
        } else if (length == 0 && (length = character(at)) == 0) {
            add_bytes(line, "\\ufffd", 6);
            length = 1;
        } else
            add_bytes(line, at, length);
        at += length;
    }
    if (*at != '\0')
        add_bytes(line, "...", 3);
    add_bytes(line, "\"", 1);
}
