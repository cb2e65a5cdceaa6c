/*
 * json.c - reads JSON in memory in place, one value after another.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "json.h"

#include <string.h>

#define DEEPEST 32 /* maximum depth of nested arrays and objects */

static char wrong(struct json *json)
{
    json->wrong = true;
    return '\0';
}

static void pass_blanks(struct json *json)
{
    json->at += strspn(json->at, " \t\r\n");
}

bool json_take(struct json *json, char character)
{
    pass_blanks(json);
    if (json->wrong || *json->at != character || character == '\0')
        return false;
    json->at++;
    return true;
}

static void want(struct json *json, char character)
{
    if (!json_take(json, character))
        wrong(json);
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Returns the value of four hexadecimal digits at AT; -1 if there are not four. */
static int32_t code_at(const char *at)
{
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", lower = (char)(at[i] | 0x20);
        const char *digit = at[i] != '\0' ? strchr(digits, at[i] <= '9' ? at[i] : lower) : NULL;
        if (digit == NULL)
            return -1;
        code = code * 16 + (int32_t)(digit - digits);
    }
    return code;
}

/*
 * Writes CODE as UTF-8 to OUT, which must have room for 3 bytes. Halves of surrogate pairs become
 * U+FFFD. Returns the end of the written bytes.
 */
static char *put_code(char *out, int32_t code)
{
    if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd;
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/*
 * Decodes the escape at json->at to OUT. An escape is longer than the bytes for which it stands, so
 * OUT can be in the buffer of the JSON text.
 */
static char *put_escaped(struct json *json, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char kind = *json->at++;
    if (kind == 'u') {
        int32_t code = code_at(json->at);
        json->at += code >= 0 ? 4 : 0;
        if (code > 0)
            return put_code(out, code);
    } else if (kind != '\0' && strchr(from, kind) != NULL) {
        *out++ = to[strchr(from, kind) - from];
        return out;
    }
    json->at -= kind == '\0';
    wrong(json);
    return out;
}

char *json_string(struct json *json)
{
    static char empty[1];
    want(json, '"');
    if (json->wrong)
        return empty;
    char *begin = json->at, *out = begin;
    while (*json->at != '"' && !json->wrong) {
        size_t plain = strcspn(json->at, "\"\\");
        memmove(out, json->at, plain);
        out += plain;
        json->at += plain;
        if (*json->at == '\\') {
            json->at++;
            out = put_escaped(json, out);
        } else if (*json->at == '\0') {
            wrong(json);
        }
    }
    if (json->wrong)
        return empty;
    json->at++;
    *out = '\0';
    return begin;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

/* Returns VALUE * 10 plus the value of DIGIT; INT64_MAX if that number is too large. */
static int64_t append(int64_t value, char digit)
{
    return value > (INT64_MAX - 9) / 10 ? INT64_MAX : value * 10 + (digit - '0');
}

/*
 * Reads the digits after the decimal point, if there is one. Appends the first DIGITS digits to
 * VALUE, and appends zeros if there are fewer digits.
 */
static int64_t read_part(struct json *json, int64_t value, int digits)
{
    if (*json->at == '.')
        json->at++;
    for (; is_digit(*json->at); json->at++)
        if (digits > 0) {
            value = append(value, *json->at);
            digits--;
        }
    for (; digits > 0; digits--)
        value = append(value, '0');
    return value;
}

static int64_t read_number(struct json *json, int digits)
{
    int64_t value = 0;
    bool negative = json_take(json, '-');
    pass_blanks(json);
    if (json->wrong || !is_digit(*json->at))
        return wrong(json);
    for (; is_digit(*json->at); json->at++)
        value = append(value, *json->at);
    value = read_part(json, value, digits);
    if (*json->at == 'e' || *json->at == 'E') /* librex writes no exponents */
        return wrong(json);
    return negative ? -value : value;
}

int64_t json_thousandths(struct json *json)
{
    return read_number(json, 3);
}

int64_t json_number(struct json *json)
{
    return read_number(json, 0);
}

/* ---- arrays, objects, anything --------------------------------------------------------------- */

/* Returns true if another element or member comes before CLOSE. */
static bool next_of(struct json *json, char close, bool *first)
{
    if (json->wrong || json_take(json, close))
        return false;
    if (!*first)
        want(json, ',');
    *first = false;
    return !json->wrong;
}

char *json_member(struct json *json, bool *first)
{
    if (*first)
        want(json, '{');
    if (!next_of(json, '}', first))
        return NULL;
    char *key = json_string(json);
    want(json, ':');
    return json->wrong ? NULL : key;
}

bool json_element(struct json *json, bool *first)
{
    if (*first)
        want(json, '[');
    return next_of(json, ']', first);
}

static void skip_word(struct json *json)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(json->at, words[i], strlen(words[i])) == 0) {
            json->at += strlen(words[i]);
            return;
        }
    wrong(json);
}

static void skip(struct json *json, int depth)
{
    bool first = true;
    pass_blanks(json);
    if (depth > DEEPEST)
        wrong(json);
    else if (*json->at == '"')
        json_string(json);
    else if (*json->at == '{')
        while (json_member(json, &first) != NULL)
            skip(json, depth + 1);
    else if (*json->at == '[')
        while (json_element(json, &first))
            skip(json, depth + 1);
    else if (*json->at == '-' || is_digit(*json->at))
        json_number(json);
    else
        skip_word(json);
}

void json_skip(struct json *json)
{
    skip(json, 0);
}
