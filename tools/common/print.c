/*
 * print.c - text that others wrote, on a terminal and in JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/print.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of the UTF-8 character at AT; 0 if it is none. */
static size_t utf8_length(const unsigned char *at)
{
    static const struct {
        unsigned char first, last, second_from, second_to;
        size_t length;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (*at < forms[i].first || *at > forms[i].last)
            continue;
        if (forms[i].length > 1 && (at[1] < forms[i].second_from || at[1] > forms[i].second_to))
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if ((at[k] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

/* Whether the UTF-8 character at AT is one of those that command a terminal. */
static bool is_control(const unsigned char *at)
{
    return *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0);
}

void print_text(FILE *out, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = utf8_length(at), bytes = length > 0 ? length : 1;
        bool shown = length > 0 && !is_control(at);
        for (; bytes > 0; bytes--, at++)
            fprintf(out, shown ? "%c" : "\\x%02x", *at);
    }
}

void tool_error(const char *program, const char *text)
{
    print_text(stderr, program);
    fputs(": ", stderr);
    print_text(stderr, text);
    putc('\n', stderr);
}

void print_json(FILE *out, const char *text)
{
    if (text == NULL) {
        fputs("null", out);
        return;
    }
    putc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t length = utf8_length(at);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (is_control(at))
            fprintf(out, "\\u%04x", length == 1 ? at[0] : at[1]);
        else
            fprintf(out, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", (int)length,
                    (const char *)at);
        at += length + (length == 0);
    }
    putc('"', out);
}

bool print_colour(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(out)) && (no == NULL || *no == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}
