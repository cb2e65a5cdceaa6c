/*
 * text.c - escaped text for messages and for JSON.
 *
 * Names of kernels, files and devices come from images, arguments and the environment. A line feed
 * in a name could forge a line of the log. An escape sequence could command the terminal.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Decodes the UTF-8 character at TEXT. Returns the character's length in bytes, or 0 if the
 * character is invalid. RFC 3629 forbids overlong forms, surrogates and characters above U+10FFFF.
 */
static size_t decode_utf8(const char *text, uint32_t *character)
{
    /* the smallest character of each length */
    static const uint32_t least[] = {0, 1, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    if ((at[0] >= 0x80 && at[0] < 0xc0) || at[0] >= 0xf8) {
        *character = at[0];
        return 0;
    }
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    *character = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (at[i] & 0x3f);
    }
    bool is_one = *character >= least[length] && *character <= 0x10ffff;
    return is_one && (*character < 0xd800 || *character > 0xdfff) ? length : 0;
}

size_t rex_shown_length(const char *text)
{
    uint32_t character;
    size_t length = decode_utf8(text, &character);
    /* 0x2028 and 0x2029 separate lines and paragraphs. */
    bool is_control = character < 0x20 || (character >= 0x7f && character < 0xa0) ||
                      character == 0x2028 || character == 0x2029;
    /* Unicode's Bidi_Control characters reorder the text around them. */
    bool is_reordering = character == 0x61c || character == 0x200e || character == 0x200f ||
                         (character >= 0x202a && character <= 0x202e) ||
                         (character >= 0x2066 && character <= 0x2069);
    return is_control || is_reordering ? 0 : length;
}

size_t rex_json_character(const char **text, char written[REX_JSON_MAX])
{
    const char *at = *text;
    uint32_t character;
    size_t length = decode_utf8(at, &character);
    *text += length > 0 ? length : 1;
    if (length == 0)
        return (size_t)snprintf(written, REX_JSON_MAX, "\\ufffd");
    if (rex_shown_length(at) == 0)
        return (size_t)snprintf(written, REX_JSON_MAX, "\\u%04x", (unsigned)character);
    *written = '\\';
    bool is_escaped = *at == '"' || *at == '\\';
    memcpy(written + is_escaped, at, length);
    return length + is_escaped;
}

void rex_escape(char *text, size_t size, const char *kept)
{
    char given[REX_MESSAGE_MAX], code[8];
    char *to = text;
    snprintf(given, sizeof given, "%s", text);
    for (const char *from = given; *from != '\0';) {
        size_t length = strchr(kept, *from) != NULL ? 1 : rex_shown_length(from);
        size_t written = length;
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

/* REX_KERNEL() and REX_DEVICE_KERNEL() append the tail to the kernel's name. */
int rex_kernel_name_length(const char *symbol)
{
    static const char tail[] = "__kernel__";
    size_t length = strlen(symbol), end = strlen(tail);
    return (int)(length > end && strcmp(symbol + length - end, tail) == 0 ? length - end : length);
}
