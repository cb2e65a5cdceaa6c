/*
 * print.c - prints text of unknown origin, to a terminal and in JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/print.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

void print_text(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t length = rex_shown_length(text);
        if (length > 0)
            fwrite(text, 1, length, out);
        else
            fprintf(out, "\\x%02x", (unsigned char)*text);
        text += length > 0 ? length : 1;
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
    char written[REX_JSON_MAX];
    putc('"', out);
    while (*text != '\0')
        fwrite(written, 1, rex_json_character(&text, written), out);
    putc('"', out);
}

void print_begin(void)
{
    signal(SIGXFSZ, SIG_IGN);
}

const char *print_end(void)
{
    return fflush(stdout) != 0 || ferror(stdout) ? strerror(errno) : NULL;
}

bool print_colour(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(out)) && (no == NULL || *no == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}
